"""Forecast smog in Beijing one hour ahead with PyTorch, trained for the true skill statistic (TSS).

    python examples/pytorch.py

Two networks of the same shape are trained, one with cross-entropy and one with `ScoreLoss`. The second network needs no tuned threshold: it
uses the mean of the prior. The last lines show that the gradients of micro-batches add up to the gradient of the whole batch.
"""

from __future__ import annotations

import numpy as np
import pollution
import torch

import scorewise as sw
from scorewise.torch import ScoreLoss, init_output_layer

PRIOR = "cosine:0.5,0.3"


def network(inputs: int) -> torch.nn.Sequential:
    """Return an untrained network, always with the same initial weights."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, 15), torch.nn.ReLU(), torch.nn.Linear(15, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0)
    )


def to_tensors(split: pollution.Split) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the features and the labels as tensors."""
    return torch.from_numpy(split.x.astype(np.float32)), torch.from_numpy(split.y.astype(np.float32))


def fit(loss: torch.nn.Module, model: torch.nn.Module, train: pollution.Split, tune: pollution.Split, epochs: int = 800) -> torch.nn.Module:
    """Train with full batches and keep the weights with the lowest validation loss."""
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=0.01)
    (x, y), (validation_x, validation_y) = (to_tensors(split) for split in (train, tune))
    lowest, best = np.inf, model.state_dict()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            current = loss(model(validation_x), validation_y).item()
        if current < lowest:
            lowest, best = current, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best)
    return model


def main() -> None:
    """Compare training for TSS with cross-entropy, and the gradient of eight micro-batches with that of the whole batch."""
    torch.set_num_threads(1)
    train, tune, test = pollution.read_splits(scaled=True)
    inputs = train.x.shape[1]
    cross_entropy = fit(torch.nn.BCEWithLogitsLoss(), network(inputs), train, tune)
    score_loss = fit(ScoreLoss("tss", PRIOR), init_output_layer(network(inputs), PRIOR, to_tensors(train)[0]), train, tune)

    def forecast(model: torch.nn.Module, split: pollution.Split) -> np.ndarray:
        """Return the predicted probabilities."""
        with torch.no_grad():
            return torch.sigmoid(model(to_tensors(split)[0])).numpy()

    tuned = sw.sweep(tune.y, forecast(cross_entropy, tune)).best("tss").threshold
    print(f"{'TSS of the test year':<44} value     95 %")
    for name, model, threshold in (
        ("cross-entropy at 0.5", cross_entropy, 0.5),
        (f"cross-entropy at the tuned threshold {tuned:.3f}", cross_entropy, tuned),
        ("ScoreLoss at 0.5, not tuned", score_loss, 0.5),
    ):
        result = sw.score(test.y, forecast(model, test), threshold, scores="tss", block=48).scores["tss"]
        print(f"{name:<44} {result['value']:.3f}  {result['low']:.3f} to {result['high']:.3f}")

    # The batch is divided into eight micro-batches. The first pass over them adds up the confusion matrix of the whole batch, and the second pass
    # computes the gradients.
    loss, (x, y) = ScoreLoss("tss", PRIOR), to_tensors(train)
    accumulation = loss.accumulate()
    batches = list(zip(x.tensor_split(8), y.tensor_split(8), strict=True))
    with torch.no_grad():
        for inputs, labels in batches:
            accumulation.count(score_loss(inputs), labels)
    score_loss.zero_grad()
    for inputs, labels in batches:
        accumulation(score_loss(inputs), labels).backward()
    accumulated = score_loss[0].weight.grad.clone()
    score_loss.zero_grad()
    loss(score_loss(x), y).backward()
    print(f"\nlargest difference between the gradient of eight micro-batches and that of the whole batch: {(accumulated - score_loss[0].weight.grad).abs().max():.1e}")


if __name__ == "__main__":
    main()
