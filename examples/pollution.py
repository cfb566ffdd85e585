"""Data for the examples: hourly PM2.5 in Beijing. The label is whether the next hour exceeds 400 µg/m³.

Chen, S. (2015). Beijing PM2.5. UCI Machine Learning Repository. doi:10.24432/C5JS49. CC BY 4.0.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).parent.parent / "crates/scorewise-table/data" / "PRSA_data_2010.1.1-2014.12.31.csv.gz"


class Split(NamedTuple):
    """The hours of some years: features of each hour, and whether smog followed in the next hour."""

    x: np.ndarray
    y: np.ndarray


def read_splits(scaled: bool = False) -> tuple[Split, Split, Split]:
    """Return the training years 2010 to 2012, the validation year 2013 and the test year 2014.

    The features are PM2.5, dew point, temperature, pressure, wind speed, snow, rain and four wind directions; with ``scaled`` they are
    standardised with the means and standard deviations of the training years.
    """
    with gzip.open(FILE, "rt", newline="") as file:
        # The first day, which has no PM2.5 values, is left out; later missing values count as 0, as in Marchetti et al. (2022).
        rows = list(csv.DictReader(file))[24:]
    pm25 = np.array([0.0 if row["pm2.5"] == "NA" else float(row["pm2.5"]) for row in rows])
    numbers = np.array([[float(row[name]) for name in ("DEWP", "TEMP", "PRES", "Iws", "Is", "Ir")] for row in rows])
    wind = np.array([[row["cbwd"] == name for name in ("NE", "NW", "SE", "cv")] for row in rows], float)
    x, y = np.column_stack([pm25, numbers, wind])[:-1], pm25[1:] > 400
    year = np.array([int(row["year"]) for row in rows])[:-1]
    if scaled:
        training = x[year <= 2012]
        x = (x - training.mean(0)) / training.std(0)
    train, tune, test = (Split(x[rows], y[rows]) for rows in (year <= 2012, year == 2013, year == 2014))
    return train, tune, test
