//! Judges a model on rows that came later than its training: is the score still what it was, is the threshold still the best, and are the rows
//! still like the training rows?
//!
//! The score of the new rows is compared with the score on rows that were held out of the training, which the model file contains. Both are
//! estimates of independent samples, each with its own 95 % interval, and the interval of their difference follows from the two intervals by the
//! method of variance estimates recovery:
//!
//! ```text
//! d = b − a        low = d − √((b − b_low)² + (a_high − a)²)        high = d + √((b_high − b)² + (a − a_low)²)
//! ```
//!
//! If the interval of the difference does not contain 0, the score has changed: a test at the level of 5 %. To check whether
//! the new score lies outside the old interval would not be such a test, because the new score is itself uncertain.
//!
//! Zou, G. Y., Donner, A. (2008). Construction of confidence limits about effect measures: a general approach. Statistics in Medicine 27, 1693–1702.

use scorewise::Score;
use scorewise::sweep::{Bootstrap, Resampling, sweep};
use scorewise_table::dependence::{Dependence, Resample};
use scorewise_table::distribution::{BinChange, NumberCounts};
use scorewise_table::groups::Neighbours;
use scorewise_table::names::quoted;
use scorewise_table::periods::{Every, Period, Periods};
use scorewise_table::setting::Setting;
use scorewise_table::split::Split;
use scorewise_table::table::Table;
use scorewise_train::model::{
    Decision, HeldOut, HeldOutPart, Model, Predictor, Reference, StoredEstimate, ThresholdSource,
};
use scorewise_train::plan::Plan;
use scorewise_train::train::{LabelledPredictions, SMOOTHING, Trained, weights};
use scorewise_train::{Error, Location, Note, Result};
use serde::{Deserialize, Serialize};

use super::model::{Evaluation, ModelEvaluation, with_resampled_rows};
use super::summary::{Estimate, ScoreSummary};
use super::tuning::{ModelThreshold, Tuning, TuningOptions, TuningSummary, corrected_score};

/// Probability that the index of the predictions, or the index of any column, exceeds its limit although nothing has shifted. For the columns, this
/// is an upper bound.
const CHANCE: f64 = 0.05;
/// A shift is called moderate if its population stability index is at least this and chance does not explain it.
pub const MODERATE_SHIFT: f64 = 0.1;
/// A shift is called large if its population stability index is at least this and chance does not explain it.
pub const LARGE_SHIFT: f64 = 0.25;

/// Settings of `monitor`.
#[derive(Clone, Debug)]
pub struct MonitorOptions<'a> {
    /// The name of the model in the result, such as the path of its file.
    pub model: &'a str,
    /// The column of times. If it is `None`, the column of times of the model is used, or else the first column of dates, or else the order of rows.
    pub time: Option<&'a str>,
    /// The length of a period; `None` to choose it from the times or from the number of rows.
    pub every: Option<Every>,
    /// Which rows depend on each other; `None` to assume the same dependence as for the training rows.
    pub resample: Option<&'a Resample>,
    /// The lowest value that the score may have, or the highest if lower values are better; `None` if every value is allowed.
    pub at_least: Option<f64>,
    /// Number of bootstrap replicates.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// The true classes of the new rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// The true classes are in the target column of the table. If the table has no such column, they are unknown.
    InTable,
    /// The class of each row, as an index into the classes of the model, with the weight of each row; `None` if all rows have the same weight.
    Given(Vec<u32>, Option<Vec<f64>>),
    /// The true classes are unknown.
    Unknown,
}

/// The result of `monitor`, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MonitorSummary {
    /// The model, usually the path of its file.
    pub model: String,
    /// Name of the score that the model was trained for.
    pub score: String,
    /// The threshold of the model.
    pub threshold: f64,
    /// Number of new rows.
    pub rows: usize,
    /// Number of new rows whose true class is known; `None` if no true classes are known.
    pub labelled: Option<usize>,
    /// Number of new rows that are known to be positive; `None` if no true classes are known.
    pub positives: Option<usize>,
    /// Whether the score has changed.
    pub change: ScoreChange,
    /// The condition that the score had to meet, and whether it does; `None` without a condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<ScoreCondition>,
    /// The held-out rows with which the new rows are compared; `None` if the model file does not say how good the model was.
    pub held_out: Option<HeldOutSummary>,
    /// The score at the threshold of the model.
    pub value: ThenAndNow,
    /// The share of positive rows.
    pub base_rate: ThenAndNow,
    /// The share of rows that the model predicts positive.
    pub alarm_rate: ThenAndNow,
    /// Whether the threshold of the model lies in the 95 % interval of the best threshold of the new rows; `None` if there is no such interval.
    pub threshold_holds: Option<bool>,
    /// The best threshold of the new rows; `None` without true classes, or if the score is undefined at every threshold.
    pub tune: Option<TuningSummary>,
    /// The score in each period.
    pub periods: PeriodsSummary,
    /// The shift of the predicted probabilities; `None` if the model file has no distribution of them.
    pub predictions: Option<PredictionShift>,
    /// The shift of each input column; the greatest shift comes first. Empty if the model file has no distributions of the training rows.
    pub columns: Vec<ColumnShift>,
    /// What the bootstrap draws, such as `rows` or `blocks of 24 rows`.
    pub resampled: String,
    /// Number of bootstrap replicates.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Whether the score has changed since the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreChange {
    /// The difference can be chance.
    None,
    /// The score is worse than it was.
    Worse,
    /// The score is better than it was.
    Better,
    /// A change cannot be judged: the true classes are unknown, the score is undefined, or the model file contains no earlier score.
    Unknown,
}

/// A condition on the score of the new rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreCondition {
    /// The lowest value that the score may have, or the highest if lower values are better.
    pub limit: f64,
    /// Whether the score reaches `limit`.
    pub met: bool,
}

/// The held-out rows with which new rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutSummary {
    /// Whether the held-out rows are test rows, out-of-fold rows or validation rows.
    pub part: HeldOutPart,
    /// Number of rows.
    pub rows: u64,
    /// Whether the score was estimated by cross-fitting, because the threshold was chosen on these rows.
    pub corrected: bool,
}

/// A number on the held-out rows and on the new rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThenAndNow {
    /// The number on the held-out rows.
    pub then: Estimate,
    /// The number on the new rows.
    pub now: Estimate,
    /// `now` minus `then`.
    pub difference: Estimate,
}

/// The score in each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodsSummary {
    /// The column of times; `None` if each period is a group of consecutive rows of the table.
    pub column: Option<String>,
    /// The length of a period: `day`, `week`, `month`, or a number of rows as text.
    pub every: String,
    /// The periods, in the order of time.
    pub each: Vec<PeriodSummary>,
}

/// The score in a period. The score and the base rate are undefined without true classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodSummary {
    /// The name of the period, such as `2024-05`.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of rows that are known to be positive; `None` if no true classes are known.
    pub positives: Option<usize>,
    /// The score at the threshold of the model.
    pub value: Estimate,
    /// The share of positive rows.
    pub base_rate: Estimate,
    /// The share of rows that the model predicts positive.
    pub alarm_rate: Estimate,
    /// Whether the score of this period alone differs from the score on the held-out rows. By chance alone, about one period in twenty differs.
    pub change: ScoreChange,
}

/// How much the predicted probabilities have shifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionShift {
    /// The population stability index.
    pub psi: f64,
    /// A limit of the index: if the predictions have not shifted, the index exceeds this limit with a probability of about 5 %.
    pub chance: f64,
    /// The size of the shift.
    pub shift: ShiftSize,
    /// The bin that contributes most to the index.
    pub largest: Option<BinChange>,
}

/// How much an input column has shifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnShift {
    /// Name of the column.
    pub column: String,
    /// The population stability index; `None` for a column of times.
    pub psi: Option<f64>,
    /// A limit of the index; every column has such a limit. If no column has shifted, the probability that any of them exceeds its limit is at most
    /// about 5 %.
    pub chance: Option<f64>,
    /// The size of the shift.
    pub shift: ShiftSize,
    /// The bin that contributes most to the index.
    pub largest: Option<BinChange>,
    /// The share of missing values in the training rows and in the new rows.
    pub missing: MissingShares,
    /// Number of new rows with a value that no training row has. `None` for numbers and times, and if the training rows have too many distinct
    /// values.
    pub unseen_rows: Option<u64>,
    /// The values that no training row has; only the ten most frequent.
    pub unseen: Vec<UnseenLevel>,
}

/// The size of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShiftSize {
    /// No shift, or one that chance explains.
    None,
    /// An index from 0.1 up to 0.25 that chance does not explain.
    Moderate,
    /// An index of 0.25 or more that chance does not explain.
    Large,
}

/// The share of missing values in the training rows and in the new rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissingShares {
    /// The share in the training rows.
    pub then: Option<f64>,
    /// The share in the new rows.
    pub now: Option<f64>,
}

/// A value that no training row has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenLevel {
    /// The value.
    pub level: String,
    /// Number of new rows with this value.
    pub rows: u64,
}

impl ShiftSize {
    /// The size of a shift. `psi` is its population stability index, and `chance` is the limit up to which chance explains the index.
    fn of(psi: Option<f64>, chance: Option<f64>) -> Self {
        match (psi, chance) {
            (Some(psi), Some(chance)) if psi > chance && psi >= LARGE_SHIFT => ShiftSize::Large,
            (Some(psi), Some(chance)) if psi > chance && psi >= MODERATE_SHIFT => ShiftSize::Moderate,
            _ => ShiftSize::None,
        }
    }

    /// The size in words; an empty text if there is no shift.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ShiftSize::None => "",
            ShiftSize::Moderate => "moderate",
            ShiftSize::Large => "large",
        }
    }
}

impl ThenAndNow {
    /// Compares two numbers that were estimated from independent samples. The interval of their difference follows from their intervals; see the
    /// documentation of the module.
    #[must_use]
    pub fn new(then: Estimate, now: Estimate) -> Self {
        let value = now.value.zip(then.value).map(|(now, then)| now - then);
        let distance = |value: Option<f64>, end: Option<f64>| Some((value? - end?).abs());
        let half = |now_end: Option<f64>, then_end: Option<f64>| {
            Some(distance(now.value, now_end)?.hypot(distance(then.value, then_end)?))
        };
        let low = value.zip(half(now.low, then.high)).map(|(value, half)| value - half);
        let high = value.zip(half(now.high, then.low)).map(|(value, half)| value + half);
        ThenAndNow { then, now, difference: Estimate { value, low, high } }
    }

    /// Whether the number, a value of `score`, has become better or worse.
    fn change(&self, score: &Score) -> ScoreChange {
        let (Some(then), Some(now)) = (self.then.value, self.now.value) else { return ScoreChange::Unknown };
        let (Some(low), Some(high)) = (self.difference.low, self.difference.high) else { return ScoreChange::Unknown };
        match low > 0.0 || high < 0.0 {
            false => ScoreChange::None,
            true if score.oriented_value(now) < score.oriented_value(then) => ScoreChange::Worse,
            true => ScoreChange::Better,
        }
    }
}

impl MonitorSummary {
    /// Whether the user must be warned: the score has become worse or better, or it does not meet its condition.
    #[must_use]
    pub fn is_alarming(&self) -> bool {
        matches!(self.change, ScoreChange::Worse | ScoreChange::Better)
            || self.at_least.is_some_and(|condition| !condition.met)
    }

    /// The columns that have shifted; the column with the greatest shift comes first.
    #[must_use]
    pub fn shifted_columns(&self) -> Vec<&str> {
        let shifted = self.columns.iter().filter(|column| column.shift != ShiftSize::None);
        shifted.map(|column| column.column.as_str()).collect()
    }

    /// What was found about the score, in one sentence without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let ThenAndNow { then, now, .. } = self.value;
        let with_interval = |estimate: Estimate| match (estimate.value, estimate.interval()) {
            (Some(value), Some((low, high))) => format!(
                "{} ({} to {})",
                crate::format_rounded(value),
                crate::format_rounded(low),
                crate::format_rounded(high)
            ),
            (Some(value), None) => crate::format_rounded(value),
            (None, _) => "undefined".into(),
        };
        let score = &self.score;
        let of = self.held_out.map_or("the training", |held_out| held_out.part.words());
        match self.change {
            ScoreChange::None => {
                format!(
                    "{score} is {}; it does not differ from the {} of {of} by more than chance",
                    with_interval(now),
                    with_interval(then)
                )
            }
            ScoreChange::Worse => {
                format!("{score} is {}, worse than the {} of {of}", with_interval(now), with_interval(then))
            }
            ScoreChange::Better => {
                format!("{score} is {}, better than the {} of {of}", with_interval(now), with_interval(then))
            }
            ScoreChange::Unknown if self.labelled.is_none() => {
                format!("{score} is not known, because the true classes of the new rows are not known")
            }
            ScoreChange::Unknown if now.value.is_none() => format!("{score} is undefined on the new rows"),
            ScoreChange::Unknown => {
                format!("{score} is {}; the model file does not say what it was before", with_interval(now))
            }
        }
    }
}

/// The score, base rate, alarm rate and predictions on held-out rows, which a model file stores for the comparison with new rows. The held-out rows
/// are the test rows or, without test rows, the validation rows. `None` with more than two classes.
pub fn held_out(trained: &Trained, plan: &Plan, bootstrap: &Bootstrap<'_>) -> Result<Option<HeldOut>> {
    let Decision::Threshold { threshold, chosen, .. } = &trained.model.decision else { return Ok(None) };
    let score = plan.score.binary()?;
    let (predictions, part) = match &trained.test {
        Some(test) => (test, HeldOutPart::Test),
        None if plan.cross_fit > 0 => (&trained.validation, HeldOutPart::OutOfFold),
        None => (&trained.validation, HeldOutPart::Validation),
    };
    let mut rates = Rates::new(predictions, *threshold, &score, bootstrap)?;
    let mut corrected = false;
    if part != HeldOutPart::Test && *chosen == ThresholdSource::ValidationSweep {
        // With cross-fitting, the model uses the smoothed threshold; otherwise it uses the best threshold.
        let width = (plan.cross_fit > 0).then_some(SMOOTHING);
        let estimate = with_resampled_rows(predictions, bootstrap, |rows, bootstrap| {
            corrected_score(rows, &sweep(rows)?, &score, &[], width, bootstrap)
        })?;
        if let Some(estimate) = estimate {
            (rates.value, corrected) = (estimate, true);
        }
    }
    Ok(Some(HeldOut {
        part,
        rows: predictions.labels.len() as u64,
        score: stored(rates.value),
        corrected,
        base_rate: stored(rates.base_rate),
        alarm_rate: stored(rates.alarm_rate),
        predictions: NumberCounts::between_quantiles(&predictions.probabilities),
        resample: plan.resample.clone(),
    }))
}

fn stored(Estimate { value, low, high }: Estimate) -> StoredEstimate {
    StoredEstimate { value, low, high }
}

fn estimate(StoredEstimate { value, low, high }: StoredEstimate) -> Estimate {
    Estimate { value, low, high }
}

/// The score, the base rate and the alarm rate of some rows.
#[derive(Clone, Debug, Default)]
struct Rates {
    value: Estimate,
    base_rate: Estimate,
    alarm_rate: Estimate,
    resampled: Option<String>,
}

impl Rates {
    /// Computes the score, the base rate and the alarm rate of the predictions at a threshold, with 95 % intervals.
    fn new(
        predictions: &LabelledPredictions,
        threshold: f64,
        score: &Score,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        if predictions.labels.is_empty() {
            return Ok(Rates::default());
        }
        let parse = |formula: &str| Score::parse(formula).map_err(scorewise::Error::from);
        let scores = [score.clone(), parse(BASE_RATE)?, parse(ALARM_RATE)?];
        let summary = with_resampled_rows(predictions, bootstrap, |rows, bootstrap| {
            ScoreSummary::new(rows, threshold, &scores, bootstrap)
        })?;
        let [value, base_rate, alarm_rate] = [0, 1, 2].map(|at| summary.scores[at].estimate);
        Ok(Rates { value, base_rate, alarm_rate, resampled: summary.resampled })
    }
}

/// The share of positive rows.
const BASE_RATE: &str = "(tp+fn)/(tn+fp+fn+tp)";
/// The share of rows that are predicted positive.
const ALARM_RATE: &str = "(tp+fp)/(tn+fp+fn+tp)";

/// The rows of a new table: all of them, and those with a known class.
struct NewRows {
    /// The predictions of all rows. Where the true class is not known, the label is 0 and must not be used.
    all: LabelledPredictions,
    /// Whether the true class of each row is known; `None` if there are no true classes.
    known: Option<Vec<bool>>,
}

impl NewRows {
    /// The given rows, or only those of them whose true class is known.
    fn select(&self, rows: &[u32], only_known: bool) -> LabelledPredictions {
        let is_selected = |row: &&u32| match (&self.known, only_known) {
            (Some(known), true) => known[**row as usize],
            (None, true) => false,
            (_, false) => true,
        };
        let rows: Vec<u32> = rows.iter().filter(is_selected).copied().collect();
        LabelledPredictions {
            labels: rows.iter().map(|row| self.all.labels[*row as usize]).collect(),
            probabilities: rows.iter().map(|row| self.all.probabilities[*row as usize]).collect(),
            weights: self.all.weights.as_ref().map(|weights| rows.iter().map(|row| weights[*row as usize]).collect()),
            persistence: None,
            dependence: self.all.dependence.of_rows(&rows),
            places: None,
        }
    }
}

/// Judges a model on a table of new rows. The returned notes are about rows that are left out, and about what could not be computed.
pub fn monitor(
    model: &Model,
    table: &Table,
    truth: Truth,
    options: &MonitorOptions<'_>,
) -> Result<(MonitorSummary, Vec<Note>)> {
    let Some(threshold) = model.decision.threshold() else {
        let problem =
            format!("the model has {} classes, but only models with two classes can be monitored", model.classes.len());
        let hint = "evaluate the predictions of one class against all others instead";
        return Err(Error::data(Location::file(options.model), problem, hint));
    };
    if model.plan.as_ref().is_some_and(|plan| plan.temporal.is_some()) {
        let problem = "the model was trained for errors weighted by their timing, and such models cannot be monitored";
        let hint = "evaluate its predictions with errors weighted by their timing instead";
        return Err(Error::data(Location::file(options.model), problem, hint));
    }
    if table.rows() == 0 {
        return Err(Error::data(Location::file(&table.file), "has no rows; at least one is needed", ""));
    }
    let score = Score::parse(&model.score).map_err(scorewise::Error::from)?;
    let periods = periods_of_rows(model, table, options)?;
    let mut notes = Vec::new();
    let rows = new_rows(model, table, truth, options, &mut notes)?;
    if options.at_least.is_some() && rows.known.is_none() {
        let problem = format!("the score needs the true class of each row, but {} has none", quoted(&table.file));
        let hint = format!("add the column {}, or leave this option out", quoted(&model.target.column));
        return Err(Error::setting("at-least", problem, hint));
    }
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: options.replicates, seed: options.seed };
    let everything: Vec<u32> = (0..table.rows() as u32).collect();
    let labelled = rows.select(&everything, true);
    let now = Rates::new(&labelled, threshold, &score, &bootstrap)?;
    let alarms = Rates::new(&rows.select(&everything, false), threshold, &score, &bootstrap)?;
    let (held_out, then) = then(model, &mut notes);
    let value = ThenAndNow::new(then.value, now.value);
    let tune = tune(&labelled, threshold, &score, &bootstrap)?;
    let interval = tune.as_ref().and_then(|tune| tune.bootstrap.as_ref()?.threshold_interval());
    let periods = score_of_periods(periods, &rows, (threshold, &score, then.value), &bootstrap)?;
    if model.reference.is_none() {
        notes.push(Note::new(format!(
            "{}: the file was written by an older version and has no distributions of the training rows, so shifted columns cannot be found; train the model again to find them",
            options.model
        )));
    }
    let summary = MonitorSummary {
        model: options.model.into(),
        score: score.name().into(),
        threshold,
        rows: table.rows(),
        labelled: rows.known.as_ref().map(|_| labelled.labels.len()),
        positives: rows.known.as_ref().map(|_| positives(&labelled)),
        change: value.change(&score),
        at_least: options.at_least.map(|limit| ScoreCondition {
            limit,
            met: now.value.value.is_some_and(|value| score.oriented_value(value) >= score.oriented_value(limit)),
        }),
        held_out,
        value,
        base_rate: ThenAndNow::new(then.base_rate, now.base_rate),
        alarm_rate: ThenAndNow::new(then.alarm_rate, alarms.alarm_rate),
        threshold_holds: interval.map(|(low, high)| low <= threshold && threshold <= high),
        tune,
        periods,
        predictions: prediction_shift(model.reference.as_ref(), &rows.all.probabilities),
        columns: column_shifts(model.reference.as_ref(), table),
        resampled: now.resampled.or(alarms.resampled).unwrap_or_else(|| "rows".into()),
        replicates: options.replicates,
        seed: options.seed,
    };
    Ok((summary, notes))
}

/// Number of positive rows.
fn positives(predictions: &LabelledPredictions) -> usize {
    predictions.labels.iter().filter(|label| **label == 1).count()
}

/// Predicts the rows of the table and finds their true classes.
fn new_rows(
    model: &Model,
    table: &Table,
    truth: Truth,
    options: &MonitorOptions<'_>,
    notes: &mut Vec<Note>,
) -> Result<NewRows> {
    super::explain::check_columns(model, table)?;
    let encoded = model.encoder.encode(table)?;
    notes.extend(encoded.unexpected.notes(&model.encoder));
    let probabilities = Predictor::new(model).probabilities(&encoded.matrix, |row| table.place(row))?;
    let unlabelled = |weights| (vec![0; table.rows()], None, weights);
    let (labels, known, weights) = match truth {
        Truth::Given(labels, weights) => (labels, Some(vec![true; table.rows()]), weights),
        Truth::Unknown => unlabelled(None),
        Truth::InTable => {
            let weights = table_weights(model, table, notes)?;
            let order = if model.target.lead > 0 { model.encoder.order.clone() } else { Default::default() };
            let order_is_known =
                [&order.group, &order.time].into_iter().flatten().all(|name| table.column(name).is_some());
            match table.column(&model.target.column).is_some() && order_is_known {
                false => unlabelled(weights),
                true => {
                    let (labels, unmatched) = model.target.known_labels(table, &Neighbours::new(table, &order)?)?;
                    notes.extend(unmatched.notes(&model.target));
                    notes.extend(model.target.unlabelled_notes(&labels));
                    let mut known = vec![false; table.rows()];
                    labels.rows().iter().for_each(|row| known[*row as usize] = true);
                    let classes =
                        labels.classes.iter().zip(&known).map(|(class, known)| if *known { *class } else { 0 });
                    let classes = classes.collect();
                    // If no class is known, the column is treated as missing: the user has not filled it in yet.
                    let known = known.contains(&true).then_some(known);
                    (classes, known, weights)
                }
            }
        }
    };
    let dependence = dependence(model, table, options, notes)?;
    let all = LabelledPredictions { labels, probabilities, weights, persistence: None, dependence, places: None };
    Ok(NewRows { all, known })
}

/// The weights of the rows, from the column that held the weights of the training rows; `None` if there is no such column.
fn table_weights(model: &Model, table: &Table, notes: &mut Vec<Note>) -> Result<Option<Vec<f64>>> {
    match model.plan.as_ref().and_then(|plan| plan.weight.as_deref()) {
        Some(name) if table.column(name).is_none() => {
            let text = format!(
                "has no column {}, which held the weights when the model was trained: all rows count alike",
                quoted(name)
            );
            notes.push(Note::new(format!("{}: {text}", table.file)));
            Ok(None)
        }
        Some(name) => Ok(Some(weights(table, name)?)),
        None => Ok(None),
    }
}

/// Which new rows depend on each other. The user can say so; otherwise the same dependence is assumed as in the training.
fn dependence(model: &Model, table: &Table, options: &MonitorOptions<'_>, notes: &mut Vec<Note>) -> Result<Dependence> {
    let stored = model.reference.as_ref().and_then(|reference| reference.held_out.as_ref()?.resample.as_ref());
    let resample = options.resample.or(stored);
    let split = model.plan.as_ref().map_or(Split::Random, |plan| plan.split.clone());
    // If the user names a column of times, it determines the order of rows in bootstrap blocks, as it determines the periods.
    let split = match (&split, options.time) {
        (Split::Group(_), _) | (_, None) => split,
        (_, Some(time)) if resample.is_none_or(|resample| matches!(resample, Resample::Blocks(_))) => {
            let is_time = matches!(split, Split::Time(_)) || resample.is_some();
            if is_time { Split::Time(Some(time.into())) } else { split }
        }
        _ => split,
    };
    let needed = match (resample, &split) {
        (Some(Resample::Group(column)), _) | (None, Split::Group(column)) => Some((column, true)),
        (Some(Resample::Blocks(_)) | None, Split::Time(Some(column))) => Some((column, false)),
        _ => None,
    };
    if let Some((column, is_group)) =
        needed.filter(|(column, _)| table.column(column).is_none() && options.time != Some(column.as_str()))
    {
        if is_group {
            let problem = format!("has no column {}, whose values say which rows depend on each other", quoted(column));
            let hint =
                format!("add the column, or write `{}` if all rows are independent", Setting("resample").to("rows"));
            return Err(Error::data(Location::file(&table.file), problem, hint));
        }
        let text = format!(
            "has no column {}, which gave the order of the training rows in time: the new rows are taken in the order of the table",
            quoted(column)
        );
        notes.push(Note::new(format!("{}: {text}", table.file)));
        return Dependence::of_table(table, resample, &Split::Time(None), true);
    }
    let is_series = model.target.lead > 0 || model.encoder.lags() > 0;
    Dependence::of_table(table, resample, &split, is_series)
}

/// The held-out rows and their rates, from the model file. A file of an older format does not store these rates, so they come from its results.
fn then(model: &Model, notes: &mut Vec<Note>) -> (Option<HeldOutSummary>, Rates) {
    if let Some(held_out) = model.reference.as_ref().and_then(|reference| reference.held_out.as_ref()) {
        let summary = HeldOutSummary { part: held_out.part, rows: held_out.rows, corrected: held_out.corrected };
        let HeldOut { score, base_rate, alarm_rate, .. } = held_out;
        let rates = Rates {
            value: estimate(*score),
            base_rate: estimate(*base_rate),
            alarm_rate: estimate(*alarm_rate),
            resampled: None,
        };
        return (Some(summary), rates);
    }
    let results: Option<ModelEvaluation> = ModelEvaluation::deserialize(&model.results).ok();
    let is_cross_fitted = model.plan.as_ref().is_some_and(|plan| plan.cross_fit > 0);
    let evaluation = results.and_then(|results| match results {
        ModelEvaluation { test: Some(Evaluation::Binary(test)), .. } => Some((HeldOutPart::Test, test)),
        ModelEvaluation { validation: Evaluation::Binary(validation), .. } if is_cross_fitted => {
            Some((HeldOutPart::OutOfFold, validation))
        }
        ModelEvaluation { validation: Evaluation::Binary(validation), .. } => {
            Some((HeldOutPart::Validation, validation))
        }
        _ => None,
    });
    let Some((part, evaluation)) = evaluation else {
        notes.push(Note::new(
            "the model file does not say how good the model was, so nothing can be said about a change of its score",
        ));
        return (None, Rates::default());
    };
    let found = evaluation.scores.iter().find(|named| named.name == model.score);
    let share = |text: &str| {
        let share = Score::parse(text).ok().and_then(|score| score.checked(&evaluation.confusion));
        Estimate { value: share, ..Estimate::default() }
    };
    let rates = Rates {
        value: found.map(|named| named.estimate).unwrap_or_default(),
        base_rate: share(BASE_RATE),
        alarm_rate: share(ALARM_RATE),
        resampled: None,
    };
    (Some(HeldOutSummary { part, rows: evaluation.rows as u64, corrected: false }), rates)
}

/// The best threshold of the new rows; `None` if there are no rows with a known class, or if the score is undefined at every threshold.
fn tune(
    labelled: &LabelledPredictions,
    threshold: f64,
    score: &Score,
    bootstrap: &Bootstrap<'_>,
) -> Result<Option<TuningSummary>> {
    if labelled.labels.is_empty() {
        return Ok(None);
    }
    with_resampled_rows(labelled, bootstrap, |rows, bootstrap| {
        let options = TuningOptions { score, conditions: &[], smooth: None, bootstrap };
        Ok(Tuning::new(rows, &options)?.ok().map(|tuning| {
            let value = score.checked(&tuning.sweep.at(threshold));
            TuningSummary { subject_to: None, ..tuning.summary(&options, Some(ModelThreshold { threshold, value })) }
        }))
    })
}

/// Divides the rows into periods by the column of times: the one that the user named or, by default, the one that was used in the training.
fn periods_of_rows(model: &Model, table: &Table, options: &MonitorOptions<'_>) -> Result<Periods> {
    let split_time = model.plan.as_ref().and_then(|plan| match &plan.split {
        Split::Time(column) => column.as_deref(),
        _ => None,
    });
    let fallbacks: Vec<&str> = split_time.into_iter().chain(model.encoder.order.time.as_deref()).collect();
    Periods::new(table, options.time, &fallbacks, options.every)
}

/// The score in each period. `then` is the score on the held-out rows.
fn score_of_periods(
    periods: Periods,
    rows: &NewRows,
    (threshold, score, then): (f64, &Score, Estimate),
    bootstrap: &Bootstrap<'_>,
) -> Result<PeriodsSummary> {
    let summary = |period: &Period| -> Result<PeriodSummary> {
        let labelled = rows.select(&period.rows, true);
        let known = Rates::new(&labelled, threshold, score, bootstrap)?;
        let alarms = Rates::new(&rows.select(&period.rows, false), threshold, score, bootstrap)?;
        Ok(PeriodSummary {
            name: period.name.clone(),
            rows: period.rows.len(),
            positives: rows.known.as_ref().map(|_| positives(&labelled)),
            value: known.value,
            base_rate: known.base_rate,
            alarm_rate: alarms.alarm_rate,
            change: ThenAndNow::new(then, known.value).change(score),
        })
    };
    let each = periods.each.iter().map(summary).collect::<Result<_>>()?;
    let every = match periods.every {
        Every::Rows(rows) => rows.to_string(),
        every => every.to_string(),
    };
    Ok(PeriodsSummary { column: periods.column, every, each })
}

/// The shift of the predictions; `None` if the model file has no distribution of them.
fn prediction_shift(reference: Option<&Reference>, probabilities: &[f64]) -> Option<PredictionShift> {
    let shift = reference?.held_out.as_ref()?.predictions.compare(probabilities, CHANCE)?;
    let (psi, chance) = shift.psi.zip(shift.chance)?;
    Some(PredictionShift { psi, chance, shift: ShiftSize::of(Some(psi), Some(chance)), largest: shift.change })
}

/// The shift of each input column; the greatest shift comes first.
fn column_shifts(reference: Option<&Reference>, table: &Table) -> Vec<ColumnShift> {
    let Some(Reference { columns, .. }) = reference else { return Vec::new() };
    // Among many columns, some exceed a limit by chance; so the probability `CHANCE` is divided by the number of columns.
    let probability = CHANCE / columns.len().max(1) as f64;
    let mut shifts: Vec<ColumnShift> = Vec::with_capacity(columns.len());
    for then in columns {
        let Some(column) = table.column(&then.column) else { continue };
        let shift = then.compare(column, probability);
        let levels = shift.unseen.as_deref().unwrap_or_default();
        shifts.push(ColumnShift {
            column: then.column.clone(),
            psi: shift.psi,
            chance: shift.chance,
            shift: ShiftSize::of(shift.psi, shift.chance),
            largest: shift.change,
            missing: MissingShares { then: shift.missing[0], now: shift.missing[1] },
            unseen_rows: shift.unseen.as_ref().map(|levels| levels.iter().map(|(_, rows)| rows).sum()),
            unseen: levels
                .iter()
                .take(10)
                .map(|(level, rows)| UnseenLevel { level: level.clone(), rows: *rows })
                .collect(),
        });
    }
    let key = |shift: &ColumnShift| shift.psi.unwrap_or(-1.0);
    shifts.sort_by(|first, second| key(second).total_cmp(&key(first)));
    shifts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a panic fails the test
mod tests {
    use super::*;
    use scorewise::{Purpose, stream};

    fn with_interval(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value: Some(value), low: Some(low), high: Some(high) }
    }

    #[test]
    fn the_interval_of_a_difference_matches_a_hand_calculation() {
        let change = ThenAndNow::new(with_interval(0.7, 0.6, 0.74), with_interval(0.5, 0.47, 0.53));
        let Estimate { value, low, high } = change.difference;
        assert!((value.unwrap() + 0.2).abs() < 1e-15);
        assert!((low.unwrap() - (-0.2 - 0.05)).abs() < 1e-12, "√(0.03² + 0.04²) = 0.05");
        assert!((high.unwrap() - (-0.2 + 0.03f64.hypot(0.1))).abs() < 1e-12);
        let tss = Score::parse("tss").unwrap();
        assert_eq!(change.change(&tss), ScoreChange::Worse);
        assert_eq!(ThenAndNow::new(change.now, change.then).change(&tss), ScoreChange::Better);
        let small_change = ThenAndNow::new(with_interval(0.6, 0.5, 0.7), with_interval(0.5, 0.45, 0.55));
        assert_eq!(small_change.change(&tss), ScoreChange::None);
        assert_eq!(ThenAndNow::new(change.then, Estimate::default()).change(&tss), ScoreChange::Unknown);
        let fpr = Score::parse("false_alarm_ratio").unwrap();
        assert_eq!(change.change(&fpr), ScoreChange::Better, "lower values are better");
    }

    /// Rows of which one in five is positive; the predictions of the positives lie above ½ with probability 0.8, those of the others with 0.1.
    fn rows(count: u64, simulation: u64) -> LabelledPredictions {
        let uniform = |row: u64, number: u64| {
            let bits = stream(simulation, Purpose::Thresholds, 2 * row + number);
            (bits >> 11) as f64 / (1u64 << 53) as f64
        };
        let labels: Vec<u32> = (0..count).map(|row| u32::from(uniform(row, 0) < 0.2)).collect();
        let probability = |(row, label): (u64, &u32)| {
            let alarm = uniform(row, 1) < if *label == 1 { 0.8 } else { 0.1 };
            if alarm { 0.9 } else { 0.1 }
        };
        let probabilities = (0..count).zip(&labels).map(probability).collect();
        LabelledPredictions { labels, probabilities, ..LabelledPredictions::default() }
    }

    #[test]
    fn one_in_twenty_tables_from_the_same_distribution_is_said_to_have_changed() {
        let simulations = 600;
        let changed = |score: &str| {
            let score = Score::parse(score).unwrap();
            let is_changed = |simulation: &u64| {
                let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 400, seed: *simulation };
                let of = |rows: &LabelledPredictions, bootstrap: &Bootstrap<'_>| {
                    Rates::new(rows, 0.5, &score, bootstrap).unwrap().value
                };
                let then = of(&rows(500, 2 * simulation), &bootstrap);
                let other = Bootstrap { seed: 1_000_000 + simulation, ..bootstrap };
                let now = of(&rows(300, 2 * simulation + 1), &other);
                ThenAndNow::new(then, now).change(&score) != ScoreChange::None
            };
            (0..simulations).filter(is_changed).count() as f64 / simulations as f64
        };
        for score in ["tss", "f1", "precision"] {
            let share = changed(score);
            assert!((0.03..0.075).contains(&share), "{score}: {share}");
        }
    }
}
