"""Losses for PyTorch, by tensor operations on the tensors' own device::

    from scorewise.torch import ScoreLoss, init_output_layer

    loss = ScoreLoss("tss", "cosine:0.5,0.1")
    init_output_layer(model, "cosine:0.5,0.1", inputs)     # the first predictions inside the prior's support: never stuck
    loss(model(x), y).backward()

Sums are made in float32 or float64 whatever autocast made of the logits; nothing waits for the device; ``torch.compile`` takes it whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _host
from ._needs import need

if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch = need("torch", "torch")
    nn = torch.nn

__all__ = ["Accumulation", "ScoreLoss", "TemporalScoreLoss", "init_output_layer"]


class _Level(torch.autograd.Function):  # type: ignore[misc]
    """F(σ(z)), whose slope was computed beside it."""

    @staticmethod
    def forward(ctx: Any, z: Any, value: Any, slope: Any) -> Any:
        ctx.save_for_backward(slope)
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None, None]:
        (slope,) = ctx.saved_tensors
        return gradient * slope, None, None


class _Prior:
    """A prior on tensors. Its table is laid on a device once and stays there."""

    def __init__(self, table: _host.Table) -> None:
        self.table = table
        self._there: dict[tuple[str, str], list[Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "_there": {}}

    def coefficients(self, like: Any) -> list[Any]:
        key = (str(like.device), str(like.dtype))
        found = self._there.get(key)
        if found is None:
            found = [torch.tensor(c.tolist(), dtype=like.dtype, device=like.device) for _, _, c in self.table.stretches]
            self._there[key] = found
        return found

    def level(self, z: Any) -> Any:
        """F(σ(z)), differentiable."""
        fixed = z.detach()
        value, slope = torch.full_like(fixed, self.table.base), torch.zeros_like(fixed)
        for (low, width, panels), coefficients in zip(self.table.stretches, self.coefficients(z), strict=True):
            count = panels.shape[0]
            place = (fixed - low) / width
            # What is no number looks up any panel, and stays no number.
            index = torch.nan_to_num(place).clamp(0, count - 1).floor()
            s = ((fixed - (low + (index + 0.5) * width)) * (2.0 / width)).clamp(-1.0, 1.0)
            part, rise = _host.horner(coefficients[index.long()], s)
            value = value + part
            slope = slope + torch.where((place >= 0) & (place < count), rise * (2.0 / width), torch.zeros_like(rise))
        return _Level.apply(z, value, slope) if z.requires_grad else value


class _Loss(nn.Module):  # type: ignore[misc]
    """What all losses share: a formula, the sums of all ranks, and the loss of the sums."""

    def __init__(self, score: str, process_group: Any, averaged: bool) -> None:
        super().__init__()
        self.formula = _host.Formula(score, torch)
        self.process_group = process_group
        self.averaged = averaged

    def _of_all_ranks(self, sums: Any) -> Any:
        """The sums of all processes: their value, with the slopes of this one's part."""
        if self.process_group is None:
            return sums
        everywhere = sums.detach().clone()
        torch.distributed.all_reduce(everywhere, group=self._group())
        return self._with_slopes(everywhere, sums)

    def _with_slopes(self, whole: Any, part: Any) -> Any:
        """The sums of the whole, with the slopes of a part of it."""
        # DistributedDataParallel divides gradients by the number of ranks; the gradient of the whole batch is their sum.
        distributed = self.process_group is not None and self.averaged
        by = torch.distributed.get_world_size(self._group()) if distributed else 1
        return whole + by * (part - part.detach())

    def _group(self) -> Any:
        return None if self.process_group is True else self.process_group


def _wide(tensor: Any) -> Any:
    """In float32 at least: a sum of ten thousand rows in half precision has three digits."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


class ScoreLoss(_Loss):
    """1 − a score of the expected confusion matrix under a random threshold.

    ``score`` is a name of the registry or a formula, ``prior`` the law of the threshold (``"cosine:0.5,0.1"``, ``"uniform"``, …).

    * ``task="binary"``: logits and targets of any one shape.
    * ``task="multilabel"``: logits and targets of shape (…, classes), 0 or 1 each.
    * ``task="multiclass"``: logits of shape (rows, classes, …) and whole numbers of shape (rows, …), as in cross-entropy.

    Classes are averaged by ``average`` (macro, weighted by their rows, or micro), each with the prior or with one of its own.
    ``from_logits=False`` takes probabilities. ``weights`` are one a row (or one an element). With ``process_group`` (a group, or ``True`` for
    the default one) the sums are those of all ranks, and loss and gradients are those of one process with the whole batch; leave
    ``averaged=True`` under DistributedDataParallel, which averages gradients, and set it to False where you sum them.
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
        self.task = _host.check_choice("task", task, _host.TASKS)
        self.average = _host.check_choice("average", average, _host.AVERAGES)
        self.from_logits = from_logits
        self.priors = [_Prior(table) for table in _host.priors_of(prior, task)]

    def extra_repr(self) -> str:
        priors = ", ".join(repr(prior.table.text) for prior in self.priors)
        return f"{self.formula.name!r}, {priors}, task={self.task!r}"

    def forward(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        return self._loss(self._of_all_ranks(self.sums(logits, targets, weights)))

    def sums(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        """Expected hits, expected false alarms, positives and negatives, one column a class: they add up over batches."""
        # Under autocast products would go back to half precision.
        with torch.autocast(device_type=logits.device.type, enabled=False):
            z, y = self._rows(_wide(logits), targets)
            levels = self._levels(z)
            w = torch.ones_like(y) if weights is None else self._weights(weights, y, targets)
            hit, yes, all_ = w * y * levels, w * y, w
            called = w * levels
            tp, p = hit.sum(0), yes.sum(0)
            return torch.stack([tp, called.sum(0) - tp, p, all_.sum(0) - p])

    def _loss(self, sums: Any) -> Any:
        tp, fp, p, n = sums.unbind(0)
        fn, tn = (p - tp).clamp(min=0.0), (n - fp).clamp(min=0.0)
        if self.task == "binary":
            return self.formula.loss(self.formula.value(tn, fp, fn, tp, p, n))[0]
        return _host.averaged(self.formula, self.average, tn, fp, fn, tp, p, n)

    def _rows(self, z: Any, targets: Any) -> tuple[Any, Any]:
        """Log-odds and labels, rows by classes."""
        if self.task == "multiclass":
            if z.dim() < 2 or targets.shape != z.shape[:1] + z.shape[2:]:
                raise ValueError(f"targets must be of shape {tuple(z.shape[:1] + z.shape[2:])}, not {tuple(targets.shape)}")
            classes = z.shape[1]
            z = z.movedim(1, -1).reshape(-1, classes)
            y = nn.functional.one_hot(targets.reshape(-1).long(), classes).to(z.dtype)
            return (_log_odds(z) if self.from_logits else _of_probability(z)), y
        if targets.shape != z.shape:
            raise ValueError(f"targets must be of the logits' shape {tuple(z.shape)}, not {tuple(targets.shape)}")
        z = z if self.from_logits else _of_probability(z)
        columns = 1 if self.task == "binary" else z.shape[-1]
        return z.reshape(-1, columns), targets.to(z.dtype).reshape(-1, columns)

    def _levels(self, z: Any) -> Any:
        if len(self.priors) == 1:
            return self.priors[0].level(z)
        if len(self.priors) != z.shape[1]:
            raise ValueError(f"there are {len(self.priors)} priors for {z.shape[1]} classes: give one for all, or one for each")
        return torch.stack([prior.level(z[:, at]) for at, prior in enumerate(self.priors)], 1)

    def _weights(self, weights: Any, y: Any, targets: Any) -> Any:
        weights = weights.to(y.dtype)
        if weights.shape == targets.shape and self.task != "multiclass":
            return weights.reshape(y.shape)
        if weights.numel() != y.shape[0]:
            raise ValueError(f"weights must be one for each of the {y.shape[0]} rows, not {weights.numel()}")
        return weights.reshape(-1, 1).expand(y.shape)

    def accumulate(self) -> Accumulation:
        """Exact gradient accumulation: see :class:`Accumulation`."""
        return Accumulation(self)


class Accumulation:
    """The exact gradient of a batch that does not fit, from micro-batches in two passes. A score is no mean over rows, so the mean of the
    micro-batches' gradients is not the gradient of the batch; but rows see each other only through four sums::

        whole = loss.accumulate()
        for x, y in batches:                      # first pass: count
            with torch.no_grad():
                whole.count(model(x), y)
        for x, y in batches:                      # second pass: gradients, which add up to the whole batch's
            whole(model(x), y).backward()
        optimizer.step()

    A model that draws at random (dropout) must draw alike in both passes.
    """

    def __init__(self, loss: ScoreLoss) -> None:
        self.loss = loss
        self._sums: Any = None
        self._everywhere: Any = None

    def count(self, logits: Any, targets: Any, weights: Any = None) -> None:
        """Adds a micro-batch to the sums."""
        if self._everywhere is not None:
            raise ValueError("the second pass has begun: call `loss.accumulate()` for another batch")
        sums = self.loss.sums(logits.detach(), targets, weights)
        self._sums = sums if self._sums is None else self._sums + sums

    def __call__(self, logits: Any, targets: Any, weights: Any = None) -> Any:
        """The loss of the whole batch, with the slopes of this part of it."""
        if self._sums is None:
            raise ValueError("count the micro-batches first: `count(logits, targets)` for each")
        if self._everywhere is None:
            self._everywhere = self.loss._of_all_ranks(self._sums)
        part = self.loss.sums(logits, targets, weights)
        return self.loss._loss(self.loss._with_slopes(self._everywhere, part))


class TemporalScoreLoss(_Loss):
    """A score of sequences in which errors weigh by when they happen: an alarm a little early is half a success.

    Logits and targets are of shape (…, time); each row along the last axis is a sequence of its own. ``mask`` says which steps exist,
    for sequences that were padded at their end. ``weighting`` is ``"value"`` (the best credit, and errors that stand alone count twice),
    ``"sum"`` or ``"maximum"``; ``masks`` are the credits of the distances 1, 2, …
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
        self.weighting = _host.check_choice("weighting", weighting, tuple(self.MASKS))
        self.masks = tuple(self.MASKS[weighting] if masks is None else masks)
        _check_masks(self.masks, weighting)
        self.prior = _Prior(_host.Table(prior))

    def extra_repr(self) -> str:
        return f"{self.formula.name!r}, {self.prior.table.text!r}, weighting={self.weighting!r}"

    def forward(self, logits: Any, targets: Any, weights: Any = None, mask: Any = None) -> Any:
        if targets.shape != logits.shape:
            raise ValueError(f"targets must be of the logits' shape {tuple(logits.shape)}, not {tuple(targets.shape)}")
        with torch.autocast(device_type=logits.device.type, enabled=False):
            cells = self._cells(_wide(logits), targets, weights, mask)
        tn, fp, fn, tp = self._of_all_ranks(cells).unbind(0)
        return self.formula.loss(self.formula.value(tn, fp, fn, tp, tp + fn, fp + tn))

    def _cells(self, z: Any, targets: Any, weights: Any, mask: Any) -> Any:
        y, level = targets.to(z.dtype), self.prior.level(z)
        w = torch.ones_like(z) if weights is None else weights.to(z.dtype).expand(z.shape)
        if mask is not None:
            # A step that does not exist has no event, no alarm and no weight: nobody's neighbour gains by it.
            there = mask.to(z.dtype)
            y, level, w = y * there, level * there, w * there
        window, zero = len(self.masks), torch.zeros_like(z)
        before = [_shifted(level, step) for step in range(1, window + 1)]
        ahead = [_shifted(y, -step) for step in range(1, window + 1)]
        if self.weighting == "sum":
            early = sum((mask * event for mask, event in zip(self.masks, ahead, strict=True)), zero)
            gains = (mask * (alarm - level).clamp(min=0.0) for mask, alarm in zip(self.masks, before, strict=True))
            announced = sum(gains, zero)
        else:
            early, announced, highest = zero, zero, level
            for mask, event, alarm in zip(self.masks, ahead, before, strict=True):
                early = torch.maximum(early, mask * event)
                higher = torch.maximum(highest, alarm)
                announced, highest = announced + mask * (higher - highest), higher
        lone_alarm, lone_miss = zero, zero
        if self.weighting == "value":
            near, peak = y, level
            for step in range(1, window + 1):
                near = torch.maximum(near, torch.maximum(_shifted(y, step), _shifted(y, -step)))
                peak = torch.maximum(peak, torch.maximum(before[step - 1], _shifted(level, -step)))
            lone_alarm, lone_miss = (near == 0).to(z.dtype), 1.0 - peak
        tp, tn = (w * y * level).sum(), (w * (1.0 - y) * (1.0 - level)).sum()
        fp = (w * (1.0 - y) * level * (1.0 - early + lone_alarm)).sum()
        fn = (w * y * (1.0 - level - announced + lone_miss)).sum()
        return torch.stack([tn, fp, fn.clamp(min=0.0), tp])


def _check_masks(masks: tuple[float, ...], weighting: str) -> None:
    rising = any(later > earlier for earlier, later in zip(masks, masks[1:], strict=False))
    if not masks or rising or any(not 0.0 <= mask <= 1.0 for mask in masks):
        raise ValueError(f"masks must be numbers from 0 to 1 that do not rise with the distance, not {masks}")
    if weighting == "sum" and sum(masks) > 1.0 + 1e-12:
        raise ValueError(f"masks must sum to at most 1 with weighting 'sum', not {sum(masks):g}: no error counts less than nothing")


def _shifted(x: Any, steps: int) -> Any:
    """The value so many steps before (below 0: after), 0 beyond the ends."""
    length = x.shape[-1]
    if abs(steps) >= length:
        return torch.zeros_like(x)
    pad = nn.functional.pad
    return pad(x[..., : length - steps], (steps, 0)) if steps > 0 else pad(x[..., -steps:], (0, -steps))


def _of_probability(p: Any) -> Any:
    """The logit, kept off the ends, where its slope is infinite."""
    return torch.logit(p, eps=torch.finfo(p.dtype).eps)


def _log_odds(z: Any) -> Any:
    """ln p/(1 − p) of every class of a softmax, without cancellation.

    The greatest class takes its complement from the others; any other has ln(Σ e^z) − z ≥ ln 2, so nothing cancels there either.
    """
    top = torch.zeros_like(z, dtype=torch.bool).scatter(1, z.argmax(1, keepdim=True), True)
    rest = z.masked_fill(top, -torch.inf).logsumexp(1, keepdim=True)
    gap = torch.where(top, torch.ones_like(z), z.logsumexp(1, keepdim=True) - z)
    return torch.where(top, z - rest, -torch.log(torch.expm1(gap)))


def init_output_layer(model: Any, prior: str = "cosine:0.5,0.1", inputs: Any = None) -> Any:
    """The start that is never stuck: the output bias at the prior's centre and, given inputs, the last layer's weights so small that the
    first predictions lie inside the middle 98 % of the prior. Outside its support a prior has no density, and the loss no slope.

    The output layer is the last module with a weight and a bias. Returns the model.
    """
    layers = [module for module in model.modules() if getattr(module, "bias", None) is not None and getattr(module, "weight", None) is not None]
    if not layers:
        raise ValueError("the model has no layer with a weight and a bias")
    last, table = layers[-1], _host.Table(prior)
    centre, low, high = (math.log(p / (1.0 - p)) for p in (table.mean, *table.middle))
    with torch.no_grad():
        last.bias.fill_(centre)
        if inputs is None:
            # Nothing is known of the inputs: a hundredth of the usual size leaves room for all but the wildest.
            last.weight.mul_(0.01)
            return model
        with _evaluating(model):
            farthest = (model(inputs).double() - centre).abs().max().item()
        room = min(centre - low, high - centre)
        if farthest > room:
            last.weight.mul_(room / farthest)
    return model


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)
