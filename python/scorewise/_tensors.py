"""A score-oriented loss on the tensors of any framework, from the numbers and texts that Rust gives.

There is no second list of scores here, and no second list of priors: a score is the registry's formula as source text, evaluated on the
framework's own tensors, and a prior is a table of polynomials of the logit, looked up and evaluated by Horner's rule. A score or prior
that is added to the Rust crates is here at once.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _scorewise

AVERAGES = ("macro", "weighted", "micro")
TASKS = ("binary", "multilabel", "multiclass")


class Guards:
    """The functions of a formula with the core's conventions: x/0 := 0, and no slope where a guard gives the value. ``operations`` is the module
    of a framework that has ``where sqrt log exp abs minimum maximum sum``: ``torch``, ``keras.ops``.

    A mask alone is not enough: the slope of the branch that is not taken would be 0 · ∞. So what a guarded function sees is made
    harmless first, and the result masked after.
    """

    def __init__(self, operations: ModuleType) -> None:
        self.operations = operations

    def ratio(self, x: Any, y: Any) -> Any:
        if isinstance(y, float):
            return x * 0.0 if y == 0.0 else x / y
        zero = y == 0
        return self.operations.where(zero, 0.0 * y, x / self.operations.where(zero, 0.0 * y + 1.0, y))

    def power(self, x: Any, y: Any) -> Any:
        operations = self.operations
        if isinstance(x, float) and isinstance(y, float):
            return 0.0 if (x == 0.0 and y < 0.0) or (x < 0.0 and not y.is_integer()) else x**y
        if isinstance(y, float):
            if y == 0.0:
                return 0.0 * x + 1.0
            # Below 1 the slope at 0 is infinite, below 0 the value is: both take the guard, as does a root of a negative number.
            bad = x <= 0 if not y.is_integer() else x == 0
            if y >= 1.0 and y.is_integer():
                return x**y
            return operations.where(bad, 0.0 * x, operations.where(bad, 0.0 * x + 1.0, x) ** y)
        return operations.where(x > 0, operations.exp(y * self.ln(x)), 0.0 * y)

    def sqrt(self, x: Any) -> Any:
        if isinstance(x, float):
            return math.sqrt(x) if x > 0.0 else 0.0
        return self.operations.where(x > 0, self.operations.sqrt(self._positive(x)), 0.0 * x)

    def ln(self, x: Any) -> Any:
        if isinstance(x, float):
            return math.log(x) if x > 0.0 else 0.0
        return self.operations.where(x > 0, self.operations.log(self._positive(x)), 0.0 * x)

    def exp(self, x: Any) -> Any:
        return math.exp(x) if isinstance(x, float) else self.operations.exp(x)

    def absolute(self, x: Any) -> Any:
        return abs(x) if isinstance(x, float) else self.operations.abs(x)

    def minimum(self, a: Any, b: Any) -> Any:
        return self._extreme(a, b, min, self.operations.minimum)

    def maximum(self, a: Any, b: Any) -> Any:
        return self._extreme(a, b, max, self.operations.maximum)

    def _positive(self, x: Any) -> Any:
        return self.operations.where(x > 0, x, 0.0 * x + 1.0)

    @staticmethod
    def _extreme(a: Any, b: Any, of_floats: Any, of_tensors: Any) -> Any:
        if isinstance(a, float) and isinstance(b, float):
            return of_floats(a, b)
        # A number beside a tensor becomes one of its kind.
        return of_tensors(a + 0.0 * b if isinstance(a, float) else a, b + 0.0 * a if isinstance(b, float) else b)


class Formula:
    """A score as a function of tensors."""

    def __init__(self, score: str, operations: ModuleType) -> None:
        self.text = score
        self.name, self.source, self.aim, _ = _scorewise.score_facts(score)
        self._guards = guards = Guards(operations)
        names = {
            "ratio": guards.ratio, "power": guards.power, "sqrt": guards.sqrt, "ln": guards.ln, "exp": guards.exp,
            "absolute": guards.absolute, "minimum": guards.minimum, "maximum": guards.maximum, "__builtins__": {},
        }  # fmt: skip
        # The text is the registry's own tree as Rust prints it: numbers, the seven cells and eight functions, nothing else. It becomes a
        # function once, so that compilers of tensor programs see a function and not a text.
        self._function: Callable[..., Any] = eval(f"lambda tn, fp, fn, tp, p, n, total: {self.source}", names)  # noqa: S307

    def __reduce__(self) -> tuple[Callable[[str, str], Formula], tuple[str, str]]:
        # Neither a module nor a function made of a text can be pickled, but their names can.
        return _formula, (self.text, self._guards.operations.__name__)

    def value(self, tn: Any, fp: Any, fn: Any, tp: Any, p: Any, n: Any) -> Any:
        """The score of confusion matrices, element by element."""
        return self._function(tn, fp, fn, tp, p, n, p + n)

    def loss(self, value: Any) -> Any:
        """1 − s where higher is better, s where lower is, the distance from the ideal where one is aimed at."""
        if self.aim == math.inf:
            return 1.0 - value
        return value if self.aim == -math.inf else self._guards.absolute(value - self.aim)


def _formula(score: str, module: str) -> Formula:
    return Formula(score, importlib.import_module(module))


class Table:
    """A prior as numbers: F before all stretches, and of each stretch its beginning, the width of its panels, their coefficients."""

    def __init__(self, prior: str) -> None:
        self.text, self.mean, self.support, self.middle = _scorewise.prior_facts(prior)
        self.base, self.stretches = _scorewise.pieces(prior)


def horner(coefficients: Any, s: Any) -> tuple[Any, Any]:
    """A polynomial and its derivative; the coefficients of s⁰, s¹, … stand along the last axis."""
    value, slope = coefficients[..., -1], 0.0 * s
    for power in range(coefficients.shape[-1] - 2, -1, -1):
        slope = slope * s + value
        value = value * s + coefficients[..., power]
    return value, slope


def averaged(formula: Formula, average: str, tn: Any, fp: Any, fn: Any, tp: Any, p: Any, n: Any) -> Any:
    """The loss of the matrices of several classes: each cell is a vector, one number a class."""
    guards = formula._guards
    total = guards.operations.sum
    if average == "micro":
        return formula.loss(formula.value(*(total(cell) for cell in (tn, fp, fn, tp, p, n))))
    losses = formula.loss(formula.value(tn, fp, fn, tp, p, n))
    if average == "macro":
        return total(losses) / losses.shape[0]
    rows = total(p)
    # Where no class has a row there is nothing to weigh by.
    shares = guards.operations.where(rows == 0, 0.0 * p + 1.0 / losses.shape[0], guards.ratio(p, rows + 0.0 * p))
    return total(shares * losses)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
    return value


def priors_of(prior: str | list[str] | tuple[str, ...], task: str) -> list[Table]:
    """One prior for all classes, or one for each."""
    texts = [prior] if isinstance(prior, str) else list(prior) if isinstance(prior, (list, tuple)) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"prior must be a text such as 'cosine:0.5,0.1', not {prior!r}")
    if not texts or (task == "binary" and len(texts) != 1):
        raise ValueError(f"prior must be one text{'' if task == 'binary' else ', or one for each class'}, not {len(texts)}")
    return [Table(str(text)) for text in texts]
