"""Compare the Keras losses with the Rust crate and train a model, on the backend named by the argument.

test_keras.py runs this file as a separate process, because Keras cannot change its backend within a process.
"""

from __future__ import annotations

import os
import sys

os.environ["KERAS_BACKEND"] = sys.argv[1]

import keras
import numpy as np

import scorewise as sw
from scorewise.keras import ScoreLoss, output_bias

random = np.random.default_rng(0)
z, y, w = (2 * random.normal(size=300)).astype(np.float32), random.random(300) < 0.3, random.random(300).astype(np.float32)
for score in ("f1", "tss", "hss", "mcc", "edi", "frequency_bias"):
    for prior in ("uniform", "cosine:0.5,0.1", "beta:2,5", "mix:0.05,cosine:0.5,0.1"):
        value = float(keras.ops.convert_to_numpy(ScoreLoss(score, prior, from_logits=True)(y, z, w)))
        expected = sw.loss(y, z.astype(float), score, prior, weights=w, from_logits=True)
        assert abs(value - expected) <= 1e-5 * max(1.0, abs(expected)), (score, prior)

keras.utils.set_random_seed(0)
x = random.normal(size=(1000, 2)).astype(np.float32)
t = (x.sum(1) > 2).astype(np.float32)
prior = "cosine:0.5,0.3"
hidden, output = keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid", bias_initializer=output_bias(prior))
model = keras.Sequential([keras.Input((2,)), hidden, output])
model.compile(keras.optimizers.Adam(0.02), ScoreLoss("csi", prior))
losses = model.fit(x, t, batch_size=1000, epochs=100, verbose=0).history["loss"]
assert losses[-1] < 0.3 * losses[0], losses
print(keras.backend.backend())
