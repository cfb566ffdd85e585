"""
What Rust computes for the package `scorewise`. Not for users: names and shapes may change.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from typing import SupportsFloat, SupportsIndex, final

__all__ = ["Model", "Sweep", "boosting", "check_output", "class_loss", "class_score", "command", "confusion", "curves_svg", "expected_confusion", "figure_png", "figures", "loss", "page", "pieces", "prior_facts", "priors", "report", "score", "score_facts", "scores", "temporal_loss", "theory", "train"]

@final
class Model:
    """
    A trained classifier.
    """
    @property
    def classes(self, /) -> list[str]:
        """
        The classes, in the order of the labels.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns that it needs.
        """
    def description(self, /) -> str:
        """
        All but the weights, as JSON.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Model:
        """
        From the bytes of a model file.
        """
    def labels(self, /, probabilities: Incomplete) -> Incomplete:
        """
        Labels from probabilities, as places in the list of classes.
        """
    def probabilities(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]]) -> Incomplete:
        """
        Probabilities, row by row: of the second class where there are two, else of each.
        """
    @property
    def threshold(self, /) -> float | None:
        """
        The threshold of two classes.
        """
    def to_bytes(self, /) -> bytes:
        """
        The model file, as bytes.
        """

@final
class Sweep:
    """
    All thresholds of a set of predictions.
    """
    def __new__(cls, /, labels: Incomplete, probabilities: Incomplete, weights: Incomplete | None) -> Sweep: ...
    def at(self, /, threshold: SupportsFloat | SupportsIndex) -> list[float]:
        """
        tn, fp, fn, tp at a threshold.
        """
    def best(self, /, score: str, subject_to: SupportsGetItem[int, str]) -> str:
        """
        The best threshold, as JSON.
        """
    def bootstrap(self, /, labels: Incomplete, probabilities: Incomplete, weights: Incomplete | None, score: str, subject_to: SupportsGetItem[int, str], replicates: SupportsIndex, seed: SupportsIndex, block: SupportsIndex | None) -> str:
        """
        How sure the best threshold is, as JSON. The arrays are those that the sweep was made from.
        """
    @property
    def counts(self, /) -> tuple[float, float]:
        """
        The weight of the positives and of the negatives.
        """
    def curve(self, /, scores: SupportsGetItem[int, str], points: SupportsIndex) -> tuple[Incomplete, Incomplete, Incomplete]:
        """
        Thresholds (the lowest of each run of equally good ones), their matrices (one row each: tn, fp, fn, tp), and the values of the scores there (one column each; NaN where
        undefined).
        """
    @property
    def rows(self, /) -> int:
        """
        How many rows.
        """

def boosting(labels: Incomplete, margins: Incomplete, weights: Incomplete | None, score: str, prior: str, floor: SupportsFloat | SupportsIndex) -> tuple[Incomplete, Incomplete]:
    """
    Gradient and a positive curvature by the margin, for machines that boost trees.

    The curvature of a score's loss has no sign. What stands in for it is the size of the gradient, |∂ℓ/∂z|: the value of a leaf, −Σg/Σh, is
    then the balance of its rows, between −1 and 1, whatever the score and however rare the events. A share `floor` of the density at
    the prior's centre keeps it above 0 where the density is not, so that rows beyond the prior's support hold their leaf still instead of blowing it up.
    Both are multiplied by the number of rows, for the hosts' limits on curvature are meant for gradients of the order of 1 a row.
    """

def check_output(path: str | PathLike[str], kind: str) -> None:
    """
    Refuses a place that holds a file of another kind, or whose name stands for one. The kinds are model, page, results, svg and png.
    """

def class_loss(labels: Incomplete, exclusive: bool, logits: Incomplete, classes: SupportsIndex, weights: Incomplete | None, score: str, priors: SupportsGetItem[int, str], average: str, gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss of many classes or of many labels, one against the rest. `labels` holds the class of each row, or one flag for each
    row and class.
    """

def class_score(classes: SupportsIndex, labels: Incomplete, predicted: Incomplete, weights: Incomplete | None, score: str) -> float | None:
    """
    A score of many classes: of the whole matrix (`mcc`, `gerrity`, …), or an average over the classes (`macro(f1)`); of a score of two
    classes, its macro average. Nothing where it is undefined.
    """

def command(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the command `scorewise` with these arguments, the program's name first, and returns its exit code. The process is taken to be the
    command's own, with its signals.
    """

def confusion(labels: Incomplete, probabilities: Incomplete, weights: Incomplete | None, threshold: SupportsFloat | SupportsIndex) -> list[float]:
    """
    tn, fp, fn, tp at a threshold.
    """

def curves_svg(names: SupportsGetItem[int, str], thresholds: Incomplete, values: SupportsGetItem[int, Incomplete]) -> str | None:
    """
    Scores over the threshold as SVG: names, thresholds in rising order, and the values of each score (NaN where undefined). Nothing where
    all of them are undefined.
    """

def expected_confusion(labels: Incomplete, predictions: Incomplete, weights: Incomplete | None, prior: str, from_logits: bool) -> list[float]:
    """
    The expected tn, fp, fn, tp.
    """

def figure_png(document: str, name: str) -> bytes:
    """
    One figure of a report as PNG.
    """

def figures(document: str) -> list[tuple[str, str, str, str]]:
    """
    Name, title, caption and SVG of each figure of a report.
    """

def loss(labels: Incomplete, predictions: Incomplete, weights: Incomplete | None, score: str, prior: str, exact: bool, from_logits: bool, gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss of two classes, and its gradient by the logits where it is asked for.
    """

def page(document: str) -> str:
    """
    The page of a report.
    """

def pieces(prior: str) -> tuple[float, list[tuple[float, float, Incomplete]]]:
    """
    A prior as polynomials of the logit: F before all stretches, and of each stretch its beginning, the width of a panel, and the
    coefficients, a row for each panel.
    """

def prior_facts(prior: str) -> tuple[str, float, tuple[float, float], tuple[float, float]]:
    """
    A prior: as it is written, its mean, its support, and where its middle 98 % lie.
    """

def priors() -> str:
    """
    The families of priors, as JSON.
    """

def report(labels: Incomplete, probabilities: Incomplete, weights: Incomplete | None, score: str, threshold: SupportsFloat | SupportsIndex | None, prior: str | None, subject_to: SupportsGetItem[int, str], replicates: SupportsIndex, seed: SupportsIndex, block: SupportsIndex | None, facts: str) -> str:
    """
    A forecast as a page shows it, as JSON. `facts` are JSON too: `chosen`, `classes`, `training`, `provenance`.
    """

def score(labels: Incomplete, probabilities: Incomplete, weights: Incomplete | None, threshold: SupportsFloat | SupportsIndex, scores: SupportsGetItem[int, str] | None, replicates: SupportsIndex, seed: SupportsIndex, block: SupportsIndex | None) -> str:
    """
    Scores at a threshold, with intervals, as JSON.
    """

def score_facts(score: str) -> tuple[str, str, float, str]:
    """
    A score: name, Python source over `tn fp fn tp p n total` and the guarded functions, the value it aims at (+∞ where higher is better,
    −∞ where lower is), and all else as JSON.
    """

def scores() -> str:
    """
    The registered scores, as JSON.
    """

def temporal_loss(labels: Incomplete, logits: Incomplete, weights: Incomplete | None, sequences: Incomplete, score: str, prior: str, weighting: str, masks: SupportsGetItem[int, SupportsFloat | SupportsIndex], gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss over sequences, errors weighing by when they happen. `weighting` is `value`, `sum` or `maximum`.
    """

def theory(labels: Incomplete, predictions: Incomplete, weights: Incomplete | None, score: str, prior: str, from_logits: bool) -> str:
    """
    A score under a random threshold, as JSON.
    """

def train(columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], labels: Incomplete, classes: SupportsGetItem[int, str], weights: Incomplete | None, settings: str) -> tuple[Model, str]:
    """
    Trains on columns and the class of each row, of two classes the second being the positive one. The settings are JSON; what is left out has
    its default. Returns the model, and how it came about as JSON.
    """
