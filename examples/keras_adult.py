"""Train a Keras 3 network for F1 on the Adult data, as in Marchetti et al. (2022), on any backend; then save and load it.

    KERAS_BACKEND=jax python examples/keras_adult.py
"""

from __future__ import annotations

import csv
import gzip
import os
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

import scorewise as sw
from scorewise.keras import ScoreLoss, output_bias

FILE = Path(__file__).parent.parent / "crates/scorewise-table/data" / "adult.data.gz"
PRIOR = "cosine:0.5,0.1"


def read_adult() -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised features, with categories one-hot encoded, and the labels."""
    with gzip.open(FILE, "rt", newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15 and "?" not in row]
    columns = list(zip(*rows, strict=True))
    y = np.array([value.startswith(">50K") for value in columns.pop()], np.float32)
    features: list[np.ndarray] = []
    for column in columns:
        try:
            features.append(np.array(column, float)[:, None])
        except ValueError:
            levels = sorted(set(column))
            features.append((np.array(column)[:, None] == np.array(levels)).astype(float))
    x = np.concatenate(features, 1)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32), y


def main() -> None:
    """Train a Keras network for F1 on the Adult data and print its test scores."""
    x, y = read_adult()
    keras.utils.set_random_seed(0)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: 4 * len(y) // 5], order[4 * len(y) // 5 :]
    model = keras.Sequential([
        keras.Input((x.shape[1],)),
        keras.layers.Dense(50, activation="relu"),
        keras.layers.Dense(20, activation="relu"),
        keras.layers.Dense(5, activation="relu"),
        # The bias puts the first predictions inside the support of the prior; outside the support, the gradient would be 0.
        keras.layers.Dense(1, activation="sigmoid", bias_initializer=output_bias(PRIOR),
                           kernel_initializer=keras.initializers.RandomNormal(stddev=0.05)),
    ])  # fmt: skip
    # In the reference implementation of Marchetti et al. (2022), the same loss is SOL(score="f1_score", distribution="cosine", mu=.5, delta=.1).
    model.compile(keras.optimizers.Adam(1e-3), ScoreLoss("f1", PRIOR))
    model.fit(x[train], y[train], batch_size=256, epochs=12, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "adult.keras")
        model = keras.models.load_model(Path(folder) / "adult.keras")
    p = model.predict(x[test], verbose=0)[:, 0]
    result, best = sw.score(y[test], p, scores="f1").scores["f1"], sw.sweep(y[test], p).best("f1")
    print(f"F1 of {len(test)} test rows at threshold 0.5:  {result['value']:.4f}  (95 % {result['low']:.4f} to {result['high']:.4f})")
    print(f"at the best threshold for these rows, {best.threshold:.3f}:  {best.value:.4f}")


if __name__ == "__main__":
    main()
