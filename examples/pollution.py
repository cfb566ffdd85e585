"""The built-in data for the examples: fine dust in Beijing, by hour. The label is whether the next hour exceeds 400 µg/m³.

Chen, S. (2015). Beijing PM2.5. UCI Machine Learning Repository. doi:10.24432/C5JS49. CC BY 4.0.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).parent.parent / "data" / "PRSA_data_2010.1.1-2014.12.31.csv.gz"


class Part(NamedTuple):
    """Some years of hours, and whether smog followed."""

    x: np.ndarray
    y: np.ndarray


def read(scaled: bool = False) -> tuple[Part, Part, Part]:
    """2010 to 2012 to learn from, 2013 to choose by, 2014 to judge by: dust, dew point, temperature, pressure, wind speed, snow, rain and four
    directions of the wind; on request standardised by the first years."""
    with gzip.open(FILE, "rt", newline="") as file:
        # The first day has no dust; elsewhere what is missing counts as 0, as in the paper.
        rows = list(csv.DictReader(file))[24:]
    dust = np.array([0.0 if row["pm2.5"] == "NA" else float(row["pm2.5"]) for row in rows])
    numbers = np.array([[float(row[name]) for name in ("DEWP", "TEMP", "PRES", "Iws", "Is", "Ir")] for row in rows])
    wind = np.array([[row["cbwd"] == name for name in ("NE", "NW", "SE", "cv")] for row in rows], float)
    x, y = np.column_stack([dust, numbers, wind])[:-1], dust[1:] > 400
    year = np.array([int(row["year"]) for row in rows])[:-1]
    if scaled:
        first = x[year <= 2012]
        x = (x - first.mean(0)) / first.std(0)
    train, tune, test = (Part(x[part], y[part]) for part in (year <= 2012, year == 2013, year == 2014))
    return train, tune, test
