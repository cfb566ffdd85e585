"""PyTorch: smog in Beijing, forecast one hour ahead, trained for the true skill statistic.

    python examples/pytorch.py

Two networks of one shape: one with cross-entropy, one with `ScoreLoss`. The second needs no threshold looked for: it is the centre of the
prior. The last lines train with micro-batches whose gradients add up to that of the whole batch.
"""

from __future__ import annotations

import numpy as np
import pollution
import torch

import scorewise as sw
from scorewise.torch import ScoreLoss, init_output_layer

PRIOR = "cosine:0.5,0.3"


def network(inputs: int) -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, 15), torch.nn.ReLU(), torch.nn.Linear(15, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0)
    )


def tensors(part: pollution.Part) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(part.x.astype(np.float32)), torch.from_numpy(part.y.astype(np.float32))


def fit(loss: torch.nn.Module, model: torch.nn.Module, train: pollution.Part, tune: pollution.Part, epochs: int = 800) -> torch.nn.Module:
    """Full batches; the weights of the lowest validation loss are kept."""
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=0.01)
    (x, y), (validation_x, validation_y) = (tensors(part) for part in (train, tune))
    lowest, kept = np.inf, model.state_dict()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            now = loss(model(validation_x), validation_y).item()
        if now < lowest:
            lowest, kept = now, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    return model


def main() -> None:
    torch.set_num_threads(1)
    train, tune, test = pollution.read(scaled=True)
    inputs = train.x.shape[1]
    plain = fit(torch.nn.BCEWithLogitsLoss(), network(inputs), train, tune)
    scored = fit(ScoreLoss("tss", PRIOR), init_output_layer(network(inputs), PRIOR, tensors(train)[0]), train, tune)

    def forecast(model: torch.nn.Module, part: pollution.Part) -> np.ndarray:
        with torch.no_grad():
            return torch.sigmoid(model(tensors(part)[0])).numpy()

    tuned = sw.sweep(tune.y, forecast(plain, tune)).best("tss").threshold
    print(f"{'TSS of the year that was kept away':<44} value     95 %")
    for name, model, threshold in (
        ("cross-entropy at 0.5", plain, 0.5),
        (f"cross-entropy at its best threshold, {tuned:.3f}", plain, tuned),
        ("ScoreLoss at 0.5, untuned", scored, 0.5),
    ):
        found = sw.score(test.y, forecast(model, test), threshold, scores="tss", block=48).scores["tss"]
        print(f"{name:<44} {found['value']:.3f}  {found['low']:.3f} to {found['high']:.3f}")

    # A batch in eight parts: count first, then add gradients up.
    loss, (x, y) = ScoreLoss("tss", PRIOR), tensors(train)
    whole = loss.accumulate()
    parts = list(zip(x.tensor_split(8), y.tensor_split(8), strict=True))
    with torch.no_grad():
        for part, labels in parts:
            whole.count(scored(part), labels)
    scored.zero_grad()
    for part, labels in parts:
        whole(scored(part), labels).backward()
    added = scored[0].weight.grad.clone()
    scored.zero_grad()
    loss(scored(x), y).backward()
    print(f"\neight micro-batches against the whole batch: gradients differ by {(added - scored[0].weight.grad).abs().max():.1e}")


if __name__ == "__main__":
    main()
