//! The data of an HTML page about one forecast.

use scorewise::sweep::{Bootstrap, Condition, Sweep, sweep};
use scorewise::theory::{DEFAULT_FRACTIONS, ScoreDistribution, Theory, report};
use scorewise::{Prior, Probabilities, Real, Result, Rows, Score};

use super::forecast::{ForecastOptions, forecast, net_benefit_intervals};
use super::model::Evaluation;
use super::summary::ScoreSummary;
use super::theory::{TheorySummary, theory_page};
use super::tuning::{TuneSummary, Tuning, TuningOptions, no_best_threshold};
use crate::document::{Document, Provenance, TrainingHistory, scores_in_display_order};

/// Settings of a page about a forecast.
#[derive(Clone, Debug)]
pub struct ReportOptions<'a> {
    /// The score by which the forecast is evaluated.
    pub score: &'a Score,
    /// The threshold at which the forecast is evaluated; `None` to use the best threshold.
    pub threshold: Option<f64>,
    /// How `threshold` was chosen, in words; unused when `threshold` is `None`.
    pub chosen: String,
    /// The prior of the threshold.
    pub prior: Option<&'a Prior>,
    /// Conditions that the best threshold must satisfy.
    pub conditions: &'a [Condition],
    /// Names of the negative and the positive class.
    pub classes: [String; 2],
    /// The training history of the model, when it is known.
    pub training: Option<TrainingHistory>,
    /// Command line, time, seed and input tables of the result.
    pub provenance: Provenance,
}

/// Creates the data of a page about a forecast at the given threshold, or at the best threshold if none is given. If there is no best threshold,
/// the inner `Err` is a sentence that says why.
pub fn forecast_report<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    options: ReportOptions<'_>,
    bootstrap: &Bootstrap<'_>,
) -> Result<std::result::Result<Document, String>> {
    let ReportOptions { score, threshold, chosen, prior, conditions, classes, training, provenance } = options;
    let tested_conditions;
    let mut options = ForecastOptions { score, prior, conditions, classes, ..ForecastOptions::default() };
    let (mut document, sweep) = match threshold {
        Some(threshold) => {
            let summary = ScoreSummary::new(rows, threshold, &scores_in_display_order(Some(score.clone())), bootstrap)?;
            options.intervals = summary.intervals();
            if let Some(guarantee) = bootstrap.guarantee(rows, conditions)? {
                tested_conditions = guarantee.conditions(conditions);
                options.conditions = &tested_conditions;
                options.qualifying = Some(guarantee.thresholds);
            }
            options.net_benefit = net_benefit_intervals(rows, bootstrap)?;
            (options.threshold, options.chosen) = (threshold, chosen);
            let result = Evaluation::Binary(summary.with_bootstrap(bootstrap));
            (Document::new(provenance, result.into()), sweep(rows)?)
        }
        None => {
            let tuning_options = TuningOptions { score, conditions, smooth: None, bootstrap };
            let tuning = match Tuning::new(rows, &tuning_options)? {
                Ok(tuning) => tuning,
                Err(reason) => {
                    let sentence = reason.sentence(score, conditions);
                    return Ok(Err(sentence.unwrap_or_else(|| no_best_threshold(&reason.sweep, score, conditions))));
                }
            };
            options.set_tuned(&tuning);
            options.set_intervals(rows, bootstrap)?;
            let result = TuneSummary::Binary(Box::new(tuning.summary(&tuning_options, None)));
            tested_conditions = tuning.conditions;
            options.conditions = &tested_conditions;
            (Document::new(provenance, result.into()), tuning.sweep)
        }
    };
    document.forecast = Some(forecast(&sweep, &options));
    document.training = training;
    if let Some(prior) = prior {
        let theory = report(score, prior, rows, &DEFAULT_FRACTIONS, None)?;
        document.theory = Some(theory_page(score, prior, &theory, &ScoreDistribution::new(score, prior, rows)?));
    }
    Ok(Ok(document))
}

/// Creates the data of a page about a score under a random threshold. `theory`, `distribution` and `sweep` must be computed from the same rows.
#[must_use]
pub fn theory_document(
    score: &Score,
    prior: &Prior,
    theory: &Theory,
    distribution: &ScoreDistribution,
    sweep: &Sweep,
    classes: [String; 2],
    provenance: Provenance,
) -> Document {
    let best = sweep.best(score);
    let options = ForecastOptions {
        score,
        threshold: best.as_ref().map_or(0.5, |best| best.threshold),
        chosen: match best {
            Some(_) => format!("best {score} on these rows"),
            None => {
                format!(
                    "0.5, because {score} is undefined on these rows; the theory section counts a division by zero as 0"
                )
            }
        },
        interval: best.map(|best| best.interval),
        prior: Some(prior),
        classes,
        ..ForecastOptions::default()
    };
    Document {
        forecast: Some(forecast(sweep, &options)),
        theory: Some(theory_page(score, prior, theory, distribution)),
        ..Document::new(provenance, TheorySummary::from_theory(score, prior, theory).into())
    }
}
