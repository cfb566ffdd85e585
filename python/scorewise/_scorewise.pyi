"""
The native part of the package `scorewise`. Private: names and signatures may change at any time.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from typing import SupportsFloat, SupportsIndex, final

__all__ = ["Model", "Sweep", "boosting", "check_output", "class_loss", "class_score", "command", "confusion", "cross_fit", "curves_svg", "expected_confusion", "figure_png", "figures", "loss", "page", "pieces", "pool", "pool_logits", "pool_probabilities", "prior_facts", "priors", "report", "score", "score_facts", "scores", "temporal_loss", "theory", "train", "training_options"]

@final
class Model:
    """
    A trained classifier.
    """
    @property
    def classes(self, /) -> list[str]:
        """
        The names of the classes. Predicted labels are indices into this list.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the input columns.
        """
    def description(self, /) -> str:
        """
        The content of the model file except the weights of the networks, as JSON.
        """
    def explain(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], labels: Incomplete, weights: Incomplete | None, permutations: SupportsIndex, rows: SupportsIndex, seed: SupportsIndex) -> str:
        """
        The importance of each column for the score of the model, and the partial dependence on the most important columns, as JSON. `labels` are
        indices into the list of classes.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Model:
        """
        Reads a model from the bytes of a model file.
        """
    def labels(self, /, probabilities: Incomplete) -> Incomplete:
        """
        The predicted class of each row, as an index into the list of classes. The argument is the result of the method `probabilities`.
        """
    def options(self, /) -> str:
        """
        The training options of the model as JSON; options that a file of format 1 does not store are null.
        """
    def probabilities(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]]) -> Incomplete:
        """
        Probabilities, row by row: of the second class if there are two classes, otherwise of each class.
        """
    @property
    def threshold(self, /) -> float | None:
        """
        The threshold of a model with two classes; `None` with more classes.
        """
    def to_bytes(self, /) -> bytes:
        """
        The bytes of the model file.
        """

@final
class Sweep:
    """
    The confusion matrices of a set of predictions at all thresholds.
    """
    def __new__(cls, /, rows: tuple[Incomplete, Incomplete, Incomplete | None]) -> Sweep: ...
    def at(self, /, threshold: SupportsFloat | SupportsIndex) -> list[float]:
        """
        The confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
        """
    def best(self, /, score: str, subject_to: SupportsGetItem[int, str]) -> str:
        """
        The best threshold among those that satisfy the conditions, as JSON.
        """
    def bootstrap(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | None]) -> str:
        """
        Confidence intervals of the best threshold and of its score, as JSON. `rows` must be the rows that the sweep was made from.
        """
    @property
    def counts(self, /) -> tuple[float, float]:
        """
        The total weight of the positives and of the negatives.
        """
    def curve(self, /, scores: SupportsGetItem[int, str], points: SupportsIndex) -> tuple[Incomplete, Incomplete, Incomplete]:
        """
        Three arrays, thinned to about `points` rows. Each row stands for an interval of thresholds with the same confusion matrix: the lower
        end of the interval; its confusion matrix (columns tn, fp, fn, tp); and its scores (one column for each score, NaN where undefined).
        """
    @property
    def rows(self, /) -> int:
        """
        The number of rows.
        """
    def smooth_best(self, /, score: str, width: SupportsFloat | SupportsIndex) -> str:
        """
        The smoothed threshold of a score, as JSON with the keys of `smooth` in the output of `scorewise tune`, and `score` and `interval` (the
        thresholds with the same confusion matrix).
        """
    def smooth_bootstrap(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, width: SupportsFloat | SupportsIndex, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | None]) -> str:
        """
        Confidence intervals of the smoothed threshold and of the score there, as JSON. `rows` must be the rows that the sweep was made from.
        """

def boosting(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, prior: str, floor: SupportsFloat | SupportsIndex) -> tuple[Incomplete, Incomplete]:
    """
    The gradient of the loss with respect to the margins (logits), and a positive curvature for each row, both multiplied by the number of rows,
    for gradient-boosted trees. `floor` is the smallest allowed curvature of a row, as a fraction of the curvature at the prior's mean.
    """

def check_output(path: str | PathLike[str], kind: str) -> None:
    """
    Raises an error if an existing file at `path` is not an output of this kind, or if the extension of `path` belongs to another kind of
    output. `kind` is `model`, `page`, `results`, `svg` or `png`.
    """

def class_loss(rows: tuple[Incomplete, Incomplete, Incomplete | None], classes: SupportsIndex, score: str, priors: SupportsGetItem[int, str], average: str, gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The one-versus-rest loss for more than two classes, or for several labels per row. `rows` is (labels, logits, weights): the labels are
    the class number of each row (uint32), or one boolean per row and class; the logits are given row by row.
    """

def class_score(classes: SupportsIndex, labels: Incomplete, predicted: Incomplete, weights: Incomplete | None, score: str) -> float | None:
    """
    A score of the predicted classes: a score of the whole confusion matrix (`mcc`, `gerrity`, …), or an average over the classes
    (`macro(f1)`). A score of two classes, such as `f1`, is macro-averaged. `None` when the score is undefined.
    """

def command(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the command `scorewise` and returns its exit code; the first argument is the name of the program. Installs signal handlers, so it
    must be called only by the script `scorewise` that the wheel installs.
    """

def confusion(rows: tuple[Incomplete, Incomplete, Incomplete | None], threshold: SupportsFloat | SupportsIndex) -> list[float]:
    """
    The confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
    """

def cross_fit(labels: Incomplete, classes: SupportsGetItem[int, str], columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], folds: SupportsIndex, repeats: SupportsIndex, may_reduce: bool, seed: SupportsIndex) -> list[tuple[Incomplete, Incomplete]]:
    """
    Divides rows into folds as `scorewise train` does: at random with the same share of each class, or if there is a column `groups` or `time`,
    without dividing a group, or into blocks of consecutive times. Returns the training rows and the held-out rows of each fold of each repeat.
    If `may_reduce` is true, there are fewer folds if a class has too few rows.
    """

def curves_svg(names: SupportsGetItem[int, str], thresholds: Incomplete, values: SupportsGetItem[int, Incomplete]) -> str | None:
    """
    A figure of scores by threshold, as SVG. `thresholds` must increase; `values` holds one array per score, with NaN where the score
    is undefined. Returns `None` when every value is undefined.
    """

def expected_confusion(rows: tuple[Incomplete, Incomplete, Incomplete | None], prior: str, from_logits: bool) -> list[float]:
    """
    The expected confusion matrix when the threshold has the distribution `prior`, as `[tn, fp, fn, tp]`.
    """

def figure_png(document: str, name: str) -> bytes:
    """
    One figure of a report, as PNG.
    """

def figures(document: str) -> list[tuple[str, str, str, str]]:
    """
    The name, title, caption and SVG of each figure of a report.
    """

def loss(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, prior: str, exact: bool, from_logits: bool, gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss for two classes and, if requested, its gradient with respect to the logits.
    """

def page(document: str) -> str:
    """
    A report as one HTML page.
    """

def pieces(prior: str) -> tuple[float, list[tuple[float, float, Incomplete]]]:
    """
    The cdf of a prior as piecewise polynomials of the logit: the value of the cdf below the first range of logits; and for each range, its
    lower end, the width of the intervals it is divided into, and the polynomial coefficients, one row for each interval.
    """

def pool(candidates: SupportsGetItem[int, Incomplete], has_scale: SupportsGetItem[int, bool], labels: Incomplete, classes: SupportsIndex, weights: Incomplete | None, score: str, seed: SupportsIndex) -> tuple[str, Incomplete]:
    """
    Chooses how candidates are combined, on predictions of rows that they were not trained on. `candidates` is a list of logits, row by row, with one
    logit for each row if there are two classes; `has_scale` says of each candidate whether its numbers are logits, or else values of a
    `decision_function`, whose scale is not known. Returns JSON with the keys `calibrations` (a list of scales and shifts), `weights`, `decision`
    and `value` (the score with the decision), and the combined probabilities of the rows.
    """

def pool_logits(probabilities: Incomplete, outputs: SupportsIndex) -> Incomplete:
    """
    The logits of predicted probabilities: with one number for each row the log-odds, otherwise the logarithms. Changes nothing else, so the softmax of
    logarithms gives the probabilities again.
    """

def pool_probabilities(candidates: SupportsGetItem[int, Incomplete], calibrations: SupportsGetItem[int, tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]], weights: SupportsGetItem[int, SupportsFloat | SupportsIndex], outputs: SupportsIndex) -> Incomplete:
    """
    The combined probabilities of rows from the mean logits of each candidate, with the calibrations and weights that the function `pool` returned.
    """

def prior_facts(prior: str) -> tuple[str, float, tuple[float, float], tuple[float, float]]:
    """
    Describes a prior: its canonical text, mean, support, and the 1 % and 99 % quantiles.
    """

def priors() -> str:
    """
    The families of threshold priors, as JSON.
    """

def report(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, threshold: SupportsFloat | SupportsIndex | None, prior: str | None, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | None], facts: str) -> str:
    """
    The data of a report, as JSON. `facts` is JSON too, with the keys `chosen` (how the threshold was chosen), `classes`, `training` and
    `provenance`.
    """

def score(rows: tuple[Incomplete, Incomplete, Incomplete | None], threshold: SupportsFloat | SupportsIndex, scores: SupportsGetItem[int, str] | None, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | None]) -> str:
    """
    Scores at a threshold with their confidence intervals, as JSON.
    """

def score_facts(score: str) -> tuple[str, str, float, str]:
    """
    Describes a score: its name, its formula as Python source (variables `tn fp fn tp p n total`, functions that return 0 where undefined),
    its ideal value (+∞ if higher is better, −∞ if lower is better), and a full description as JSON.
    """

def scores() -> str:
    """
    The registered scores, as JSON.
    """

def temporal_loss(rows: tuple[Incomplete, Incomplete, Incomplete | None], sequences: Incomplete, score: str, prior: str, weighting: tuple[str, SupportsGetItem[int, SupportsFloat | SupportsIndex]], gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss over time series, in which a false alarm shortly before an event and a miss shortly after an alarm count less. `sequences` holds,
    for each row, the number of its series. `weighting` is a pair: the name of the rule (`value`, `sum` or `maximum`, see `Weighting` of the crate
    scorewise), and the numbers by which an event or alarm reduces the weight of an error at distances of 1, 2, … rows.
    """

def theory(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, prior: str, from_logits: bool) -> str:
    """
    The distribution of a score under a random threshold, as JSON.
    """

def train(columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], labels: Incomplete, classes: SupportsGetItem[int, str], weights: Incomplete | None, options: str, threads: SupportsIndex) -> tuple[Model, str]:
    """
    Trains a model on columns and the class of each row; with two classes the second is the positive one. `options` is JSON with the fields
    of `TrainingOptions`; an absent field has its default value. Returns the model and a summary of the training run as JSON.
    """

def training_options() -> list[str]:
    """
    The names of all training options; a test checks that the classifier has a parameter for each.
    """
