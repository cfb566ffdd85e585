"""Losses for Keras 3, by ``keras.ops`` on any backend::

    from scorewise.keras import ScoreLoss

    model.compile("adam", ScoreLoss("tss", "cosine:0.5,0.1"))      # the last layer is a sigmoid; or from_logits=True

A score is no mean over rows, so the loss is of the batch as a whole: choose batches that hold events. Models that were compiled with it
are saved and loaded like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _host
from ._needs import need

if TYPE_CHECKING:
    import keras
    from keras import ops
else:
    keras = need("keras", "keras")
    ops = keras.ops

__all__ = ["ScoreLoss", "output_bias"]


@keras.saving.register_keras_serializable(package="scorewise")
class ScoreLoss(keras.losses.Loss):  # type: ignore[misc]
    """1 − a score of the expected confusion matrix under a random threshold.

    ``score`` is a name of the registry or a formula, ``prior`` the law of the threshold. ``task`` is ``"binary"``, ``"multilabel"`` (one 0 or 1
    for each class) or ``"multiclass"`` (a class's number, or one-hot), classes along the last axis, averaged by ``average`` (macro,
    weighted by their rows, or micro). Sample weights weigh rows inside the sums, and masked steps count nothing.
    """

    def __init__(
        self,
        score: str = "f1",
        prior: str | list[str] = "cosine:0.5,0.1",
        *,
        task: str = "binary",
        average: str = "macro",
        from_logits: bool = False,
        name: str = "score_loss",
        dtype: Any = None,
        **_: Any,
    ) -> None:
        # There is nothing left to reduce: the loss is one number.
        super().__init__(name=name, reduction=None, dtype=dtype)
        self.score, self.prior = score, prior
        self.task = _host.check_choice("task", task, _host.TASKS)
        self.average = _host.check_choice("average", average, _host.AVERAGES)
        self.from_logits = from_logits
        self._formula = _host.Formula(score, ops)
        self._priors = _host.priors_of(prior, task)

    def get_config(self) -> dict[str, Any]:
        return {
            "score": self.score, "prior": self.prior, "task": self.task, "average": self.average,
            "from_logits": self.from_logits, "name": self.name,
        }  # fmt: skip

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        return self.call(y_true, y_pred, sample_weight)

    def call(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch."""
        mask = getattr(y_pred, "_keras_mask", None)
        y_pred = ops.convert_to_tensor(y_pred)
        if keras.backend.standardize_dtype(y_pred.dtype) not in ("float32", "float64"):
            y_pred = ops.cast(y_pred, "float32")
        dtype = y_pred.dtype
        classes = 1 if self.task == "binary" else y_pred.shape[-1]
        shape = y_pred.shape
        z = self._log_odds(ops.reshape(y_pred, (-1, classes)))
        y = self._labels(ops.convert_to_tensor(y_true), shape, classes, dtype)
        w = ops.ones_like(y)
        for more in (sample_weight, mask):
            if more is not None:
                w = w * _spread(ops.cast(ops.convert_to_tensor(more), dtype), y)
        levels = self._levels(z)
        tp, called = ops.sum(w * y * levels, axis=0), ops.sum(w * levels, axis=0)
        p, total = ops.sum(w * y, axis=0), ops.sum(w, axis=0)
        fp, n = called - tp, total - p
        fn, tn = ops.maximum(p - tp, 0.0), ops.maximum(n - fp, 0.0)
        if self.task == "binary":
            return ops.sum(self._formula.loss(self._formula.value(tn, fp, fn, tp, p, n)))
        return _host.averaged(self._formula, self.average, tn, fp, fn, tp, p, n)

    def _labels(self, y: Any, shape: Any, classes: int, dtype: Any) -> Any:
        if self.task == "multiclass" and (len(y.shape) < len(shape) or y.shape[-1] != classes):
            return ops.reshape(ops.one_hot(ops.cast(ops.reshape(y, (-1,)), "int32"), classes, dtype=dtype), (-1, classes))
        if self.task != "binary" and y.shape[-1] != classes:
            raise ValueError(f"y_true must have {classes} classes along its last axis, as y_pred has, not {y.shape[-1]}")
        return ops.reshape(ops.cast(y, dtype), (-1, classes))

    def _log_odds(self, z: Any) -> Any:
        if not self.from_logits:
            # Kept off the ends, where the slope of a logit is infinite.
            least = float(np.finfo(keras.backend.standardize_dtype(z.dtype)).eps)
            z = ops.clip(z, least, 1.0 - least)
            return ops.log(z) - ops.log1p(-z)
        if self.task != "multiclass":
            # Beyond these nothing changes, and ∞ − ∞ is no number.
            return ops.clip(z, -1e4, 1e4)
        # The greatest class takes its complement from the others; any other has ln(Σ e^z) − z ≥ ln 2, so nothing cancels.
        top = ops.one_hot(ops.argmax(z, axis=1), z.shape[1], dtype=z.dtype) > 0
        rest = ops.logsumexp(ops.where(top, z - 1e30, z), axis=1, keepdims=True)
        gap = ops.where(top, ops.ones_like(z), ops.logsumexp(z, axis=1, keepdims=True) - z)
        return ops.where(top, z - rest, -ops.log(ops.expm1(gap)))

    def _levels(self, z: Any) -> Any:
        if len(self._priors) == 1:
            return _level(self._priors[0], z)
        if len(self._priors) != z.shape[1]:
            raise ValueError(f"there are {len(self._priors)} priors for {z.shape[1]} classes: give one for all, or one for each")
        return ops.stack([_level(prior, z[:, at]) for at, prior in enumerate(self._priors)], axis=1)


def _level(table: _host.Table, z: Any) -> Any:
    """F(σ(z)). Its slope is computed beside it, and no backend looks into the lookup."""
    fixed = ops.stop_gradient(z)
    value, slope = ops.full_like(fixed, table.base), ops.zeros_like(fixed)
    for low, width, panels in table.stretches:
        count = panels.shape[0]
        coefficients = ops.convert_to_tensor(panels, dtype=fixed.dtype)
        place = (fixed - low) / width
        index = ops.floor(ops.clip(ops.nan_to_num(place), 0.0, count - 1.0))
        s = ops.clip((fixed - (low + (index + 0.5) * width)) * (2.0 / width), -1.0, 1.0)
        part, rise = _host.horner(ops.take(coefficients, ops.cast(index, "int32"), axis=0), s)
        inside = ops.logical_and(place >= 0, place < count)
        value, slope = value + part, slope + ops.where(inside, rise * (2.0 / width), ops.zeros_like(rise))
    return ops.stop_gradient(value) + ops.stop_gradient(slope) * (z - fixed)


def _spread(weights: Any, y: Any) -> Any:
    """Weights of rows, or of elements, in the shape of the labels."""
    rows, classes = y.shape
    size = int(np.prod(weights.shape)) if None not in weights.shape else None
    if size is not None and rows is not None and size == rows * classes and classes > 1:
        return ops.reshape(weights, (-1, classes))
    return ops.reshape(weights, (-1, 1))


def output_bias(prior: str = "cosine:0.5,0.1") -> Any:
    """The first bias of the output layer, at the prior's centre: outside its support a prior has no density, and the loss no slope::

        keras.layers.Dense(1, activation="sigmoid", bias_initializer=output_bias("cosine:0.3,0.1"),
                           kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))
    """
    mean = _host.Table(prior).mean
    return keras.initializers.Constant(float(np.log(mean / (1.0 - mean))))
