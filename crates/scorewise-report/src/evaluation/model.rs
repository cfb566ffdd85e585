//! A trained model on its training, validation and test rows.

use scorewise::sweep::{Bootstrap, Resampling, Sweep, confusion, sweep};
use scorewise::theory::{DEFAULT_FRACTIONS, ScoreDistribution, report};
use scorewise::{Confusion, Direction, Prior, Probabilities, Rows, Score};
use scorewise_train::Result;
use scorewise_train::fit::{self, Fit};
use scorewise_train::model::{Decision, ThresholdSource};
use scorewise_train::plan::Plan;
use scorewise_train::train::{LabelledPredictions, Trained};
use serde::{Deserialize, Serialize};

use super::classes::{ClassSummary, usual_class_scores};
use super::folds::FoldsSummary;
use super::forecast::{ForecastOptions, forecast};
use super::summary::{NamedEstimate, ScoreSummary};
use super::theory::theory_page;
use super::tuning::best_threshold_bootstrap;
use crate::document::{self, Document, Provenance, scores_in_display_order};

/// Rows that are drawn together in the bootstrap of a time series.
const BLOCK: usize = 48;

/// The scores of some rows, of two classes or of more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Evaluation {
    /// Two classes.
    Binary(ScoreSummary),
    /// More than two classes.
    Classes(ClassSummary),
}

/// The scores of a model on each set of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEvaluation {
    /// On the rows that it was trained on.
    pub train: Evaluation,
    /// On the rows that stopped the training and chose the threshold.
    pub validation: Evaluation,
    /// On rows that were used for nothing else.
    pub test: Option<Evaluation>,
}

/// The result of a training, as JSON. Only what a page needs is required when it is read, so that a result of another version can still
/// be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSummary {
    /// The path of the model file.
    pub model: String,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// The epochs of the member that was trained longest.
    #[serde(default)]
    pub epochs: Option<usize>,
    /// Whether every member learnt something.
    #[serde(default)]
    pub success: bool,
    /// How long the training took.
    #[serde(default)]
    pub seconds: f64,
    /// What is predicted.
    #[serde(default)]
    pub target: String,
    /// The names of the classes.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The name of the score.
    #[serde(default)]
    pub score: String,
    /// The prior of the threshold.
    #[serde(default)]
    pub prior: Option<String>,
    /// The name of the loss.
    #[serde(default)]
    pub loss: String,
    /// The threshold; `None` with more than two classes.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// How probabilities become a decision.
    pub decision: Decision,
    /// The scores on the training rows.
    #[serde(default)]
    pub train: Option<Evaluation>,
    /// The scores on the validation rows.
    #[serde(default)]
    pub validation: Option<Evaluation>,
    /// The scores on the test rows.
    #[serde(default)]
    pub test: Option<Evaluation>,
    /// How each member was trained.
    #[serde(default)]
    pub members: Vec<MemberSummary>,
    /// The inputs of the model.
    #[serde(default)]
    pub features: Vec<String>,
    /// The fingerprint of the table.
    #[serde(default)]
    pub fingerprint: String,
    /// What a user should know about the data.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The cross-validation, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<FoldsSummary>,
}

/// The training of one member, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberSummary {
    /// All epochs, those of the warm start included.
    pub epochs: usize,
    /// The epoch whose weights were kept, from 1.
    pub kept: Option<usize>,
    /// Whether it learnt something.
    pub success: bool,
    /// How often it was started again.
    pub restarts: usize,
    /// The validation loss of the epoch that was kept.
    pub validation_loss: Option<f64>,
    /// The share of validation predictions inside the support of the prior, in that epoch.
    pub coverage: Option<f64>,
}

/// What a front end knows about a training besides the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingRun {
    /// The path of the model file.
    pub model: String,
    /// How long the training took.
    pub seconds: f64,
    /// Notes, worded for the users of the front end.
    pub notes: Vec<String>,
}

impl Evaluation {
    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Evaluation::Binary(summary) => summary.rows,
            Evaluation::Classes(summary) => summary.rows,
        }
    }

    /// The scores; the first is the one that the model was trained for.
    #[must_use]
    pub fn scores(&self) -> &[NamedEstimate] {
        match self {
            Evaluation::Binary(summary) => &summary.scores,
            Evaluation::Classes(summary) => &summary.scores,
        }
    }

    /// The value of a score; `None` when it is undefined or not among the scores.
    #[must_use]
    pub fn value(&self, score: &str) -> Option<f64> {
        self.scores().iter().find(|named| named.name == score)?.estimate.value
    }
}

impl TrainSummary {
    /// The result of a training.
    #[must_use]
    pub fn new(trained: &Trained, evaluation: &ModelEvaluation, folds: Option<FoldsSummary>, run: TrainingRun) -> Self {
        let (model, fits) = (&trained.model, &trained.fits);
        let ModelEvaluation { train, validation, test } = evaluation.clone();
        TrainSummary {
            model: run.model,
            seed: model.seed,
            epochs: fits.iter().map(epochs).max(),
            success: fits.iter().all(|fit| fit.success),
            seconds: run.seconds,
            target: model.target.to_string(),
            classes: model.classes.clone(),
            score: model.score.clone(),
            prior: model.prior.clone(),
            loss: model.loss.clone(),
            threshold: model.decision.threshold(),
            decision: model.decision.clone(),
            train: Some(train),
            validation: Some(validation),
            test,
            members: fits.iter().map(MemberSummary::new).collect(),
            features: model.encoder.names(),
            fingerprint: model.fingerprint.clone(),
            notes: run.notes,
            folds,
        }
    }
}

impl MemberSummary {
    /// The training of one member.
    #[must_use]
    pub fn new(fit: &Fit) -> Self {
        let kept = fit.kept.and_then(|epoch| fit.history.get(epoch));
        MemberSummary {
            epochs: epochs(fit),
            kept: fit.kept.map(|epoch| epoch + 1),
            success: fit.success,
            restarts: fit.restarts,
            validation_loss: kept.map(|epoch| epoch.validation),
            coverage: kept.map(|epoch| epoch.coverage),
        }
    }
}

fn epochs(fit: &Fit) -> usize {
    fit.epochs()
}

/// The bootstrap of a model's scores. Neighbours in time resemble each other: their rows are drawn in blocks, since the intervals would be
/// too narrow otherwise.
#[must_use]
pub fn evaluation_bootstrap(plan: &Plan, replicates: usize) -> Bootstrap {
    let is_series = plan.lead > 0 || plan.choice.lags > 0;
    let resampling = if is_series { Resampling::Blocks(BLOCK) } else { Resampling::Poisson };
    Bootstrap { resampling, replicates, seed: plan.seed }
}

/// The scores of a model on its training, validation and test rows.
pub fn evaluate_model(trained: &Trained, plan: &Plan, bootstrap: &Bootstrap) -> Result<ModelEvaluation> {
    let model = &trained.model;
    let evaluation =
        |answers: &LabelledPredictions| evaluate(answers, &model.decision, &model.classes, plan, bootstrap);
    Ok(ModelEvaluation {
        train: evaluation(&trained.training)?,
        validation: evaluation(&trained.validation)?,
        test: trained.test.as_ref().map(evaluation).transpose()?,
    })
}

/// The scores of some rows when they are decided by this rule.
pub(super) fn evaluate(
    answers: &LabelledPredictions,
    decision: &Decision,
    classes: &[String],
    plan: &Plan,
    bootstrap: &Bootstrap,
) -> Result<Evaluation> {
    if let Some(threshold) = decision.threshold() {
        let scores = scores_in_display_order(Some(plan.score.binary()?));
        let summary = with_rows(answers, |rows| ScoreSummary::new(rows, threshold, &scores, bootstrap))?;
        return Ok(Evaluation::Binary(summary));
    }
    let decisions: Vec<u32> = answers.probabilities.chunks(classes.len()).map(|row| decision.label(row)).collect();
    let scores = usual_class_scores(plan.score.multiclass())?;
    let summary = ClassSummary::new(classes, &answers.labels, &decisions, answers.weights.as_deref(), &scores)?;
    Ok(Evaluation::Classes(summary))
}

/// The sweep of the rows that evaluate the model: the test rows, or the validation rows when there are none. `None` with more than two
/// classes.
pub fn evaluation_sweep(trained: &Trained) -> Result<Option<Sweep>> {
    let answers = trained.test.as_ref().unwrap_or(&trained.validation);
    match trained.model.decision {
        Decision::Threshold { .. } => with_rows(answers, sweep).map(Some),
        _ => Ok(None),
    }
}

/// The data of the page of a training. `swept` is the [`evaluation_sweep`] of the same model.
pub fn model_document(
    trained: &Trained,
    plan: &Plan,
    evaluation: &ModelEvaluation,
    summary: TrainSummary,
    swept: Option<&Sweep>,
    bootstrap: &Bootstrap,
    provenance: Provenance,
) -> Result<Document> {
    let model = &trained.model;
    let notes = summary.notes.clone();
    let mut document = Document { notes, ..Document::new(provenance, summary.into()) };
    let (Decision::Threshold { threshold, interval, words, chosen, .. }, Some(swept)) = (&model.decision, swept) else {
        document.training = Some(training_curves(&trained.fits, plan, None));
        return Ok(document);
    };
    let score = plan.score.binary()?;
    document.training = Some(training_curves(&trained.fits, plan, Some(&score)));
    let (answers, evaluation, rows) = match (&trained.test, &evaluation.test) {
        (Some(answers), Some(evaluation)) => (answers, evaluation, "test rows, which it has never seen"),
        _ => (&trained.validation, &evaluation.validation, "validation rows, by which its training was stopped"),
    };
    let Evaluation::Binary(evaluation) = evaluation else { return Ok(document) };
    // A threshold that was not chosen on rows has no sampling interval.
    let spread = match chosen {
        ThresholdSource::ValidationSweep => with_rows(&trained.validation, |rows| {
            // The validation rows are swept already when there are no test rows.
            let swept = trained.test.is_none().then_some(swept);
            Ok(best_threshold_bootstrap(rows, swept, &score, &[], bootstrap)?.threshold.interval(0.95))
        })?,
        _ => None,
    };
    let prior = model.prior.as_deref().map(str::parse::<Prior>).transpose()?;
    let options = ForecastOptions {
        rows,
        classes: [model.classes[0].clone(), model.classes[1].clone()],
        score: &score,
        threshold: *threshold,
        chosen: words.clone(),
        source: "the validation rows",
        interval: *interval,
        spread,
        prior: prior.as_ref(),
        conditions: &[],
        intervals: evaluation.intervals(),
        persistence: persistence(answers)?,
    };
    document.forecast = Some(forecast(swept, &options));
    if let Some(prior) = &prior {
        document.theory = Some(with_rows(answers, |rows| {
            let theory = report(&score, prior, rows, &DEFAULT_FRACTIONS, None)?;
            Ok(theory_page(&score, prior, &theory, &ScoreDistribution::new(&score, prior, rows)?))
        })?);
    }
    Ok(document)
}

/// Calls `work` with the rows of two classes.
fn with_rows<T>(
    answers: &LabelledPredictions,
    work: impl FnOnce(&Rows<'_, Probabilities<'_, f64>>) -> scorewise::Result<T>,
) -> Result<T> {
    let labels = answers.positives();
    let rows = Rows::new(Probabilities(&answers.probabilities), &labels)?;
    match &answers.weights {
        Some(weights) => Ok(work(&rows.weighted(weights)?)?),
        None => Ok(work(&rows)?),
    }
}

/// The confusion matrix of the persistence forecast; `None` when the target has no lead.
fn persistence(answers: &LabelledPredictions) -> Result<Option<Confusion>> {
    let Some(forecast) = &answers.persistence else { return Ok(None) };
    let probabilities: Vec<f64> = forecast.iter().map(|yes| f64::from(u8::from(*yes))).collect();
    let answers = LabelledPredictions {
        labels: answers.labels.clone(),
        probabilities,
        weights: answers.weights.clone(),
        persistence: None,
    };
    with_rows(&answers, |rows| confusion(rows, 0.5)).map(Some)
}

/// How each member was trained, epoch by epoch; `score` is the score of two classes.
#[must_use]
pub fn training_curves(fits: &[Fit], plan: &Plan, score: Option<&Score>) -> document::TrainingHistory {
    let score = score.filter(|_| plan.has_prior());
    // The loss of a score is 1 − s, or s itself where lower is better, so the score can be read from it.
    let score_of = |loss: f64| match score?.direction() {
        Direction::Higher => Some(1.0 - loss),
        Direction::Lower => Some(loss),
        Direction::Toward(_) => None,
    };
    let epoch = |epoch: &fit::Epoch, score_of: &dyn Fn(f64) -> Option<f64>| document::EpochRecord {
        training: epoch.training,
        validation: epoch.validation,
        // Without a prior of one threshold there is no support.
        coverage: score.is_some().then_some(epoch.coverage),
        score: score_of(epoch.validation),
    };
    // A training that diverged ends with losses that are not finite.
    let is_finite = |epoch: &&fit::Epoch| epoch.training.is_finite() && epoch.validation.is_finite();
    let member = |fit: &Fit| document::MemberHistory {
        warm_up: fit.warm_up.iter().take_while(is_finite).map(|each| epoch(each, &|_| None)).collect(),
        epochs: fit.history.iter().take_while(is_finite).map(|each| epoch(each, &score_of)).collect(),
        kept: fit.kept,
        end: match fit.stop_reason {
            fit::StopReason::Epochs => "all epochs were run",
            fit::StopReason::Patience => "the validation loss fell no more",
            fit::StopReason::Stopped => "stopped by the user",
            fit::StopReason::Diverged => "diverged",
        }
        .into(),
        success: fit.success,
        restarts: fit.restarts,
    };
    let loss =
        if plan.has_prior() { format!("{} of {}", plan.loss.name(), plan.score) } else { plan.loss.name().into() };
    let score = score.map(|score| score.name().into());
    document::TrainingHistory { loss, score, members: fits.iter().map(member).collect() }
}
