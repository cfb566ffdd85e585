"""The losses for PyTorch: the Rust core's numbers, on tensors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from registries import every_prior, every_score

import scorewise as sw
from scorewise import _scorewise
from scorewise.torch import ScoreLoss, TemporalScoreLoss, init_output_layer

ROWS = 300


def rows(seed: int, shape: tuple[int, ...] = (ROWS,)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return 2.0 * random.normal(size=shape), random.random(shape) < 0.3, random.random(shape[0]) + 0.1


def computed(loss: torch.nn.Module, z: np.ndarray, y: object, w: np.ndarray | None, dtype: torch.dtype) -> tuple[float, np.ndarray]:
    logits = torch.tensor(z, dtype=dtype, requires_grad=True)
    weights = None if w is None else torch.tensor(w, dtype=dtype)
    value = loss(logits, torch.as_tensor(y), weights)
    value.backward()
    return value.item(), logits.grad.double().numpy()


def near(value: float, gradient: np.ndarray, expected: float, slopes: np.ndarray, tolerance: float) -> None:
    assert abs(value - expected) <= tolerance * max(1.0, abs(expected))
    assert np.abs(gradient - slopes).max() <= tolerance * max(np.abs(slopes).max(), 1e-3)


@pytest.mark.parametrize("score", every_score())
def test_every_score_and_prior_equals_the_core(score: str) -> None:
    z, y, w = rows(1)
    for prior in every_prior():
        expected, slopes = sw.loss_and_gradient(y, z, score, prior, weights=w)
        near(*computed(ScoreLoss(score, prior), z, y, w, torch.float64), expected, slopes, 1e-10)
        near(*computed(ScoreLoss(score, prior), z, y, w, torch.float32), expected, slopes, 1e-5)


def test_a_formula_of_ones_own_is_a_score_too() -> None:
    z, y, _ = rows(2)
    for formula in ("0.5*tss + 0.5*csi", "sqrt(recall*precision)", "max(f1, 0.2)", "tp^0.5/(p + 1)^2", "exp(-fp/n)*abs(tss)"):
        expected, slopes = sw.loss_and_gradient(y, z, formula, "uniform")
        near(*computed(ScoreLoss(formula, "uniform"), z, y, None, torch.float64), expected, slopes, 1e-10)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("score", ["f1", "tss", "hss", "frequency_bias", "mcc"])
def test_classes_and_labels_equal_the_core(average: str, score: str) -> None:
    classes, priors = 4, ["cosine:0.5,0.3", "uniform", "beta:2,5", "cosine:0.3,0.2"]
    random = np.random.default_rng(3)
    z, w = 2.0 * random.normal(size=(ROWS, classes)), random.random(ROWS)
    z[0] = [40.0, 0.0, -3.0, 5.0]  # a row that is sure
    truth, flags = random.integers(classes, size=ROWS), random.random((ROWS, classes)) < 0.3
    for task, labels in (("multiclass", truth), ("multilabel", flags)):
        for given in (priors, ["cosine:0.5,0.2"]):
            expected, slopes = _scorewise.class_loss(
                labels.astype(np.uint32).ravel(), task == "multiclass", z.ravel(), classes, w, score, given, average, True
            )
            loss = ScoreLoss(score, given, task=task, average=average)
            value, gradient = computed(loss, z, labels, w, torch.float64)
            near(value, gradient.ravel(), expected, slopes, 1e-10)
            value, gradient = computed(loss, z, labels, w, torch.float32)
            near(value, gradient.ravel(), expected, slopes, 1e-5)


def test_images_have_their_classes_on_the_second_axis() -> None:
    random = np.random.default_rng(4)
    z, truth = random.normal(size=(2, 3, 5, 6)), random.integers(3, size=(2, 5, 6))
    flat = np.moveaxis(z, 1, -1).reshape(-1, 3)
    expected = ScoreLoss("f1", task="multiclass")(torch.tensor(flat), torch.tensor(truth.ravel()))
    assert ScoreLoss("f1", task="multiclass")(torch.tensor(z), torch.tensor(truth)).item() == pytest.approx(expected.item(), abs=1e-14)


@pytest.mark.parametrize("weighting", ["value", "sum", "maximum"])
@pytest.mark.parametrize("score", ["csi", "tss", "f1", "hss"])
def test_sequences_equal_the_core(weighting: str, score: str) -> None:
    random = np.random.default_rng(5)
    sequences, steps = 7, 12
    z = 2.0 * random.normal(size=(sequences, steps))
    y, w = random.random((sequences, steps)) < 0.2, random.random((sequences, steps))
    loss = TemporalScoreLoss(score, "cosine:0.5,0.4", weighting=weighting)
    of = np.repeat(np.arange(sequences, dtype=np.uint32), steps)
    expected, slopes = _scorewise.temporal_loss(
        y.ravel(), z.ravel(), w.ravel(), of, score, "cosine:0.5,0.4", weighting, list(loss.masks), True
    )
    value, gradient = computed(loss, z, y, w, torch.float64)
    near(value, gradient.ravel(), expected, slopes, 1e-10)
    # Padded at the end, and masked: the same, and no slope where there is nothing.
    padded = [np.concatenate([part, np.ones((sequences, 4))], 1) for part in (z, y, w)]
    mask = torch.arange(steps + 4).expand(sequences, -1) < steps
    logits = torch.tensor(padded[0], requires_grad=True)
    longer = loss(logits, torch.tensor(padded[1]), torch.tensor(padded[2]), mask)
    longer.backward()
    assert longer.item() == pytest.approx(expected, abs=1e-12)
    assert logits.grad[:, steps:].abs().max() == 0


def test_probabilities_may_be_given_instead() -> None:
    z, y, w = rows(6)
    expected = sw.loss(y, 1 / (1 + np.exp(-z)), "csi", weights=w)
    p = torch.sigmoid(torch.tensor(z))
    assert ScoreLoss("csi", from_logits=False)(p, torch.tensor(y), torch.tensor(w)).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("labels", [np.zeros(ROWS, bool), np.ones(ROWS, bool)])
def test_a_batch_without_a_class_has_finite_slopes(labels: np.ndarray) -> None:
    z, _, _ = rows(7)
    for score in every_score():
        for logits in (z, np.full(ROWS, -90.0), np.full(ROWS, 90.0)):
            tensor = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
            value = ScoreLoss(score, "uniform")(tensor, torch.tensor(labels))
            value.backward()
            assert torch.isfinite(value) and torch.isfinite(tensor.grad).all(), (score, labels[0], logits[0])


def test_what_is_no_number_shows() -> None:
    z, y, _ = rows(8)
    z[5] = np.nan
    assert torch.isnan(ScoreLoss("f1")(torch.tensor(z), torch.tensor(y)))
    z[5], expected = np.inf, None
    expected = sw.loss(y, z, "f1", from_logits=True)
    assert ScoreLoss("f1")(torch.tensor(z), torch.tensor(y)).item() == pytest.approx(expected, abs=1e-12)


def test_autocast_sums_in_single_precision() -> None:
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


def test_compiled_whole_and_equal() -> None:
    z, y, w = rows(9)
    loss = ScoreLoss("csi", "cosine:0.5,0.3")
    expected = computed(loss, z, y, w, torch.float32)
    value, gradient = computed(torch.compile(loss, fullgraph=True, backend="aot_eager"), z, y, w, torch.float32)
    near(value, gradient, *expected, 1e-6)


def test_micro_batches_give_the_gradient_of_the_whole() -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    x, y = torch.randn(500, 5, dtype=torch.float64), torch.rand(500) < 0.05
    loss = ScoreLoss("f1", "cosine:0.5,0.4")
    expected = loss(model(x)[:, 0], y)
    expected.backward()
    whole_gradient = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    parts = list(zip(torch.tensor_split(x, 8), torch.tensor_split(y, 8), strict=True))
    whole = loss.accumulate()
    for part, labels in parts:
        with torch.no_grad():
            whole.count(model(part)[:, 0], labels)
    for part, labels in parts:
        value = whole(model(part)[:, 0], labels)
        assert value.item() == pytest.approx(expected.item(), abs=1e-14)
        value.backward()
    for parameter, gradient in zip(model.parameters(), whole_gradient, strict=True):
        assert (parameter.grad - gradient).abs().max() <= 1e-6 * gradient.abs().max()
    with pytest.raises(ValueError, match="second pass has begun"):
        whole.count(model(x)[:, 0], y)
    with pytest.raises(ValueError, match="count the micro-batches first"):
        loss.accumulate()(model(x)[:, 0], y)


def test_the_start_is_never_outside_the_support() -> None:
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


def test_it_trains_to_the_score_of_its_threshold() -> None:
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
    found = sw.sweep(y.numpy(), p)
    at_half = sw.score(y.numpy(), p, scores="csi", replicates=1).scores["csi"]["value"]
    assert at_half > 0.7 and found.best("csi").value - at_half < 0.02


def test_modules_can_be_copied_pickled_and_shown() -> None:
    z, y, _ = rows(10)
    loss = ScoreLoss("tss", "cosine:0.5,0.1")
    expected = loss(torch.tensor(z), torch.tensor(y)).item()
    for again in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert again(torch.tensor(z), torch.tensor(y)).item() == expected
    assert repr(loss) == "ScoreLoss('tss', 'cosine:0.5,0.1', task='binary')"


def test_mistakes_get_a_sentence() -> None:
    z, y = torch.zeros(4), torch.zeros(3)
    with pytest.raises(ValueError, match="targets must be of the logits' shape"):
        ScoreLoss("f1")(z, y)
    with pytest.raises(ValueError, match="did you mean `precision`"):
        ScoreLoss("presicion")
    with pytest.raises(ValueError, match="must lie in"):
        ScoreLoss("f1", "cosine:0.95,0.1")
    with pytest.raises(ValueError, match="prior must be a text such as 'cosine:0.5,0.1', not 0.5"):
        ScoreLoss("f1", 0.5)
    with pytest.raises(ValueError, match="task must be binary, multilabel or multiclass"):
        ScoreLoss("f1", task="regression")
    with pytest.raises(ValueError, match="2 priors for 3 classes"):
        ScoreLoss("f1", ["uniform", "uniform"], task="multilabel")(torch.zeros(5, 3), torch.zeros(5, 3))
    with pytest.raises(ValueError, match="do not rise"):
        TemporalScoreLoss("csi", masks=(0.1, 0.5))
