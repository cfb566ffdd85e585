"""Compare the time of the 2,000 training runs of Marchetti et al. (2022) with Keras, extrapolated from a sample measured in the same run.

    pip install -r bench/train-requirements.txt
    python bench/reproduce_peers.py [--ours DIR]

scorewise runs `scorewise reproduce adult` and `pollution` with 100 repeats and `--cure off`, on all cores. With --ours, the results of earlier
runs in DIR/adult and DIR/pollution are used, and the time is the sum of the training times divided by the number of cores. Keras trains the same
networks with the same data, batches and losses with `fit`, in one process per core at the same time. Its time is the median of the seconds per
epoch within one call of `fit`, times the number of epochs of scorewise, divided by the number of processes. Building and compiling Keras models
and finding thresholds are not counted. The machine should be otherwise idle.
"""

import argparse
import csv
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import train_peers

TARGET_RATIO, TARGET_SECONDS = 100, 8 * 60
# How Keras is timed in each experiment: batch size (0 for all rows), epochs per call of `fit`, and number of timed calls after a warm-up call.
TIMING_SETTINGS = {"adult": (64, 3, 3), "pollution": (0, 20, 3)}
TRAININGS = {"adult": 10 * 100, "pollution": 10 * 100}


def answer_timing_requests(folder, core):
    """For each experiment named in a line of standard input, train some epochs with Keras and print the seconds per epoch.

    The process is bound to the processor core with the number `core`.
    """
    os.sched_setaffinity(0, {core})
    trainings = {}
    for line in sys.stdin:
        name = line.strip()
        batch, epochs, _ = TIMING_SETTINGS[name]
        if name not in trainings:
            trainings[name] = train_peers.keras_trainer(folder, name, batch, epochs)
        start = time.perf_counter()
        trainings[name]()
        print((time.perf_counter() - start) / epochs, 0, flush=True)


def keras_seconds_per_epoch():
    """Time Keras with one process per core. Return the seconds per epoch of each experiment, and the number of processes."""
    quiet = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    cores = sorted(os.sched_getaffinity(0))
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, prepare in {"adult": train_peers.adult_data, "pollution": train_peers.pollution_data}.items():
            train_peers.write_data(pathlib.Path(folder), name, *prepare(), *train_peers.NETS[name])
        command = [sys.executable, __file__, "--serve", folder]
        sides = [train_peers.TrainingProcess([*command, "--core", str(core)], **quiet) for core in cores]
        for name, (_, _, calls) in TIMING_SETTINGS.items():
            times = []
            for call in range(calls + 1):
                for side in sides:
                    side.process.stdin.write(name + "\n")
                    side.process.stdin.flush()
                answers = [float(side.process.stdout.readline().split()[0]) for side in sides]
                if call > 0:  # the first call compiles the model
                    times += answers
            seconds[name] = times
        for side in sides:
            side.process.stdin.close()
    return seconds, len(cores)


def run_scorewise(folder):
    """Run `scorewise reproduce` for each experiment and return the wall-clock seconds."""
    build = ["cargo", "build", "--release"]
    subprocess.run(build, check=True, cwd=train_peers.ROOT)
    program = train_peers.ROOT / "target" / "release" / "scorewise"
    seconds = {}
    for name in TIMING_SETTINGS:
        start = time.perf_counter()
        subprocess.run([program, "reproduce", name, "--cure", "off", "--out", folder / name], check=True, stdout=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - start
    return seconds


def main():
    """Compare the time of `scorewise reproduce` with the extrapolated time of Keras; return 1 if a target is missed."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--ours", type=pathlib.Path)
    arguments.add_argument("--serve", type=pathlib.Path)
    arguments.add_argument("--core", type=int)
    arguments = arguments.parse_args()
    if arguments.serve:
        return answer_timing_requests(arguments.serve, arguments.core)
    if not all(importlib.util.find_spec(name) for name in ("keras", "tensorflow")):
        # The program stops here, before the training runs of scorewise, because they take minutes and Keras is needed after them.
        sys.exit("Keras and TensorFlow are needed: pip install -r bench/train-requirements.txt")
    with tempfile.TemporaryDirectory() as folder:
        folder = arguments.ours or pathlib.Path(folder)
        seconds = None if arguments.ours else run_scorewise(folder)
        keras, processes = keras_seconds_per_epoch()
        total_ours = total_keras = 0.0
        for name in TIMING_SETTINGS:
            with open(folder / name / "trainings.csv") as file:
                # The time of Keras is extrapolated for the training runs of Marchetti et al. (2022) only. The time of scorewise also includes the
                # reference forecasts, such as logistic regression and persistence.
                trials = [row for row in csv.DictReader(file) if row["cured"] == "false"]
            paper = [row for row in trials if not row["contender"].startswith(("logistic", "persistence", "tuned", "strong"))]
            assert len(paper) == TRAININGS[name], f"{name}: found {len(paper)} training runs, expected {TRAININGS[name]}"
            epochs = sum(float(row["epochs"]) for row in paper)
            our_seconds = seconds[name] if seconds else sum(float(row["seconds"]) for row in trials) / processes
            keras_seconds = epochs * statistics.median(keras[name]) / processes
            spread = f"{1e3 * min(keras[name]):.0f} to {1e3 * max(keras[name]):.0f}"
            print(f"{name}: {len(paper)} training runs, {epochs:.0f} epochs")
            print(f"  scorewise {our_seconds:9.1f} s")
            print(f"  Keras     {keras_seconds:9.0f} s, from {1e3 * statistics.median(keras[name]):.0f} ms per epoch ({spread}) in each of {processes} processes")
            total_ours, total_keras = total_ours + our_seconds, total_keras + keras_seconds
    ratio = total_keras / total_ours
    is_met = ratio >= TARGET_RATIO and total_ours <= TARGET_SECONDS
    print(f"all 2000 training runs: scorewise {total_ours:.0f} s (target {TARGET_SECONDS} s), Keras {total_keras / 3600:.1f} h, {ratio:.0f} x (target {TARGET_RATIO} x): {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
