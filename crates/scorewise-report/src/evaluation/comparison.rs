//! Compares two forecasts of the same rows: which one has the better score, and how certain that is.

use scorewise::sweep::{Bootstrap, CostRows, PairedScores, Sweep, confusion, sum_of_counts, sweep};
use scorewise::{Direction, Probabilities, Real, Result, Rows, Score};
use serde::{Deserialize, Serialize};

use super::counts::CountRows;
use super::forecast::curve_points;
use super::probabilities::ProbabilityComparison;
use super::series::{SeriesOptions, TimingSummary, compare_series};
use super::summary::Estimate;
use super::tuning::{MAX_EXACT_ROWS, THRESHOLD_RUNS};
use crate::document::{self, ThresholdPoint};

/// The thresholds at which two forecasts are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparedThresholds {
    /// Fixed thresholds, one for the first and one for the second forecast.
    Given([f64; 2]),
    /// The best threshold of each forecast, which is searched again in every bootstrap replicate.
    Best,
}

/// Two forecasts of the same rows.
#[derive(Clone, Debug)]
pub struct ForecastPair<'a, R> {
    /// Names of the two forecasts.
    pub names: [String; 2],
    /// Predicted probabilities of the first and of the second forecast, one per row.
    pub forecasts: [&'a [R]; 2],
    /// Labels of the rows.
    pub labels: &'a [bool],
    /// Weights of the rows; `None` when all rows count equally.
    pub weights: Option<&'a [R]>,
}

/// A comparison of two forecasts, with the bootstrap of the difference of their scores.
#[derive(Clone, Debug)]
pub struct ForecastComparison {
    /// The score by which the forecasts are compared.
    pub score: Score,
    /// Names of the two forecasts.
    pub names: [String; 2],
    /// Thresholds of the two forecasts; `None` when the score of a forecast is undefined at every threshold.
    pub thresholds: [Option<f64>; 2],
    /// Scores of the two forecasts, each at its own threshold.
    pub values: [Option<f64>; 2],
    /// The scores of both forecasts and their difference in every bootstrap replicate.
    pub paired: PairedScores,
    rows: usize,
    positives: usize,
    replicates: usize,
    seed: u64,
    temporal: Option<TimingSummary>,
    probabilities: Option<Box<ProbabilityComparison>>,
    curves: Option<[ComparedCurve; 2]>,
}

/// The confusion matrices of one of the two forecasts at all thresholds, and the area under its ROC curve.
#[derive(Clone, Debug)]
struct ComparedCurve {
    points: Vec<ThresholdPoint>,
    roc_area: Option<f64>,
}

/// The result of a comparison of two forecasts, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSummary {
    /// Name of the score.
    pub score: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of positive rows.
    pub positives: usize,
    /// Threshold and score of the first forecast.
    pub first: ComparedForecast,
    /// Threshold and score of the second forecast.
    pub second: ComparedForecast,
    /// Score of the first forecast minus score of the second, with its 95 % interval.
    pub difference: Estimate,
    /// Name of the better forecast; `None` when the rows do not show which forecast is better (see [`ForecastComparison::index_of_better`]).
    pub better: Option<String>,
    /// Number of bootstrap replicates.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// How errors are weighted by their timing; `None` if every error counts 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal: Option<TimingSummary>,
    /// Measures of the probabilities of both forecasts, which do not depend on a threshold; `None` if the forecasts have no probabilities, and for
    /// time series whose errors are weighted by their timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Box<ProbabilityComparison>>,
}

/// One of two compared forecasts, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedForecast {
    /// Name of the forecast.
    pub name: String,
    /// Threshold of the forecast; `None` when the score is undefined at every threshold.
    pub threshold: Option<f64>,
    /// Score of the forecast at its threshold; `None` when it is undefined.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of the score.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the score.
    pub high: Option<f64>,
    /// Fraction of bootstrap replicates in which this forecast has the better score.
    pub better: f64,
}

impl ForecastComparison {
    /// Compares two forecasts at the thresholds `at`. If `with_curves` is set, the confusion matrices at all thresholds are kept, which a page
    /// needs for its curves.
    ///
    /// If `series` is given, the rows are a time series whose errors are weighted by their timing, and the thresholds must be given.
    pub fn new<R: Real>(
        pair: ForecastPair<'_, R>,
        score: &Score,
        at: ComparedThresholds,
        series: Option<&SeriesOptions<'_>>,
        bootstrap: &Bootstrap<'_>,
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
        let paired = match (at, series) {
            (ComparedThresholds::Best, _) => {
                for (k, sweep) in sweeps.iter().flatten().enumerate() {
                    let best = sweep.best(score);
                    thresholds[k] = best.as_ref().map(|best| best.threshold);
                    values[k] = best.as_ref().map(|best| best.value);
                }
                let at_most = if labels.len() <= MAX_EXACT_ROWS { usize::MAX } else { THRESHOLD_RUNS };
                bootstrap.paired_best(&rows[0], second, score, &[], at_most)?
            }
            (ComparedThresholds::Given(given), Some(series)) => {
                let (found, paired) = compare_series(&rows, given, score, series, bootstrap)?;
                (thresholds, values) = (given.map(Some), found);
                paired
            }
            (ComparedThresholds::Given(given), None) => {
                for (k, rows) in rows.iter().enumerate() {
                    (thresholds[k], values[k]) = (Some(given[k]), score.checked(&confusion(rows, given[k])?));
                }
                let scores = std::slice::from_ref(score);
                bootstrap.paired(&rows[0], second, (given[0], given[1]), scores)?.swap_remove(0)
            }
        };
        let probabilities = match series {
            None => Some(Box::new(ProbabilityComparison::new(&rows[0], second, bootstrap)?)),
            Some(_) => None,
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
            temporal: series.map(SeriesOptions::summary),
            probabilities,
            curves: sweeps.filter(|_| with_curves).map(|sweeps| sweeps.each_ref().map(curve)),
        })
    }

    /// Compares two forecasts that are given as tables of counts, with one confusion matrix in each row. Rows with the same index in both tables must
    /// hold the counts of the same day, station or model run.
    pub fn of_counts(
        names: [String; 2],
        tables: [&CountRows; 2],
        score: &Score,
        settings: &Bootstrap<'_>,
    ) -> Result<Self> {
        let units = tables.map(|rows| rows.units(settings.resampling));
        let [first, second] = units.each_ref().map(|units| units.matrices.as_slice());
        let bootstrap = units[0].bootstrap(settings, first.len());
        let paired = bootstrap.paired_counts(first, second, std::slice::from_ref(score))?.swap_remove(0);
        let sums = [sum_of_counts(first)?, sum_of_counts(second)?];
        Ok(ForecastComparison {
            score: score.clone(),
            names,
            thresholds: [None; 2],
            values: sums.map(|sum| score.checked(&sum)),
            paired,
            rows: tables[0].matrices.len(),
            positives: sums[0].counts().positives.round() as usize,
            replicates: settings.replicates,
            seed: settings.seed,
            temporal: None,
            probabilities: None,
            curves: None,
        })
    }

    /// Compares the mean costs per row of two forecasts of the same rows.
    pub fn of_costs(
        names: [String; 2],
        forecasts: [&CostRows<'_>; 2],
        at: ComparedThresholds,
        positives: usize,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let [first, second] = forecasts;
        let (thresholds, paired) = match at {
            ComparedThresholds::Given(given) => (given.map(Some), bootstrap.paired_costs(first, second, given)?),
            ComparedThresholds::Best => {
                let thresholds = forecasts.map(|rows| rows.best(&[]).map(|best| best.threshold));
                (thresholds, bootstrap.paired_best_costs(first, second)?)
            }
        };
        let value = |k: usize| thresholds[k].map(|threshold| forecasts[k].at(threshold).per_row());
        Ok(ForecastComparison {
            score: first.score().clone(),
            names,
            thresholds,
            values: [value(0), value(1)],
            paired,
            rows: first.len(),
            positives,
            replicates: bootstrap.replicates,
            seed: bootstrap.seed,
            temporal: None,
            probabilities: None,
            curves: None,
        })
    }

    /// Score of the first forecast minus score of the second; `None` when either score is undefined.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.values[0]? - self.values[1]?)
    }

    /// Index of the better forecast, 0 or 1; `None` when the rows do not show which forecast is better. A forecast counts as better if its score
    /// is better and the 95 % interval of the difference excludes 0. If the ideal value of the score lies inside the range of the score, a
    /// forecast counts as better if it is nearer to the ideal value in more than 97.5 % of the bootstrap replicates.
    #[must_use]
    pub fn index_of_better(&self) -> Option<usize> {
        let (low, high) = self.paired.difference.interval(0.95)?;
        match self.score.direction() {
            Direction::Higher if low > 0.0 => Some(0),
            Direction::Higher if high < 0.0 => Some(1),
            Direction::Lower if high < 0.0 => Some(0),
            Direction::Lower if low > 0.0 => Some(1),
            // The sign of the difference does not show which score is nearer to the ideal value. The better forecast must therefore be
            // nearer in more than 97.5 % of the bootstrap replicates.
            Direction::Toward(_) => {
                let required = 0.975 * self.paired.difference.values().len() as f64;
                [self.paired.first_better, self.paired.second_better]
                    .iter()
                    .position(|better| *better as f64 > required)
            }
            _ => None,
        }
    }

    /// For each of the two forecasts, the fraction of bootstrap replicates in which it has the better score.
    #[must_use]
    pub fn shares(&self) -> [f64; 2] {
        [self.paired.first_better, self.paired.second_better].map(|better| better as f64 / self.replicates as f64)
    }

    /// Measures of the probabilities of both forecasts; `None` for tables of counts, and for time series whose errors are weighted by their timing.
    #[must_use]
    pub fn probabilities(&self) -> Option<&ProbabilityComparison> {
        self.probabilities.as_deref()
    }

    /// Number of bootstrap replicates.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// The conclusion of the comparison as one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let name = self.score.name();
        if self.difference().is_none() {
            return format!(
                "{name} is undefined for at least one forecast, so the forecasts cannot be compared by this score."
            );
        }
        let direction = match self.score.direction() {
            Direction::Higher => "higher is better",
            Direction::Lower => "lower is better",
            Direction::Toward(_) => "nearer to the ideal value is better",
        };
        match self.index_of_better() {
            Some(better) => {
                format!(
                    "By {name} ({direction}), {} is better, also when sampling uncertainty is taken into account.",
                    self.names[better]
                )
            }
            None => format!("By {name} ({direction}), these rows do not show which forecast is better."),
        }
    }

    /// Converts the comparison to the form that is written as JSON.
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
            better: self.index_of_better().map(|better| self.names[better].clone()),
            replicates: self.replicates,
            seed: self.seed,
            temporal: self.temporal.clone(),
            probabilities: self.probabilities.clone(),
        }
    }

    /// The data of a page about the comparison. The curves of the page are empty unless `with_curves` was set in [`ForecastComparison::new`].
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
