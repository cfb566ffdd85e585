"""
The native part of the package `scorewise`. Private: names and signatures may change at any time.
"""

from _typeshed import Incomplete, SupportsGetItem, SupportsLenAndGetItem
from os import PathLike
from typing import SupportsFloat, SupportsIndex, final

__all__ = ["Model", "Sweep", "TemporalSweep", "boosting", "check_output", "class_loss", "class_score", "command", "compare", "confusion", "costs", "cross_fit", "curves_svg", "expected_confusion", "figure_png", "figures", "loss", "page", "pieces", "pool", "pool_logits", "pool_probabilities", "prior_facts", "priors", "report", "score", "score_counts", "score_facts", "score_series", "scores", "temporal_loss", "theory", "train", "training_options"]

@final
class Model:
    """
    A trained classifier.
    """
    @property
    def calibration(self, /) -> str | None:
        """
        The method by which the predictions are calibrated, `beta` or `isotonic`; `None` if they are not calibrated.
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
        The predicted class of each row, as an index into the list of classes. `probabilities` is what the method `probabilities`
        returns if `raw` is true.
        """
    def monitor(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], labels: Incomplete | None, weights: Incomplete | None, time: str | None, every: str | None, resample: str | None, at_least: SupportsFloat | SupportsIndex | None, replicates: SupportsIndex, seed: SupportsIndex) -> str:
        """
        Judges the model on new rows. Returns the data of a report as JSON, whose `result` has the keys of `scorewise monitor --json`. `labels` are
        indices into the list of classes, or `None` if the true classes are not known. `resample` says which rows depend on each
        other: `rows`, `blocks`, `blocks:48` or `group:COLUMN`; `None` assumes the same dependence as for the training rows.
        """
    def options(self, /) -> str:
        """
        The options with which the model was trained, as JSON. Model files of format 1 do not store all options; those that are missing are null.
        """
    def probabilities(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], raw: bool) -> Incomplete:
        """
        Predicted probabilities, row by row. With two classes there is one number for each row, the probability of the second class; with more
        classes there is one number for each class. If `raw` is true, the predictions are returned as they are before the calibration.
        """
    @property
    def raw_threshold(self, /) -> float | None:
        """
        The decision threshold of a model with two classes, on the scale of raw predictions; `None` if the model has more classes.
        """
    @property
    def threshold(self, /) -> float | None:
        """
        The decision threshold of a model with two classes, on the scale of probabilities; `None` if the model has more classes.
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
    def best(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
        """
        The best threshold among those that satisfy the conditions, as JSON. The bootstrap is only used to test conditions with a confidence. `rows`
        must be the rows that the sweep was made from.
        """
    def bootstrap(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
        """
        Confidence intervals of the best threshold and of its score, as JSON. `rows` must be the rows that the sweep was made from.
        """
    def corrected(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, subject_to: SupportsGetItem[int, str], width: SupportsFloat | SupportsIndex | None, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str | None:
        """
        Estimates the score on new rows: at the best threshold or, if `width` is given, at the smoothed threshold. The result is JSON with the
        estimate and its 95 % interval, or `None` if there is no estimate. `rows` must be the rows that the sweep was made from.
        """
    @property
    def counts(self, /) -> tuple[float, float]:
        """
        The total weight of the positive rows and of the negative rows.
        """
    def curve(self, /, scores: SupportsGetItem[int, str], points: SupportsIndex) -> tuple[Incomplete, Incomplete, Incomplete]:
        """
        Scores by threshold as three arrays with about `points` rows. Each row stands for an interval of thresholds with the same confusion
        matrix. The arrays hold the lower end of the interval, the confusion matrix (columns tn, fp, fn, tp), and the scores (one column for each
        score, NaN where it is undefined).
        """
    @property
    def rows(self, /) -> int:
        """
        The number of rows.
        """
    def smooth_best(self, /, score: str, width: SupportsFloat | SupportsIndex) -> str:
        """
        The threshold at which the average of a score over nearby thresholds is best. The result is JSON with the keys of `smooth` in the output of
        `scorewise tune --json` and two more keys: `score`, the name of the score, and `interval`, the range of thresholds that give the same
        confusion matrix as this threshold.
        """
    def smooth_bootstrap(self, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, width: SupportsFloat | SupportsIndex, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
        """
        Confidence intervals of the smoothed threshold and of the score at this threshold, as JSON. `rows` must be the rows that the sweep was made
        from.
        """

@final
class TemporalSweep:
    """
    The time-weighted confusion matrices of a series at all thresholds.
    """
    def __new__(cls, /, rows: tuple[Incomplete, Incomplete, Incomplete | None], series: tuple[str, Incomplete | None]) -> TemporalSweep: ...
    def at(self, /, threshold: SupportsFloat | SupportsIndex) -> list[float]:
        """
        The time-weighted confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
        """
    def best(self, /, score: str, subject_to: SupportsGetItem[int, str]) -> str:
        """
        The best threshold among those that satisfy the conditions, as JSON.
        """
    @staticmethod
    def bootstrap(rows: tuple[Incomplete, Incomplete, Incomplete | None], series: tuple[str, Incomplete | None], score: str, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
        """
        Confidence intervals of the best threshold and of its score, as JSON. `rows` and `series` must be those that the sweep was made from.
        """

def boosting(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, prior: str, floor: SupportsFloat | SupportsIndex) -> tuple[Incomplete, Incomplete]:
    """
    The gradient of the loss with respect to the margins (logits), and a positive curvature for each row, as training of gradient-boosted trees
    needs them. Both are multiplied by the number of rows. `floor` is the smallest allowed curvature of a row, as a fraction of the curvature at the
    prior's mean.
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
    Runs the command `scorewise` and returns its exit code. The first argument is the name of the program. This function installs signal
    handlers, so only the script `scorewise`, which the wheel installs, may call it.
    """

def compare(labels: Incomplete, forecasts: tuple[Incomplete, Incomplete], weights: Incomplete | None, names: SupportsLenAndGetItem[str], thresholds: SupportsLenAndGetItem[SupportsFloat | SupportsIndex] | None, score: str, series: tuple[str, Incomplete | None] | None, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
    """
    Compares two forecasts of the same rows and returns the result as JSON. Without `thresholds`, each forecast is judged at its own best threshold.
    If `series` is given, errors are weighted by their timing.
    """

def confusion(rows: tuple[Incomplete, Incomplete, Incomplete | None], threshold: SupportsFloat | SupportsIndex) -> list[float]:
    """
    The confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
    """

def costs(rows: tuple[Incomplete, Incomplete, Incomplete | None], costs: tuple[Incomplete, Incomplete], threshold: SupportsFloat | SupportsIndex | None, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
    """
    The costs of the errors at `threshold`, as JSON. If `threshold` is `None`, the search finds the threshold with the lowest cost among those that
    satisfy the conditions. `costs` holds the cost of a false alarm and the cost of a miss in each row.
    """

def cross_fit(labels: Incomplete, classes: SupportsGetItem[int, str], columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], folds: SupportsIndex, repeats: SupportsIndex, may_reduce: bool, seed: SupportsIndex) -> list[tuple[Incomplete, Incomplete]]:
    """
    Divides rows into folds as `scorewise train` does. Without columns, rows are distributed at random, with the same share of each class in all
    folds. With a column `groups`, all rows of a group are in the same fold. With a column `time`, the folds are blocks of consecutive times. Returns
    the training rows and the held-out rows of each fold of each repeat. If `may_reduce` is true and a class has too few rows for this number of
    folds, fewer folds are used.
    """

def curves_svg(names: SupportsGetItem[int, str], thresholds: Incomplete, values: SupportsGetItem[int, Incomplete]) -> str | None:
    """
    A figure of scores by threshold, as SVG. `thresholds` must increase. `values` holds one array for each score, with one value for each
    threshold, which is NaN where the score is undefined. Returns `None` if every value is undefined.
    """

def expected_confusion(rows: tuple[Incomplete, Incomplete, Incomplete | None], prior: str, from_logits: bool) -> list[float]:
    """
    The expected confusion matrix when the threshold has the distribution `prior`, as `[tn, fp, fn, tp]`.
    """

def figure_png(document: str, name: str) -> bytes:
    """
    The figure called `name` in a report, as PNG. `document` is the data of the report as JSON.
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
    A report as one HTML page. `document` is the data of the report as JSON.
    """

def pieces(prior: str) -> tuple[float, list[tuple[float, float, Incomplete]]]:
    """
    The distribution function of a prior as piecewise polynomials of the logit. Returns the value of the function below all segments, and the
    segments. A segment is a range of logits, divided into panels (intervals) of equal width. It is returned as a tuple: its lowest logit, the width
    of a panel, and an array with the polynomial coefficients of one panel in each row.
    """

def pool(candidates: SupportsGetItem[int, Incomplete], has_scale: SupportsGetItem[int, bool], labels: Incomplete, classes: SupportsIndex, weights: Incomplete | None, score: str, seed: SupportsIndex) -> tuple[str, Incomplete]:
    """
    Chooses how the classifiers of a pool are combined, on predictions for rows that the classifiers were not trained on.

    `candidates` holds the predictions of each classifier, row by row: one number for each row if there are two classes, otherwise one number for each
    row and class. `has_scale` says for each classifier whether its predictions are logits. If not, they are values of a `decision_function`, whose
    scale is not known.

    Returns a JSON object, and the combined probabilities in the same form as the predictions of one classifier. The keys of the JSON object are:

    - `calibrations`: for each classifier, the scale and the shift that calibrate its predictions.
    - `weights`: for each classifier, its weight in the mean of the calibrated predictions.
    - `threshold`: the decision threshold; null with more than two classes.
    - `factors`: one factor for each class; the class with the greatest product of factor and probability is predicted. Null if no factors are used.
    - `costs`: the cost matrix; the class with the lowest expected cost is predicted. Null if no costs are used.
    - `value`: the score of the resulting decisions; null if it is undefined.
    """

def pool_logits(probabilities: Incomplete, outputs: SupportsIndex) -> Incomplete:
    """
    Converts predicted probabilities to logits. If there is one probability for each row, its logit is the log-odds. If there is one for each
    class, the logits are the logarithms, whose softmax gives the probabilities again. Probabilities below 1e-6 or above 1 − 1e-6 are replaced
    by these limits first.
    """

def pool_probabilities(candidates: SupportsGetItem[int, Incomplete], calibrations: SupportsGetItem[int, tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]], weights: SupportsGetItem[int, SupportsFloat | SupportsIndex], outputs: SupportsIndex) -> Incomplete:
    """
    The probabilities that a pool of classifiers predicts. Each classifier has one model for each fold; `candidates` holds, for each classifier, the
    mean of the predictions of its models. `calibrations` and `weights` are those that the function `pool` returned.
    """

def prior_facts(prior: str) -> tuple[str, float, tuple[float, float], tuple[float, float]]:
    """
    Describes a prior. Returns its text in the standard form, its mean, its support, and its 1 % and 99 % quantiles.
    """

def priors() -> str:
    """
    The families of threshold priors, as JSON.
    """

def report(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, threshold: SupportsFloat | SupportsIndex | None, prior: str | None, subject_to: SupportsGetItem[int, str], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None], facts: str) -> str:
    """
    Computes the data of a report, as JSON. `facts` is also JSON, with the keys `chosen` (how the threshold was chosen), `classes` (the names of the
    two classes), `training` (the loss curves, or null) and `provenance` (the command, the time and the data).
    """

def score(rows: tuple[Incomplete, Incomplete, Incomplete | None], threshold: SupportsFloat | SupportsIndex, scores: SupportsGetItem[int, str] | None, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
    """
    Scores at a threshold with their confidence intervals, as JSON.
    """

def score_counts(counts: tuple[Incomplete, Incomplete, Incomplete, Incomplete], scores: SupportsGetItem[int, str] | None, by: tuple[Incomplete, SupportsGetItem[int, str]] | None, bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
    """
    Scores of a table whose rows are confusion matrices, with confidence intervals, as JSON: the scores of the sum of all rows and, with `by`, also of
    the sum of the rows of each group. `counts` holds the columns tn, fp, fn and tp. `by` is a pair: the group number of each row, and the names of
    the groups.
    """

def score_facts(score: str) -> tuple[str, str, float, str]:
    """
    Describes a score. Returns its name; its formula as Python source; the value that it should approach (+∞ if higher values are better, −∞ if lower
    values are better); and a full description as JSON.

    The Python source contains the variables `tn fp fn tp p n total` and calls functions that the caller defines (see `ExpressionTree::python`). A
    function must return 0 where its result is undefined.
    """

def score_series(rows: tuple[Incomplete, Incomplete, Incomplete | None], threshold: SupportsFloat | SupportsIndex, scores: SupportsGetItem[int, str] | None, series: tuple[str, Incomplete | None], bootstrap: tuple[SupportsIndex, SupportsIndex, SupportsIndex | str | Incomplete | None]) -> str:
    """
    Scores at a threshold with their confidence intervals, as JSON. The scores are computed from counts in which errors are weighted by their timing.
    """

def scores() -> str:
    """
    The registered scores, as JSON.
    """

def temporal_loss(rows: tuple[Incomplete, Incomplete, Incomplete | None], sequences: Incomplete, score: str, prior: str, weighting: tuple[str, SupportsGetItem[int, SupportsFloat | SupportsIndex]], gradient: bool) -> tuple[float, Incomplete | None]:
    """
    The loss for time series, in which a false alarm shortly before an event and a missed event shortly after an alarm count less. `sequences`
    holds, for each row, the number of the series that the row belongs to. `weighting` is a pair: the name of the rule (`value`, `sum` or
    `maximum`, see `Weighting` in the crate scorewise), and the numbers by which an event or alarm reduces the weight of an error at distances
    of 1, 2, … rows.
    """

def theory(rows: tuple[Incomplete, Incomplete, Incomplete | None], score: str, prior: str, from_logits: bool) -> str:
    """
    The distribution of a score under a random threshold, as JSON.
    """

def train(columns: SupportsGetItem[int, tuple[str, Incomplete | tuple[Incomplete, SupportsGetItem[int, str]]]], labels: Incomplete, classes: SupportsGetItem[int, str], weights: Incomplete | None, series: Incomplete | None, options: str, threads: SupportsIndex) -> tuple[Model, str]:
    """
    Trains a model. `labels` holds the class of each row as an index into `classes`; with two classes, the second is the positive one. `options`
    is JSON with the fields of `TrainingOptions`; an absent field has its default value. If errors are weighted by their timing, the rows are split by
    the first column of dates or, if there is none, by their order. `series` then holds one integer for each row, which identifies the time series of
    the row. Returns the model and a summary of the training run as JSON.
    """

def training_options() -> list[str]:
    """
    The names of all training options. A test checks that the Python class `ScoreClassifier` has a parameter for each of them.
    """
