"""Evaluation of scores and priors on the tensors of PyTorch or Keras.

A score is a formula as Python source, evaluated on the tensors of the framework. A prior is a table of polynomials of the logit, evaluated by
Horner's rule. Both come from the native module, so scores and priors added to the Rust crates need no code here.
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


class FormulaFunctions:
    """The functions that the formulas of scores use. Undefined values such as x/0 are 0, as in the Rust crates, and have a gradient of 0.

    It is not enough to replace an undefined result by 0, because the backward pass would compute 0 · ∞ = NaN for its gradient. So an argument
    with an undefined result is first replaced by an argument with a finite result, and then the result is replaced by 0.

    Parameters
    ----------
    operations : module
        ``torch`` or ``keras.ops``: a module with the functions where, sqrt, log, exp, abs, minimum, maximum and sum.
    """

    def __init__(self, operations: ModuleType) -> None:
        self.operations = operations

    def ratio(self, x: Any, y: Any) -> Any:
        """Return x / y, or 0 where y is 0."""
        if isinstance(y, float):
            return x * 0.0 if y == 0.0 else x / y
        zero = y == 0
        return self.operations.where(zero, 0.0 * y, x / self.operations.where(zero, 0.0 * y + 1.0, y))

    def power(self, x: Any, y: Any) -> Any:
        """Return x to the power of y, or 0 where the power or its derivative is undefined or infinite."""
        operations = self.operations
        if isinstance(x, float) and isinstance(y, float):
            return 0.0 if (x == 0.0 and y < 0.0) or (x < 0.0 and not y.is_integer()) else x**y
        if isinstance(y, float):
            if y == 0.0:
                return 0.0 * x + 1.0
            # x**y is undefined for x < 0 unless y is an integer, and infinite at x = 0 for y < 0; its derivative at x = 0 is infinite for y < 1,
            # y ≠ 0. In all these cases the result and its derivative are replaced by 0.
            bad = x <= 0 if not y.is_integer() else x == 0
            if y >= 1.0 and y.is_integer():
                return x**y
            return operations.where(bad, 0.0 * x, operations.where(bad, 0.0 * x + 1.0, x) ** y)
        return operations.where(x > 0, operations.exp(y * self.ln(x)), 0.0 * y)

    def sqrt(self, x: Any) -> Any:
        """Return the square root of x, or 0 where x is not positive."""
        if isinstance(x, float):
            return math.sqrt(x) if x > 0.0 else 0.0
        return self.operations.where(x > 0, self.operations.sqrt(self._replace_nonpositive_by_one(x)), 0.0 * x)

    def ln(self, x: Any) -> Any:
        """Return the natural logarithm of x, or 0 where x is not positive."""
        if isinstance(x, float):
            return math.log(x) if x > 0.0 else 0.0
        return self.operations.where(x > 0, self.operations.log(self._replace_nonpositive_by_one(x)), 0.0 * x)

    def exp(self, x: Any) -> Any:
        """Return e to the power of x."""
        return math.exp(x) if isinstance(x, float) else self.operations.exp(x)

    def absolute(self, x: Any) -> Any:
        """Return the absolute value of x."""
        return abs(x) if isinstance(x, float) else self.operations.abs(x)

    def minimum(self, a: Any, b: Any) -> Any:
        """Return the smaller of two numbers, or of the elements of two tensors."""
        return self._minimum_or_maximum(a, b, min, self.operations.minimum)

    def maximum(self, a: Any, b: Any) -> Any:
        """Return the greater of two numbers, or of the elements of two tensors."""
        return self._minimum_or_maximum(a, b, max, self.operations.maximum)

    def _replace_nonpositive_by_one(self, x: Any) -> Any:
        """Return x with every element that is not positive replaced by 1."""
        return self.operations.where(x > 0, x, 0.0 * x + 1.0)

    @staticmethod
    def _minimum_or_maximum(a: Any, b: Any, of_floats: Any, of_tensors: Any) -> Any:
        """Return ``of_floats(a, b)`` for two floats; otherwise convert an argument that is a float to a tensor and return ``of_tensors(a, b)``."""
        if isinstance(a, float) and isinstance(b, float):
            return of_floats(a, b)
        # The functions minimum and maximum of PyTorch and Keras need two tensors of the same type.
        return of_tensors(a + 0.0 * b if isinstance(a, float) else a, b + 0.0 * a if isinstance(b, float) else b)


class Formula:
    """A score that is computed on the tensors of a framework."""

    def __init__(self, score: str, operations: ModuleType) -> None:
        self.text = score
        self.name, self.source, self.target, _ = _scorewise.score_facts(score)
        self._functions = functions = FormulaFunctions(operations)
        names = {
            "ratio": functions.ratio, "power": functions.power, "sqrt": functions.sqrt, "ln": functions.ln, "exp": functions.exp,
            "absolute": functions.absolute, "minimum": functions.minimum, "maximum": functions.maximum, "__builtins__": {},
        }  # fmt: skip
        # Rust generates the source from the parsed formula; it contains only numbers, the operators + - *, the seven arguments and the eight
        # functions in `names`. It is compiled once, so that compilers such as torch.compile see an ordinary function.
        self._compiled_formula: Callable[..., Any] = eval(f"lambda tn, fp, fn, tp, p, n, total: {self.source}", names)  # noqa: S307

    def __reduce__(self) -> tuple[Callable[[str, str], Formula], tuple[str, str]]:
        """Return what pickle stores: the function that makes the formula again, and the arguments of the function."""
        # The module `torch` or `keras.ops` and the compiled function cannot be pickled, but the text of the score and the name of the module can.
        return _load_formula, (self.text, self._functions.operations.__name__)

    def value(self, tn: Any, fp: Any, fn: Any, tp: Any, p: Any, n: Any) -> Any:
        """Return the score of each confusion matrix; the arguments are tensors of the same shape."""
        return self._compiled_formula(tn, fp, fn, tp, p, n, p + n)

    def loss(self, value: Any) -> Any:
        """Return the loss of a score s: 1 − s if higher is better, s if lower is better, otherwise the distance from the ideal value."""
        if self.target == math.inf:
            return 1.0 - value
        return value if self.target == -math.inf else self._functions.absolute(value - self.target)


def _load_formula(score: str, module: str) -> Formula:
    """Make a formula when it is unpickled; only the text of its score and the name of the module with the operations were pickled."""
    return Formula(score, importlib.import_module(module))


class PriorTable:
    """The distribution function F(σ(z)) of a prior as piecewise polynomials of the logit z; σ(z) is the probability 1/(1 + exp(−z)).

    ``base`` is the value for very small logits. Each tuple (low, width, coefficients) in ``ranges`` describes a range of logits: its
    lower end, the width of the intervals it is divided into, and one row of polynomial coefficients per interval. F is the sum of ``base`` and the
    polynomials of all ranges. ``quantiles`` are the 1 % and 99 % quantiles of the prior.
    """

    def __init__(self, prior: str) -> None:
        self.text, self.mean, self.support, self.quantiles = _scorewise.prior_facts(prior)
        self.base, self.ranges = _scorewise.pieces(prior)


def horner(coefficients: Any, s: Any) -> tuple[Any, Any]:
    """Return the value and the derivative of a polynomial at s; the coefficients of s⁰, s¹, … lie along the last axis."""
    value, derivative = coefficients[..., -1], 0.0 * s
    for power in range(coefficients.shape[-1] - 2, -1, -1):
        derivative = derivative * s + value
        value = value * s + coefficients[..., power]
    return value, derivative


def average_loss(formula: Formula, average: str, tn: Any, fp: Any, fn: Any, tp: Any, p: Any, n: Any) -> Any:
    """Return the loss averaged over the classes. The arguments tn to n are vectors with one element for each class."""
    functions = formula._functions
    total = functions.operations.sum
    if average == "micro":
        return formula.loss(formula.value(*(total(entry) for entry in (tn, fp, fn, tp, p, n))))
    losses = formula.loss(formula.value(tn, fp, fn, tp, p, n))
    if average == "macro":
        return total(losses) / losses.shape[0]
    rows = total(p)
    # If no class has a positive row, the classes are weighted equally.
    shares = functions.operations.where(rows == 0, 0.0 * p + 1.0 / losses.shape[0], functions.ratio(p, rows + 0.0 * p))
    return total(shares * losses)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``choices``, otherwise raise a ValueError."""
    if value not in choices:
        raise ValueError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
    return value


def prior_tables(prior: str | list[str] | tuple[str, ...], task: str) -> list[PriorTable]:
    """Return a list with one table for all classes if ``prior`` is a string, or with one table for each class if it is a list."""
    strings = [prior] if isinstance(prior, str) else list(prior) if isinstance(prior, (list, tuple)) else [None]
    if not all(isinstance(each, str) for each in strings):
        raise ValueError(f"prior must be a string such as 'cosine:0.5,0.1', not {prior!r}")
    if not strings or (task == "binary" and len(strings) != 1):
        raise ValueError(f"prior must be one string{'' if task == 'binary' else ', or one string for each class'}, not {len(strings)} strings")
    return [PriorTable(str(each)) for each in strings]
