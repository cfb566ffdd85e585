"""Measure the time and peak memory of `score` and `tune` on a Parquet file of a hundred million predictions.

    python bench/predictions.py [--rows 100000000] [--double] [--file predictions.parquet]     # requires numpy and pyarrow

Uses two threads. The target is 30 s and 4 GB for each command. The file is written unless it exists.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import pyarrow
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_SECONDS, MAX_GIGABYTES = 30, 4
CHUNK = 1_000_000


def write_predictions(path, rows, double):
    """Write random labels, of which one in fifty is positive, and predicted probabilities, which tend to be larger for positive rows."""
    number = numpy.float64 if double else numpy.float32
    schema = pyarrow.schema(
        [("label", pyarrow.int8()), ("probability", pyarrow.float64() if double else pyarrow.float32())]
    )
    random = numpy.random.default_rng(1)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, CHUNK):
            size = min(CHUNK, rows - start)
            label = random.random(size) < 0.02
            logit = random.normal(size=size) + numpy.where(label, -1.0, -4.0)
            probability = (1 / (1 + numpy.exp(-logit))).astype(number)
            writer.write_table(pyarrow.table([label.astype(numpy.int8), probability], schema=schema))


def measure(command):
    """Run a command; return its running time in seconds, its peak memory in gigabytes, and its output."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "2"}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"the command failed: {' '.join(command)}")
    return seconds, usage.ru_maxrss / 1e6, output


def main():
    """Print the time and the memory that the commands `score` and `tune` need for a large file of predictions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--double", action="store_true", help="write the probabilities as f64 instead of f32")
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--show", action="store_true", help="also print the output of the commands")
    arguments = parser.parse_args()
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or pathlib.Path(folder) / "predictions.parquet"
        if not path.exists():
            write_predictions(path, arguments.rows, arguments.double)
        print(f"{arguments.rows} rows, {path.stat().st_size / 1e6:.0f} MB, {'f64' if arguments.double else 'f32'}")
        missed = False
        for command in (["score"], ["tune", "--score", "tss"], ["tune", "--score", "f1", "--subject-to", "recall >= 0.5"]):
            seconds, memory, output = measure([str(target / "release" / "scorewise"), command[0], str(path), *command[1:]])
            print(f"{' '.join(command):45} {seconds:6.1f} s {memory:5.2f} GB")
            missed |= seconds > MAX_SECONDS or memory > MAX_GIGABYTES
            if arguments.show:
                print(output)
    sys.exit(missed)


if __name__ == "__main__":
    main()
