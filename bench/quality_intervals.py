"""Paired differences of the scores of two decisions on the same test rows, with 95 % intervals, for bench/quality.py.

A bootstrap of rows only has to draw how often each combination of truth, first decision and second decision occurs, so a replicate costs no more for
many rows than for few. With tables in time, 20 blocks of consecutive rows are drawn instead, because neighbouring rows are correlated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quality_scores import score_of

REPLICATES = 1000
BLOCKS = 20


class Interval(NamedTuple):
    """A mean difference of scores, with its 95 % interval."""

    mean: float
    low: float
    high: float

    def text(self, digits: int = 3) -> str:
        """Return the interval as a string `mean (low to high)`, in which every number has a + or - sign."""
        return f"{self.mean:+.{digits}f} ({self.low:+.{digits}f} to {self.high:+.{digits}f})"


def paired_differences(
    score: str, in_time: bool, runs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], classes: int, seed: int = 1
) -> np.ndarray:
    """Return the score of a first method minus the score of a second method on the same rows, averaged over `runs`, with bootstrap replicates.

    A run is a tuple (true classes, classes predicted by the first method, classes predicted by the second method) for the test rows of a split.
    Element 0 of the returned array is the difference on the original rows; each other element is the difference on a bootstrap replicate of the
    rows. With `in_time`, the bootstrap draws blocks of consecutive rows instead of single rows.
    """
    random, total = np.random.default_rng(seed), np.zeros(REPLICATES + 1)
    for truth, first, second in runs:
        cells = (truth.astype(int) * classes + first) * classes + second
        count, rows = classes**3, len(cells)
        whole = np.bincount(cells, minlength=count)
        if in_time:
            length = rows // BLOCKS
            sums = np.zeros((2 * rows + 1, count), np.int32)
            twice = np.concatenate([cells, cells])
            for cell in np.flatnonzero(whole):
                sums[1:, cell] = np.cumsum(twice == cell)
            starts = random.integers(rows, size=(REPLICATES, BLOCKS))
            drawn = (sums[starts + length] - sums[starts]).sum(1)
        else:
            drawn = random.multinomial(rows, whole / rows, size=REPLICATES)
        cube = np.concatenate([whole[None], drawn]).reshape(-1, classes, classes, classes)
        total += score_of(score, cube.sum(3)) - score_of(score, cube.sum(2))
    return total / len(runs)


def interval(differences: np.ndarray) -> Interval:
    """Return a difference of scores with its 95 % interval; `differences` is the result of `paired_differences`."""
    low, high = np.quantile(differences[1:], [0.025, 0.975])
    return Interval(float(differences[0]), float(low), float(high))


def interval_over_tables(differences: list[np.ndarray], seed: int = 2) -> Interval:
    """Return the mean over tables of a difference of scores, with its 95 % interval.

    `differences` holds the array that `paired_differences` returned for each table. A bootstrap replicate is a mean over
    tables drawn at random, with a random replicate of the rows of each drawn table. So the interval covers the choice of tables and of rows.
    """
    random, all_tables = np.random.default_rng(seed), np.stack(differences)
    tables = random.integers(len(all_tables), size=(5000, len(all_tables)))
    replicates = random.integers(1, all_tables.shape[1], size=tables.shape)
    low, high = np.quantile(all_tables[tables, replicates].mean(1), [0.025, 0.975])
    return Interval(float(all_tables[:, 0].mean()), float(low), float(high))
