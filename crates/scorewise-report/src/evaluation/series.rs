//! Scores of a forecast of a time series in which the errors are weighted by their timing.

use scorewise::sweep::{Best, BestDistribution, Bootstrap, PairedScores, Resampling};
use scorewise::temporal::{Series, TemporalSweep, Weighting, matrices_of_rows};
use scorewise::{Confusion, Error, Probabilities, Real, Result, Rows, Score};
use serde::{Deserialize, Serialize};

use super::summary::{Estimate, NamedEstimate, ScoreSummary};
use super::tuning::{ThresholdBootstrap, TuningOptions, TuningSummary, condition_texts};

/// How the errors in a time series are weighted. The rows must be in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct SeriesOptions<'a> {
    /// The weighting of errors by their timing.
    pub weighting: &'a Weighting,
    /// For each row, the index of its sequence (such as a station); `None` if all rows are one sequence.
    pub sequences: Option<&'a [u32]>,
}

/// How the errors were weighted, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimingSummary {
    /// The weighting, as text such as `sum:0.5,0.25,0.125`.
    pub weighting: String,
    /// Number of sequences of rows (such as stations) in the time series.
    pub sequences: usize,
}

impl SeriesOptions<'_> {
    /// Combines the rows with the indices of their sequences to a time series.
    fn series<'a, 'b, R: Real>(
        &'a self,
        rows: &Rows<'a, Probabilities<'b, R>>,
    ) -> Result<Series<'a, Probabilities<'b, R>>> {
        let series = Series::new(*rows)?;
        match self.sequences {
            Some(sequences) => series.with_sequences(sequences),
            None => Ok(series),
        }
    }

    /// How the errors are weighted, in the form that is written as JSON.
    pub(super) fn summary(&self) -> TimingSummary {
        let sequences = self.sequences.map_or(1, |sequences| sequences.chunk_by(PartialEq::eq).count());
        TimingSummary { weighting: self.weighting.to_string(), sequences }
    }

    /// The time-weighted confusion matrices of the rows at all thresholds.
    pub fn sweep<R: Real>(&self, rows: &Rows<'_, Probabilities<'_, R>>) -> Result<TemporalSweep> {
        Ok(TemporalSweep::new(self.weighting, &self.series(rows)?))
    }

    /// The best threshold of every bootstrap replicate, and the score of the time-weighted matrix at this threshold.
    pub fn best_thresholds<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<BestDistribution> {
        bootstrap.best_of_series(self.weighting, &self.series(rows)?, score, &[])
    }

    /// The time-weighted confusion matrix of the rows at a threshold.
    pub fn confusion<R: Real>(&self, rows: &Rows<'_, Probabilities<'_, R>>, threshold: f64) -> Result<Confusion> {
        Ok(self.matrices(rows, threshold)?.1)
    }

    /// The time-weighted confusion matrix of each row at a threshold, and their sum.
    fn matrices<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
    ) -> Result<(Vec<Confusion>, Confusion)> {
        let matrices = matrices_of_rows(self.weighting, &self.series(rows)?, threshold);
        let sum = matrices.iter().copied().sum();
        Ok((matrices, sum))
    }
}

impl ScoreSummary {
    /// Computes `scores` of the time-weighted confusion matrix of a series, with 95 % intervals from `bootstrap`. If the bootstrap draws blocks whose
    /// length is not given, the length chosen for the first score is used for all scores.
    pub fn of_series<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
        series: &SeriesOptions<'_>,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let (matrices, confusion) = series.matrices(rows, threshold)?;
        let bootstrap = match scores.first() {
            Some(first) => bootstrap.with_block_length_of_counts(&matrices, first)?,
            None => *bootstrap,
        };
        let distributions = bootstrap.scores_of_counts(&matrices, scores)?;
        let estimates = scores.iter().zip(distributions).map(|(score, distribution)| {
            let value = score.checked(&confusion);
            let interval = value.and(distribution.interval(0.95));
            NamedEstimate { name: score.name().to_string(), estimate: Estimate::new(value, interval) }
        });
        Ok(ScoreSummary {
            rows: rows.len(),
            positives: rows.labels().iter().filter(|label| **label).count(),
            threshold,
            confusion,
            scores: estimates.collect(),
            resampled: Some(bootstrap.resampling.to_string()).filter(|_| bootstrap.resampling != Resampling::Poisson),
            temporal: Some(series.summary()),
            ..ScoreSummary::default()
        })
    }
}

/// The best threshold for the time-weighted confusion matrix of a series, and its distribution over bootstrap replicates; `None` if no threshold
/// satisfies the conditions, or if the score is undefined at every threshold that satisfies them.
pub fn tune_series<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    options: &TuningOptions<'_>,
    series: &SeriesOptions<'_>,
) -> Result<Option<(Best, TuningSummary)>> {
    let TuningOptions { score, conditions, bootstrap, .. } = *options;
    if conditions.iter().any(|condition| condition.confidence().is_some()) {
        let reason = "must have no confidence if errors are weighted by their timing, because there is no test for weighted counts".into();
        return Err(Error::Setting { what: "conditions", reason });
    }
    let ordered = series.series(rows)?;
    let Some(best) = series.sweep(rows)?.best(score, conditions) else { return Ok(None) };
    let distribution: BestDistribution = bootstrap.best_of_series(series.weighting, &ordered, score, conditions)?;
    let summary = TuningSummary {
        score: score.name().into(),
        threshold: Some(best.threshold),
        interval: Some(best.interval),
        value: Some(best.value),
        confusion: Some(best.confusion),
        bootstrap: Some(ThresholdBootstrap::new(&distribution, bootstrap)),
        subject_to: Some(condition_texts(conditions)),
        temporal: Some(series.summary()),
        ..TuningSummary::default()
    };
    Ok(Some((best, summary)))
}

/// Compares the scores of two forecasts of the same time series, each at its own threshold. Returns both scores on the
/// original rows, and both scores with their difference in every bootstrap replicate.
pub(super) fn compare_series<R: Real>(
    forecasts: &[Rows<'_, Probabilities<'_, R>>; 2],
    thresholds: [f64; 2],
    score: &Score,
    series: &SeriesOptions<'_>,
    bootstrap: &Bootstrap<'_>,
) -> Result<([Option<f64>; 2], PairedScores)> {
    let (first, first_sum) = series.matrices(&forecasts[0], thresholds[0])?;
    let (second, second_sum) = series.matrices(&forecasts[1], thresholds[1])?;
    let bootstrap = bootstrap.with_block_length_of_counts(&first, score)?;
    let paired = bootstrap.paired_counts(&first, &second, std::slice::from_ref(score))?.swap_remove(0);
    Ok(([score.checked(&first_sum), score.checked(&second_sum)], paired))
}
