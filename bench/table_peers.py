"""Reading and encoding a large mixed CSV: ours against pandas and scikit-learn on the same file, in one run.

    python bench/table_peers.py [ROWS]            # needs pandas and scikit-learn

Two million rows of twelve numbers, six categories, a boolean and a date-time, some of them missing, written once from a
fixed seed. Both sides get two cores. Prints medians, quartiles, the ratio, and our peak memory beside its bar.
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


def write(path):
    """The table, in parts: a whole one would take more memory than reading it."""
    random = numpy.random.default_rng(3)
    for start in range(0, ROWS, 200_000):
        rows = min(200_000, ROWS - start)
        part = {}
        for i in range(12):
            values = random.normal(size=rows) * 10.0 ** (i - 3)
            # Measurements, counts and amounts are written with few digits; two columns have all of them.
            values = values.round([3, 3, 2, 1, 2, 4, 0, 1, 2, 0, 17, 17][i])
            values[random.random(rows) < 0.02] = numpy.nan
            part[f"number {i}"] = values
        for i, levels in enumerate(LEVELS):
            names = numpy.array([f"level {i}-{k}" for k in range(levels)], dtype=object)
            codes = numpy.minimum(random.geometric(0.2, size=rows) - 1, levels - 1)
            column = names[codes]
            column[random.random(rows) < 0.02] = None
            part[f"category {i}"] = column
        part["flag"] = numpy.where(random.random(rows) < 0.3, "yes", "no")
        seconds = (start + numpy.arange(rows)) * 60
        part["time"] = numpy.datetime_as_string(numpy.datetime64("2010-01-01") + seconds.astype("timedelta64[s]"), unit="s")
        pandas.DataFrame(part).to_csv(path, mode="w" if start == 0 else "a", header=start == 0, index=False)


def build():
    """Builds our side and says where it is; cargo itself knows best."""
    command = ["cargo", "build", "--release", "--workspace", "--example", "time_table", "--message-format", "json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    built = [json.loads(line).get("executable") for line in lines]
    return [path for path in built if path][-1]


def ours(program, path, way):
    """What our program prints: seconds, rows, columns, most_kb."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "2"}
    lines = subprocess.run([program, path, way], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return dict(line.split() for line in lines.splitlines())


def theirs(path):
    """As one would write it: read, one-hot, standardise."""
    start = time.perf_counter()
    frame = pandas.read_csv(path, parse_dates=["time"])
    numbers = frame.select_dtypes("number")
    texts = [name for name in frame.columns if name.startswith("category")] + ["flag"]
    dummies = pandas.get_dummies(frame[texts], dummy_na=True, dtype="float32")
    scaled = StandardScaler().fit_transform(numbers)
    seconds = time.perf_counter() - start
    return seconds, scaled.shape[1] + dummies.shape[1]


def shown(seconds):
    low, middle, high = statistics.quantiles(seconds, n=4)
    return f"{middle:7.2f} s  [{low:.2f}, {high:.2f}]"


def main():
    program = build()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "mixed.csv")
        write(path)
        size = os.path.getsize(path)
        print(f"{ROWS} rows x 20 columns, {size / 1e6:.0f} MB; pandas {pandas.__version__}, scikit-learn {sklearn.__version__}")
        encoded, stream, peer = [], [], []
        for _ in range(ROUNDS):
            encoded.append(ours(program, path, "encode"))
            stream.append(ours(program, path, "stream"))
            peer.append(theirs(path))
        seconds = [float(answer["seconds"]) for answer in encoded]
        read = [float(answer["read"]) for answer in encoded]
        streamed = [float(answer["seconds"]) for answer in stream]
        peer_seconds = [answer[0] for answer in peer]
        width = int(encoded[0]["columns"])
        matrix = ROWS * width * 4
        bar = 3 * matrix + size
        most = max(int(answer["most_kb"]) for answer in encoded) * 1024
        print(f"ours, read and encode   {shown(seconds)}")
        print(f"ours, read              {shown(read)}  {size / 1e6 / statistics.median(read):.0f} MB/s")
        print(f"ours, read in chunks    {shown(streamed)}  {max(int(a['most_kb']) for a in stream) / 1024:.0f} MiB at most")
        print(f"pandas + scikit-learn   {shown(peer_seconds)}")
        print(f"ratio                   {statistics.median(peer_seconds) / statistics.median(seconds):7.2f}")
        print(f"our peak memory         {most / 2**20:7.0f} MiB; bar {bar / 2**20:.0f} MiB (3 x f32 matrix of {width} columns + file)")


if __name__ == "__main__":
    main()
