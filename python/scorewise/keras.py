"""Score-oriented losses for Keras 3 that work with every backend::

    from scorewise.keras import ScoreLoss

    model.compile("adam", ScoreLoss("tss", "cosine:0.5,0.1"))      # the last layer is a sigmoid; or from_logits=True

A score is not a mean over rows, so the loss is computed from the batch as a whole: choose batches large enough to contain events. Models
compiled with this loss can be saved and loaded as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _tensors
from ._optional import import_optional

if TYPE_CHECKING:
    import keras
    from keras import ops
else:
    keras = import_optional("keras", "keras")
    ops = keras.ops

__all__ = ["ScoreLoss", "output_bias"]


@keras.saving.register_keras_serializable(package="scorewise")
class ScoreLoss(keras.losses.Loss):  # type: ignore[misc]
    """1 − a score of the expected confusion matrix under a random threshold.

    Sample weights are applied inside the sums of the confusion matrix, and masked time steps are ignored.

    Parameters
    ----------
    score : str, default="f1"
        The name of a registered score, or a formula.
    prior : str or list of str, default="cosine:0.5,0.1"
        The distribution of the threshold; a list has one distribution for each class.
    task : {"binary", "multilabel", "multiclass"}, default="binary"
        With "multilabel", the targets are 0 or 1 for each class; with "multiclass", they are class numbers or one-hot vectors. Classes lie
        along the last axis of the predictions.
    average : {"macro", "weighted", "micro"}, default="macro"
        How the classes are combined. "macro" is the mean of their losses, "weighted" is the mean weighted by the number of rows of each class, and
        "micro" is the loss of the sum of their confusion matrices.
    from_logits : bool, default=False
        Whether the predictions are logits rather than probabilities.
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
        # The loss of a batch is already a single number, so Keras must not average it (`reduction=None`).
        super().__init__(name=name, reduction=None, dtype=dtype)
        self.score, self.prior = score, prior
        self.task = _tensors.check_choice("task", task, _tensors.TASKS)
        self.average = _tensors.check_choice("average", average, _tensors.AVERAGES)
        self.from_logits = from_logits
        self._formula = _tensors.Formula(score, ops)
        self._priors = _tensors.prior_tables(prior, task)

    def get_config(self) -> dict[str, Any]:
        """Return the parameters with which Keras makes the same loss again when it loads a model."""
        return {
            "score": self.score, "prior": self.prior, "task": self.task, "average": self.average,
            "from_logits": self.from_logits, "name": self.name,
        }  # fmt: skip

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss of a batch. This replaces the method of the base class, which would multiply the finished loss by the weights."""
        return self.call(y_true, y_pred, sample_weight)

    def call(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss of a batch."""
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
        for factor in (sample_weight, mask):
            if factor is not None:
                w = w * _reshape_weights(ops.cast(ops.convert_to_tensor(factor), dtype), y)
        cdf = self._cdf(z)
        tp, predicted = ops.sum(w * y * cdf, axis=0), ops.sum(w * cdf, axis=0)
        p, total = ops.sum(w * y, axis=0), ops.sum(w, axis=0)
        fp, n = predicted - tp, total - p
        fn, tn = ops.maximum(p - tp, 0.0), ops.maximum(n - fp, 0.0)
        if self.task == "binary":
            return ops.sum(self._formula.loss(self._formula.value(tn, fp, fn, tp, p, n)))
        return _tensors.average_loss(self._formula, self.average, tn, fp, fn, tp, p, n)

    def _labels(self, y: Any, shape: Any, classes: int, dtype: Any) -> Any:
        """Return the labels as a matrix of 0 and 1 with one column for each class; ``shape`` is the shape of the predictions."""
        if self.task == "multiclass" and (len(y.shape) < len(shape) or y.shape[-1] != classes):
            return ops.reshape(ops.one_hot(ops.cast(ops.reshape(y, (-1,)), "int32"), classes, dtype=dtype), (-1, classes))
        if self.task != "binary" and y.shape[-1] != classes:
            raise ValueError(f"y_true must have {classes} classes along its last axis, as y_pred has, not {y.shape[-1]}")
        return ops.reshape(ops.cast(y, dtype), (-1, classes))

    def _log_odds(self, z: Any) -> Any:
        """Convert the predictions (logits or probabilities) to the log-odds of each class."""
        if not self.from_logits:
            # Probabilities are clipped, because the derivative of the logit is infinite at 0 and 1.
            least = float(np.finfo(keras.backend.standardize_dtype(z.dtype)).eps)
            z = ops.clip(z, least, 1.0 - least)
            return ops.log(z) - ops.log1p(-z)
        if self.task != "multiclass":
            # Infinite logits would give ∞ − ∞ = NaN; clipping changes no result, because the cdf of the prior is constant beyond ±1e4.
            return ops.clip(z, -1e4, 1e4)
        # The log-odds ln(p/(1 − p)) of the softmax probability p of a class with logit z, computed without cancellation. For the class with the
        # largest logit, 1 − p is computed as the sum over the other classes. For every other class, the log-odds are −ln(exp(g) − 1), where g = ln(Σ
        # e^z) − z is at least ln 2, so exp(g) − 1 is at least 1.
        top = ops.one_hot(ops.argmax(z, axis=1), z.shape[1], dtype=z.dtype) > 0
        rest = ops.logsumexp(ops.where(top, z - 1e30, z), axis=1, keepdims=True)
        gap = ops.where(top, ops.ones_like(z), ops.logsumexp(z, axis=1, keepdims=True) - z)
        return ops.where(top, z - rest, -ops.log(ops.expm1(gap)))

    def _cdf(self, z: Any) -> Any:
        """Return the distribution function of the prior of each class at the log-odds z."""
        if len(self._priors) == 1:
            return _prior_cdf(self._priors[0], z)
        if len(self._priors) != z.shape[1]:
            raise ValueError(f"there are {len(self._priors)} priors for {z.shape[1]} classes: pass one for all classes, or one for each")
        return ops.stack([_prior_cdf(prior, z[:, at]) for at, prior in enumerate(self._priors)], axis=1)


def _prior_cdf(table: _tensors.PriorTable, z: Any) -> Any:
    """Return the distribution function of the prior at the probability σ(z).

    The derivative is computed here too, so that the backend need not differentiate through the table lookup.
    """
    constant = ops.stop_gradient(z)
    value, derivative = ops.full_like(constant, table.base), ops.zeros_like(constant)
    for low, width, polynomials in table.ranges:
        count = polynomials.shape[0]
        coefficients = ops.convert_to_tensor(polynomials, dtype=constant.dtype)
        position = (constant - low) / width
        index = ops.floor(ops.clip(ops.nan_to_num(position), 0.0, count - 1.0))
        s = ops.clip((constant - (low + (index + 0.5) * width)) * (2.0 / width), -1.0, 1.0)
        term, term_derivative = _tensors.horner(ops.take(coefficients, ops.cast(index, "int32"), axis=0), s)
        inside = ops.logical_and(position >= 0, position < count)
        value = value + term
        derivative = derivative + ops.where(inside, term_derivative * (2.0 / width), ops.zeros_like(term_derivative))
    return ops.stop_gradient(value) + ops.stop_gradient(derivative) * (z - constant)


def _reshape_weights(weights: Any, y: Any) -> Any:
    """Reshape weights, one per row or one per element, so that they broadcast with the labels."""
    rows, classes = y.shape
    size = int(np.prod(weights.shape)) if None not in weights.shape else None
    if size is not None and rows is not None and size == rows * classes and classes > 1:
        return ops.reshape(weights, (-1, classes))
    return ops.reshape(weights, (-1, 1))


def output_bias(prior: str = "cosine:0.5,0.1") -> Any:
    """Return an initialiser for the bias of the output layer: the logit of the prior's mean.

    The first predictions then lie inside the support of the prior; outside the support, the gradient of the loss is 0::

        keras.layers.Dense(1, activation="sigmoid", bias_initializer=output_bias("cosine:0.3,0.1"),
                           kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))
    """
    mean = _tensors.PriorTable(prior).mean
    return keras.initializers.Constant(float(np.log(mean / (1.0 - mean))))
