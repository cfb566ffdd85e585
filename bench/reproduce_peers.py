"""The paper's 2,000 trainings: ours, all of them, against Keras, extrapolated from a sample measured in the same run.

    pip install -r bench/train-requirements.txt
    python bench/reproduce_peers.py [--ours DIR]

Ours: `scorewise reproduce adult` and `pollution` with 100 repeats and without the cure, on all cores, from nothing (or, with --ours, as
already run into DIR/adult and DIR/pollution: the time is then that of the trainings, spread over the cores). Keras: the same networks, data,
batches and losses with `fit`, one process bound to each core, all at once; the median seconds of an epoch within one call of `fit`, times the
epochs that our trainings took, divided by the processes. What Keras would spend on building models, compiling and finding thresholds is not counted. Needs a
machine that has nothing else to do.
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

BAR, LONGEST = 100, 8 * 60
# Table and batch (0 is all), epochs of a call of fit, and calls after the one that warms up.
SAMPLES = {"adult": (64, 3, 3), "pollution": (0, 20, 3)}
ROWS = {"adult": 10 * 100, "pollution": 10 * 100}


def serve(folder, core):
    """A Keras process: bound to its core, it answers each line with the seconds of an epoch."""
    os.sched_setaffinity(0, {core})
    made = {}
    for line in sys.stdin:
        name = line.strip()
        batch, epochs, _ = SAMPLES[name]
        if name not in made:
            made[name] = train_peers.keras_side(folder, name, batch, epochs)
        start = time.perf_counter()
        made[name]()
        print((time.perf_counter() - start) / epochs, 0, flush=True)


def keras_epochs():
    """Seconds of an epoch of each experiment, with a process on every core."""
    quiet = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    cores = sorted(os.sched_getaffinity(0))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, prepare in {"adult": train_peers.adult, "pollution": train_peers.pollution}.items():
            train_peers.write(pathlib.Path(folder), name, *prepare(), *train_peers.NETS[name])
        command = [sys.executable, __file__, "--serve", folder]
        sides = [train_peers.Side([*command, "--core", str(core)], **quiet) for core in cores]
        for name, (_, _, calls) in SAMPLES.items():
            times = []
            for call in range(calls + 1):
                for side in sides:
                    side.process.stdin.write(name + "\n")
                    side.process.stdin.flush()
                answers = [float(side.process.stdout.readline().split()[0]) for side in sides]
                if call > 0:  # the first compiles
                    times += answers
            found[name] = times
        for side in sides:
            side.process.stdin.close()
    return found, len(cores)


def ours(folder):
    """Wall seconds and epochs of each experiment, all trainings from nothing."""
    build = ["cargo", "build", "--release"]
    subprocess.run(build, check=True, cwd=train_peers.ROOT)
    program = train_peers.ROOT / "target" / "release" / "scorewise"
    seconds = {}
    for name in SAMPLES:
        start = time.perf_counter()
        subprocess.run([program, "reproduce", name, "--cure", "off", "--out", folder / name], check=True, stdout=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - start
    return seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--ours", type=pathlib.Path)
    arguments.add_argument("--serve", type=pathlib.Path)
    arguments.add_argument("--core", type=int)
    arguments = arguments.parse_args()
    if arguments.serve:
        return serve(arguments.serve, arguments.core)
    if not all(importlib.util.find_spec(name) for name in ("keras", "tensorflow")):
        # Now, not after six minutes of our own trainings.
        sys.exit("Keras and TensorFlow are needed: pip install -r bench/train-requirements.txt")
    with tempfile.TemporaryDirectory() as folder:
        folder = arguments.ours or pathlib.Path(folder)
        seconds = None if arguments.ours else ours(folder)
        keras, processes = keras_epochs()
        total_ours = total_keras = 0.0
        for name in SAMPLES:
            with open(folder / name / "trainings.csv") as file:
                # The paper's rows: yardsticks are quick, and Keras is not asked for them; their time is part of ours.
                trials = [row for row in csv.DictReader(file) if row["cured"] == "false"]
            paper = [row for row in trials if not row["contender"].startswith(("logistic", "persistence", "tuned", "strong"))]
            assert len(paper) == ROWS[name], f"{name}: {len(paper)} trainings, not {ROWS[name]}"
            epochs = sum(float(row["epochs"]) for row in paper)
            mine = seconds[name] if seconds else sum(float(row["seconds"]) for row in trials) / processes
            theirs = epochs * statistics.median(keras[name]) / processes
            spread = f"{1e3 * min(keras[name]):.0f} to {1e3 * max(keras[name]):.0f}"
            print(f"{name}: {len(paper)} trainings, {epochs:.0f} epochs")
            print(f"  ours   {mine:9.1f} s")
            print(f"  Keras  {theirs:9.0f} s, from {1e3 * statistics.median(keras[name]):.0f} ms an epoch ({spread}) in each of {processes} processes")
            total_ours, total_keras = total_ours + mine, total_keras + theirs
    ratio = total_keras / total_ours
    holds = ratio >= BAR and total_ours <= LONGEST
    print(f"all 2000: ours {total_ours:.0f} s (bar {LONGEST} s), Keras {total_keras / 3600:.1f} h, {ratio:.0f} x (bar {BAR} x): {'holds' if holds else 'FALLS SHORT'}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
