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
HOURS = 24 * 365


class Parts(NamedTuple):
    """Three years to learn from, one to stop and to choose thresholds by, one that only judges; inputs standardised by the first."""

    x: np.ndarray
    y: np.ndarray
    validation_x: np.ndarray
    validation_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


def read() -> Parts:
    """Dust, dew point, temperature, pressure, wind speed, snow, rain and four directions of the wind."""
    with gzip.open(FILE, "rt", newline="") as file:
        rows = list(csv.DictReader(file))[24:]
    dust = np.array([0.0 if row["pm2.5"] == "NA" else float(row["pm2.5"]) for row in rows])
    numbers = np.array([[float(row[name]) for name in ("DEWP", "TEMP", "PRES", "Iws", "Is", "Ir")] for row in rows])
    wind = np.array([[row["cbwd"] == name for name in ("NE", "NW", "SE", "cv")] for row in rows], float)
    x, y = np.column_stack([dust, numbers, wind])[:-1], (dust[1:] > 400).astype(np.float32)
    first, second = 3 * HOURS, 4 * HOURS
    mean, deviation = x[:first].mean(0), x[:first].std(0)
    x = ((x - mean) / deviation).astype(np.float32)
    return Parts(x[:first], y[:first], x[first:second], y[first:second], x[second:], y[second:])
