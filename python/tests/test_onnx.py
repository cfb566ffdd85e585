"""An exported model gives, in onnxruntime, the probabilities and labels of our own predictor.

`onnx_case`, an example of the trainer that `./check` builds, writes models of many shapes, rows and our answers.
"""

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
    "ensemble",
    "greatest",
    "linear-classes",
    "thresholds",
    "centres",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx")
    subprocess.run([COMMAND.parent / "examples" / "onnx_case", folder], check=True)
    return folder


def test_no_case_is_forgotten(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_runtime_agrees_with_our_predictions(folder, name):
    case = json.loads((folder / name / "case.json").read_text(encoding="utf-8"))
    rows = numpy.fromfile(folder / name / "rows.f32", "<f4").reshape(case["rows"], case["features"])
    ours = numpy.fromfile(folder / name / "probability.f64", "<f8")
    labels = numpy.fromfile(folder / name / "label.i64", "<i8")
    shape = (case["rows"],) if case["outputs"] == 1 else (case["rows"], case["outputs"])

    session = onnxruntime.InferenceSession(folder / name / "model.onnx", providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"x": rows})

    assert probability.shape == shape and probability.dtype == numpy.float64
    assert numpy.abs(probability - ours.reshape(shape)).max() < 1e-5
    assert label.dtype == numpy.int64
    numpy.testing.assert_array_equal(label, labels)
    assert len(set(labels.tolist())) > 1, "a case in which all labels are alike would show nothing"
    if case["threshold"] is not None:
        numpy.testing.assert_array_equal(label, probability > case["threshold"])

    # Any number of rows goes, also one and none.
    one, _ = session.run(["probability", "label"], {"x": rows[:1]})
    assert numpy.abs(one - probability[:1]).max() < 1e-6
    none, _ = session.run(["probability", "label"], {"x": rows[:0]})
    assert none.shape == (0, *shape[1:])


@pytest.mark.parametrize("name", CASES)
def test_file_is_sound_and_carries_what_a_user_needs(folder, name):
    case = json.loads((folder / name / "case.json").read_text(encoding="utf-8"))
    model = onnx.load(folder / name / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    notes = {note.key: note.value for note in model.metadata_props}
    assert json.loads(notes["classes"]) == case["classes"]
    assert json.loads(notes["features"]) == case["names"]
    assert len(case["names"]) == case["features"]
    assert notes["score"] == case["score"]
    assert json.loads(notes.get("threshold", "null")) == case["threshold"]
    assert notes["threshold_chosen"]
    description = json.loads(notes["scorewise"])
    assert json.loads(notes["encoder"]) == description["encoder"]

    # The same description as in the model file, whose header any JSON reader understands.
    with open(folder / name / "model.scorewise", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    assert json.loads(header["__metadata__"]["scorewise"]) == description


def test_adult_test_file_gets_the_labels_of_predict(tmp_path):
    model, exported, predictions = tmp_path / "adult.scorewise", tmp_path / "adult.onnx", tmp_path / "predictions.csv"
    # A few epochs are enough for labels of both kinds.
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
        ours = list(csv.DictReader(lines))
    assert numpy.abs(probability - [float(row["probability"]) for row in ours]).max() < 1e-5
    labels = [int(row["decision"]) for row in ours]
    numpy.testing.assert_array_equal(label, labels)
    assert 1000 < sum(labels) < 15000


def storms(path, rows, seed):
    """A table of stations with a time column of all the ways to write a time, numbers, texts, an order, booleans, and holes in all of them."""
    draw = random.Random(seed)
    begin = datetime.datetime(1969, 6, 1, 3)
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["time", "station", "wind", "gust", "sky", "size", "alarm", "code", "storm"])
        for row in range(rows):
            at = begin + datetime.timedelta(hours=7 * row, minutes=draw.randrange(60), seconds=draw.randrange(60))
            wind = draw.gauss(10, 4)
            # More often in the evening, at the week's end and in winter, so that the network has to use the time.
            season = math.cos(2 * math.pi * (at - datetime.datetime(1969, 1, 15)).days / 365.2425)
            odds = 0.4 * (wind - 12) + 1.5 * season + (1.0 if at.hour >= 18 else 0.0) + (1.0 if at.weekday() >= 5 else 0.0)
            written = [
                at.isoformat(),
                f"{at + datetime.timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+01:00",
                f"{at - datetime.timedelta(hours=5, minutes=30):%Y-%m-%d %H:%M:%S}.250-05:30",
                f"{at:%Y-%m-%d %H:%M:%S}Z",
            ][row % 4]
            out.writerow(
                [
                    "" if draw.random() < 0.05 else written,
                    draw.choice(["", *(f"station {at}" for at in range(12))]),
                    "" if draw.random() < 0.1 else f"{wind:.3f}",
                    1e9 if seed == 2 and row == 50 else f"{wind + abs(draw.gauss(0, 3)):.2f}",
                    "" if draw.random() < 0.1 else draw.choice([f"cloud {at}" for at in range(60 + 5 * seed)]),
                    "" if draw.random() < 0.1 else draw.choice(["small", "medium", "large"]),
                    draw.choice(["true", "false", ""]),
                    draw.choice([1, 2, 5]),
                    int(draw.random() < 1 / (1 + math.exp(-odds))),
                ]
            )


def seconds(cell):
    """A time as docs/model-file.md says: UTC where an offset is written, else as it stands."""
    at = datetime.datetime.fromisoformat(cell.replace("Z", "+00:00"))
    return math.floor((at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)).timestamp())


def encoded(encoder, rows):
    """The matrix of rows of texts, written from docs/model-file.md, section "Inputs of the encoder", and from nothing else."""
    group, time, step = encoder["group"], encoder["time"], encoder["step"]
    at = [seconds(row[time]) if time is not None and row[time] else None for row in rows]
    known = [moment for moment in at if moment is not None]
    falls = any(early > late for early, late in itertools.pairwise(known)) and all(early >= late for early, late in itertools.pairwise(known))
    order = list(range(len(rows)))[:: -1 if falls else 1]
    if time is not None:
        order = sorted((place for place in order if at[place] is not None), key=lambda place: at[place])
    series = {}
    for place in order:
        series.setdefault(None if group is None else rows[place][group], []).append(place)
    where = {place: (members, position) for members in series.values() for position, place in enumerate(members)}

    def back(place, lag):
        if lag == 0:
            return rows[place]
        members, position = where.get(place, ([], 0))
        if step is None:
            return rows[members[position - lag]] if members and position >= lag else None
        found = [other for other in members if at[other] == at[place] - lag * step]
        return rows[found[0]] if found else None

    def standardised(x, scale):
        return min(max((x - scale["mean"]) / scale["deviation"], -1e6), 1e6)

    def columns(one, cell):
        missing, indicator = cell == "", [1.0 if cell == "" else 0.0] if one["indicator"] else []
        if one["coding"] == "number":
            if missing:
                return [0.0, *indicator]
            x = {"true": 1.0, "false": 0.0}[cell] if one["kind"] == "boolean" else float(cell)
            return [standardised(x, one), *indicator]
        if one["coding"] == "time":
            found = []
            for cycle in one["cycles"]:
                if missing:
                    found += [0.0, 0.0]
                    continue
                t = seconds(cell)
                turn = {
                    "day": t % 86400 / 86400,
                    "week": (t + 259200) % 604800 / 604800,
                    "year": t % 31556952 / 31556952,
                }[cycle]
                found += [math.sin(2 * math.pi * turn), math.cos(2 * math.pi * turn)]
            return [*found, *indicator]
        levels = one["levels"]
        known = [float(level) == float(cell) if one["kind"] == "number" else level == cell for level in levels] if not missing else []
        if one["coding"] == "ordinal":
            if not any(known):
                return [0.0, 1.0] if one["indicator"] else [0.0]
            return [standardised(known.index(True), one), *indicator]
        assert one["coding"] == "onehot"
        found = [float(is_level) for is_level in known] or [0.0] * len(levels)
        if one["rest"]:
            found.append(1.0 if not missing and not any(known) else 0.0)
        found += indicator
        scales = one.get("scales") or []
        return [standardised(x, scale) for x, scale in zip(found, scales, strict=True)] if scales else found

    matrix = []
    for place in range(len(rows)):
        line = []
        for one in encoder["inputs"]:
            source = back(place, one["lag"])
            line += columns(one, "" if source is None else source[one["column"]])
        matrix.append(line)
    return numpy.array(matrix, dtype=numpy.float32)


def test_the_example_of_the_documentation_is_what_its_formulas_give():
    one = {"column": "t", "kind": "time", "lag": 0, "coding": "time", "cycles": ["day", "week", "year"], "indicator": False}
    found = encoded({"inputs": [one], "group": None, "time": None, "step": None}, [{"t": "2010-01-31T18:00:00"}])
    document = (ROOT / "docs" / "model-file.md").read_text(encoding="utf-8")
    written = document.split("all three cycles gives\n")[1].split(".\n")[0].replace("−", "-")
    numpy.testing.assert_allclose(found[0], [float(number) for number in written.split(", ")], atol=1e-6)


@pytest.mark.parametrize(
    "setup", [["--split", "random"], ["--split", "time", "--lags", "2"], ["--split", "group:station", "--lags", "2"]], ids=["rows", "lags", "groups"]
)
def test_rows_encoded_from_the_documentation_alone_get_the_predictions_of_predict(tmp_path, setup):
    storms(tmp_path / "train.csv", 1500, seed=1)
    storms(tmp_path / "new.csv", 700, seed=2)
    model, exported, predictions = tmp_path / "m.scorewise", tmp_path / "m.onnx", tmp_path / "p.csv"
    options = ["--target", "storm", "--positive", "1", "--score", "tss", "--ordinal", "size=small<medium<large", "--categorical", "code"]
    options += ["--epochs", "30", "--replicates", "10", "--report", "none"]
    for arguments in (
        ["train", tmp_path / "train.csv", *options, *setup, "-o", model],
        ["predict", model, tmp_path / "new.csv", "-o", predictions],
        ["export", model, "--onnx", exported],
    ):
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True)
    notes = {note.key: note.value for note in onnx.load(exported).metadata_props}
    encoder, features = json.loads(notes["encoder"]), json.loads(notes["features"])
    with open(tmp_path / "new.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    matrix = encoded(encoder, rows)
    assert matrix.shape == (len(rows), len(features))
    codings = {one["coding"] for one in encoder["inputs"]}
    assert codings == {"number", "onehot", "ordinal", "time"}
    assert any(one.get("rest") for one in encoder["inputs"]) and all(f"time {cycle} {wave}" in features for cycle in ("day", "week", "year") for wave in ("sin", "cos"))

    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"x": matrix})
    with open(predictions, encoding="utf-8", newline="") as lines:
        ours = list(csv.DictReader(lines))
    assert len(ours) == len(rows)
    assert numpy.abs(probability - [float(row["probability"]) for row in ours]).max() < 1e-6
    classes = json.loads(notes["classes"])
    decided = "decision" if "decision" in ours[0] else "label"
    assert [classes[at] for at in label.tolist()] == [row[decided] for row in ours]
    assert 50 < label.sum() < len(rows) - 50

    # And the matrix itself is that of our encoder.
    subprocess.run([COMMAND.parent / "examples" / "onnx_case", tmp_path / "case", model, tmp_path / "new.csv"], check=True)
    own = numpy.fromfile(tmp_path / "case" / "rows.f32", "<f4").reshape(matrix.shape)
    for at, name in enumerate(features):
        numpy.testing.assert_allclose(matrix[:, at], own[:, at], rtol=1e-6, atol=1e-7, err_msg=name)
