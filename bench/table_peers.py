"""Compare reading and encoding a large mixed CSV file with pandas and scikit-learn, on the same file in one run.

    python bench/table_peers.py [ROWS]            # requires pandas and scikit-learn

The file has two million rows of twelve numbers, six categories, a boolean and a time, with missing values, generated from a fixed seed. scorewise
and pandas may use two cores. Prints medians, quartiles, the speed-up, and the peak memory of scorewise with its target.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import pandas
import sklearn
from sklearn.preprocessing import StandardScaler

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
ROUNDS = 5
LEVELS = [2, 5, 8, 12, 16, 40]


def write_table(path):
    """Write a table of random numbers and categories, in chunks, because holding it whole would take more memory than the measured programs need."""
    random = numpy.random.default_rng(3)
    for start in range(0, ROWS, 200_000):
        rows = min(200_000, ROWS - start)
        chunk = {}
        for i in range(12):
            values = random.normal(size=rows) * 10.0 ** (i - 3)
            # Most columns have few digits, like measurements and counts; two columns have full precision.
            values = values.round([3, 3, 2, 1, 2, 4, 0, 1, 2, 0, 17, 17][i])
            values[random.random(rows) < 0.02] = numpy.nan
            chunk[f"number {i}"] = values
        for i, levels in enumerate(LEVELS):
            names = numpy.array([f"level {i}-{k}" for k in range(levels)], dtype=object)
            codes = numpy.minimum(random.geometric(0.2, size=rows) - 1, levels - 1)
            column = names[codes]
            column[random.random(rows) < 0.02] = None
            chunk[f"category {i}"] = column
        chunk["flag"] = numpy.where(random.random(rows) < 0.3, "yes", "no")
        seconds = (start + numpy.arange(rows)) * 60
        chunk["time"] = numpy.datetime_as_string(numpy.datetime64("2010-01-01") + seconds.astype("timedelta64[s]"), unit="s")
        pandas.DataFrame(chunk).to_csv(path, mode="w" if start == 0 else "a", header=start == 0, index=False)


def build_program():
    """Build the Rust program and return its path, as reported by cargo."""
    command = ["cargo", "build", "--release", "--workspace", "--example", "time_table", "--message-format", "json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    executables = [json.loads(line).get("executable") for line in lines]
    return [path for path in executables if path][-1]


def run_scorewise(program, path, mode):
    """Run the Rust program in the mode `encode` or `stream`; return its output as a dictionary (`most_kb` is the peak memory in kilobytes)."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "2"}
    lines = subprocess.run([program, path, mode], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return dict(line.split() for line in lines.splitlines())


def run_pandas(path):
    """Read, one-hot encode and standardise with pandas and scikit-learn; return the seconds and the number of columns."""
    start = time.perf_counter()
    frame = pandas.read_csv(path, parse_dates=["time"])
    numbers = frame.select_dtypes("number")
    categories = [name for name in frame.columns if name.startswith("category")] + ["flag"]
    dummies = pandas.get_dummies(frame[categories], dummy_na=True, dtype="float32")
    scaled = StandardScaler().fit_transform(numbers)
    seconds = time.perf_counter() - start
    return seconds, scaled.shape[1] + dummies.shape[1]


def format_seconds(seconds):
    """Return the median and the quartiles of the measured seconds as text."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    return f"{middle:7.2f} s  [{low:.2f}, {high:.2f}]"


def main():
    """Print the times and the peak memory of scorewise, and the times of pandas with scikit-learn, for the same table."""
    program = build_program()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "mixed.csv")
        write_table(path)
        size = os.path.getsize(path)
        print(f"{ROWS} rows x 20 columns, {size / 1e6:.0f} MB; pandas {pandas.__version__}, scikit-learn {sklearn.__version__}")
        encode_runs, stream_runs, pandas_runs = [], [], []
        for _ in range(ROUNDS):
            encode_runs.append(run_scorewise(program, path, "encode"))
            stream_runs.append(run_scorewise(program, path, "stream"))
            pandas_runs.append(run_pandas(path))
        seconds = [float(run["seconds"]) for run in encode_runs]
        read = [float(run["read"]) for run in encode_runs]
        streamed = [float(run["seconds"]) for run in stream_runs]
        pandas_seconds = [run[0] for run in pandas_runs]
        width = int(encode_runs[0]["columns"])
        matrix = ROWS * width * 4
        target = 3 * matrix + size
        peak = max(int(run["most_kb"]) for run in encode_runs) * 1024
        print(f"scorewise, read and encode   {format_seconds(seconds)}")
        print(f"scorewise, read              {format_seconds(read)}  {size / 1e6 / statistics.median(read):.0f} MB/s")
        print(f"scorewise, read in chunks    {format_seconds(streamed)}  {max(int(run['most_kb']) for run in stream_runs) / 1024:.0f} MiB peak memory")
        print(f"pandas and scikit-learn      {format_seconds(pandas_seconds)}")
        print(f"speed-up                     {statistics.median(pandas_seconds) / statistics.median(seconds):7.2f}")
        print(f"peak memory of scorewise     {peak / 2**20:7.0f} MiB; target {target / 2**20:.0f} MiB (3 x the f32 matrix of {width} columns, plus the file)")


if __name__ == "__main__":
    main()
