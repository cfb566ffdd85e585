"""Tests that an exported model, run by onnxruntime, gives the probabilities and labels of the native predictor.

The example `onnx_case` of the trainer crate, which `./check` builds, writes models of many shapes with rows and the native predictions.
"""

import bisect
import csv
import datetime
import itertools
import json
import math
import os
import pathlib
import random
import subprocess

import numpy
import onnx
import onnxruntime
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("SCOREWISE", ROOT / "target" / "debug" / "scorewise"))
CASES = [
    "linear",
    "deep",
    "wide",
    "one-input",
    "calibrated",
    "ensemble",
    "greatest",
    "linear-classes",
    "thresholds",
    "factors",
    "costs",
    "centres",
]


@pytest.fixture(scope="module")
def case_folder(tmp_path_factory):
    """Return a folder with the files of every test case."""
    folder = tmp_path_factory.mktemp("onnx")
    subprocess.run([COMMAND.parent / "examples" / "onnx_case", folder], check=True)
    return folder


def test_list_of_test_cases_is_complete(case_folder):
    assert sorted(path.name for path in case_folder.iterdir()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_onnxruntime_agrees_with_the_native_predictions(case_folder, name):
    case = json.loads((case_folder / name / "case.json").read_text(encoding="utf-8"))
    rows = numpy.fromfile(case_folder / name / "rows.f32", "<f4").reshape(case["rows"], case["features"])
    expected = numpy.fromfile(case_folder / name / "probability.f64", "<f8")
    labels = numpy.fromfile(case_folder / name / "label.i64", "<i8")
    shape = (case["rows"],) if case["outputs"] == 1 else (case["rows"], case["outputs"])

    session = onnxruntime.InferenceSession(case_folder / name / "model.onnx", providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"x": rows})

    assert probability.shape == shape and probability.dtype == numpy.float64
    assert numpy.abs(probability - expected.reshape(shape)).max() < 1e-5
    assert label.dtype == numpy.int64
    numpy.testing.assert_array_equal(label, labels)
    assert len(set(labels.tolist())) > 1, "the labels of a test case must not all be equal"
    if case["threshold"] is not None:
        numpy.testing.assert_array_equal(label, probability > case["threshold"])
    if name == "calibrated":
        (raw,) = session.run(["raw"], {"x": rows})
        order = numpy.argsort(raw)
        assert (numpy.diff(probability[order]) >= 0).all() and numpy.abs(raw - probability).max() > 0.1

    # The exported model accepts any number of rows, including one and zero.
    one, _ = session.run(["probability", "label"], {"x": rows[:1]})
    assert numpy.abs(one - probability[:1]).max() < 1e-6
    empty, _ = session.run(["probability", "label"], {"x": rows[:0]})
    assert empty.shape == (0, *shape[1:])


@pytest.mark.parametrize("name", CASES)
def test_exported_file_is_valid_and_has_complete_metadata(case_folder, name):
    case = json.loads((case_folder / name / "case.json").read_text(encoding="utf-8"))
    model = onnx.load(case_folder / name / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(metadata["classes"]) == case["classes"]
    assert json.loads(metadata["features"]) == case["names"]
    assert len(case["names"]) == case["features"]
    assert metadata["score"] == case["score"]
    assert json.loads(metadata.get("threshold", "null")) == case["threshold"]
    assert metadata["threshold_chosen"]
    description = json.loads(metadata["scorewise"])
    assert json.loads(metadata["encoder"]) == description["encoder"]

    # The description in the metadata equals the one in the header of the model file.
    with open(case_folder / name / "model.scorewise", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    assert json.loads(header["__metadata__"]["scorewise"]) == description


def test_exported_adult_model_gives_the_same_labels_as_scorewise_predict(tmp_path):
    model, exported, predictions = tmp_path / "adult.scorewise", tmp_path / "adult.onnx", tmp_path / "predictions.csv"
    # After five epochs the model predicts both classes, which is enough for this test.
    train = ["train", "adult", "--epochs", "5", "--ensemble", "2", "--replicates", "10", "-o", model]
    for arguments in (train, ["predict", model, "adult-test", "-o", predictions], ["export", model, "--onnx", exported]):
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True)
    subprocess.run([COMMAND.parent / "examples" / "onnx_case", tmp_path, model, "adult-test"], check=True)

    case = json.loads((tmp_path / "case.json").read_text(encoding="utf-8"))
    assert case["rows"] == 16281
    rows = numpy.fromfile(tmp_path / "rows.f32", "<f4").reshape(case["rows"], case["features"])
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"x": rows})

    with open(predictions, encoding="utf-8", newline="") as lines:
        expected = list(csv.DictReader(lines))
    assert numpy.abs(probability - [float(row["probability"]) for row in expected]).max() < 1e-5
    labels = [int(row["decision"]) for row in expected]
    numpy.testing.assert_array_equal(label, labels)
    assert 1000 < sum(labels) < 15000


def write_storm_table(path, rows, seed):
    """Write a table of weather stations with times in four formats, numbers, strings, ordered categories, booleans, and missing values."""
    generator = random.Random(seed)
    start = datetime.datetime(1969, 6, 1, 3)
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["time", "station", "wind", "gust", "sky", "size", "alarm", "code", "storm"])
        for row in range(rows):
            at = start + datetime.timedelta(hours=7 * row, minutes=generator.randrange(60), seconds=generator.randrange(60))
            wind = generator.gauss(10, 4)
            # Storms are more frequent in the evening, at weekends and in winter, so that the network has to use the time.
            season = math.cos(2 * math.pi * (at - datetime.datetime(1969, 1, 15)).days / 365.2425)
            odds = 0.4 * (wind - 12) + 1.5 * season + (1.0 if at.hour >= 18 else 0.0) + (1.0 if at.weekday() >= 5 else 0.0)
            time = [
                at.isoformat(),
                f"{at + datetime.timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+01:00",
                f"{at - datetime.timedelta(hours=5, minutes=30):%Y-%m-%d %H:%M:%S}.250-05:30",
                f"{at:%Y-%m-%d %H:%M:%S}Z",
            ][row % 4]
            out.writerow(
                [
                    "" if generator.random() < 0.05 else time,
                    generator.choice(["", *(f"station {at}" for at in range(12))]),
                    "" if generator.random() < 0.1 else f"{wind:.3f}",
                    1e9 if seed == 2 and row == 50 else f"{wind + abs(generator.gauss(0, 3)):.2f}",
                    "" if generator.random() < 0.1 else generator.choice([f"cloud {at}" for at in range(60 + 5 * seed)]),
                    "" if generator.random() < 0.1 else generator.choice(["small", "medium", "large"]),
                    generator.choice(["true", "false", ""]),
                    generator.choice([1, 2, 5]),
                    int(generator.random() < 1 / (1 + math.exp(-odds))),
                ]
            )


def seconds_since_1970(cell):
    """Convert a time to seconds as docs/model-file.md specifies: to UTC if it has an offset, otherwise without conversion."""
    at = datetime.datetime.fromisoformat(cell.replace("Z", "+00:00"))
    return math.floor((at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)).timestamp())


def encode(encoder, rows):
    """Encode rows of strings. Implements only what the section "Inputs of the encoder" of docs/model-file.md says."""
    group, time, step = encoder["group"], encoder["time"], encoder["step"]
    times = [seconds_since_1970(row[time]) if time is not None and row[time] else None for row in rows]
    known = [moment for moment in times if moment is not None]
    is_descending = any(early > late for early, late in itertools.pairwise(known)) and all(early >= late for early, late in itertools.pairwise(known))
    order = list(range(len(rows)))[:: -1 if is_descending else 1]
    if time is not None:
        order = sorted((row for row in order if times[row] is not None), key=lambda row: times[row])
    series = {}
    for row in order:
        series.setdefault(None if group is None else rows[row][group], []).append(row)
    positions = {row: (members, position) for members in series.values() for position, row in enumerate(members)}

    def earlier_row(row, lag):
        """Return the row that is `lag` steps earlier in the same series, or None if there is none."""
        if lag == 0:
            return rows[row]
        members, position = positions.get(row, ([], 0))
        if step is None:
            return rows[members[position - lag]] if members and position >= lag else None
        matches = [other for other in members if times[other] == times[row] - lag * step]
        return rows[matches[0]] if matches else None

    def standardise(x, scale):
        """Subtract the mean, divide by the standard deviation, and limit the result to the interval from -1e6 to 1e6."""
        return min(max((x - scale["mean"]) / scale["deviation"], -1e6), 1e6)

    def encode_binned_cell(column, cell):
        """Return the number that encodes a cell of a binned input: an index or, for a value between two knots, a number between their indices."""
        missing = cell == ""
        if column["coding"] == "levels":
            levels = column["levels"]
            if missing:
                return len(levels) + (1 if column["missing"] else 0)
            known = [float(level) == float(cell) if column["kind"] == "number" else level == cell for level in levels]
            return known.index(True) if any(known) else len(levels)
        assert column["coding"] == "knots"
        knots, own = column["knots"], column["own"]
        if missing and column["missing"]:
            return len(knots) + len(own)
        if missing:
            x = column["median"]
        elif column["kind"] == "time":
            t = seconds_since_1970(cell)
            x = {"hour": t % 86400 / 3600, "weekday": (t // 86400 + 3) % 7, "yearday": t % 31556952 // 86400}[column["part"]]
        else:
            x = {"true": 1.0, "false": 0.0}[cell] if column["kind"] == "boolean" else float(cell)
        if not missing and x in own:
            return len(knots) + own.index(x)
        after = bisect.bisect_right(knots, x)
        if after in (0, len(knots)):
            return max(after - 1, 0)
        return after - 1 + (x - knots[after - 1]) / (knots[after] - knots[after - 1])

    def encode_cell(column, cell):
        """Return the numbers that encode a cell."""
        if column["coding"] in ("knots", "levels"):
            return [encode_binned_cell(column, cell)]
        missing, indicator = cell == "", [1.0 if cell == "" else 0.0] if column["indicator"] else []
        if column["coding"] == "number":
            if missing:
                return [0.0, *indicator]
            x = {"true": 1.0, "false": 0.0}[cell] if column["kind"] == "boolean" else float(cell)
            return [standardise(x, column), *indicator]
        if column["coding"] == "time":
            values = []
            for cycle in column["cycles"]:
                if missing:
                    values += [0.0, 0.0]
                    continue
                t = seconds_since_1970(cell)
                phase = {
                    "day": t % 86400 / 86400,
                    "week": (t + 259200) % 604800 / 604800,
                    "year": t % 31556952 / 31556952,
                }[cycle]
                values += [math.sin(2 * math.pi * phase), math.cos(2 * math.pi * phase)]
            return [*values, *indicator]
        levels = column["levels"]
        known = [float(level) == float(cell) if column["kind"] == "number" else level == cell for level in levels] if not missing else []
        if column["coding"] == "ordinal":
            if not any(known):
                return [0.0, 1.0] if column["indicator"] else [0.0]
            return [standardise(known.index(True), column), *indicator]
        assert column["coding"] == "onehot"
        values = [float(is_level) for is_level in known] or [0.0] * len(levels)
        if column["rest"]:
            values.append(1.0 if not missing and not any(known) else 0.0)
        values += indicator
        scales = column.get("scales") or []
        return [standardise(x, scale) for x, scale in zip(values, scales, strict=True)] if scales else values

    matrix = []
    for row in range(len(rows)):
        values = []
        for column in encoder["inputs"]:
            source = earlier_row(row, column["lag"])
            values += encode_cell(column, "" if source is None else source[column["column"]])
        matrix.append(values)
    return numpy.array(matrix, dtype=numpy.float32)


def test_encoding_example_in_the_documentation_follows_its_formulas():
    column = {"column": "t", "kind": "time", "lag": 0, "coding": "time", "cycles": ["day", "week", "year"], "indicator": False}
    encoded = encode({"inputs": [column], "group": None, "time": None, "step": None}, [{"t": "2010-01-31T18:00:00"}])
    document = (ROOT / "docs" / "model-file.md").read_text(encoding="utf-8")
    example = document.split("all three cycles gives\n")[1].split(".\n")[0].replace("−", "-")
    numpy.testing.assert_allclose(encoded[0], [float(number) for number in example.split(", ")], atol=1e-6)


@pytest.mark.parametrize(
    "setup", [["--split", "random"], ["--split", "time", "--lags", "2"], ["--split", "group:station", "--lags", "2"]], ids=["rows", "lags", "groups"]
)
@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_rows_encoded_as_documented_give_the_same_predictions_as_scorewise_predict(tmp_path, setup, recipe):
    write_storm_table(tmp_path / "train.csv", 1500, seed=1)
    write_storm_table(tmp_path / "new.csv", 700, seed=2)
    model, exported, predictions = tmp_path / "m.scorewise", tmp_path / "m.onnx", tmp_path / "p.csv"
    options = ["--target", "storm", "--positive", "1", "--score", "tss", "--ordinal", "size=small<medium<large", "--categorical", "code"]
    options += ["--epochs", "30", "--replicates", "10", "--report", "none", "--recipe", recipe]
    for arguments in (
        ["train", tmp_path / "train.csv", *options, *setup, "-o", model],
        ["predict", model, tmp_path / "new.csv", "-o", predictions],
        ["export", model, "--onnx", exported],
    ):
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True)
    metadata = {entry.key: entry.value for entry in onnx.load(exported).metadata_props}
    encoder, features = json.loads(metadata["encoder"]), json.loads(metadata["features"])
    with open(tmp_path / "new.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    matrix = encode(encoder, rows)
    assert matrix.shape == (len(rows), len(features))
    codings = {column["coding"] for column in encoder["inputs"]}
    if recipe == "default":
        assert codings == {"knots", "levels"}
        assert {"time hour", "time weekday", "time day of the year"} <= set(features)
    else:
        assert codings == {"number", "onehot", "ordinal", "time"} and any(column.get("rest") for column in encoder["inputs"])
        assert all(f"time {cycle} {wave}" in features for cycle in ("day", "week", "year") for wave in ("sin", "cos"))

    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"x": matrix})
    with open(predictions, encoding="utf-8", newline="") as lines:
        expected = list(csv.DictReader(lines))
    assert len(expected) == len(rows)
    assert numpy.abs(probability - [float(row["probability"]) for row in expected]).max() < 1e-6
    classes = json.loads(metadata["classes"])
    label_column = "decision" if "decision" in expected[0] else "label"
    assert [classes[at] for at in label.tolist()] == [row[label_column] for row in expected]
    assert 50 < label.sum() < len(rows) - 50

    # The encoded matrix equals the matrix of the native encoder.
    subprocess.run([COMMAND.parent / "examples" / "onnx_case", tmp_path / "case", model, tmp_path / "new.csv"], check=True)
    native = numpy.fromfile(tmp_path / "case" / "rows.f32", "<f4").reshape(matrix.shape)
    for at, name in enumerate(features):
        numpy.testing.assert_allclose(matrix[:, at], native[:, at], rtol=1e-6, atol=1e-7, err_msg=name)
