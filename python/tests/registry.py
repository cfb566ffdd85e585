"""Every registered score and every family of priors, as texts that can be used as they are."""

from __future__ import annotations

import scorewise as sw


def every_score() -> list[str]:
    """Scores that need a parameter get one."""
    return [found["signature"].replace("…", "0.3") if found["parameters"] else found["name"] for found in sw.scores()]


def every_prior() -> list[str]:
    """The example of each family, and the ends of what they can be."""
    return [found["example"] for found in sw.priors()] + ["cosine:0.5,0.5", "cosine:0.3,0.1", "uniform:0.2,0.7", "beta:0.5,0.5"]
