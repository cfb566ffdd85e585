//! What a page shows, as data: the result of a command, and what its figures are drawn from.
//!
//! A command fills it, a page and pictures are drawn from it, and as JSON it is a file from which they can be drawn again
//! (`--report results.json`, then `scorewise report results.json`). Everything a figure needs stands here as counts of the core, so the
//! scores of a page are those of the core at these counts, and nothing is computed twice.

use scorewise::{Confusion, Score};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::evaluation::{ComparisonSummary, Evaluation, ReproductionSummary, TheorySummary, TrainSummary, TuneSummary};
use crate::number::short;

/// The result of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredDocument")]
pub struct Document {
    /// The version that wrote it.
    pub scorewise: String,
    /// Which command.
    pub kind: Kind,
    /// Where it comes from.
    pub provenance: Provenance,
    /// What the command prints with `--json`.
    pub result: CommandResult,
    /// What a user should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// A forecast over all thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// How a model was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// A score under a random threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theory: Option<Theory>,
    /// Two forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// The paper's experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<Reproduction>,
}

/// Which command a result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `train`.
    Train,
    /// `score`.
    Score,
    /// `tune`.
    Tune,
    /// `compare`.
    Compare,
    /// `theory`.
    Theory,
    /// `reproduce`.
    Reproduce,
}

/// What a command prints with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CommandResult {
    /// Of `train`.
    Train(Box<TrainSummary>),
    /// Of `score`.
    Score(Evaluation),
    /// Of `tune`.
    Tune(TuneSummary),
    /// Of `compare`.
    Compare(ComparisonSummary),
    /// Of `theory`.
    Theory(TheorySummary),
    /// Of `reproduce`.
    Reproduce(ReproductionSummary),
}

/// Where a result comes from, so that it can be made again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// What was typed.
    #[serde(default)]
    pub command: String,
    /// When, in UTC: `2026-11-15 21:10:05 UTC`.
    #[serde(default)]
    pub time: String,
    /// Where all randomness started.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The tables that were read.
    #[serde(default)]
    pub data: Vec<Data>,
}

/// A table that was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// As the user named it.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// 16 hexadecimal digits: another where a single value differs.
    pub fingerprint: String,
}

/// A forecast, looked at over all thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Which rows: `16281 test rows`.
    pub part: String,
    /// What the two classes are called: negative, positive.
    pub classes: [String; 2],
    /// The score that it is judged by.
    pub score: String,
    /// The threshold in use.
    pub threshold: f64,
    /// How that was chosen: `best f1 on the validation rows`.
    pub chosen: String,
    /// On which rows: `these rows`, `the validation rows`.
    pub source: String,
    /// How many rows there are.
    pub rows: usize,
    /// Whether they have weights; then the cells are sums of weights.
    pub is_weighted: bool,
    /// Thresholds that are as good, from the first up to but not including the second.
    pub interval: Option<(f64, f64)>,
    /// Where the best threshold lies in 95 % of the resampled rows.
    pub spread: Option<(f64, f64)>,
    /// What the threshold is drawn from.
    pub prior: Option<String>,
    /// What a threshold must satisfy.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// Thresholds in rising order with their matrices; the one in use and the best of every score are among them.
    pub points: Vec<Point>,
    /// Predictions in equal bins.
    pub bins: Vec<Bin>,
    /// The best threshold of each score.
    pub optima: Vec<Optimum>,
    /// 95 % intervals of scores at the threshold in use.
    #[serde(default)]
    pub intervals: Vec<Interval>,
    /// Forecasts that need no model.
    #[serde(default)]
    pub yardsticks: Vec<ReferenceForecast>,
    /// The area under the ROC curve.
    pub roc_area: Option<f64>,
    /// The average precision.
    pub average_precision: Option<f64>,
}

/// A threshold and the confusion matrix there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// τ.
    pub threshold: f64,
    /// All thresholds with this matrix, from the first …
    pub low: f64,
    /// … up to but not including this one.
    pub high: f64,
    /// tn, fp, fn, tp.
    pub cells: [f64; 4],
}

impl Point {
    /// The threshold with at least so many digits, and as many more as still lead to the same matrix.
    ///
    /// ```
    /// use scorewise_report::document::Point;
    ///
    /// let point = Point { threshold: 0.519_039_2, low: 0.518_908, high: 0.519_171, cells: [0.0; 4] };
    /// assert_eq!((point.said(3), point.said(6)), ("0.519".into(), "0.519039".into()));
    /// let point = Point { threshold: 0.5245, low: 0.5241, high: 0.525, cells: [0.0; 4] };
    /// assert_eq!(point.said(3), "0.5245"); // 0.524 would be another
    /// ```
    #[must_use]
    pub fn said(&self, digits: usize) -> String {
        let leads = |text: &String| {
            let inside = |value: f64| self.low <= value && (value < self.high || value == self.threshold);
            text.parse().is_ok_and(inside)
        };
        let rounded = |digits: usize| {
            let text = format!("{:.digits$}", self.threshold);
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        };
        (digits..=17).map(rounded).find(leads).unwrap_or_else(|| self.threshold.to_string())
    }

    /// The matrix.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        matrix(self.cells)
    }
}

/// A matrix from its cells.
pub(crate) fn matrix([tn, fp, fn_, tp]: [f64; 4]) -> Confusion {
    Confusion::new(tn, fp, fn_, tp)
}

/// Predictions from `low` up to but not including `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Where it begins.
    pub low: f64,
    /// Where the next begins.
    pub high: f64,
    /// The mean of its predictions.
    pub mean: Option<f64>,
    /// The weight of its positives.
    pub positives: f64,
    /// The weight of its negatives.
    pub negatives: f64,
}

/// The best threshold of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// Its name.
    pub score: String,
    /// τ*.
    pub threshold: f64,
    /// The score there.
    pub value: f64,
    /// Equally good thresholds.
    pub interval: (f64, f64),
}

/// A 95 % interval of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its name.
    pub score: String,
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
}

/// A forecast that needs no model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceForecast {
    /// Such as `always yes`.
    pub name: String,
    /// tn, fp, fn, tp.
    pub cells: [f64; 4],
}

/// How a model was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// What was minimised: `sol of f1`.
    pub loss: String,
    /// The score by epoch, where the loss tells it.
    pub score: Option<String>,
    /// One training a member.
    pub members: Vec<Member>,
}

/// One training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Cross-entropy before a warm start.
    #[serde(default)]
    pub warm_up: Vec<Epoch>,
    /// The loss itself.
    pub epochs: Vec<Epoch>,
    /// The epoch whose weights are kept, from 0.
    pub kept: Option<usize>,
    /// Why it ended.
    pub end: String,
    /// Whether anything was learnt.
    pub success: bool,
    /// Dead starts before it.
    pub restarts: usize,
}

/// One epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The loss of its steps.
    pub training: f64,
    /// The loss of the validation rows after it.
    pub validation: f64,
    /// The share of validation predictions inside the prior's support, where there is one.
    pub coverage: Option<f64>,
    /// The score that the validation loss tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// A score under a random threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Theory {
    /// The score.
    pub score: String,
    /// What the threshold is drawn from.
    pub prior: String,
    /// tn, fp, fn, tp, expected.
    pub expected: [f64; 4],
    /// `s(E[CM])`.
    pub score_of_expectation: f64,
    /// `E[s]`.
    pub expected_score: f64,
    /// Their difference.
    pub jensen_gap: f64,
    /// The deviation of s over the threshold.
    pub deviation: f64,
    /// The threshold of a calibrated forecast.
    pub calibrated_threshold: Option<f64>,
    /// The paper's bounds, corrected, beside the exact values.
    pub bounds: Vec<Bound>,
    /// Values of s in rising order with the probability that s is at most that.
    pub law: Vec<(f64, f64)>,
}

/// A bound beside what it bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Of what.
    pub name: String,
    /// The exact value.
    pub exact: Option<f64>,
    /// The bound; nothing where it is infinite.
    pub bound: Option<f64>,
}

/// Two forecasts of the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// By which score.
    pub score: String,
    /// What they are called.
    pub names: [String; 2],
    /// Their thresholds.
    pub thresholds: [Option<f64>; 2],
    /// Their areas under the ROC curve.
    pub areas: [Option<f64>; 2],
    /// Their matrices over the threshold.
    pub points: [Vec<Point>; 2],
    /// In one sentence.
    pub verdict: String,
    /// First less second, and its 95 % interval.
    pub difference: Option<f64>,
    /// Of the difference.
    pub interval: Option<(f64, f64)>,
    /// Differences of the replicates, in rising order.
    pub differences: Vec<f64>,
}

/// The paper's experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// Ours beside the paper's.
    pub tables: Vec<Grid>,
    /// What else there is to say.
    pub remarks: Vec<String>,
    /// Figure 1, a row each.
    pub priors: Vec<String>,
    /// Figure 2, one for each score.
    pub thresholds: Vec<ThresholdsOf>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Its title.
    pub title: String,
    /// Names of the columns.
    pub heading: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

/// Figure 2 of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdsOf {
    /// The score.
    pub score: String,
    /// A prior and the best thresholds of its trainings.
    pub panels: Vec<(String, Vec<f64>)>,
}

impl Forecast {
    /// Scores that stand first, those that readers of a forecast ask for, and after them all others; the one it is judged by leads.
    #[must_use]
    pub fn scores(&self) -> Vec<Score> {
        in_order(Score::parse(&self.score).ok())
    }

    /// The threshold in use, easy to say.
    #[must_use]
    pub fn said(&self) -> String {
        self.point().map_or_else(|| short(self.threshold), |point| point.said(3))
    }

    /// The point of the threshold in use.
    #[must_use]
    pub fn point(&self) -> Option<&Point> {
        self.points.iter().find(|point| point.threshold == self.threshold)
    }
}

/// What readers of a forecast ask for first.
pub const USUAL: [&str; 8] = ["f1", "precision", "recall", "tss", "csi", "hss", "mcc", "accuracy"];

/// The score that decides, those that are asked for first, and all others, none twice.
#[must_use]
pub fn in_order(decides: Option<Score>) -> Vec<Score> {
    let mut scores: Vec<Score> = Vec::new();
    let usual = USUAL.iter().filter_map(|name| Score::parse(name).ok());
    for score in decides.into_iter().chain(usual).chain(Score::all()) {
        if scores.iter().all(|known| known.name() != score.name()) {
            scores.push(score);
        }
    }
    scores
}

/// A text that is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct NoDocument(String);

impl Document {
    /// From JSON: what `--report results.json` wrote, or what a command printed with `--json`, of which less can be shown.
    pub fn read(text: &str) -> Result<Self, NoDocument> {
        let value: Value = serde_json::from_str(text).map_err(|fault| NoDocument(format!("is no JSON: {fault}")))?;
        let other_version = |fault| NoDocument(format!("is a result of another version, or changed since: {fault}"));
        let keys = ResultKeys::deserialize(&value).unwrap_or_default();
        if keys.scorewise && keys.result {
            return serde_json::from_value(value).map_err(other_version);
        }
        let kind = keys.kind().ok_or_else(|| NoDocument("is no result of scorewise".into()))?;
        let result = CommandResult::read(kind, value).map_err(other_version)?;
        let seed = result.seed();
        Ok(Document::new(Provenance { seed, ..Provenance::default() }, result))
    }

    /// A result alone, without anything to draw.
    #[must_use]
    pub fn new(provenance: Provenance, result: CommandResult) -> Self {
        Document {
            scorewise: env!("CARGO_PKG_VERSION").into(),
            kind: result.kind(),
            provenance,
            result,
            notes: Vec::new(),
            forecast: None,
            training: None,
            theory: None,
            comparison: None,
            reproduction: None,
        }
    }

    /// As JSON, on one line a point.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl CommandResult {
    /// Which command the result comes from.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            CommandResult::Train(_) => Kind::Train,
            CommandResult::Score(_) => Kind::Score,
            CommandResult::Tune(_) => Kind::Tune,
            CommandResult::Compare(_) => Kind::Compare,
            CommandResult::Theory(_) => Kind::Theory,
            CommandResult::Reproduce(_) => Kind::Reproduce,
        }
    }

    /// The result of a command from its JSON.
    fn read(kind: Kind, value: Value) -> Result<Self, serde_json::Error> {
        use serde_json::from_value;
        Ok(match kind {
            Kind::Train => CommandResult::Train(from_value(value)?),
            Kind::Score => CommandResult::Score(from_value(value)?),
            Kind::Tune => CommandResult::Tune(from_value(value)?),
            Kind::Compare => CommandResult::Compare(from_value(value)?),
            Kind::Theory => CommandResult::Theory(from_value(value)?),
            Kind::Reproduce => CommandResult::Reproduce(from_value(value)?),
        })
    }

    /// The seed that the result itself carries.
    fn seed(&self) -> Option<u64> {
        match self {
            CommandResult::Train(result) => Some(result.seed),
            CommandResult::Score(Evaluation::Binary(summary)) => summary.seed,
            CommandResult::Compare(result) => Some(result.seed),
            CommandResult::Reproduce(result) => Some(result.seed),
            CommandResult::Score(Evaluation::Classes(_)) | CommandResult::Tune(_) | CommandResult::Theory(_) => None,
        }
    }
}

macro_rules! from_results {
    ($($type:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$type> for CommandResult {
            fn from(result: $type) -> Self {
                CommandResult::$variant(result.into())
            }
        })+
    };
}

from_results! {
    TrainSummary => Train,
    Evaluation => Score,
    TuneSummary => Tune,
    ComparisonSummary => Compare,
    TheorySummary => Theory,
    ReproductionSummary => Reproduce,
}

/// A document as it is stored: the kind says how its result is to be read.
#[derive(Deserialize)]
struct StoredDocument {
    scorewise: String,
    kind: Kind,
    provenance: Provenance,
    result: Value,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    forecast: Option<Forecast>,
    #[serde(default)]
    training: Option<Training>,
    #[serde(default)]
    theory: Option<Theory>,
    #[serde(default)]
    comparison: Option<Comparison>,
    #[serde(default)]
    reproduction: Option<Reproduction>,
}

impl TryFrom<StoredDocument> for Document {
    type Error = serde_json::Error;

    fn try_from(stored: StoredDocument) -> Result<Self, Self::Error> {
        let StoredDocument { scorewise, kind, provenance, result, notes, forecast, training, theory, .. } = stored;
        let (comparison, reproduction) = (stored.comparison, stored.reproduction);
        let result = CommandResult::read(kind, result)?;
        Ok(Document {
            scorewise,
            kind,
            provenance,
            result,
            notes,
            forecast,
            training,
            theory,
            comparison,
            reproduction,
        })
    }
}

/// Which keys a JSON object has, by which the results of the commands are told apart.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResultKeys {
    #[serde(deserialize_with = "is_present")]
    scorewise: bool,
    #[serde(deserialize_with = "is_present")]
    result: bool,
    #[serde(deserialize_with = "is_present")]
    experiment: bool,
    #[serde(deserialize_with = "is_present")]
    table: bool,
    #[serde(deserialize_with = "is_present")]
    model: bool,
    #[serde(deserialize_with = "is_present")]
    decision: bool,
    #[serde(deserialize_with = "is_present")]
    first: bool,
    #[serde(deserialize_with = "is_present")]
    second: bool,
    #[serde(deserialize_with = "is_present")]
    difference: bool,
    #[serde(deserialize_with = "is_present")]
    expected_confusion: bool,
    #[serde(deserialize_with = "is_present")]
    bounds: bool,
    #[serde(deserialize_with = "is_present")]
    score: bool,
    #[serde(deserialize_with = "is_present")]
    threshold: bool,
    #[serde(deserialize_with = "is_present")]
    bootstrap: bool,
    #[serde(deserialize_with = "is_present")]
    scores: bool,
    #[serde(deserialize_with = "is_present")]
    confusion: bool,
}

impl ResultKeys {
    fn kind(&self) -> Option<Kind> {
        if self.experiment && self.table {
            Some(Kind::Reproduce)
        } else if self.model && self.decision {
            Some(Kind::Train)
        } else if self.first && self.second && self.difference {
            Some(Kind::Compare)
        } else if self.expected_confusion && self.bounds {
            Some(Kind::Theory)
        } else if self.score && self.threshold && self.bootstrap {
            Some(Kind::Tune)
        } else if self.scores && self.confusion {
            Some(Kind::Score)
        } else {
            None
        }
    }
}

/// True for any value, `null` included.
fn is_present<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(from).map(|_| true)
}
