"""Train classifiers for the score they are evaluated by.

Forecasts of rare events are evaluated by F1, TSS, CSI, HSS and similar scores, but are usually trained with cross-entropy, with a threshold
chosen afterwards. scorewise uses the score itself as the loss, by treating the threshold as a random variable, and finds the best
threshold exactly::

    import scorewise as sw

    model = sw.ScoreClassifier(score="tss").fit(X, y)                      # scikit-learn
    pool = sw.ScorePool([("a", ClassifierA()), ("b", ClassifierB())], score="csi").fit(X, y)  # a mean of classifiers of any library
    sw.sweep(y, p).best("f1", subject_to="precision >= 0.3")               # the exact best threshold
    from scorewise.torch import ScoreLoss                                  # also scorewise.keras, .xgboost, .lightgbm

Labels are 0 and 1; ``positive=`` selects another positive label. A row is predicted positive when its probability is above the threshold.
Arrays are borrowed, not copied, and the interpreter lock is released while Rust computes: other threads must not write to an array until
the function that it was passed to has returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._measures import (
    Best,
    Confusion,
    Document,
    Sweep,
    TemporalSweep,
    compare,
    costs,
    expected_confusion,
    loss,
    loss_and_gradient,
    priors,
    score,
    score_counts,
    scores,
    sweep,
    temporal_sweep,
    theory,
)
from ._report import Figure, Report, report

if TYPE_CHECKING:
    from ._classifier import ScoreClassifier
    from ._pool import ScorePool
    from ._threshold import ScoreThreshold

__all__ = [
    "Best",
    "Confusion",
    "Document",
    "Figure",
    "Report",
    "ScoreClassifier",
    "ScorePool",
    "ScoreThreshold",
    "Sweep",
    "TemporalSweep",
    "compare",
    "costs",
    "expected_confusion",
    "loss",
    "loss_and_gradient",
    "priors",
    "report",
    "score",
    "score_counts",
    "scores",
    "sweep",
    "temporal_sweep",
    "theory",
]


def __getattr__(name: str) -> Any:
    """Return the version of the package, or a class that is imported only when it is used."""
    # The classes of estimators need scikit-learn, whose import takes about a second, so they are imported only when they are used.
    if name == "__version__":
        from importlib.metadata import version

        return version("scorewise")
    if name == "ScoreClassifier":
        from ._classifier import ScoreClassifier

        return ScoreClassifier
    if name == "ScorePool":
        from ._pool import ScorePool

        return ScorePool
    if name == "ScoreThreshold":
        from ._threshold import ScoreThreshold

        return ScoreThreshold
    raise AttributeError(f"module 'scorewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names in the package, also those of classes that have not been imported yet."""
    return sorted([*globals(), "ScoreClassifier", "ScorePool", "ScoreThreshold"])
