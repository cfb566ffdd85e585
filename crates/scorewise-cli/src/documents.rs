//! What the commands print with `--json`, for front ends whose rows are arrays and not files: the same functions, the same names.

use scorewise::sweep::{Best, Bootstrap, Condition, Sweep};
use scorewise::theory::{self as found, FRACTIONS, Law};
use scorewise::{Predictions, Prior, Probabilities, Real, Result, Rows, Score};
use scorewise_report::document::{self, Document, Kind, Provenance};
use scorewise_train::fit::Fit;
use scorewise_train::plan::Plan;
use serde_json::Value;

use crate::showing::forecast::{Question, forecast, intervals, theory as shown_theory};
pub use crate::showing::provenance::{Kept, data_of};
use crate::{priors as families, score as summary, scores as registry, table, theory as shown, tune};

/// Every score at a threshold, with intervals: what `scorewise score` says.
pub fn score<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    threshold: f64,
    scores: Vec<Score>,
    bootstrap: &Bootstrap,
) -> Result<Value> {
    Ok(summary::Summary::new(rows, threshold, scores, bootstrap)?.drawn_json(bootstrap))
}

/// The best threshold of a score.
#[must_use]
pub fn best(score: &Score, conditions: &[Condition], best: &Best) -> Value {
    tune::best_json(score, conditions, best)
}

/// Why there is no best threshold: a condition out of reach, or a score that is undefined everywhere.
#[must_use]
pub fn no_best(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> String {
    let undefined = || tune::undefined("predictions", sweep, score).to_string();
    tune::unmet(sweep, score, conditions).unwrap_or_else(undefined)
}

/// How sure the best threshold is.
pub fn spread<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    sweep: &Sweep,
    score: &Score,
    conditions: &[Condition],
    bootstrap: &Bootstrap,
) -> Result<Value> {
    Ok(tune::spread_json(&tune::spread(rows, sweep, score, conditions, bootstrap)?, bootstrap))
}

/// A score under a random threshold: what `scorewise theory` says.
pub fn theory<P: Predictions>(score: &Score, prior: &Prior, rows: &Rows<'_, P>) -> Result<Value> {
    Ok(shown::json(score, prior, &found::report(score, prior, rows, &FRACTIONS, None)?))
}

/// What a report is asked about a forecast.
pub struct Asked<'a> {
    /// The score that it is judged by.
    pub score: &'a Score,
    /// The threshold in use; the best one is looked for where there is none.
    pub threshold: Option<f64>,
    /// How that was chosen.
    pub chosen: String,
    /// What the threshold is drawn from.
    pub prior: Option<&'a Prior>,
    /// What a threshold must satisfy.
    pub conditions: &'a [Condition],
    /// Negative, positive.
    pub classes: [String; 2],
    /// How a model was trained.
    pub training: Option<document::Training>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// A forecast as a page shows it: what `scorewise score` or `scorewise tune` writes with `--report`. Where no threshold satisfies the
/// conditions, why.
pub fn report<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    asked: Asked<'_>,
    bootstrap: &Bootstrap,
) -> Result<std::result::Result<Document, String>> {
    let Asked { score, conditions, .. } = asked;
    let sweep = scorewise::sweep::sweep(rows)?;
    let mut question =
        Question { score, prior: asked.prior, conditions, classes: asked.classes, ..Question::default() };
    let mut document = match asked.threshold {
        Some(threshold) => {
            let summary = summary::Summary::new(rows, threshold, document::in_order(Some(score.clone())), bootstrap)?;
            question.intervals = intervals(&summary);
            (question.threshold, question.chosen) = (threshold, asked.chosen);
            Document::new(Kind::Score, asked.provenance, summary.drawn_json(bootstrap))
        }
        None => {
            let Some(best) = sweep.best_subject_to(score, conditions) else {
                return Ok(Err(no_best(&sweep, score, conditions)));
            };
            let spread = tune::spread(rows, &sweep, score, conditions, bootstrap)?;
            question.tuned(&best, &spread);
            question.judge(rows, bootstrap)?;
            let mut result = tune::best_json(score, conditions, &best);
            result["bootstrap"] = tune::spread_json(&spread, bootstrap);
            Document::new(Kind::Tune, asked.provenance, result)
        }
    };
    document.forecast = Some(forecast(&sweep, &question));
    document.training = asked.training;
    if let Some(prior) = asked.prior {
        let found = found::report(score, prior, rows, &FRACTIONS, None)?;
        document.theory = Some(shown_theory(score, prior, &found, &Law::new(score, prior, rows)?));
    }
    Ok(Ok(document))
}

/// How a model was trained.
#[must_use]
pub fn training(fits: &[Fit], plan: &Plan, score: Option<&Score>) -> document::Training {
    crate::train::training(fits, plan, score)
}

/// A confusion matrix.
#[must_use]
pub fn confusion(confusion: &scorewise::Confusion) -> Value {
    table::confusion_json(confusion)
}

/// The registered scores.
#[must_use]
pub fn scores() -> Value {
    registry::registered().map(|score| registry::one_json(&score, None)).collect()
}

/// One score, registered or of one's own.
#[must_use]
pub fn one_score(score: &Score) -> Value {
    registry::one_json(score, None)
}

/// The families of priors.
#[must_use]
pub fn priors() -> Value {
    families::list_json()
}
