"""Tests that the Keras losses on JAX give the values and gradients of the Rust crate and, where it is correct, of the published reference."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import keras
import numpy as np
import pytest
from registry import every_prior, every_score

import scorewise as sw
from scorewise import _scorewise
from scorewise.keras import ScoreLoss, output_bias

ROWS = 300


def random_rows(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random logits, labels and weights."""
    random = np.random.default_rng(seed)
    return (2.0 * random.normal(size=ROWS)).astype(np.float32), random.random(ROWS) < 0.3, random.random(ROWS).astype(np.float32)


def value_and_gradient(loss: ScoreLoss, z: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> tuple[float, np.ndarray]:
    """Return the loss and its gradient with respect to the logits z, for labels y and weights w."""
    value, gradient = jax.value_and_grad(lambda logits: loss(y, logits, w))(z)
    return float(value), np.asarray(gradient, np.float64)


def assert_close(value: float, gradient: np.ndarray, expected: float, expected_gradient: np.ndarray, tolerance: float = 1e-5) -> None:
    """Assert that a loss and its gradient are close to the expected ones. The tolerance is relative to the expected values."""
    assert abs(value - expected) <= tolerance * max(1.0, abs(expected))
    assert np.abs(gradient - expected_gradient).max() <= tolerance * max(np.abs(expected_gradient).max(), 1e-3)


@pytest.mark.parametrize("score", every_score())
def test_loss_of_every_score_and_prior_equals_the_loss_of_the_rust_crate(score: str) -> None:
    z, y, w = random_rows(1)
    for prior in every_prior():
        expected, expected_gradient = sw.loss_and_gradient(y, z.astype(np.float64), score, prior, weights=w)
        assert_close(*value_and_gradient(ScoreLoss(score, prior, from_logits=True), z, y, w), expected, expected_gradient)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("score", ["f1", "tss", "mcc"])
def test_multiclass_and_multilabel_losses_equal_the_losses_of_the_rust_crate(average: str, score: str) -> None:
    classes, priors = 3, ["cosine:0.5,0.3", "uniform", "beta:2,5"]
    random = np.random.default_rng(2)
    z, w = (2.0 * random.normal(size=(ROWS, classes))).astype(np.float32), random.random(ROWS).astype(np.float32)
    class_numbers, flags = random.integers(classes, size=ROWS), random.random((ROWS, classes)) < 0.3
    for task, labels in (("multiclass", class_numbers), ("multilabel", flags)):
        expected, expected_gradient = _scorewise.class_loss(
            (labels.astype(np.uint32) if task == "multiclass" else labels.ravel(), z.astype(np.float64).ravel(), w.astype(np.float64)),
            classes, score, priors, average, True,
        )  # fmt: skip
        loss = ScoreLoss(score, priors, task=task, average=average, from_logits=True)
        value, gradient = value_and_gradient(loss, z, labels, w)
        assert_close(value, gradient.ravel(), expected, expected_gradient)
        if task == "multiclass":
            one_hot = np.eye(classes, dtype=np.float32)[class_numbers]
            assert value_and_gradient(loss, z, one_hot, w)[0] == pytest.approx(value, abs=1e-6)


REFERENCE = json.loads((Path(__file__).parent / "golden" / "keras_reference.json").read_text())


def prior_of(case: dict[str, Any]) -> str:
    """Return the prior of a test case as text, such as "cosine:0.5,0.1" for the reference's arguments `distribution="cosine", mu=.5, delta=.1`."""
    return "uniform" if case["distribution"] == "uniform" else f"cosine:{case['mu']},{case['delta']}"


@pytest.mark.parametrize("case", REFERENCE["binary"], ids=lambda case: f"{case['score']}-{prior_of(case)}")
def test_binary_losses_equal_the_losses_of_the_reference_implementation(case: dict[str, Any]) -> None:
    y, p = np.array(REFERENCE["labels"], bool), np.array(REFERENCE["probabilities"], np.float32)
    value, gradient = value_and_gradient(ScoreLoss(case["score"], prior_of(case)), p, y, None)
    assert_close(value, gradient, case["loss"], np.array(case["gradient"]))


@pytest.mark.parametrize("case", REFERENCE["multiclass"], ids=lambda case: f"{case['score']}-{prior_of(case)}")
def test_multiclass_losses_equal_the_reference_implementation_where_it_is_correct(case: dict[str, Any]) -> None:
    """Use the macro average and the same prior for all classes. With a prior for each class, or with the weighted average, the reference is wrong."""
    classes, p = np.array(REFERENCE["classes"]), np.array(REFERENCE["class_probabilities"], np.float32)
    loss = ScoreLoss(case["score"], prior_of(case), task="multiclass")
    assert float(loss(classes, p)) == pytest.approx(case["loss"], abs=1e-5)


def compiled_model(prior: str = "cosine:0.5,0.3") -> tuple[keras.Model, np.ndarray, np.ndarray]:
    """Return an untrained model that is compiled with a score loss, and features and labels to train it on."""
    keras.utils.set_random_seed(4)
    random = np.random.default_rng(4)
    x = random.normal(size=(1500, 2)).astype(np.float32)
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.3 * random.normal(size=1500) > 1.8).astype(np.float32)
    model = keras.Sequential([
        keras.Input((2,)),
        keras.layers.Dense(8, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid", bias_initializer=output_bias(prior)),
    ])  # fmt: skip
    model.compile(keras.optimizers.Adam(0.02), ScoreLoss("csi", prior))
    return model, x, y


def test_model_can_be_trained_saved_and_loaded(tmp_path: Path) -> None:
    model, x, y = compiled_model()
    history = model.fit(x, y, batch_size=1500, epochs=150, verbose=0).history["loss"]
    assert history[-1] < 0.4 < history[0]
    p = model.predict(x, verbose=0)[:, 0]
    assert sw.score(y, p, scores="csi", replicates=1).scores["csi"]["value"] > 0.6
    model.save(tmp_path / "model.keras")
    restored = keras.models.load_model(tmp_path / "model.keras")
    assert restored.evaluate(x, y, verbose=0, batch_size=1500) == pytest.approx(model.evaluate(x, y, verbose=0, batch_size=1500))
    assert restored.loss.get_config() == model.loss.get_config()


def test_confusion_matrix_of_the_loss_uses_the_sample_weights() -> None:
    z, y, w = random_rows(5)
    p = 1.0 / (1.0 + np.exp(-z))
    value = float(ScoreLoss("f1", "uniform")(y, p, w))
    assert value == pytest.approx(sw.loss(y, p, "f1", "uniform", weights=w), abs=1e-5)
    model, x, labels = compiled_model()
    model.fit(x, labels, sample_weight=np.where(labels == 1, 5.0, 1.0), epochs=2, verbose=0)


def test_loss_and_gradient_are_finite_at_probabilities_0_and_1_and_for_a_single_class() -> None:
    z, y, _ = random_rows(6)
    for score in ("f1", "tss", "mcc", "edi", "csi"):
        for labels in (y, np.zeros(ROWS, bool), np.ones(ROWS, bool)):
            for p in (1.0 / (1.0 + np.exp(-z)), np.zeros(ROWS, np.float32), np.ones(ROWS, np.float32)):
                value, gradient = value_and_gradient(ScoreLoss(score, "uniform"), p, labels, None)
                assert np.isfinite(value) and np.isfinite(gradient).all(), score


def test_invalid_arguments_raise_clear_errors() -> None:
    with pytest.raises(ValueError, match="did you mean"):
        ScoreLoss("presicion")
    with pytest.raises(ValueError, match="average must be"):
        ScoreLoss("f1", average="mean")
    with pytest.raises(ValueError, match="2 classes along its last axis"):
        ScoreLoss("f1", task="multilabel")(np.zeros((4, 3)), np.full((4, 2), 0.5, np.float32))


def test_keras_losses_are_the_same_on_the_torch_backend() -> None:
    script = Path(__file__).parent / "keras_backend.py"
    process = subprocess.run([sys.executable, script, "torch"], capture_output=True, text=True)
    assert process.returncode == 0 and process.stdout.split() == ["torch"], process.stderr
