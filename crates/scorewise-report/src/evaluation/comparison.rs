//! Two forecasts of the same rows: which one is better by a score, and how certain that is.

use scorewise::sweep::{Bootstrap, PairedScores, Sweep, confusion, sweep};
use scorewise::{Direction, Probabilities, Real, Result, Rows, Score};
use serde::{Deserialize, Serialize};

use super::forecast::curve_points;
use super::summary::Estimate;
use super::tuning::{EXACT_ROWS, RUNS};
use crate::document::{self, ThresholdPoint};

/// Where two forecasts are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparedThresholds {
    /// Each at this threshold.
    Given([f64; 2]),
    /// Each at its best threshold, which is found again in every bootstrap replicate.
    Best,
}

/// Two forecasts of the same rows.
#[derive(Clone, Debug)]
pub struct ForecastPair<'a, R> {
    /// What the forecasts are called.
    pub names: [String; 2],
    /// The probabilities of each forecast.
    pub forecasts: [&'a [R]; 2],
    /// The labels of the rows.
    pub labels: &'a [bool],
    /// The weights of the rows.
    pub weights: Option<&'a [R]>,
}

/// Two forecasts and the bootstrap of their difference.
#[derive(Clone, Debug)]
pub struct ForecastComparison {
    /// The score that compares them.
    pub score: Score,
    /// What the forecasts are called.
    pub names: [String; 2],
    /// The threshold of each; `None` when the score is undefined at every threshold.
    pub thresholds: [Option<f64>; 2],
    /// The score of each of the two forecasts at its own threshold.
    pub values: [Option<f64>; 2],
    /// The scores and their difference in each replicate.
    pub paired: PairedScores,
    rows: usize,
    positives: usize,
    replicates: usize,
    seed: u64,
    curves: Option<[ComparedCurve; 2]>,
}

/// A forecast over all thresholds.
#[derive(Clone, Debug)]
struct ComparedCurve {
    points: Vec<ThresholdPoint>,
    roc_area: Option<f64>,
}

/// The result of a comparison, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSummary {
    /// The name of the score.
    pub score: String,
    /// How many rows there are.
    pub rows: usize,
    /// Number of positive rows.
    pub positives: usize,
    /// The first forecast.
    pub first: ComparedForecast,
    /// The second forecast.
    pub second: ComparedForecast,
    /// The score of the first less that of the second.
    pub difference: Estimate,
    /// The name of the forecast that is better beyond reasonable doubt.
    pub better: Option<String>,
    /// The number of bootstrap replicates.
    pub replicates: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

/// One of two forecasts, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedForecast {
    /// What it is called.
    pub name: String,
    /// Its threshold.
    pub threshold: Option<f64>,
    /// Its score there.
    pub value: Option<f64>,
    /// The lower end of the 95 % interval of the score.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The share of the replicates in which it is the better one.
    pub better: f64,
}

impl ForecastComparison {
    /// Compares two forecasts. `with_curves` also keeps them over all thresholds, for a page.
    pub fn new<R: Real>(
        pair: ForecastPair<'_, R>,
        score: &Score,
        at: ComparedThresholds,
        bootstrap: &Bootstrap,
        with_curves: bool,
    ) -> Result<Self> {
        let ForecastPair { names, forecasts, labels, weights } = pair;
        let rows_of = |forecast: usize| -> Result<_> {
            let rows = Rows::new(Probabilities(forecasts[forecast]), labels)?;
            weights.map_or(Ok(rows), |weights| rows.weighted(weights))
        };
        let rows = [rows_of(0)?, rows_of(1)?];
        let sweeps = match with_curves || at == ComparedThresholds::Best {
            true => Some([sweep(&rows[0])?, sweep(&rows[1])?]),
            false => None,
        };
        let second = Probabilities(forecasts[1]);
        let (mut thresholds, mut values) = ([None; 2], [None; 2]);
        let paired = match at {
            ComparedThresholds::Best => {
                for (k, sweep) in sweeps.iter().flatten().enumerate() {
                    let best = sweep.best(score);
                    thresholds[k] = best.as_ref().map(|best| best.threshold);
                    values[k] = best.as_ref().map(|best| best.value);
                }
                let at_most = if labels.len() <= EXACT_ROWS { usize::MAX } else { RUNS };
                bootstrap.paired_best(&rows[0], second, score, &[], at_most)?
            }
            ComparedThresholds::Given(given) => {
                for (k, rows) in rows.iter().enumerate() {
                    (thresholds[k], values[k]) = (Some(given[k]), score.checked(&confusion(rows, given[k])?));
                }
                let scores = std::slice::from_ref(score);
                bootstrap.paired(&rows[0], second, (given[0], given[1]), scores)?.swap_remove(0)
            }
        };
        let marks: Vec<f64> = thresholds.iter().flatten().copied().collect();
        let curve = |sweep: &Sweep| ComparedCurve { points: curve_points(sweep, &marks), roc_area: sweep.areas().roc };
        Ok(ForecastComparison {
            score: score.clone(),
            names,
            thresholds,
            values,
            paired,
            rows: labels.len(),
            positives: labels.iter().filter(|label| **label).count(),
            replicates: bootstrap.replicates,
            seed: bootstrap.seed,
            curves: sweeps.filter(|_| with_curves).map(|sweeps| sweeps.each_ref().map(curve)),
        })
    }

    /// The score of the first forecast less that of the second.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.values[0]? - self.values[1]?)
    }

    /// Which forecast is better beyond reasonable doubt: the whole interval of the difference lies on one side.
    #[must_use]
    pub fn better(&self) -> Option<usize> {
        let (low, high) = self.paired.difference.interval(0.95)?;
        match self.score.direction() {
            Direction::Higher if low > 0.0 => Some(0),
            Direction::Higher if high < 0.0 => Some(1),
            Direction::Lower if high < 0.0 => Some(0),
            Direction::Lower if low > 0.0 => Some(1),
            // With an ideal value between, the sign of the difference says nothing; the replicates count which forecast is nearer.
            Direction::Toward(_) => {
                let most = 0.975 * self.paired.difference.values().len() as f64;
                [self.paired.first_better, self.paired.second_better].iter().position(|better| *better as f64 > most)
            }
            _ => None,
        }
    }

    /// The share of the replicates in which the first and the second forecast are the better one.
    #[must_use]
    pub fn shares(&self) -> [f64; 2] {
        [self.paired.first_better, self.paired.second_better].map(|better| better as f64 / self.replicates as f64)
    }

    /// The number of bootstrap replicates.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// The result as a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let name = self.score.name();
        if self.difference().is_none() {
            return format!("{name} is undefined for at least one of them: they cannot be compared by it.");
        }
        let direction = match self.score.direction() {
            Direction::Higher => "higher is better",
            Direction::Lower => "lower is better",
            Direction::Toward(_) => "nearer to its ideal is better",
        };
        match self.better() {
            Some(better) => {
                format!("{} is better by {name} ({direction}); the rows leave little doubt.", self.names[better])
            }
            None => format!("By {name} ({direction}) the rows do not tell which is better."),
        }
    }

    /// The result as JSON.
    #[must_use]
    pub fn summary(&self) -> ComparisonSummary {
        let PairedScores { first, second, difference, .. } = &self.paired;
        let forecast = |k: usize, interval: Option<(f64, f64)>| {
            let Estimate { value, low, high } = Estimate::new(self.values[k], interval);
            let (name, threshold) = (self.names[k].clone(), self.thresholds[k]);
            ComparedForecast { name, threshold, value, low, high, better: self.shares()[k] }
        };
        ComparisonSummary {
            score: self.score.name().into(),
            rows: self.rows,
            positives: self.positives,
            first: forecast(0, first.interval(0.95)),
            second: forecast(1, second.interval(0.95)),
            difference: Estimate::new(self.difference(), difference.interval(0.95)),
            better: self.better().map(|better| self.names[better].clone()),
            replicates: self.replicates,
            seed: self.seed,
        }
    }

    /// The data of the page; without curves when they were not kept.
    #[must_use]
    pub fn page(&self) -> document::ForecastCurves {
        let mut differences = self.paired.difference.values().to_vec();
        differences.sort_by(f64::total_cmp);
        let curves = self.curves.as_ref();
        document::ForecastCurves {
            score: self.score.name().into(),
            names: self.names.clone(),
            thresholds: self.thresholds,
            areas: curves.map_or([None; 2], |curves| curves.each_ref().map(|curve| curve.roc_area)),
            points: curves.map_or_else(Default::default, |curves| curves.each_ref().map(|curve| curve.points.clone())),
            verdict: self.verdict(),
            difference: self.difference(),
            interval: self.paired.difference.interval(0.95),
            differences,
        }
    }
}
