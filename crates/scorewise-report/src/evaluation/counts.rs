//! A table of counts has a confusion matrix in each row. This module computes the scores of all rows together, of groups of rows, and over time.

use scorewise::sweep::{Bootstrap, Resampling, sum_of_counts};
use scorewise::{Confusion, Result, Score};
use scorewise_table::groups::Groups;
use serde::{Deserialize, Serialize};

use super::summary::{Estimate, NamedEstimate};
use crate::document::{ScoreSeries, SeriesPoint, SeriesTimes};

/// The rows of a table of counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountRows {
    /// The confusion matrix of each row.
    pub matrices: Vec<Confusion>,
    /// For each row, the index of its group; `None` unless groups are resampled.
    pub groups: Option<Vec<u32>>,
    /// The time step of each row, counted from 0; `None` if rows follow each other in time in the order of the table.
    pub steps: Option<Vec<u32>>,
}

/// The scores of a sum of confusion matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountScores {
    /// Number of rows of the table. Each row is a confusion matrix.
    pub rows: usize,
    /// Number of forecasts: the sum of all counts.
    #[serde(serialize_with = "super::json::confusion::serialize_count")]
    pub forecasts: f64,
    /// Number of events: hits and misses.
    #[serde(serialize_with = "super::json::confusion::serialize_count")]
    pub positives: f64,
    /// The sum of the confusion matrices of all rows.
    #[serde(with = "super::json::confusion")]
    pub confusion: Confusion,
    /// The scores of `confusion`, in the order in which the caller listed them.
    #[serde(with = "super::json::named_estimates")]
    pub scores: Vec<NamedEstimate>,
    /// What the bootstrap draws, such as `rows of the table` or `blocks of 7 rows`.
    pub resampled: String,
}

/// The scores of a group of rows of a table of counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountGroup {
    /// The value that the rows of the group have in the column [`CountSummary::by`]; `None` for the group of rows without a value.
    pub group: Option<String>,
    /// The scores of the rows of the group.
    #[serde(flatten)]
    pub result: CountScores,
}

/// The scores of a table of counts, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountSummary {
    /// The scores of all rows.
    #[serde(flatten)]
    pub all: CountScores,
    /// The column whose values divide the rows into groups; `None` without groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The scores of each group, in the order of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<CountGroup>,
    /// Number of bootstrap replicates.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// The confusion matrices that the bootstrap of a table of counts resamples, in the order of time. They are called units. A unit is a row of the
/// table or, for a block bootstrap, the sum of all rows of a time step.
pub(super) struct CountUnits {
    /// The confusion matrix of each unit.
    pub matrices: Vec<Confusion>,
    /// For each unit, the index of its group; empty unless groups are resampled.
    groups: Vec<u32>,
    /// For each time step, the number of units up to and including this step.
    step_ends: Vec<usize>,
}

impl CountRows {
    /// The rows of the table with these indices.
    #[must_use]
    fn select(&self, rows: &[usize]) -> Self {
        let select = |numbers: &Option<Vec<u32>>| {
            numbers.as_ref().map(|numbers| rows.iter().map(|row| numbers[*row]).collect::<Vec<u32>>())
        };
        CountRows {
            matrices: rows.iter().map(|row| self.matrices[*row]).collect(),
            groups: select(&self.groups),
            steps: select(&self.steps),
        }
    }

    /// The confusion matrices (units) that the bootstrap resamples. Each row is a unit, but for a block bootstrap the rows of each time step are
    /// summed to one unit, so that they stay together.
    pub(super) fn units(&self, resampling: Resampling<'_>) -> CountUnits {
        let mut order: Vec<usize> = (0..self.matrices.len()).collect();
        if let Some(steps) = &self.steps {
            order.sort_by_key(|row| steps[*row]);
        }
        let is_in_blocks = matches!(resampling, Resampling::Blocks(_));
        let mut units = CountUnits { matrices: Vec::new(), groups: Vec::new(), step_ends: Vec::new() };
        let mut last = None;
        for row in order {
            let step = self.steps.as_ref().map(|steps| steps[row]);
            let is_same_step = step.is_some() && step == last;
            last = step;
            match units.matrices.last_mut() {
                Some(matrix) if is_same_step && is_in_blocks => *matrix += self.matrices[row],
                _ => {
                    units.matrices.push(self.matrices[row]);
                    units.groups.extend(self.groups.as_ref().map(|groups| groups[row]));
                }
            }
            match units.step_ends.last_mut() {
                Some(end) if is_same_step => *end = units.matrices.len(),
                _ => units.step_ends.push(units.matrices.len()),
            }
        }
        units
    }

    /// Text that says what the bootstrap draws, such as `rows of the table` or `blocks of 7 time steps`.
    fn resampled(&self, resampling: Resampling<'_>) -> String {
        match resampling {
            Resampling::Poisson => "rows of the table".into(),
            Resampling::Blocks(length) if self.steps.is_some() => match length.rows() {
                None => "blocks of time steps".into(),
                Some(1) => "blocks of 1 time step".into(),
                Some(length) => format!("blocks of {length} time steps"),
            },
            other => other.to_string(),
        }
    }
}

impl CountUnits {
    /// Returns a bootstrap of the first `count` units, with these settings. If the settings ask for resampling of groups, it uses the groups of the
    /// units in place of the groups in the settings.
    pub(super) fn bootstrap(&self, settings: &Bootstrap<'_>, count: usize) -> Bootstrap<'_> {
        let resampling = match settings.resampling {
            Resampling::Groups(_) => Resampling::Groups(&self.groups[..count.min(self.groups.len())]),
            Resampling::Poisson => Resampling::Poisson,
            Resampling::Stratified => Resampling::Stratified,
            Resampling::Blocks(length) => Resampling::Blocks(length),
        };
        Bootstrap { resampling, replicates: settings.replicates, seed: settings.seed }
    }
}

impl CountScores {
    /// Computes the scores of the sum of all confusion matrices, with 95 % intervals. If the bootstrap draws blocks whose length is not given, the
    /// length chosen for the first score is used for all scores.
    pub fn new(rows: &CountRows, scores: &[Score], settings: &Bootstrap<'_>) -> Result<Self> {
        let units = rows.units(settings.resampling);
        let mut bootstrap = units.bootstrap(settings, units.matrices.len());
        if let Some(first) = scores.first() {
            bootstrap = bootstrap.with_block_length_of_counts(&units.matrices, first)?;
        }
        let confusion = sum_of_counts(&rows.matrices)?;
        let distributions = bootstrap.scores_of_counts(&units.matrices, scores)?;
        let estimates = scores.iter().zip(distributions).map(|(score, distribution)| {
            let value = score.checked(&confusion);
            let estimate = Estimate::new(value, value.and(distribution.interval(0.95)));
            NamedEstimate { name: score.name().to_string(), estimate }
        });
        Ok(CountScores {
            rows: rows.matrices.len(),
            forecasts: confusion.total(),
            positives: confusion.counts().positives,
            confusion,
            scores: estimates.collect(),
            resampled: rows.resampled(bootstrap.resampling),
        })
    }
}

impl CountSummary {
    /// Computes the scores of all rows. If `by` is given, also computes the scores of each group of rows; `by` holds the name of a column and the
    /// groups of rows with the same value of this column.
    ///
    /// ```
    /// use scorewise::sweep::{Bootstrap, Resampling};
    /// use scorewise::{Confusion, Score};
    /// use scorewise_report::evaluation::{CountRows, CountSummary};
    ///
    /// let matrices = vec![Confusion::new(90.0, 4.0, 1.0, 5.0), Confusion::new(80.0, 12.0, 2.0, 6.0)];
    /// let rows = CountRows { matrices, ..CountRows::default() };
    /// let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 200, seed: 0 };
    /// let summary = CountSummary::new(&rows, None, &[Score::parse("csi")?], &bootstrap)?;
    /// assert_eq!(summary.all.scores[0].estimate.value, Some(11.0 / 30.0));
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn new(
        rows: &CountRows,
        by: Option<(&str, &Groups)>,
        scores: &[Score],
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let mut groups = Vec::new();
        if let Some((_, found)) = by {
            let mut of_groups = vec![Vec::new(); found.names.len()];
            found.codes.iter().enumerate().for_each(|(row, code)| of_groups[*code as usize].push(row));
            for (name, members) in found.names.iter().zip(of_groups) {
                let result = CountScores::new(&rows.select(&members), scores, bootstrap)?;
                groups.push(CountGroup { group: name.clone(), result });
            }
        }
        Ok(CountSummary {
            all: CountScores::new(rows, scores, bootstrap)?,
            by: by.map(|(column, _)| column.into()),
            groups,
            replicates: bootstrap.replicates,
            seed: bootstrap.seed,
        })
    }
}

/// Maximum number of points at which a cumulative score is computed: more than a figure can show.
const MAX_SERIES_POINTS: usize = 100;
/// With more time steps than this, the scores of single time steps are not kept, because their dots in the figure would cover each other.
const MAX_SERIES_STEPS: usize = 400;

/// Computes a score over time: the score of all rows up to a time step, with its 95 % interval, and the score of each time step alone.
///
/// If the bootstrap draws blocks whose length is not given, the length that is chosen for all rows is used at every time step. So the interval at
/// the last time step is the same as in [`CountScores`] for this score.
pub fn count_series(
    rows: &CountRows,
    times: Option<SeriesTimes>,
    score: &Score,
    settings: &Bootstrap<'_>,
) -> Result<ScoreSeries> {
    let units = rows.units(settings.resampling);
    let whole = units.bootstrap(settings, units.matrices.len()).with_block_length_of_counts(&units.matrices, score)?;
    let settings = match whole.resampling {
        Resampling::Blocks(length) => Bootstrap { resampling: Resampling::Blocks(length), ..*settings },
        _ => *settings,
    };
    let steps = units.step_ends.len();
    let count = steps.min(MAX_SERIES_POINTS);
    let points = (1..=count).map(|point| {
        let step = (point * steps).div_ceil(count);
        let matrices = &units.matrices[..units.step_ends[step - 1]];
        let bootstrap = units.bootstrap(&settings, matrices.len());
        let distribution = bootstrap.scores_of_counts(matrices, std::slice::from_ref(score))?.swap_remove(0);
        let value = score.checked(&sum_of_counts(matrices)?);
        let interval = value.and(distribution.interval(0.95));
        Ok(SeriesPoint { step, value, low: interval.map(|ends| ends.0), high: interval.map(|ends| ends.1) })
    });
    let points = points.collect::<Result<Vec<_>>>()?;
    let starts = std::iter::once(0).chain(units.step_ends.iter().copied());
    let of_step = |(start, end): (usize, &usize)| score.checked(&units.matrices[start..*end].iter().copied().sum());
    let of_steps = match steps <= MAX_SERIES_STEPS {
        true => starts.zip(&units.step_ends).map(of_step).collect(),
        false => Vec::new(),
    };
    Ok(ScoreSeries { score: score.name().into(), times, points, steps: of_steps })
}
