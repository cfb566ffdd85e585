//! Data structures that hold the result of a command and everything that the page and the figures of the result need.
//!
//! A command creates the document, and the HTML page and the pictures are made from the document. `--report results.json` writes the document
//! as JSON; `scorewise report results.json` makes the page and the pictures from that file. The document holds the confusion matrix at every
//! threshold rather than the scores, so that every score on a page is computed from the same counts.

use scorewise::{Confusion, Score};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::evaluation::{
    ComparisonSummary, CountSummary, Evaluation, Explanation, MonitorSummary, ReproductionSummary, TheorySummary,
    TrainSummary, TuneSummary,
};
use crate::number::{format_number, format_threshold_range};

/// The result of one command, with the data of its page and figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredDocument")]
pub struct Document {
    /// The version of scorewise that wrote the document.
    pub scorewise: String,
    /// The command that produced the result.
    pub kind: ResultKind,
    /// Command line, time, seed and input tables of the result.
    pub provenance: Provenance,
    /// The result itself, which the command prints with `--json`.
    pub result: CommandResult,
    /// Notes for the user, such as warnings about the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Evaluation of a forecast at all thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ForecastEvaluation>,
    /// The importance of the columns for the model that `train` has trained. `None` for the command `explain`, where the explanation is
    /// stored in `result` (see [`Document::explanation`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The training history of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingHistory>,
    /// Exact results about a score under a random threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theory: Option<TheoryReport>,
    /// Comparison of two forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ForecastCurves>,
    /// Reproduction of an experiment of Marchetti et al. (2022).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<Reproduction>,
    /// A score over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<ScoreSeries>,
    /// Events and alarms of a time series, if errors are weighted by their timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarms: Option<AlarmTimeline>,
}

/// The command that produced a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultKind {
    /// The command `train`.
    Train,
    /// The command `score`.
    Score,
    /// The command `tune`.
    Tune,
    /// The command `compare`.
    Compare,
    /// The command `explain`.
    Explain,
    /// The command `monitor`.
    Monitor,
    /// The command `theory`.
    Theory,
    /// The command `reproduce`.
    Reproduce,
}

/// The result of a command, as printed with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CommandResult {
    /// The result of `train`.
    Train(Box<TrainSummary>),
    /// The result of `score`.
    Score(Evaluation),
    /// The result of `score` for a table of counts.
    Counts(Box<CountSummary>),
    /// The result of `tune`.
    Tune(TuneSummary),
    /// The result of `compare`.
    Compare(ComparisonSummary),
    /// The result of `explain`.
    Explain(Explanation),
    /// The result of `monitor`.
    Monitor(Box<MonitorSummary>),
    /// The result of `theory`.
    Theory(TheorySummary),
    /// The result of `reproduce`.
    Reproduce(ReproductionSummary),
}

/// The origin of a result, with what is needed to reproduce it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The command line that produced the result.
    #[serde(default)]
    pub command: String,
    /// The time in UTC at which the result was produced, such as `2026-11-15 21:10:05 UTC`.
    #[serde(default)]
    pub time: String,
    /// The seed of all random numbers.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The input tables.
    #[serde(default)]
    pub data: Vec<DataSource>,
}

/// An input table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSource {
    /// Name of the table as given by the user, usually a path.
    pub name: String,
    /// Number of rows of the table.
    pub rows: usize,
    /// Hash of the data that were used, as 16 hexadecimal digits. It covers all columns of a training table, or the labels, forecasts and weights
    /// of a table of predictions.
    pub fingerprint: String,
}

/// Evaluation of a forecast at all thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForecastEvaluation {
    /// Description of the rows on which the forecast is evaluated, such as `test rows`.
    pub part: String,
    /// Names of the negative and the positive class.
    pub classes: [String; 2],
    /// The name or formula of the score by which the forecast is evaluated.
    pub score: String,
    /// The decision threshold of the forecast, at which the slider of the page starts.
    pub threshold: f64,
    /// Text that says how the threshold was chosen, such as `best f1 on the validation rows`.
    pub chosen: String,
    /// Description of the rows on which the threshold was chosen: `these rows` or `the validation rows`.
    pub source: String,
    /// Number of rows.
    pub rows: usize,
    /// Whether the rows have weights. If so, the cells of every confusion matrix are sums of weights.
    pub is_weighted: bool,
    /// Start and end of the interval of thresholds with the same score as the decision threshold. The interval includes its end only if the end is 1
    /// and no prediction is 1.
    pub interval: Option<(f64, f64)>,
    /// The 95 % interval of the best threshold over the bootstrap replicates. For a result of `tune` with smoothing, it is the 95 % interval of the
    /// smoothed threshold instead.
    pub spread: Option<(f64, f64)>,
    /// The prior of the threshold that was used in training, as text such as `cosine:0.5,0.1`.
    pub prior: Option<String>,
    /// Conditions that a threshold must satisfy, such as `precision >= 0.3`.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// The thresholds at which the conditions with a stated confidence were shown to hold. Each pair is an interval that includes its start but not
    /// its end. `None` if no condition has a confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qualifying: Option<Vec<(f64, f64)>>,
    /// Thresholds in increasing order with their confusion matrices, including the decision threshold and the best threshold of every score.
    pub points: Vec<ThresholdPoint>,
    /// Weights of the positive and negative rows in bins of the predicted probability; all bins have the same width.
    pub bins: Vec<PredictionBin>,
    /// The best threshold of each score.
    pub optima: Vec<Optimum>,
    /// 95 % intervals of scores at the decision threshold.
    #[serde(default)]
    pub intervals: Vec<ScoreInterval>,
    /// 95 % intervals of the net benefit at threshold probabilities in ascending order; empty if they were not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub net_benefit: Vec<NetBenefitInterval>,
    /// Reference forecasts, such as `always yes`.
    #[serde(default, rename = "yardsticks")]
    pub reference_forecasts: Vec<ReferenceForecast>,
    /// The area under the ROC curve.
    pub roc_area: Option<f64>,
    /// The average precision.
    pub average_precision: Option<f64>,
    /// The forecast on the scale of calibrated probabilities; `None` if all numbers of the forecast are on that scale already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<CalibratedForecast>,
}

/// The threshold and the bins of a forecast on the scale of calibrated probabilities. They are stored only if the other numbers of the forecast are
/// on the scale of raw predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedForecast {
    /// The decision threshold on the scale of calibrated probabilities.
    pub threshold: f64,
    /// Weights of the positive and negative rows in bins of the calibrated probability; all bins have the same width.
    pub bins: Vec<PredictionBin>,
}

/// The 95 % interval of the net benefit of a forecast at a threshold probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetBenefitInterval {
    /// The threshold probability.
    pub threshold: f64,
    /// Lower end of the 95 % interval of the net benefit.
    pub low: f64,
    /// Upper end of the 95 % interval of the net benefit.
    pub high: f64,
}

/// A threshold and the confusion matrix at that threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdPoint {
    /// The threshold τ.
    pub threshold: f64,
    /// Lowest threshold with this confusion matrix.
    pub low: f64,
    /// Upper end of the interval of thresholds with this confusion matrix. The interval includes this end only if it is 1 and no prediction is 1.
    pub high: f64,
    /// Cells of the confusion matrix: tn, fp, fn, tp.
    pub cells: [f64; 4],
}

impl ThresholdPoint {
    /// The threshold rounded to `digits` decimals. More decimals are used if the threshold rounded to `digits` decimals would have a different
    /// confusion matrix.
    ///
    /// ```
    /// use scorewise_report::document::ThresholdPoint;
    ///
    /// let point = ThresholdPoint { threshold: 0.519_039_2, low: 0.518_908, high: 0.519_171, cells: [0.0; 4] };
    /// assert_eq!((point.display_threshold(3), point.display_threshold(6)), ("0.519".into(), "0.519039".into()));
    /// let point = ThresholdPoint { threshold: 0.5245, low: 0.5241, high: 0.525, cells: [0.0; 4] };
    /// assert_eq!(point.display_threshold(3), "0.5245"); // 0.524 has another confusion matrix
    /// ```
    #[must_use]
    pub fn display_threshold(&self, digits: usize) -> String {
        let keeps_matrix = |text: &String| {
            let inside = |value: f64| self.low <= value && (value < self.high || value == self.threshold);
            text.parse().is_ok_and(inside)
        };
        let rounded = |digits: usize| {
            let text = format!("{:.digits$}", self.threshold);
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        };
        (digits..=17).map(rounded).find(keeps_matrix).unwrap_or_else(|| self.threshold.to_string())
    }

    /// The range of thresholds with this confusion matrix, as text.
    ///
    /// ```
    /// use scorewise_report::document::ThresholdPoint;
    ///
    /// let point = |cells| ThresholdPoint { threshold: 0.95, low: 0.9, high: 1.0, cells };
    /// assert_eq!(point([3.0, 0.0, 3.0, 0.0]).display_range(), "0.9 to 1");
    /// assert_eq!(point([3.0, 0.0, 2.0, 1.0]).display_range(), "0.9 up to but not including 1"); // a prediction is 1
    /// ```
    #[must_use]
    pub fn display_range(&self) -> String {
        let [_, fp, _, tp] = self.cells;
        // At the threshold 1, no row is predicted positive. So 1 belongs to the range only if this confusion matrix has no predicted positives.
        format_threshold_range(self.low, self.high, self.high == 1.0 && fp + tp == 0.0)
    }

    /// The confusion matrix at this threshold.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        confusion_from_cells(self.cells)
    }
}

/// Creates a confusion matrix from its cells tn, fp, fn, tp.
pub(crate) fn confusion_from_cells([tn, fp, fn_, tp]: [f64; 4]) -> Confusion {
    Confusion::new(tn, fp, fn_, tp)
}

/// The rows whose prediction lies between `low` and `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionBin {
    /// Lower end of the bin; included.
    pub low: f64,
    /// Upper end of the bin; excluded unless it is 1.
    pub high: f64,
    /// Mean prediction of the rows in the bin; `None` for an empty bin.
    pub mean: Option<f64>,
    /// Total weight of the positive rows in the bin.
    pub positives: f64,
    /// Total weight of the negative rows in the bin.
    pub negatives: f64,
}

/// The best threshold of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// Name of the score.
    pub score: String,
    /// The best threshold τ*.
    pub threshold: f64,
    /// The score at the best threshold.
    pub value: f64,
    /// Start and end of the interval of thresholds with the same score as the best threshold. The interval includes its end only if the end is 1
    /// and no prediction is 1.
    pub interval: (f64, f64),
}

/// The 95 % interval of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreInterval {
    /// Name of the score.
    pub score: String,
    /// Lower end of the 95 % interval of the score.
    pub low: f64,
    /// Upper end of the 95 % interval of the score.
    pub high: f64,
}

/// A reference forecast that needs no model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceForecast {
    /// Name of the reference forecast, such as `always yes`.
    pub name: String,
    /// Cells of the confusion matrix of the reference forecast: tn, fp, fn, tp.
    pub cells: [f64; 4],
}

/// The training history of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingHistory {
    /// The name of the loss, such as `sol of f1`.
    pub loss: String,
    /// Name of the score that the loss corresponds to, such as `f1` for the loss `sol of f1`; `None` when the loss does not correspond to a score.
    pub score: Option<String>,
    /// The training runs of the ensemble members. Members of another type (`network`, `linear` or `trees`) than the first member are left out.
    pub members: Vec<MemberHistory>,
}

/// The training run of one ensemble member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberHistory {
    /// Epochs of the warm-up, in which cross-entropy is minimised.
    #[serde(default)]
    pub warm_up: Vec<EpochRecord>,
    /// Epochs after the warm-up, in which the main loss is minimised.
    pub epochs: Vec<EpochRecord>,
    /// Index in `epochs` of the epoch whose weights were kept; `None` if the weights from before the first of `epochs` were kept.
    pub kept: Option<usize>,
    /// Text that says why the training run ended, such as `the validation loss stopped falling`.
    pub end: String,
    /// Whether the ensemble member learnt something: its validation loss fell, and the validation rows do not all get the same label.
    pub success: bool,
    /// Number of failed training attempts, with other initial weights, before this training run.
    pub restarts: usize,
}

/// The losses of one epoch, the fraction of predictions inside the support of the prior, and the score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Mean training loss over the steps of the epoch.
    pub training: f64,
    /// Loss on the validation rows after the epoch.
    pub validation: f64,
    /// Fraction of the predictions for validation rows that lie inside the support of the prior; `None` without a prior.
    pub coverage: Option<f64>,
    /// The score that follows from the validation loss: 1 − loss, or the loss itself if lower scores are better; `None` if the loss does not
    /// correspond to a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// Exact results about a score under a random threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheoryReport {
    /// Name of the score.
    pub score: String,
    /// The prior of the threshold, as text such as `cosine:0.5,0.1`.
    pub prior: String,
    /// The expected confusion matrix: tn, fp, fn, tp.
    pub expected: [f64; 4],
    /// The score of the expected confusion matrix, `s(E[CM])`.
    pub score_of_expectation: f64,
    /// The expected score, `E[s]`.
    pub expected_score: f64,
    /// Expected score minus the score of the expected confusion matrix, `E[s] − s(E[CM])`.
    pub jensen_gap: f64,
    /// Standard deviation of the score under the prior of the threshold.
    pub deviation: f64,
    /// Best threshold that a calibrated forecast would have; `None` when there is no such threshold.
    pub calibrated_threshold: Option<f64>,
    /// The bounds of Marchetti et al. (2022), with the errors in the paper corrected, each with the exact value of the bounded quantity.
    pub bounds: Vec<TheoryBound>,
    /// Distribution function of the score: values in increasing order, each with the probability that the score does not exceed the value.
    #[serde(rename = "law")]
    pub distribution: Vec<(f64, f64)>,
}

/// An upper bound of a quantity, and the exact value of that quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheoryBound {
    /// The bounded quantity, written as a formula.
    pub name: String,
    /// The exact value of the bounded quantity; `None` when that value is infinite or NaN.
    pub exact: Option<f64>,
    /// The upper bound; `None` when the bound is infinite.
    pub bound: Option<f64>,
}

/// A comparison of two forecasts of the same rows. It contains the confusion matrices at all thresholds, from which the curves are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForecastCurves {
    /// Name of the score by which the forecasts are compared.
    pub score: String,
    /// Names of the two forecasts.
    pub names: [String; 2],
    /// Thresholds of the two forecasts; `None` when the score of a forecast is undefined at every threshold.
    pub thresholds: [Option<f64>; 2],
    /// Areas under the ROC curves of the two forecasts.
    pub areas: [Option<f64>; 2],
    /// Confusion matrices of the two forecasts at all thresholds.
    pub points: [Vec<ThresholdPoint>; 2],
    /// The conclusion of the comparison in one sentence.
    pub verdict: String,
    /// The score of the first forecast minus the score of the second forecast.
    pub difference: Option<f64>,
    /// 95 % interval of the difference between the scores.
    pub interval: Option<(f64, f64)>,
    /// Differences between the scores in the bootstrap replicates, in increasing order.
    pub differences: Vec<f64>,
}

/// A score over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreSeries {
    /// Name of the score.
    pub score: String,
    /// The column of times; `None` if each row is a time step, in the order of the table.
    #[serde(default)]
    pub times: Option<SeriesTimes>,
    /// The score of all rows up to a time step, in the order of time.
    pub points: Vec<SeriesPoint>,
    /// The score of each time step alone, `None` where it is undefined; empty if there are many time steps.
    #[serde(default)]
    pub steps: Vec<Option<f64>>,
}

/// The column of times of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesTimes {
    /// Name of the column.
    pub column: String,
    /// The first time, as text.
    pub first: String,
    /// The last time, as text.
    pub last: String,
}

/// The score of all rows up to a time step, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// The time step, counted from 1.
    pub step: usize,
    /// The score; `None` where it is undefined.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of the score.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the score.
    pub high: Option<f64>,
}

/// Events and alarms of a time series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlarmTimeline {
    /// The threshold; a row whose prediction is above it is an alarm.
    pub threshold: f64,
    /// What a row number counts, such as `row of the table`.
    pub unit: String,
    /// Number of rows of all series.
    pub rows: usize,
    /// How many rows have each outcome.
    pub counts: Vec<OutcomeCount>,
    /// The stretches of rows that the figure shows, in the order of the rows. If there are many rows, these are the stretches with the most events.
    pub stretches: Vec<AlarmStretch>,
}

/// A stretch of consecutive rows of a time series, with their predictions and outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlarmStretch {
    /// Number of the first row, counted from 1.
    pub first: usize,
    /// The prediction of each row.
    pub predictions: Vec<f64>,
    /// The outcome of each row.
    pub outcomes: Vec<RowOutcome>,
}

/// An outcome, such as a hit, and the number of rows that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCount {
    /// The outcome.
    pub outcome: RowOutcome,
    /// The number of rows with this outcome.
    pub rows: usize,
}

/// Whether a row is a hit, an error or a correct rejection. The variants also say whether the timing of an error is nearly right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOutcome {
    /// An event with an alarm.
    Hit,
    /// A false alarm shortly before an event.
    EarlyAlarm,
    /// A false alarm that is not shortly before an event.
    FalseAlarm,
    /// A missed event shortly after an alarm.
    MissAfterAlarm,
    /// A missed event that is not shortly after an alarm.
    Miss,
    /// Neither an event nor an alarm.
    CorrectRejection,
}

impl RowOutcome {
    /// All outcomes.
    pub(crate) const ALL: [RowOutcome; 6] = [
        RowOutcome::Hit,
        RowOutcome::EarlyAlarm,
        RowOutcome::FalseAlarm,
        RowOutcome::MissAfterAlarm,
        RowOutcome::Miss,
        RowOutcome::CorrectRejection,
    ];
}

/// Reproduction of an experiment of Marchetti et al. (2022).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// Tables with the results of this reproduction and those published in the paper.
    pub tables: Vec<ResultTable>,
    /// Remarks shown below the tables.
    pub remarks: Vec<String>,
    /// The priors to plot as in Figure 1 of Marchetti et al. (2022), each as text such as `cosine:0.5,0.1`. Each prior gets its own row of plots.
    pub priors: Vec<String>,
    /// The data of Figure 2 of Marchetti et al. (2022), one figure for each score.
    pub thresholds: Vec<ScoreThresholds>,
}

/// A table whose cells are formatted strings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultTable {
    /// Title of the table.
    pub title: String,
    /// Names of the columns.
    pub heading: Vec<String>,
    /// The rows of the table; each row holds one string per column.
    pub rows: Vec<Vec<String>>,
}

/// The data of Figure 2 of Marchetti et al. (2022) for one score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreThresholds {
    /// Name of the score.
    pub score: String,
    /// One plot per prior: the prior, and the best thresholds of the training runs with that prior.
    pub panels: Vec<(String, Vec<f64>)>,
}

impl ForecastEvaluation {
    /// The bins of the calibrated probabilities if the forecast has them, otherwise those of its predictions.
    #[must_use]
    pub fn probability_bins(&self) -> &[PredictionBin] {
        self.calibrated.as_ref().map_or(&self.bins, |calibrated| &calibrated.bins)
    }

    /// All scores in the order of the page: the score by which the forecast is evaluated, the common scores, then all others.
    #[must_use]
    pub fn scores(&self) -> Vec<Score> {
        scores_in_display_order(Score::parse(&self.score).ok())
    }

    /// The decision threshold, rounded to a few decimals for display.
    #[must_use]
    pub fn display_threshold(&self) -> String {
        self.point().map_or_else(|| format_number(self.threshold), |point| point.display_threshold(3))
    }

    /// The decision threshold with its confusion matrix; `None` when `points` does not contain that threshold.
    #[must_use]
    pub fn point(&self) -> Option<&ThresholdPoint> {
        self.points.iter().find(|point| point.threshold == self.threshold)
    }
}

/// Names of common scores, which a page shows before all others.
pub const COMMON_SCORES: [&str; 8] = ["f1", "precision", "recall", "tss", "csi", "hss", "mcc", "accuracy"];

/// All scores without duplicates: `first`, then the common scores, then all others.
#[must_use]
pub fn scores_in_display_order(first: Option<Score>) -> Vec<Score> {
    let mut scores: Vec<Score> = Vec::new();
    let common = COMMON_SCORES.iter().filter_map(|name| Score::parse(name).ok());
    for score in first.into_iter().chain(common).chain(Score::all()) {
        if scores.iter().all(|known| known.name() != score.name()) {
            scores.push(score);
        }
    }
    scores
}

/// Error for a text that is not a result of scorewise, or that this version of scorewise cannot read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidDocument(String);

impl Document {
    /// Reads the JSON that `--report results.json` writes or that `--json` prints. The JSON of `--json` contains no data for figures.
    pub fn read(text: &str) -> Result<Self, InvalidDocument> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| InvalidDocument(format!("the document is not valid JSON: {error}")))?;
        let other_version = |error| {
            InvalidDocument(format!(
                "the document was written by another version of scorewise or has been modified: {error}"
            ))
        };
        let keys = ResultKeys::deserialize(&value).unwrap_or_default();
        if keys.scorewise && keys.result {
            return serde_json::from_value(value).map_err(other_version);
        }
        let kind =
            keys.result_kind().ok_or_else(|| InvalidDocument("the document is not a result of scorewise".into()))?;
        let result = CommandResult::read(kind, value).map_err(other_version)?;
        let seed = result.seed();
        Ok(Document::new(Provenance { seed, ..Provenance::default() }, result))
    }

    /// Creates a document with a result and no data for figures.
    #[must_use]
    pub fn new(provenance: Provenance, result: CommandResult) -> Self {
        Document {
            scorewise: env!("CARGO_PKG_VERSION").into(),
            kind: result.kind(),
            provenance,
            result,
            notes: Vec::new(),
            forecast: None,
            explanation: None,
            training: None,
            theory: None,
            comparison: None,
            reproduction: None,
            series: None,
            alarms: None,
        }
    }

    /// The importance of the columns for the model. The command `explain` computes it as its result, and `train` as a part of its report; `None` for
    /// other results.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        match &self.result {
            CommandResult::Explain(explanation) => Some(explanation),
            _ => self.explanation.as_ref(),
        }
    }

    /// The document as one line of JSON.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl CommandResult {
    /// The command that produced the result.
    #[must_use]
    pub fn kind(&self) -> ResultKind {
        match self {
            CommandResult::Train(_) => ResultKind::Train,
            CommandResult::Score(_) | CommandResult::Counts(_) => ResultKind::Score,
            CommandResult::Tune(_) => ResultKind::Tune,
            CommandResult::Compare(_) => ResultKind::Compare,
            CommandResult::Explain(_) => ResultKind::Explain,
            CommandResult::Monitor(_) => ResultKind::Monitor,
            CommandResult::Theory(_) => ResultKind::Theory,
            CommandResult::Reproduce(_) => ResultKind::Reproduce,
        }
    }

    /// Reads the result of a command from the JSON that `--json` prints.
    fn read(kind: ResultKind, value: Value) -> Result<Self, serde_json::Error> {
        use serde_json::from_value;
        Ok(match kind {
            ResultKind::Train => CommandResult::Train(from_value(value)?),
            // Only the result for a table of counts has the key `forecasts`.
            ResultKind::Score if value.get("forecasts").is_some() => CommandResult::Counts(from_value(value)?),
            ResultKind::Score => CommandResult::Score(from_value(value)?),
            ResultKind::Tune => CommandResult::Tune(from_value(value)?),
            ResultKind::Compare => CommandResult::Compare(from_value(value)?),
            ResultKind::Explain => CommandResult::Explain(from_value(value)?),
            ResultKind::Monitor => CommandResult::Monitor(from_value(value)?),
            ResultKind::Theory => CommandResult::Theory(from_value(value)?),
            ResultKind::Reproduce => CommandResult::Reproduce(from_value(value)?),
        })
    }

    /// The seed that the result of the command contains; `None` if the result contains no seed.
    fn seed(&self) -> Option<u64> {
        match self {
            CommandResult::Train(result) => Some(result.seed),
            CommandResult::Score(Evaluation::Binary(summary)) => summary.seed,
            CommandResult::Counts(result) => Some(result.seed),
            CommandResult::Compare(result) => Some(result.seed),
            CommandResult::Explain(result) => Some(result.seed),
            CommandResult::Monitor(result) => Some(result.seed),
            CommandResult::Reproduce(result) => Some(result.seed),
            CommandResult::Score(Evaluation::Classes(_)) | CommandResult::Tune(_) | CommandResult::Theory(_) => None,
        }
    }
}

macro_rules! from_results {
    ($($type:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$type> for CommandResult {
            /// Wraps the result of one command.
            fn from(result: $type) -> Self {
                CommandResult::$variant(result.into())
            }
        })+
    };
}

from_results! {
    TrainSummary => Train,
    Evaluation => Score,
    CountSummary => Counts,
    TuneSummary => Tune,
    ComparisonSummary => Compare,
    Explanation => Explain,
    MonitorSummary => Monitor,
    TheorySummary => Theory,
    ReproductionSummary => Reproduce,
}

/// The JSON form of a [`Document`], in which `result` is not yet parsed, because its type depends on `kind`.
#[derive(Deserialize)]
struct StoredDocument {
    scorewise: String,
    kind: ResultKind,
    provenance: Provenance,
    result: Value,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    forecast: Option<ForecastEvaluation>,
    #[serde(default)]
    explanation: Option<Explanation>,
    #[serde(default)]
    training: Option<TrainingHistory>,
    #[serde(default)]
    theory: Option<TheoryReport>,
    #[serde(default)]
    comparison: Option<ForecastCurves>,
    #[serde(default)]
    reproduction: Option<Reproduction>,
    #[serde(default)]
    series: Option<ScoreSeries>,
    #[serde(default)]
    alarms: Option<AlarmTimeline>,
}

impl TryFrom<StoredDocument> for Document {
    type Error = serde_json::Error;

    fn try_from(stored: StoredDocument) -> Result<Self, Self::Error> {
        let StoredDocument { scorewise, kind, provenance, result, notes, forecast, training, theory, .. } = stored;
        let (explanation, comparison, reproduction) = (stored.explanation, stored.comparison, stored.reproduction);
        let (series, alarms) = (stored.series, stored.alarms);
        let result = CommandResult::read(kind, result)?;
        Ok(Document {
            scorewise,
            kind,
            provenance,
            result,
            notes,
            forecast,
            explanation,
            training,
            theory,
            comparison,
            reproduction,
            series,
            alarms,
        })
    }
}

/// Whether a JSON object has each of these keys. The keys show which command the result comes from.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResultKeys {
    #[serde(deserialize_with = "deserialize_presence")]
    scorewise: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    result: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    experiment: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    table: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    model: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    decision: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    first: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    second: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    difference: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    importance: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    partial_dependence: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    held_out: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    periods: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    expected_confusion: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    bounds: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    score: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    threshold: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    bootstrap: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    classes: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    subject_to: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    scores: bool,
    #[serde(deserialize_with = "deserialize_presence")]
    confusion: bool,
}

impl ResultKeys {
    /// The command whose result has these keys; `None` for an object that is not a result of scorewise.
    fn result_kind(&self) -> Option<ResultKind> {
        if self.experiment && self.table {
            Some(ResultKind::Reproduce)
        } else if self.model && self.decision {
            Some(ResultKind::Train)
        } else if self.first && self.second && self.difference {
            Some(ResultKind::Compare)
        } else if self.importance && self.partial_dependence {
            Some(ResultKind::Explain)
        } else if self.held_out && self.periods {
            Some(ResultKind::Monitor)
        } else if self.expected_confusion && self.bounds {
            Some(ResultKind::Theory)
        } else if self.score && (self.threshold && self.bootstrap || self.classes && self.subject_to) {
            Some(ResultKind::Tune)
        } else if self.scores && self.confusion {
            Some(ResultKind::Score)
        } else {
            None
        }
    }
}

/// Returns true for any value of a JSON key, including `null`. If a key is absent, Serde does not call this function, and the field keeps its
/// default value, false.
fn deserialize_presence<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(from).map(|_| true)
}
