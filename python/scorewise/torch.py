"""Score-oriented losses for PyTorch, computed on the device of the tensors::

    from scorewise.torch import ScoreLoss, init_output_layer

    loss = ScoreLoss("tss", "cosine:0.5,0.1")
    init_output_layer(model, "cosine:0.5,0.1", inputs)     # so that the first predictions have a gradient
    loss(model(x), y).backward()

Sums are computed in float32 or float64 even under autocast. The losses never synchronise with the device, and ``torch.compile`` compiles
them without graph breaks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _tensors
from ._optional import import_optional

if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch = import_optional("torch", "torch")
    nn = torch.nn

__all__ = ["Accumulation", "ScoreLoss", "TemporalScoreLoss", "init_output_layer"]


class _WithDerivative(torch.autograd.Function):  # type: ignore[misc]
    """A function of z whose value and derivative have already been computed; the derivative is used in the backward pass."""

    @staticmethod
    def forward(ctx: Any, z: Any, value: Any, derivative: Any) -> Any:
        """Return ``value``, and store the derivative for the backward pass."""
        ctx.save_for_backward(derivative)
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None, None]:
        """Return the gradient with respect to z, and None for the arguments ``value`` and ``derivative``."""
        (derivative,) = ctx.saved_tensors
        return gradient * derivative, None, None


class _Prior:
    """A prior that is evaluated on tensors; the coefficients of its table are cached for each device and dtype."""

    def __init__(self, table: _tensors.PriorTable) -> None:
        self.table = table
        self._cache: dict[tuple[str, str], list[Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the cached tensors."""
        return {"table": self.table, "_cache": {}}

    def coefficients(self, like: Any) -> list[Any]:
        """Return the polynomial coefficients for each range of logits, as tensors with the device and the dtype of ``like``."""
        key = (str(like.device), str(like.dtype))
        tensors = self._cache.get(key)
        if tensors is None:
            tensors = [torch.tensor(c.tolist(), dtype=like.dtype, device=like.device) for _, _, c in self.table.ranges]
            self._cache[key] = tensors
        return tensors

    def cdf(self, z: Any) -> Any:
        """Return the distribution function of the prior at the probabilities σ(z), differentiable with respect to the logits z."""
        constant = z.detach()
        value, derivative = torch.full_like(constant, self.table.base), torch.zeros_like(constant)
        for (low, width, polynomials), coefficients in zip(self.table.ranges, self.coefficients(z), strict=True):
            count = polynomials.shape[0]
            position = (constant - low) / width
            # For a NaN logit, an arbitrary polynomial is evaluated. The result is still NaN, because s, the position of the logit in an interval, is
            # NaN.
            index = torch.nan_to_num(position).clamp(0, count - 1).floor()
            s = ((constant - (low + (index + 0.5) * width)) * (2.0 / width)).clamp(-1.0, 1.0)
            term, term_derivative = _tensors.horner(coefficients[index.long()], s)
            value = value + term
            inside = (position >= 0) & (position < count)
            derivative = derivative + torch.where(inside, term_derivative * (2.0 / width), torch.zeros_like(term_derivative))
        return _WithDerivative.apply(z, value, derivative) if z.requires_grad else value


class _Loss(nn.Module):  # type: ignore[misc]
    """Base class of the losses, with the formula of the score and the sums over all processes."""

    def __init__(self, score: str, process_group: Any, averaged: bool) -> None:
        """``averaged`` says whether the training code averages the gradients of the processes after the backward pass, or adds them."""
        super().__init__()
        self.formula = _tensors.Formula(score, torch)
        self.process_group = process_group
        self.averaged = averaged

    def _sum_over_ranks(self, sums: Any) -> Any:
        """Return the sums over the rows of all processes; only the rows of this process contribute to their gradient."""
        if self.process_group is None:
            return sums
        total = sums.detach().clone()
        torch.distributed.all_reduce(total, group=self._group())
        return self._with_gradient(total, sums)

    def _with_gradient(self, total: Any, part: Any) -> Any:
        """Return ``total``, the sums over all rows, with the gradient of ``part``, the sums over the rows of this process or micro-batch."""
        # The gradient of the whole batch is the sum over the ranks, but DistributedDataParallel divides the sum by the number of ranks; ``scale``
        # undoes this division.
        distributed = self.process_group is not None and self.averaged
        scale = torch.distributed.get_world_size(self._group()) if distributed else 1
        return total + scale * (part - part.detach())

    def _group(self) -> Any:
        """Return the process group in the form that PyTorch expects, where None is the default group."""
        return None if self.process_group is True else self.process_group


def _at_least_float32(tensor: Any) -> Any:
    """Convert half precision to float32, since a half-precision sum of ten thousand rows has at most three correct digits."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


class ScoreLoss(_Loss):
    """1 − a score of the expected confusion matrix under a random threshold.

    Parameters
    ----------
    score : str, default="f1"
        The name of a registered score, or a formula.
    prior : str or list of str, default="cosine:0.5,0.1"
        The distribution of the threshold (``"cosine:0.5,0.1"``, ``"uniform"``, …); a list has one distribution for each class.
    task : {"binary", "multilabel", "multiclass"}, default="binary"
        * "binary": logits and targets have the same shape, which is arbitrary.
        * "multilabel": logits and targets have shape (…, classes), and the targets are 0 or 1.
        * "multiclass": logits have shape (rows, classes, …). Targets are class numbers of shape (rows, …), as in cross-entropy.
    average : {"macro", "weighted", "micro"}, default="macro"
        How the classes are combined. "macro" is the mean of their losses, "weighted" is the mean weighted by the number of rows of each class, and
        "micro" is the loss of the sum of their confusion matrices.
    from_logits : bool, default=True
        Whether the predictions are logits rather than probabilities.
    process_group : ProcessGroup or True, optional
        Sum the confusion matrices of all ranks of this process group (True for the default group). The loss and the gradients are then those of
        a single process with the whole batch.
    averaged : bool, default=True
        Whether your training code averages the gradients of the ranks, as DistributedDataParallel does. Use False if it sums them.

    Notes
    -----
    The loss is called with logits, targets and optional weights, one per row or one per element.
    """

    def __init__(
        self,
        score: str = "f1",
        prior: str | list[str] = "cosine:0.5,0.1",
        *,
        task: str = "binary",
        average: str = "macro",
        from_logits: bool = True,
        process_group: Any = None,
        averaged: bool = True,
    ) -> None:
        super().__init__(score, process_group, averaged)
        self.task = _tensors.check_choice("task", task, _tensors.TASKS)
        self.average = _tensors.check_choice("average", average, _tensors.AVERAGES)
        self.from_logits = from_logits
        self.priors = [_Prior(table) for table in _tensors.prior_tables(prior, task)]

    def extra_repr(self) -> str:
        """Return the parameters of the loss as PyTorch prints them."""
        priors = ", ".join(repr(prior.table.text) for prior in self.priors)
        return f"{self.formula.name!r}, {priors}, task={self.task!r}"

    def forward(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        """Return the loss of a batch."""
        return self._loss_from_sums(self._sum_over_ranks(self.sums(logits, targets, weights)))

    def sums(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        """Return the expected true positives, expected false positives, positives and negatives, with one column per class.

        These sums can be added over batches.
        """
        # Automatic mixed precision is disabled here, because it would compute the products in half precision.
        with torch.autocast(device_type=logits.device.type, enabled=False):
            z, y = self._log_odds_and_labels(_at_least_float32(logits), targets)
            cdf = self._cdf(z)
            w = torch.ones_like(y) if weights is None else self._expand_weights(weights, y, targets)
            tp, p = (w * y * cdf).sum(0), (w * y).sum(0)
            return torch.stack([tp, (w * cdf).sum(0) - tp, p, w.sum(0) - p])

    def _loss_from_sums(self, sums: Any) -> Any:
        """Return the loss from the sums that the method ``sums`` returns."""
        tp, fp, p, n = sums.unbind(0)
        fn, tn = (p - tp).clamp(min=0.0), (n - fp).clamp(min=0.0)
        if self.task == "binary":
            return self.formula.loss(self.formula.value(tn, fp, fn, tp, p, n))[0]
        return _tensors.average_loss(self.formula, self.average, tn, fp, fn, tp, p, n)

    def _log_odds_and_labels(self, z: Any, targets: Any) -> tuple[Any, Any]:
        """Convert logits or probabilities z, and targets, to log-odds and labels of shape (rows, classes)."""
        if self.task == "multiclass":
            if z.dim() < 2 or targets.shape != z.shape[:1] + z.shape[2:]:
                raise ValueError(f"targets must have shape {tuple(z.shape[:1] + z.shape[2:])}, not {tuple(targets.shape)}")
            classes = z.shape[1]
            z = z.movedim(1, -1).reshape(-1, classes)
            y = nn.functional.one_hot(targets.reshape(-1).long(), classes).to(z.dtype)
            return (_log_odds(z) if self.from_logits else _logit(z)), y
        if targets.shape != z.shape:
            raise ValueError(f"targets must have the shape of the logits, {tuple(z.shape)}, not {tuple(targets.shape)}")
        z = z if self.from_logits else _logit(z)
        columns = 1 if self.task == "binary" else z.shape[-1]
        return z.reshape(-1, columns), targets.to(z.dtype).reshape(-1, columns)

    def _cdf(self, z: Any) -> Any:
        """Return the distribution function of the prior of each class at the log-odds z."""
        if len(self.priors) == 1:
            return self.priors[0].cdf(z)
        if len(self.priors) != z.shape[1]:
            raise ValueError(f"there are {len(self.priors)} priors for {z.shape[1]} classes: pass one for all classes, or one for each")
        return torch.stack([prior.cdf(z[:, at]) for at, prior in enumerate(self.priors)], 1)

    def _expand_weights(self, weights: Any, y: Any, targets: Any) -> Any:
        """Expand weights, one per row or one per element, to the shape of the labels y."""
        weights = weights.to(y.dtype)
        if weights.shape == targets.shape and self.task != "multiclass":
            return weights.reshape(y.shape)
        if weights.numel() != y.shape[0]:
            raise ValueError(f"weights must have one element for each of the {y.shape[0]} rows, not {weights.numel()}")
        return weights.reshape(-1, 1).expand(y.shape)

    def accumulate(self) -> Accumulation:
        """Start an exact gradient accumulation; see :class:`Accumulation`."""
        return Accumulation(self)


class Accumulation:
    """The exact gradient of a batch that does not fit into memory, from two passes over micro-batches.

    A score is not a mean over rows, so the mean of the gradients of micro-batches is not the gradient of the batch. But the gradient of a
    row depends on the other rows only through four sums::

        accumulation = loss.accumulate()
        for x, y in batches:                      # first pass: sums
            with torch.no_grad():
                accumulation.count(model(x), y)
        for x, y in batches:                      # second pass: gradients, which add up to that of the whole batch
            accumulation(model(x), y).backward()
        optimizer.step()

    A model with random layers, such as dropout, must draw the same random numbers in both passes.
    """

    def __init__(self, loss: ScoreLoss) -> None:
        self.loss = loss
        self._sums: Any = None
        self._total: Any = None

    def count(self, logits: Any, targets: Any, weights: Any = None) -> None:
        """Add the sums of a micro-batch to those of the whole batch."""
        if self._total is not None:
            raise ValueError("`count` must not be called after the loss was computed: start the next batch with a new `loss.accumulate()`")
        sums = self.loss.sums(logits.detach(), targets, weights)
        self._sums = sums if self._sums is None else self._sums + sums

    def __call__(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        """Return the loss of the whole batch, with the gradient of this micro-batch."""
        if self._sums is None:
            raise ValueError("no rows have been counted: call `count(logits, targets)` for every micro-batch before computing the loss")
        if self._total is None:
            self._total = self.loss._sum_over_ranks(self._sums)
        part = self.loss.sums(logits, targets, weights)
        return self.loss._loss_from_sums(self.loss._with_gradient(self._total, part))


class TemporalScoreLoss(_Loss):
    """1 − a score of time series in which errors are weighted by their distance from an event: an early alarm is a partial success.

    Parameters
    ----------
    score : str, default="f1"
        The name of a registered score, or a formula.
    prior : str, default="cosine:0.5,0.1"
        The distribution of the threshold.
    weighting : {"value", "sum", "maximum"}, default="value"
        How the weight of an error depends on its timing. The weight is 1, minus a number from ``masks`` if an event soon follows a false alarm,
        or if an alarm soon precedes a missed event. With several such events or alarms, "maximum" subtracts the greatest of their numbers, and
        "sum" subtracts the sum of their numbers. "value" is like "maximum", except that the weight is 2 for a false alarm with no event near it
        and for a missed event with no alarm near it.
    masks : tuple of float, optional
        The numbers that are subtracted from the weight of an error if the event or alarm is 1, 2, … steps away.
    process_group, averaged
        Settings for several processes, as in :class:`ScoreLoss`.

    Notes
    -----
    Logits and targets have shape (…, time); each row along the last axis is one series. The argument ``mask`` of the call marks the steps
    that exist, for series padded at their end.
    """

    MASKS = {"value": (1 / 2, 1 / 3, 1 / 4), "sum": (1 / 2, 1 / 4, 1 / 8), "maximum": (1 / 2, 1 / 4, 1 / 8)}

    def __init__(
        self,
        score: str = "f1",
        prior: str = "cosine:0.5,0.1",
        *,
        weighting: str = "value",
        masks: tuple[float, ...] | None = None,
        process_group: Any = None,
        averaged: bool = True,
    ) -> None:
        super().__init__(score, process_group, averaged)
        self.weighting = _tensors.check_choice("weighting", weighting, tuple(self.MASKS))
        self.masks = tuple(self.MASKS[weighting] if masks is None else masks)
        _check_masks(self.masks, weighting)
        self.prior = _Prior(_tensors.PriorTable(prior))

    def extra_repr(self) -> str:
        """Return the parameters of the loss as PyTorch prints them."""
        return f"{self.formula.name!r}, {self.prior.table.text!r}, weighting={self.weighting!r}"

    def forward(self, logits: Any, targets: Any, weights: Any = None, mask: Any = None) -> Any:
        """Return the loss of a batch of time series; steps where ``mask`` is 0 are ignored."""
        if targets.shape != logits.shape:
            raise ValueError(f"targets must have the shape of the logits, {tuple(logits.shape)}, not {tuple(targets.shape)}")
        with torch.autocast(device_type=logits.device.type, enabled=False):
            confusion = self._confusion(_at_least_float32(logits), targets, weights, mask)
        tn, fp, fn, tp = self._sum_over_ranks(confusion).unbind(0)
        return self.formula.loss(self.formula.value(tn, fp, fn, tp, tp + fn, fp + tn))

    def _confusion(self, z: Any, targets: Any, weights: Any, mask: Any) -> Any:
        """Return the expected confusion matrix (tn, fp, fn, tp), with errors weighted by their distance from events and alarms."""
        y, cdf = targets.to(z.dtype), self.prior.cdf(z)
        w = torch.ones_like(z) if weights is None else weights.to(z.dtype).expand(z.shape)
        if mask is not None:
            # A padded step has no event, no alarm and no weight, so it does not change the weights of errors before and after it.
            exists = mask.to(z.dtype)
            y, cdf, w = y * exists, cdf * exists, w * exists
        window, zero = len(self.masks), torch.zeros_like(z)
        before = [_shift(cdf, step) for step in range(1, window + 1)]
        ahead = [_shift(y, -step) for step in range(1, window + 1)]
        if self.weighting == "sum":
            early = sum((mask * event for mask, event in zip(self.masks, ahead, strict=True)), zero)
            gains = (mask * (alarm - cdf).clamp(min=0.0) for mask, alarm in zip(self.masks, before, strict=True))
            announced = sum(gains, zero)
        else:
            early, announced, highest = zero, zero, cdf
            for mask, event, alarm in zip(self.masks, ahead, before, strict=True):
                early = torch.maximum(early, mask * event)
                higher = torch.maximum(highest, alarm)
                announced, highest = announced + mask * (higher - highest), higher
        isolated_alarm, isolated_miss = zero, zero
        if self.weighting == "value":
            near, peak = y, cdf
            for step in range(1, window + 1):
                near = torch.maximum(near, torch.maximum(_shift(y, step), _shift(y, -step)))
                peak = torch.maximum(peak, torch.maximum(before[step - 1], _shift(cdf, -step)))
            isolated_alarm, isolated_miss = (near == 0).to(z.dtype), 1.0 - peak
        tp, tn = (w * y * cdf).sum(), (w * (1.0 - y) * (1.0 - cdf)).sum()
        fp = (w * (1.0 - y) * cdf * (1.0 - early + isolated_alarm)).sum()
        fn = (w * y * (1.0 - cdf - announced + isolated_miss)).sum()
        return torch.stack([tn, fp, fn.clamp(min=0.0), tp])


def _check_masks(masks: tuple[float, ...], weighting: str) -> None:
    """Raise an error if ``masks`` is empty, increases with the distance, has numbers outside [0, 1], or could make a weight negative."""
    increasing = any(later > earlier for earlier, later in zip(masks, masks[1:], strict=False))
    if not masks or increasing or any(not 0.0 <= mask <= 1.0 for mask in masks):
        raise ValueError(f"masks must be numbers from 0 to 1 that do not increase with the distance, not {masks}")
    if weighting == "sum" and sum(masks) > 1.0 + 1e-12:
        raise ValueError(f"masks must sum to at most 1 with weighting 'sum', not to {sum(masks):g}: otherwise an error could have a negative weight")


def _shift(x: Any, steps: int) -> Any:
    """Return x shifted forward by ``steps`` along the last axis (backward if negative), with zeros at the ends."""
    length = x.shape[-1]
    if abs(steps) >= length:
        return torch.zeros_like(x)
    pad = nn.functional.pad
    return pad(x[..., : length - steps], (steps, 0)) if steps > 0 else pad(x[..., -steps:], (0, -steps))


def _logit(p: Any) -> Any:
    """Return the logits of probabilities. The probabilities are clipped first, because the logits of 0 and 1 are infinite."""
    return torch.logit(p, eps=torch.finfo(p.dtype).eps)


def _log_odds(z: Any) -> Any:
    """Return the log-odds ln(p/(1 − p)) of the softmax probability p of every class, computed from the logits z without cancellation.

    For the class with the largest logit, 1 − p is computed as the sum over the other classes. For every other class, the result is
    −ln(exp(g) − 1), where g = ln(Σ e^z) − z is at least ln 2, so exp(g) − 1 is at least 1.
    """
    top = torch.zeros_like(z, dtype=torch.bool).scatter(1, z.argmax(1, keepdim=True), True)
    rest = z.masked_fill(top, -torch.inf).logsumexp(1, keepdim=True)
    gap = torch.where(top, torch.ones_like(z), z.logsumexp(1, keepdim=True) - z)
    return torch.where(top, z - rest, -torch.log(torch.expm1(gap)))


def init_output_layer(model: Any, prior: str = "cosine:0.5,0.1", inputs: Any = None) -> Any:
    """Initialise the output layer so that the first predictions lie inside the support of the prior.

    Outside the support the gradient of the loss is 0, and training could not start. The bias is set to the logit of the prior's mean, and
    the weights are scaled down until the predictions for ``inputs`` lie between the 1st and 99th percentiles of the prior; without
    ``inputs`` they are multiplied by 0.01. The output layer is the last module with a weight and a bias.

    Parameters
    ----------
    model : torch.nn.Module
        The model, which is changed in place.
    prior : str, default="cosine:0.5,0.1"
        The prior of the loss.
    inputs : Tensor, optional
        A sample of the model's inputs.

    Returns
    -------
    torch.nn.Module
        The model.
    """
    layers = [module for module in model.modules() if getattr(module, "bias", None) is not None and getattr(module, "weight", None) is not None]
    if not layers:
        raise ValueError("the model has no layer with a weight and a bias")
    last, table = layers[-1], _tensors.PriorTable(prior)
    centre, low, high = (math.log(p / (1.0 - p)) for p in (table.mean, *table.quantiles))
    with torch.no_grad():
        last.bias.fill_(centre)
        if inputs is None:
            # Without a sample of the inputs, their scale is unknown. A factor of 0.01 makes the weights small enough unless the inputs are very
            # large.
            last.weight.mul_(0.01)
            return model
        with _evaluation_mode(model):
            farthest = (model(inputs).double() - centre).abs().max().item()
        room = min(centre - low, high - centre)
        if farthest > room:
            last.weight.mul_(room / farthest)
    return model


@contextmanager
def _evaluation_mode(model: Any) -> Iterator[None]:
    """Put the model into evaluation mode, and restore its mode afterwards."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
