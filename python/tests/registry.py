"""All registered scores and all families of priors, as strings that the functions of the package accept."""

from __future__ import annotations

import scorewise as sw


def every_score() -> list[str]:
    """Return all registered scores. Every parameter of a score is set to 0.3."""
    return [score["signature"].replace("…", "0.3") if score["parameters"] else score["name"] for score in sw.scores()]


def every_prior() -> list[str]:
    """Return the example prior of each family, and some priors at the limits of their parameters."""
    return [prior["example"] for prior in sw.priors()] + ["cosine:0.5,0.5", "cosine:0.3,0.1", "uniform:0.2,0.7", "beta:0.5,0.5"]
