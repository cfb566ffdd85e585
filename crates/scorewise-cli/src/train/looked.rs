//! A training as a page shows it: the model on rows that it has never seen, how it came about, what the theory says.

use scorewise::sweep::{confusion, sweep};
use scorewise::theory::{self, FRACTIONS, Law};
use scorewise::{Confusion, Direction, Prior, Probabilities, Rows, Score};
use scorewise_report::document::{Data, Document, Epoch, Kind, Member, Training};
use scorewise_table::table::Table;
use scorewise_train::fit::{self, Fit, StopReason};
use scorewise_train::model::{Decision, Fingerprint, ThresholdSource};
use scorewise_train::plan::Plan;
use scorewise_train::train::LabelledPredictions;
use serde_json::Value;

use super::shown::{Judged, Part, bootstrap};
use super::{Arguments, Finished};
use crate::outcome::{Failure, with_options};
use crate::plot::Plot;
use crate::showing::forecast::{Question, forecast, intervals, theory as shown};
use crate::showing::provenance::provenance;
use crate::tune;

/// The score over the threshold for the terminal, on the rows that judge the model; nothing with more than two classes.
pub fn plot(finished: &Finished, plan: &Plan) -> Result<String, Failure> {
    let trained = &finished.trained;
    let Some(threshold) = trained.model.decision.threshold() else { return Ok(String::new()) };
    let score = plan.score.binary()?;
    let answers = trained.test.as_ref().unwrap_or(&trained.validation);
    with_answers(answers, |rows| Ok(Plot::new(&sweep(rows)?, &score, threshold, None).text(&score)))
}

/// The data of the page.
pub fn document(
    finished: &Finished,
    judged: &Judged,
    plan: &Plan,
    table: &Table,
    arguments: &Arguments,
    result: Value,
) -> Result<Document, Failure> {
    let model = &finished.trained.model;
    let data = Data { name: table.file.clone(), rows: table.rows(), fingerprint: Fingerprint::of(table).hex() };
    let mut document = Document::new(Kind::Train, provenance(Some(model.seed), vec![data]), result);
    document.notes = finished.trained.notes.iter().map(with_options).collect();
    let Decision::Threshold { threshold, interval, words, chosen, .. } = &model.decision else {
        document.training = Some(training(&finished.trained.fits, plan, None));
        return Ok(document);
    };
    let score = plan.score.binary()?;
    document.training = Some(training(&finished.trained.fits, plan, Some(&score)));
    let (answers, part, place) = match (&finished.trained.test, &judged.test) {
        (Some(answers), Some(part)) => (answers, part, "test rows, which it has never seen"),
        _ => (&finished.trained.validation, &judged.validation, "validation rows, by which its training was stopped"),
    };
    let Part::Binary(summary) = part else { return Ok(document) };
    // How sure the threshold is, on the rows that chose it; one that was given is as sure as who gave it.
    let spread = match chosen {
        ThresholdSource::ValidationSweep => with_answers(&finished.trained.validation, |rows| {
            let found = tune::spread(rows, &sweep(rows)?, &score, &[], &bootstrap(plan, arguments))?;
            Ok(found.threshold.interval(0.95))
        })?,
        _ => None,
    };
    let prior = model.prior.as_deref().map(str::parse::<Prior>).transpose()?;
    let persistence = answers.persistence.as_ref().map(|forecast| persistence(forecast, answers)).transpose()?;
    let classes = [model.classes[0].clone(), model.classes[1].clone()];
    let question = Question {
        part: place,
        classes,
        score: &score,
        threshold: *threshold,
        chosen: words.clone(),
        source: "the validation rows",
        interval: *interval,
        spread,
        prior: prior.as_ref(),
        conditions: &[],
        intervals: intervals(summary),
        persistence,
    };
    with_answers(answers, |rows| {
        document.forecast = Some(forecast(&sweep(rows)?, &question));
        if let Some(prior) = &prior {
            let found = theory::report(&score, prior, rows, &FRACTIONS, None)?;
            document.theory = Some(shown(&score, prior, &found, &Law::new(&score, prior, rows)?));
        }
        Ok(())
    })?;
    Ok(document)
}

fn with_answers<T>(
    answers: &LabelledPredictions,
    work: impl FnOnce(&Rows<'_, Probabilities<'_, f64>>) -> Result<T, scorewise::Error>,
) -> Result<T, Failure> {
    let labels = answers.positives();
    let rows = Rows::new(Probabilities(&answers.probabilities), &labels)?;
    match &answers.weights {
        Some(weights) => Ok(work(&rows.weighted(weights)?)?),
        None => Ok(work(&rows)?),
    }
}

/// The matrix of a forecast of yes and no.
fn persistence(forecast: &[bool], answers: &LabelledPredictions) -> Result<Confusion, Failure> {
    let certain = forecast.iter().map(|yes| f64::from(u8::from(*yes))).collect();
    let said = LabelledPredictions { probabilities: certain, ..answers.clone() };
    with_answers(&said, |rows| confusion(rows, 0.5))
}

/// How each member came about.
pub fn training(fits: &[Fit], plan: &Plan, score: Option<&Score>) -> Training {
    let score = score.filter(|_| plan.has_prior());
    // The loss of a score is 1 less the score, or the score itself where lower is better: so it tells the score.
    let told = |loss: f64| match score?.direction() {
        Direction::Higher => Some(1.0 - loss),
        Direction::Lower => Some(loss),
        Direction::Toward(_) => None,
    };
    let epoch = |epoch: &fit::Epoch, told: &dyn Fn(f64) -> Option<f64>| Epoch {
        training: epoch.training,
        validation: epoch.validation,
        // Without a prior of one threshold there is no support to be inside of.
        coverage: score.is_some().then_some(epoch.coverage),
        score: told(epoch.validation),
    };
    // A training that diverged has numbers that are none.
    let is_finite = |epoch: &&fit::Epoch| epoch.training.is_finite() && epoch.validation.is_finite();
    let member = |fit: &Fit| Member {
        warm_up: fit.warm_up.iter().take_while(is_finite).map(|each| epoch(each, &|_| None)).collect(),
        epochs: fit.history.iter().take_while(is_finite).map(|each| epoch(each, &told)).collect(),
        kept: fit.kept,
        end: match fit.stop_reason {
            StopReason::Epochs => "all epochs were run",
            StopReason::Patience => "the validation loss fell no more",
            StopReason::Stopped => "stopped by the user",
            StopReason::Diverged => "diverged",
        }
        .into(),
        success: fit.success,
        restarts: fit.restarts,
    };
    let loss =
        if plan.has_prior() { format!("{} of {}", plan.loss.name(), plan.score) } else { plan.loss.name().into() };
    Training { loss, score: score.map(|score| score.name().into()), members: fits.iter().map(member).collect() }
}
