//! The scores of decisions between more than two classes: what `score` shows of them, and `train` of each of its parts.

use scorewise::multiclass::{MultiConfusion, MultiScore};
use scorewise_train::plan::multi_score;
use serde_json::{Map, Value, json};

use crate::outcome::Failure;
use crate::predictions::ClassPredictions;
use crate::table::{aligned, facts, short, shown};

/// Scores that are shown beside the one that was asked for.
const USUAL: [&str; 6] = ["accuracy", "macro(f1)", "macro(recall)", "mcc", "hss", "peirce"];

/// The scores of a matrix of more than two classes.
pub struct ClassSummary {
    /// How many rows; the sum of the matrix is that of their weights.
    pub rows: usize,
    pub classes: Vec<String>,
    pub confusion: MultiConfusion,
    pub scores: Vec<(MultiScore, Option<f64>)>,
}

impl ClassSummary {
    /// The scores of a matrix, this one first.
    pub fn new(rows: usize, classes: &[String], confusion: MultiConfusion, first: MultiScore) -> Result<Self, Failure> {
        let mut scores = vec![first];
        for name in USUAL {
            let score = MultiScore::parse(name)?;
            if score != scores[0] {
                scores.push(score);
            }
        }
        Ok(ClassSummary::with(rows, classes, confusion, scores))
    }

    fn with(rows: usize, classes: &[String], confusion: MultiConfusion, scores: Vec<MultiScore>) -> Self {
        let value = |score: MultiScore| {
            let value = score.checked(&confusion);
            (score, value)
        };
        ClassSummary { rows, classes: classes.to_vec(), scores: scores.into_iter().map(value).collect(), confusion }
    }

    /// Of the decisions in a table of predictions: these scores, or the model's own and the usual ones.
    pub fn of_predictions(predictions: &ClassPredictions, scores: &[String]) -> Result<Self, Failure> {
        let ClassPredictions { classes, labels, decisions, weights, .. } = predictions;
        let confusion = MultiConfusion::from_labels(classes.len(), labels, decisions, weights.as_deref())?;
        if scores.is_empty() {
            let first = multi_score(predictions.score.as_deref().unwrap_or("macro(f1)"))?;
            return ClassSummary::new(labels.len(), classes, confusion, first);
        }
        let mut parsed = Vec::new();
        for text in scores.iter().flat_map(|text| crate::score::separated(text)) {
            parsed.push(multi_score(text)?);
        }
        Ok(ClassSummary::with(labels.len(), classes, confusion, parsed))
    }

    /// Stable JSON keys.
    pub fn json(&self) -> Value {
        let matrix: Vec<&[f64]> = self.confusion.cells().chunks(self.classes.len()).collect();
        let score = |(score, value): &(MultiScore, Option<f64>)| {
            (score.to_string(), json!({ "value": value, "low": null, "high": null }))
        };
        let scores: Map<String, Value> = self.scores.iter().map(score).collect();
        json!({ "rows": self.rows, "classes": self.classes, "confusion": matrix, "scores": scores })
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let head = facts(&[("rows", self.rows.to_string()), ("classes", self.classes.len().to_string())]);
        let row = |(class, cells): (&String, &[f64])| {
            std::iter::once(class.clone()).chain(cells.iter().map(|cell| short(*cell))).collect::<Vec<_>>()
        };
        let matrix: Vec<Vec<String>> =
            self.classes.iter().zip(self.confusion.cells().chunks(self.classes.len())).map(row).collect();
        let forecast: Vec<String> = self.classes.iter().map(|class| format!("forecast {class}")).collect();
        let heading: Vec<&str> = std::iter::once("truth").chain(forecast.iter().map(String::as_str)).collect();
        let scores: Vec<Vec<String>> =
            self.scores.iter().map(|(score, value)| vec![score.to_string(), shown(*value)]).collect();
        format!("{head}\n{}\n{}", aligned(&heading, &matrix), aligned(&["score", "value"], &scores))
    }
}
