"""Tests that the PyTorch losses give the values and gradients of the Rust crate."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from registry import every_prior, every_score

import scorewise as sw
from scorewise import _scorewise
from scorewise.torch import ScoreLoss, TemporalScoreLoss, init_output_layer

ROWS = 300


def random_rows(seed: int, shape: tuple[int, ...] = (ROWS,)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random logits, labels and weights."""
    random = np.random.default_rng(seed)
    return 2.0 * random.normal(size=shape), random.random(shape) < 0.3, random.random(shape[0]) + 0.1


def value_and_gradient(loss: torch.nn.Module, z: np.ndarray, y: object, w: np.ndarray | None, dtype: torch.dtype) -> tuple[float, np.ndarray]:
    """Return the loss and its gradient with respect to the logits z, for labels y and weights w."""
    logits = torch.tensor(z, dtype=dtype, requires_grad=True)
    weights = None if w is None else torch.tensor(w, dtype=dtype)
    value = loss(logits, torch.as_tensor(y), weights)
    value.backward()
    return value.item(), logits.grad.double().numpy()


def assert_close(value: float, gradient: np.ndarray, expected: float, expected_gradient: np.ndarray, tolerance: float) -> None:
    """Assert that a loss and its gradient equal the expected ones. The tolerance is relative for large values and absolute for small values."""
    assert abs(value - expected) <= tolerance * max(1.0, abs(expected))
    assert np.abs(gradient - expected_gradient).max() <= tolerance * max(np.abs(expected_gradient).max(), 1e-3)


@pytest.mark.parametrize("score", every_score())
def test_loss_of_every_score_and_prior_equals_the_loss_of_the_rust_crate(score: str) -> None:
    z, y, w = random_rows(1)
    for prior in every_prior():
        expected, expected_gradient = sw.loss_and_gradient(y, z, score, prior, weights=w)
        assert_close(*value_and_gradient(ScoreLoss(score, prior), z, y, w, torch.float64), expected, expected_gradient, 1e-10)
        assert_close(*value_and_gradient(ScoreLoss(score, prior), z, y, w, torch.float32), expected, expected_gradient, 1e-5)


def test_losses_of_score_formulas_equal_the_losses_of_the_rust_crate() -> None:
    z, y, _ = random_rows(2)
    for formula in ("0.5*tss + 0.5*csi", "sqrt(recall*precision)", "max(f1, 0.2)", "tp^0.5/(p + 1)^2", "exp(-fp/n)*abs(tss)"):
        expected, expected_gradient = sw.loss_and_gradient(y, z, formula, "uniform")
        assert_close(*value_and_gradient(ScoreLoss(formula, "uniform"), z, y, None, torch.float64), expected, expected_gradient, 1e-10)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("score", ["f1", "tss", "hss", "frequency_bias", "mcc"])
def test_multiclass_and_multilabel_losses_equal_the_losses_of_the_rust_crate(average: str, score: str) -> None:
    classes, priors = 4, ["cosine:0.5,0.3", "uniform", "beta:2,5", "cosine:0.3,0.2"]
    random = np.random.default_rng(3)
    z, w = 2.0 * random.normal(size=(ROWS, classes)), random.random(ROWS)
    z[0] = [40.0, 0.0, -3.0, 5.0]  # a row with a probability very close to 1
    class_numbers, flags = random.integers(classes, size=ROWS), random.random((ROWS, classes)) < 0.3
    for task, labels in (("multiclass", class_numbers), ("multilabel", flags)):
        for loss_priors in (priors, ["cosine:0.5,0.2"]):
            expected, expected_gradient = _scorewise.class_loss(
                (labels.astype(np.uint32) if task == "multiclass" else labels.ravel(), z.ravel(), w),
                classes, score, loss_priors, average, True,
            )  # fmt: skip
            loss = ScoreLoss(score, loss_priors, task=task, average=average)
            value, gradient = value_and_gradient(loss, z, labels, w, torch.float64)
            assert_close(value, gradient.ravel(), expected, expected_gradient, 1e-10)
            value, gradient = value_and_gradient(loss, z, labels, w, torch.float32)
            assert_close(value, gradient.ravel(), expected, expected_gradient, 1e-5)


def test_multiclass_logits_of_images_have_classes_on_the_second_axis() -> None:
    random = np.random.default_rng(4)
    z, class_numbers = random.normal(size=(2, 3, 5, 6)), random.integers(3, size=(2, 5, 6))
    flat = np.moveaxis(z, 1, -1).reshape(-1, 3)
    expected = ScoreLoss("f1", task="multiclass")(torch.tensor(flat), torch.tensor(class_numbers.ravel()))
    assert ScoreLoss("f1", task="multiclass")(torch.tensor(z), torch.tensor(class_numbers)).item() == pytest.approx(expected.item(), abs=1e-14)


@pytest.mark.parametrize("weighting", ["value", "sum", "maximum"])
@pytest.mark.parametrize("score", ["csi", "tss", "f1", "hss"])
def test_temporal_loss_equals_the_temporal_loss_of_the_rust_crate(weighting: str, score: str) -> None:
    random = np.random.default_rng(5)
    sequences, steps = 7, 12
    z = 2.0 * random.normal(size=(sequences, steps))
    y, w = random.random((sequences, steps)) < 0.2, random.random((sequences, steps))
    loss = TemporalScoreLoss(score, "cosine:0.5,0.4", weighting=weighting)
    sequence_numbers = np.repeat(np.arange(sequences, dtype=np.uint32), steps)
    expected, expected_gradient = _scorewise.temporal_loss(
        (y.ravel(), z.ravel(), w.ravel()), sequence_numbers, score, "cosine:0.5,0.4", (weighting, list(loss.masks)), True
    )
    value, gradient = value_and_gradient(loss, z, y, w, torch.float64)
    assert_close(value, gradient.ravel(), expected, expected_gradient, 1e-10)
    # If series are padded and the padding is masked, the loss does not change, and the gradient of the padding is 0.
    padded = [np.concatenate([part, np.ones((sequences, 4))], 1) for part in (z, y, w)]
    mask = torch.arange(steps + 4).expand(sequences, -1) < steps
    logits = torch.tensor(padded[0], requires_grad=True)
    padded_loss = loss(logits, torch.tensor(padded[1]), torch.tensor(padded[2]), mask)
    padded_loss.backward()
    assert padded_loss.item() == pytest.approx(expected, abs=1e-12)
    assert logits.grad[:, steps:].abs().max() == 0


def test_probabilities_are_accepted_instead_of_logits() -> None:
    z, y, w = random_rows(6)
    expected = sw.loss(y, 1 / (1 + np.exp(-z)), "csi", weights=w)
    p = torch.sigmoid(torch.tensor(z))
    assert ScoreLoss("csi", from_logits=False)(p, torch.tensor(y), torch.tensor(w)).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("labels", [np.zeros(ROWS, bool), np.ones(ROWS, bool)])
def test_gradient_is_finite_if_a_batch_lacks_a_class(labels: np.ndarray) -> None:
    z, _, _ = random_rows(7)
    for score in every_score():
        for logits in (z, np.full(ROWS, -90.0), np.full(ROWS, 90.0)):
            tensor = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
            value = ScoreLoss(score, "uniform")(tensor, torch.tensor(labels))
            value.backward()
            assert torch.isfinite(value) and torch.isfinite(tensor.grad).all(), (score, labels[0], logits[0])


def test_nan_logits_give_a_nan_loss_and_infinite_logits_a_finite_loss() -> None:
    z, y, _ = random_rows(8)
    z[5] = np.nan
    assert torch.isnan(ScoreLoss("f1")(torch.tensor(z), torch.tensor(y)))
    z[5] = np.inf
    expected = sw.loss(y, z, "f1", from_logits=True)
    assert ScoreLoss("f1")(torch.tensor(z), torch.tensor(y)).item() == pytest.approx(expected, abs=1e-12)


def test_loss_is_computed_in_single_precision_under_autocast() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(8, 1), torch.randn(20_000, 8)
    y = torch.rand(20_000) < 0.01
    loss = ScoreLoss("tss", "cosine:0.5,0.4")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(x)[:, 0]
        assert logits.dtype == torch.bfloat16
        value = loss(logits, y)
    assert value.dtype == torch.float32
    expected = sw.loss(y.numpy(), logits.detach().float().numpy(), "tss", "cosine:0.5,0.4", from_logits=True)
    assert value.item() == pytest.approx(expected, abs=1e-5)
    value.backward()
    assert torch.isfinite(layer.weight.grad).all()


def test_compiled_loss_is_a_single_graph_and_gives_the_same_result() -> None:
    z, y, w = random_rows(9)
    loss = ScoreLoss("csi", "cosine:0.5,0.3")
    expected = value_and_gradient(loss, z, y, w, torch.float32)
    value, gradient = value_and_gradient(torch.compile(loss, fullgraph=True, backend="aot_eager"), z, y, w, torch.float32)
    assert_close(value, gradient, *expected, 1e-6)


def test_accumulated_gradient_of_micro_batches_is_the_gradient_of_the_whole_batch() -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    x, y = torch.randn(500, 5, dtype=torch.float64), torch.rand(500) < 0.05
    loss = ScoreLoss("f1", "cosine:0.5,0.4")
    expected = loss(model(x)[:, 0], y)
    expected.backward()
    expected_gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    parts = list(zip(torch.tensor_split(x, 8), torch.tensor_split(y, 8), strict=True))
    accumulation = loss.accumulate()
    for part, labels in parts:
        with torch.no_grad():
            accumulation.count(model(part)[:, 0], labels)
    for part, labels in parts:
        value = accumulation(model(part)[:, 0], labels)
        assert value.item() == pytest.approx(expected.item(), abs=1e-14)
        value.backward()
    for parameter, gradient in zip(model.parameters(), expected_gradients, strict=True):
        assert (parameter.grad - gradient).abs().max() <= 1e-6 * gradient.abs().max()
    with pytest.raises(ValueError, match="start the next batch with a new `loss.accumulate"):
        accumulation.count(model(x)[:, 0], y)
    with pytest.raises(ValueError, match="no rows have been counted"):
        loss.accumulate()(model(x)[:, 0], y)


def test_initial_predictions_lie_inside_the_support_of_the_prior() -> None:
    for seed in range(20):
        for prior in ("cosine:0.5,0.1", "cosine:0.3,0.05", "cosine:0.9,0.05"):
            torch.manual_seed(seed)
            model = torch.nn.Sequential(torch.nn.Linear(6, 15), torch.nn.ReLU(), torch.nn.Linear(15, 1))
            x = 3.0 * torch.randn(200, 6)
            init_output_layer(model, prior, x)
            p, (low, high) = torch.sigmoid(model(x)), _scorewise.prior_facts(prior)[2]
            assert low < p.min() and p.max() < high, (seed, prior)
            ScoreLoss("tss", prior)(model(x)[:, 0], torch.rand(200) < 0.2).backward()
            assert model[0].weight.grad.abs().max() > 0
    with pytest.raises(ValueError, match="no layer"):
        init_output_layer(torch.nn.ReLU())


def test_training_reaches_nearly_the_best_score_at_the_mean_of_the_prior() -> None:
    torch.manual_seed(2)
    x = torch.randn(2000, 2)
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.3 * torch.randn(2000)) > 1.8
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    prior = "cosine:0.5,0.2"
    init_output_layer(model, prior, x)
    loss, optimizer = ScoreLoss("csi", prior), torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(200):
        optimizer.zero_grad()
        loss(model(x)[:, 0], y).backward()
        optimizer.step()
    p = torch.sigmoid(model(x)[:, 0]).detach().numpy()
    best = sw.sweep(y.numpy(), p).best("csi").value
    at_half = sw.score(y.numpy(), p, scores="csi", replicates=1).scores["csi"]["value"]
    assert at_half > 0.7 and best - at_half < 0.02


def test_losses_can_be_copied_pickled_and_printed() -> None:
    z, y, _ = random_rows(10)
    loss = ScoreLoss("tss", "cosine:0.5,0.1")
    expected = loss(torch.tensor(z), torch.tensor(y)).item()
    for restored in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert restored(torch.tensor(z), torch.tensor(y)).item() == expected
    assert repr(loss) == "ScoreLoss('tss', 'cosine:0.5,0.1', task='binary')"


def test_invalid_arguments_raise_clear_errors() -> None:
    z, y = torch.zeros(4), torch.zeros(3)
    with pytest.raises(ValueError, match="targets must have the shape of the logits"):
        ScoreLoss("f1")(z, y)
    with pytest.raises(ValueError, match="did you mean `precision`"):
        ScoreLoss("presicion")
    with pytest.raises(ValueError, match="must lie in"):
        ScoreLoss("f1", "cosine:0.95,0.1")
    with pytest.raises(ValueError, match="prior must be a string such as 'cosine:0.5,0.1', not 0.5"):
        ScoreLoss("f1", 0.5)
    with pytest.raises(ValueError, match="task must be binary, multilabel or multiclass"):
        ScoreLoss("f1", task="regression")
    with pytest.raises(ValueError, match="2 priors for 3 classes"):
        ScoreLoss("f1", ["uniform", "uniform"], task="multilabel")(torch.zeros(5, 3), torch.zeros(5, 3))
    with pytest.raises(ValueError, match="do not increase"):
        TemporalScoreLoss("csi", masks=(0.1, 0.5))
