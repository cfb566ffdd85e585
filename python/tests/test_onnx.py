"""An exported model gives, in onnxruntime, the probabilities and labels of our own predictor.

`onnx_case`, an example of the trainer that `./check` builds, writes models of many shapes, rows and our answers.
"""

import csv
import json
import os
import pathlib
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
    labels = [int(row["label"]) for row in ours]
    numpy.testing.assert_array_equal(label, labels)
    assert 1000 < sum(labels) < 15000
