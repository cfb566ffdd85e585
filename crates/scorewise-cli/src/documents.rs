//! What the commands print with `--json`, for front ends whose rows are arrays and not files: the same functions, the same names.

use scorewise::sweep::{Best, Bootstrap, Condition, Sweep};
use scorewise::theory::{self as found, FRACTIONS};
use scorewise::{Predictions, Prior, Probabilities, Real, Result, Rows, Score};
use serde_json::{Value, json};

use crate::{priors as families, score as summary, scores as registry, table, theory as shown, tune};

/// Every score at a threshold, with intervals: what `scorewise score` says.
pub fn score<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    threshold: f64,
    scores: Vec<Score>,
    bootstrap: &Bootstrap,
) -> Result<Value> {
    let mut document = summary::Summary::new(rows, threshold, scores, bootstrap)?.json();
    document["replicates"] = json!(bootstrap.replicates);
    document["seed"] = json!(bootstrap.seed);
    Ok(document)
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
