"""Train for the score you will be judged by.

People who forecast rare events are judged by F1, TSS, CSI, HSS …, but train with cross-entropy and then hunt for a threshold. scorewise
makes the score itself the loss by treating the threshold as a random variable, and finds the best threshold exactly::

    import scorewise as sw

    model = sw.ScoreClassifier(score="tss").fit(X, y)                      # scikit-learn
    sw.sweep(y, p).best("f1", subject_to="precision >= 0.3")               # the exact best threshold
    from scorewise.torch import ScoreLoss                                  # also scorewise.keras, .xgboost, .lightgbm

Labels are 0 and 1 (``positive=`` names another), a prediction is positive when it is above the threshold. Arrays are borrowed, not
copied, and other threads run while Rust computes, so another thread must not write to an array before the function has returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._measures import (
    Best,
    Confusion,
    Document,
    Sweep,
    expected_confusion,
    loss,
    loss_and_gradient,
    priors,
    score,
    scores,
    sweep,
    theory,
)
from ._report import Figure, Report, report

if TYPE_CHECKING:
    from ._classifier import ScoreClassifier
    from ._threshold import ScoreThreshold

__all__ = [
    "Best",
    "Confusion",
    "Document",
    "Figure",
    "Report",
    "ScoreClassifier",
    "ScoreThreshold",
    "Sweep",
    "expected_confusion",
    "loss",
    "loss_and_gradient",
    "priors",
    "report",
    "score",
    "scores",
    "sweep",
    "theory",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import; who only sweeps need not wait for it.
    if name == "__version__":
        from importlib.metadata import version

        return version("scorewise")
    if name == "ScoreClassifier":
        from ._classifier import ScoreClassifier

        return ScoreClassifier
    if name == "ScoreThreshold":
        from ._threshold import ScoreThreshold

        return ScoreThreshold
    raise AttributeError(f"module 'scorewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "ScoreClassifier", "ScoreThreshold"])
