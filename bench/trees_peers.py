"""Compare the time of boosted trees with LightGBM, and with CatBoost where it is installed, on Adult and flights, alternating in one run.

    pip install -r bench/quality-requirements.txt
    python bench/trees_peers.py [ROUNDS] [--train | --predict] [--quick]

Training: leaf-wise trees with 31 and with 50 leaves against LightGBM, symmetric trees with 64 leaves against CatBoost, with one thread and with two.
Both libraries of a comparison use the same rows, number of trees, learning rate, L2 and minimum number of rows in a leaf, sample neither rows nor
columns, and do not stop early.
Each table comes twice: as its columns are, numbers and categories, and with all columns as numbers, so that both programs do the same work.
The number of bins is 255, LightGBM's default, or 128, the default of scorewise. LightGBM's time begins after it has divided the values into bins;
the time of scorewise includes that.

Prediction: the trees that LightGBM has trained are read by both programs, which predict the same rows with one thread; the logits must agree.

Prints medians and ranges of seconds, and the median over the rounds of the ratio to the other library; the target is at most 1. The machine should be otherwise
idle. --train and --predict run one of the two parts; with --quick only leaf-wise trees with 31 leaves and 255 bins are trained.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import lightgbm
import numpy as np
import pandas as pd
from quality_methods import features, text_columns
from quality_tables import load, split

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = {"adult": 100, "flights": 50}
RATE, L2, MIN_ROWS = 0.1, 1.0, 20
PAUSE = 0.3  # seconds between two measurements, in which threads that wait actively go to sleep


class TreeProcess:
    """A process of the Rust program `time_trees`, which reads commands from standard input and prints the elapsed seconds and a number.

    The number is the training loss, or for a prediction the mean of the predicted logits.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        """Build the program and start it; it reads its tables from the folder."""
        command = ["cargo", "build", "--release", "-p", "scorewise-train", "--example", "time_trees", "--message-format", "json"]
        lines = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        program = [path for path in (json.loads(line).get("executable") for line in lines) if path][-1]
        self.process = subprocess.Popen([program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, line: str) -> tuple[float, float]:
        """Send a command to the program; return the elapsed seconds and the number that it prints."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert len(answer) == 2, f"no answer to `{line}`"
        return float(answer[0]), float(answer[1])


def write_and_return_tables(folder: pathlib.Path) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Load the training rows of every table, and write their inputs and labels to files in `folder`, which the program `time_trees` reads.

    Return a dictionary whose values are pairs of inputs and labels. For each table it has the keys NAME and NAME.numbers, where NAME is the name of
    the table. In the inputs of NAME.numbers, categories are replaced by integer codes.
    """
    found = {}
    for name in TREES:
        table = load(name)
        rows, _ = split(name, table, 0)
        if name == "adult":
            rows = rows[table.iloc[rows].notna().all(axis=1).to_numpy()]  # the 30162 complete rows
        table = table.iloc[rows].reset_index(drop=True)
        labels, inputs = table.target.to_numpy().astype(np.uint8), features(table)
        text = text_columns(inputs)
        numbers = inputs.assign(**{column: inputs[column].astype("category").cat.codes for column in text}).astype(np.float32)
        inputs = inputs.astype({column: "category" for column in text})
        for kind, columns in ((name, inputs), (f"{name}.numbers", numbers)):
            labels.tofile(folder / f"{kind}.u8")
            found[kind] = (columns, labels)
        inputs.astype({column: object for column in text}).to_parquet(folder / f"{name}.parquet")
        numbers.to_numpy().tofile(folder / f"{name}.numbers.f32")
        (folder / f"{name}.numbers.txt").write_text(str(numbers.shape[1]))
    return found


def lightgbm_training(inputs: pd.DataFrame, labels: np.ndarray, leaves: int, bins: int, trees: int, threads: int) -> tuple[float, lightgbm.Booster]:
    """Train with LightGBM. Return the seconds of the training, without the time for binning the values, and the model."""
    settings = {
        "objective": "binary", "num_leaves": leaves, "max_bin": bins, "learning_rate": RATE, "lambda_l2": L2, "min_data_in_leaf": MIN_ROWS,
        "num_threads": threads, "verbose": -1,
    }
    data = lightgbm.Dataset(inputs, labels, params=settings, free_raw_data=False).construct()
    start = time.perf_counter()
    model = lightgbm.train(settings, data, trees)
    return time.perf_counter() - start, model


def catboost_training(inputs: pd.DataFrame, labels: np.ndarray, leaves: int, bins: int, trees: int, threads: int) -> float:
    """Train symmetric trees with CatBoost and return the seconds."""
    import catboost

    text = [name for name in inputs.columns if inputs[name].dtype == "category"]
    pool = catboost.Pool(inputs.astype({name: str for name in text}), labels, cat_features=text)
    model = catboost.CatBoostClassifier(
        iterations=trees, depth=leaves.bit_length() - 1, learning_rate=RATE, l2_leaf_reg=3, border_count=bins - 1, bootstrap_type="No",
        thread_count=threads, verbose=False, allow_writing_files=False,
    )
    start = time.perf_counter()
    model.fit(pool)
    return time.perf_counter() - start


def log_loss(model: lightgbm.Booster, inputs: pd.DataFrame, labels: np.ndarray) -> float:
    """Return the mean log-loss of a LightGBM model."""
    margin = np.where(labels == 1, 1, -1) * model.predict(inputs, raw_score=True)
    return float(np.logaddexp(0, -margin).mean())


def format_times(times: list[float], scale: float = 1.0) -> str:
    """Return the median and the range of times, multiplied by `scale`, as text in seconds."""
    return f"{scale * statistics.median(times):8.3f} s ({scale * min(times):.3f} to {scale * max(times):.3f})"


def compare(title: str, peer: str, ours: list[float], theirs: list[float], note: str = "") -> bool:
    """Print the times of scorewise (`ours`) and of the library `peer` (`theirs`), and return whether scorewise is at least as fast."""
    ratios = [mine / other for mine, other in zip(ours, theirs)]
    ratio = statistics.median(ratios)
    verdict = "met" if ratio <= 1 else "MISSED"
    times = f"scorewise {format_times(ours)}, {peer} {format_times(theirs)}"
    print(f"{title}: {times}: {ratio:.2f} x ({min(ratios):.2f} to {max(ratios):.2f}), target: at most 1 x, {verdict}{note}", flush=True)
    return ratio <= 1


def compare_training(program: TreeProcess, found: dict[str, tuple[pd.DataFrame, np.ndarray]], rounds: int, quick: bool) -> bool:
    """Compare the training times with those of LightGBM and CatBoost; return whether scorewise is always at least as fast as LightGBM."""
    is_met = True
    for kind, (inputs, labels) in found.items():
        trees = TREES[kind.split(".")[0]]
        print(f"{kind}: {len(inputs)} rows, {inputs.shape[1]} columns, {trees} trees")
        for leaves, bins in [(31, 255)] if quick else [(31, 255), (31, 128), (50, 255)]:
            for threads in (1, 2):
                ours, theirs, losses = [], [], (0.0, 0.0)
                for number in range(rounds + 1):
                    time.sleep(PAUSE)
                    mine, loss = program(f"train {kind} leaf-wise {leaves} {bins} {trees} {threads}")
                    time.sleep(PAUSE)
                    other, model = lightgbm_training(inputs, labels, leaves, bins, trees, threads)
                    if number == 0:  # a warm-up
                        losses = (loss, log_loss(model, inputs, labels))
                        continue
                    ours.append(mine)
                    theirs.append(other)
                note = f"; training loss {losses[0]:.4f} and {losses[1]:.4f}"
                is_met &= compare(f"  leaf-wise, {leaves} leaves, {bins} bins, {threads} thread(s)", "LightGBM", ours, theirs, note)
        if quick:
            continue
        try:
            import catboost  # noqa: F401
        except ImportError:
            continue
        for threads in (1, 2):
            ours, theirs = [], []
            for _ in range(max(1, rounds // 2)):
                time.sleep(PAUSE)
                ours.append(program(f"train {kind} symmetric 64 128 {trees} {threads}")[0])
                time.sleep(PAUSE)
                theirs.append(catboost_training(inputs, labels, 64, 128, trees, threads))
            compare(f"  symmetric, 64 leaves, 128 bins, {threads} thread(s)", "CatBoost", ours, theirs)
    return is_met


def write_trees(model: lightgbm.Booster, path: pathlib.Path) -> None:
    """Write the trees of a LightGBM model in the format that `time_trees` reads: the two children of a node are consecutive, and come after the node."""
    rows: list[list[float]] = []
    for tree in model.dump_model()["tree_info"]:
        nodes = [tree["tree_structure"]]
        for at, node in enumerate(nodes):  # the list grows while it is read
            if "leaf_value" in node:
                rows.append([at, -1, node["leaf_value"], 0, 0])
                continue
            assert node["decision_type"] == "<=" and node["missing_type"] in ("None", "NaN")
            # The threshold is rounded down to f32. This changes no comparison with an input, because the inputs are f32 numbers, none of which lies
            # between the rounded and the original threshold.
            threshold = np.float32(node["threshold"])
            if threshold > node["threshold"]:
                threshold = np.nextafter(threshold, np.float32(-np.inf))
            rows.append([at, node["split_feature"], threshold, len(nodes), float(node["default_left"])])
            nodes += [node["left_child"], node["right_child"]]
    np.concatenate([[0.0], np.array(rows).ravel()]).astype(np.float32).tofile(path)


def compare_prediction(program: TreeProcess, folder: pathlib.Path, found: dict[str, tuple[pd.DataFrame, np.ndarray]], rounds: int) -> bool:
    """Compare the prediction times with those of LightGBM for the same trees; return whether scorewise is always at least as fast."""
    is_met = True
    inputs, labels = found["flights.numbers"]
    for trees, leaves, columns in ((200, 31, 14), (500, 50, inputs.shape[1])):
        matrix = np.ascontiguousarray(inputs.to_numpy()[:100_000, :columns])
        labels[:100_000].tofile(folder / "predict.u8")
        matrix.tofile(folder / "predict.f32")
        (folder / "predict.txt").write_text(str(columns))
        _, model = lightgbm_training(pd.DataFrame(matrix), labels[:100_000], leaves, 255, trees, 2)
        write_trees(model, folder / f"trees{trees}.f32")
        name = f"predict{trees}"  # the program keeps the tables that it has read
        for extension in ("u8", "f32", "txt"):
            (folder / f"predict.{extension}").rename(folder / f"{name}.{extension}")
        ours, theirs = [], []
        for number in range(rounds + 1):
            time.sleep(PAUSE)
            mine, mean = program(f"predict {name} trees{trees}.f32")
            time.sleep(PAUSE)
            start = time.perf_counter()
            logits = model.predict(matrix, raw_score=True, num_threads=1)
            other = time.perf_counter() - start
            assert abs(mean - logits.mean()) < 1e-5, f"the mean logits differ: {mean} and {logits.mean()}"
            if number > 0:
                ours.append(mine)
                theirs.append(other)
        rate = len(matrix) / statistics.median(ours)
        title = f"predict {len(matrix)} rows x {columns} columns, {trees} trees with {leaves} leaves, one thread"
        is_met &= compare(title, "LightGBM", ours, theirs, f"; scorewise {rate:.0f} rows a second, LightGBM {len(matrix) / statistics.median(theirs):.0f}")
    return is_met


def main() -> int:
    """Compare training and prediction with those of the other libraries; return 1 if a target is missed."""
    words = sys.argv[1:]
    rounds = int(next((word for word in words if word.isdigit()), "5"))
    quick = "--quick" in words
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = write_and_return_tables(folder)
        program = TreeProcess(folder)
        print(f"LightGBM {lightgbm.__version__}, {rounds} rounds", flush=True)
        is_met = True
        if "--predict" not in words:
            is_met &= compare_training(program, found, rounds, quick)
        if "--train" not in words:
            is_met &= compare_prediction(program, folder, found, rounds)
        program.process.stdin.close()
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
