"""Scores of confusion matrices, and the decisions with the best score on out-of-fold predictions, for bench/quality.py."""

from __future__ import annotations

import numpy as np


def score_of(name: str, matrix: np.ndarray) -> np.ndarray:
    """Return the score of each confusion matrix in an array whose last two axes are truth and prediction. Undefined scores are 0."""
    if name == "macro(f1)":
        hits = np.diagonal(matrix, axis1=-2, axis2=-1)
        sums = matrix.sum(-1) + matrix.sum(-2)
        return np.where(sums > 0, 2 * hits / np.maximum(sums, 1), 0).mean(-1)
    tn, fp, fn, tp = (matrix[..., truth, predicted].astype(float) for truth in (0, 1) for predicted in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = {
            "f1": lambda: 2 * tp / (2 * tp + fp + fn),
            "csi": lambda: tp / (tp + fp + fn),
            "tss": lambda: tp / (tp + fn) - fp / (fp + tn),
            "hss": lambda: 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn)),
            "mcc": lambda: (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        }[name]()
    return np.nan_to_num(value, nan=0.0, posinf=0.0, neginf=0.0)


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Return the confusion matrix: rows are true classes, columns predicted classes. `classes` is the number of classes."""
    return np.bincount(truth * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def best_threshold(score: str, truth: np.ndarray, probability: np.ndarray) -> float:
    """Return the midpoint of the interval of thresholds that all give the best score on these rows."""
    order = np.argsort(-probability, kind="stable")
    values = probability[order]
    tp, fp = np.cumsum(truth[order]), np.cumsum(1 - truth[order])
    last = np.append(values[1:] < values[:-1], True)
    matrix = np.stack([np.stack([fp[-1] - fp, fp], -1), np.stack([tp[-1] - tp, tp], -1)], -2)[last]
    best = int(np.argmax(score_of(score, matrix)))
    ends = np.append(values[last], 0.0)
    return float((ends[best] + ends[best + 1]) / 2)


def best_factors(score: str, truth: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return one factor for each class, by which the probability of the class is multiplied; the class with the largest product is predicted.

    The factors are found by coordinate ascent on the score. The candidates for a factor are 1 and 201 quantiles of the factors at which the
    prediction of a row changes.
    """
    classes = probabilities.shape[1]
    factors, best = np.ones(classes), -1.0
    for _ in range(5):
        before = best
        for at in range(classes):
            scaled = probabilities * factors
            scaled[:, at] = -1
            other = scaled.argmax(1)
            ratio = scaled.max(1) / np.maximum(probabilities[:, at], 1e-300)
            order = np.argsort(ratio)
            candidates = np.unique(np.quantile(ratio[order], np.linspace(0, 1, 201)))
            for candidate in np.append(candidates * 1.0000001, 1.0):
                value = float(score_of(score, confusion(truth, np.where(ratio < candidate, at, other), classes)))
                if value > best + 1e-12:
                    best, factors[at] = value, candidate
        if best <= before:
            break
    return factors
