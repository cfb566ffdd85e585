//! Evaluates a trained model on its training, validation and test rows.

use scorewise::calibration::CalibrationLosses;
use scorewise::multiclass::{CostMatrix, MultiConfusion, MultiScore};
use scorewise::sweep::{BlockLength, Bootstrap, CostRows, Resampling, Sweep, confusion, sweep};
use scorewise::temporal::Weighting;
use scorewise::theory::{DEFAULT_FRACTIONS, ScoreDistribution, report};
use scorewise::{Confusion, Direction, Prior, Probabilities, Rows, Score};
use scorewise_table::dependence::Dependence;
use scorewise_train::Result;
use scorewise_train::fit::{self, Fit};
use scorewise_train::model::{Decision, Model, ThresholdSource};
use scorewise_train::plan::Plan;
use scorewise_train::train::{LabelledPredictions, Trained};
use serde::{Deserialize, Serialize};

use super::classes::{ClassSummary, common_class_scores};
use super::costs::CostSummary;
use super::folds::FoldsSummary;
use super::forecast::{ForecastOptions, forecast, forecast_of_series, net_benefit_intervals, prediction_bins};
use super::series::SeriesOptions;
use super::summary::{Estimate, NamedEstimate, ScoreSummary};
use super::theory::theory_page;
use super::tuning::best_threshold_bootstrap;
use crate::document::{
    self, AlarmTimeline, CalibratedForecast, Document, ForecastEvaluation, Provenance, scores_in_display_order,
};

/// Scores on a set of rows, for two or for more classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Evaluation {
    /// Scores of a binary forecast.
    Binary(ScoreSummary),
    /// Scores of a forecast of more than two classes.
    Classes(ClassSummary),
}

/// Scores of a model on its training, validation and test rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEvaluation {
    /// Scores on the training rows.
    pub train: Evaluation,
    /// Scores on the validation rows, which decided when training stopped and which threshold was chosen.
    pub validation: Evaluation,
    /// Scores on the test rows, which were used for nothing else; `None` without test rows.
    pub test: Option<Evaluation>,
    /// The decision rules that were considered, starting with the rule that the model uses. Empty if only one rule was considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionScore>,
}

/// The score of a decision rule that was considered for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionScore {
    /// How the decision rule was chosen, in words.
    pub words: String,
    /// The decision threshold of the rule, on the scale of probabilities; `None` with more than two classes.
    pub threshold: Option<f64>,
    /// Whether the model uses this decision rule.
    pub used: bool,
    /// The score on the validation rows.
    pub validation: Option<f64>,
    /// The score on the test rows; `None` without test rows.
    pub test: Option<f64>,
}

/// The result of `train`, in the form that is written as JSON. When it is read, only the keys that a page needs are required, so that a result
/// written by another version can still be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSummary {
    /// Path of the model file.
    pub model: String,
    /// Seed of all random numbers.
    #[serde(default)]
    pub seed: u64,
    /// Number of epochs of the ensemble member that was trained longest.
    #[serde(default)]
    pub epochs: Option<usize>,
    /// Whether every ensemble member learnt something: its validation loss fell, and the validation rows do not all get the same label.
    #[serde(default)]
    pub success: bool,
    /// Duration of the training in seconds.
    #[serde(default)]
    pub seconds: f64,
    /// The prediction target, as text.
    #[serde(default)]
    pub target: String,
    /// Names of the classes.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Name of the score that the model was trained for.
    #[serde(default)]
    pub score: String,
    /// The prior of the threshold, as text such as `cosine:0.5,0.1`.
    #[serde(default)]
    pub prior: Option<String>,
    /// Name of the loss.
    #[serde(default)]
    pub loss: String,
    /// Decision threshold on the scale of the probabilities that the model predicts; `None` with more than two classes.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// Decision threshold on the scale of raw predictions, before the calibration; `None` if the model has no calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_threshold: Option<f64>,
    /// The calibration of the model, and the log-losses by which it was chosen; `None` with more than two classes, or with too few rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationSummary>,
    /// The rule that turns raw predictions into a decision.
    pub decision: Decision,
    /// Scores on the training rows.
    #[serde(default)]
    pub train: Option<Evaluation>,
    /// Scores on the validation rows.
    #[serde(default)]
    pub validation: Option<Evaluation>,
    /// Scores on the test rows; `None` without test rows.
    #[serde(default)]
    pub test: Option<Evaluation>,
    /// The decision rules that were considered, starting with the rule that the model uses. Empty if only one rule was considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionScore>,
    /// Number of folds of the cross-fitting, or 0 without cross-fitting. With cross-fitting, the validation rows are the rows of all folds,
    /// and each row is predicted by the members that were not trained on it.
    #[serde(default)]
    pub cross_fit: usize,
    /// Epochs, restarts and validation loss of each ensemble member.
    #[serde(default)]
    pub members: Vec<MemberSummary>,
    /// The share of each column in the total gain of all splits of the model's trees, greatest first. Empty if the model has no trees with
    /// known gains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gain: Vec<ColumnGain>,
    /// Names of the input features of the model.
    #[serde(default)]
    pub features: Vec<String>,
    /// Fingerprint of the table that the model was trained on.
    #[serde(default)]
    pub fingerprint: String,
    /// Notes on the data for the user.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Result of the cross-validation, if one was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<FoldsSummary>,
}

/// The calibration of a model, and the log-losses by which it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSummary {
    /// The method, `beta` or `isotonic`; `None` if predictions that are not calibrated have the lowest log-loss.
    pub method: Option<String>,
    /// The log-losses without calibration and with each method, on rows that were not used to fit the calibration.
    pub log_loss: CalibrationLossSummary,
}

/// The log-losses without and with calibration, on rows that were not used to fit the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationLossSummary {
    /// The log-loss without calibration.
    pub uncalibrated: f64,
    /// The log-loss with beta calibration.
    pub beta: f64,
    /// The log-loss with isotonic regression.
    pub isotonic: f64,
}

impl CalibrationSummary {
    /// Summarises the calibration of a model.
    fn new(model: &Model, losses: CalibrationLosses) -> Self {
        let CalibrationLosses { uncalibrated, beta, isotonic } = losses;
        CalibrationSummary {
            method: model.calibration.as_ref().map(|calibration| calibration.method().name().into()),
            log_loss: CalibrationLossSummary { uncalibrated, beta, isotonic },
        }
    }

    /// The log-loss with the chosen method of calibration, or without calibration if `method` is `None`.
    #[must_use]
    pub fn chosen_loss(&self) -> f64 {
        match self.method.as_deref() {
            Some("beta") => self.log_loss.beta,
            Some(_) => self.log_loss.isotonic,
            None => self.log_loss.uncalibrated,
        }
    }
}

/// The share of a column in the total gain of all splits of a model's trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnGain {
    /// Name of the column of the table.
    pub column: String,
    /// The share of the column in the total gain; the shares of all columns sum to 1.
    pub gain: f64,
}

impl ColumnGain {
    /// The share of each column in the total gain of all splits of the model's trees, greatest first; columns with equal shares are in the
    /// order of the encoder. Empty if the model has no trees with known gains.
    #[must_use]
    pub fn of_model(model: &Model) -> Vec<Self> {
        let gains = model.gain_of_columns().unwrap_or_default();
        let mut gains: Vec<Self> =
            gains.into_iter().map(|(column, gain)| ColumnGain { column: column.into(), gain }).collect();
        gains.sort_by(|first, second| second.gain.total_cmp(&first.gain));
        gains
    }
}

/// Summary of the training run of one ensemble member, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberSummary {
    /// The type of the member: `network`, `linear` or `trees`.
    pub learner: String,
    /// Weight of the member in the weighted mean of predictions that the model computes; 0 if the member is not part of the model.
    pub weight: f64,
    /// Number of epochs, including the warm-up epochs, in which cross-entropy is minimised.
    pub epochs: usize,
    /// Number of the epoch whose weights were kept, counted from 1 after the warm-up; `None` if the kept weights are from before the first epoch
    /// after the warm-up.
    pub kept: Option<usize>,
    /// Whether the member learnt something: its validation loss fell, and the validation rows do not all get the same label.
    pub success: bool,
    /// Number of failed training attempts, with other initial weights, before this training run.
    pub restarts: usize,
    /// Validation loss of the epoch whose weights were kept.
    pub validation_loss: Option<f64>,
    /// Fraction of the predictions for validation rows that lie inside the support of the prior, in the epoch whose weights were kept.
    pub coverage: Option<f64>,
}

/// Facts about a training run that the model does not store, so that the caller (the command line or the Python package) must provide them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingRun {
    /// Path of the model file.
    pub model: String,
    /// Duration of the training in seconds.
    pub seconds: f64,
    /// Notes on the data for the user. Their wording depends on whether the command line or the Python package was used.
    pub notes: Vec<String>,
}

impl Evaluation {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Evaluation::Binary(summary) => summary.rows,
            Evaluation::Classes(summary) => summary.rows,
        }
    }

    /// All scores; the score that the model was trained for comes first.
    #[must_use]
    pub fn scores(&self) -> &[NamedEstimate] {
        match self {
            Evaluation::Binary(summary) => &summary.scores,
            Evaluation::Classes(summary) => &summary.scores,
        }
    }

    /// The value of the score with this name; `None` when it is undefined or not among the scores.
    #[must_use]
    pub fn value(&self, score: &str) -> Option<f64> {
        self.scores().iter().find(|named| named.name == score)?.estimate.value
    }
}

impl TrainSummary {
    /// Summarises a training run and the evaluation of its model.
    #[must_use]
    pub fn new(trained: &Trained, evaluation: &ModelEvaluation, folds: Option<FoldsSummary>, run: TrainingRun) -> Self {
        let (model, fits) = (&trained.model, &trained.fits);
        let ModelEvaluation { train, validation, test, decisions } = evaluation.clone();
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
            threshold: model.probability_threshold(),
            raw_threshold: model.calibration.as_ref().and(model.decision.threshold()),
            calibration: trained.calibration_losses.map(|losses| CalibrationSummary::new(model, losses)),
            decision: model.decision.clone(),
            train: Some(train),
            validation: Some(validation),
            test,
            decisions,
            cross_fit: model.plan.as_ref().map_or(0, |plan| plan.cross_fit),
            members: fits.iter().zip(&trained.shares).map(|(fit, share)| MemberSummary::new(fit, *share)).collect(),
            gain: ColumnGain::of_model(model),
            features: model.encoder.names(),
            fingerprint: model.fingerprint.clone(),
            notes: run.notes,
            folds,
        }
    }
}

impl MemberSummary {
    /// Summarises the training run of one ensemble member.
    #[must_use]
    pub fn new(fit: &Fit, weight: f64) -> Self {
        // If there is no epoch after the warm-up, the loss and the coverage of the warm-up epoch with the lowest validation loss are reported.
        let kept = match fit.kept {
            Some(epoch) => fit.history.get(epoch),
            None if fit.history.is_empty() => fit.warm_up.iter().min_by(|a, b| a.validation.total_cmp(&b.validation)),
            None => None,
        };
        MemberSummary {
            learner: fit.member.kind().into(),
            weight,
            epochs: epochs(fit),
            kept: fit.kept.map(|epoch| epoch + 1),
            success: fit.success,
            restarts: fit.restarts,
            validation_loss: kept.map(|epoch| epoch.validation),
            coverage: kept.map(|epoch| epoch.coverage),
        }
    }
}

/// Number of epochs of a training run, including those of the warm-up.
fn epochs(fit: &Fit) -> usize {
    fit.epochs()
}

/// The bootstrap for the scores of a model, which resamples single rows. Where rows depend on each other, the evaluation resamples groups or blocks
/// of rows instead.
#[must_use]
pub fn evaluation_bootstrap(plan: &Plan, replicates: usize) -> Bootstrap<'static> {
    Bootstrap { resampling: Resampling::Poisson, replicates, seed: plan.seed }
}

/// Computes the scores of a model on its training, validation and test rows.
pub fn evaluate_model(trained: &Trained, plan: &Plan, bootstrap: &Bootstrap<'_>) -> Result<ModelEvaluation> {
    let model = &trained.model;
    let evaluation = |predictions: &LabelledPredictions| match model.probability_threshold() {
        Some(threshold) => evaluate_probabilities(model, predictions, threshold, plan, bootstrap),
        None => evaluate(predictions, &model.decision, &model.classes, plan, bootstrap),
    };
    Ok(ModelEvaluation {
        train: evaluation(&trained.training)?,
        validation: evaluation(&trained.validation)?,
        test: trained.test.as_ref().map(evaluation).transpose()?,
        decisions: decision_scores(trained, plan)?,
    })
}

/// The scores of all decision rules that were considered for a model, on its validation and test rows.
fn decision_scores(trained: &Trained, plan: &Plan) -> Result<Vec<DecisionScore>> {
    if trained.alternatives.is_empty() {
        return Ok(Vec::new());
    }
    let model = &trained.model;
    let value = |predictions: &LabelledPredictions, decision: &Decision| -> Result<Option<f64>> {
        if let Some(threshold) = decision.threshold() {
            let score = plan.score.binary()?;
            if let Some(weighting) = &plan.temporal {
                let bootstrap = evaluation_bootstrap(plan, 1);
                return with_series(predictions, weighting, &bootstrap, |rows, series, _| {
                    Ok(score.checked(&series.confusion(rows, threshold)?))
                });
            }
            return with_rows(predictions, |rows| Ok(score.checked(&confusion(rows, threshold)?)));
        }
        let classes = model.classes.len();
        let labels: Vec<u32> = predictions.probabilities.chunks(classes).map(|row| decision.label(row)).collect();
        let matrix =
            MultiConfusion::from_labels(classes, &predictions.labels, &labels, predictions.weights.as_deref())?;
        Ok(plan.score.multiclass().checked(&matrix))
    };
    std::iter::once(&model.decision)
        .chain(&trained.alternatives)
        .enumerate()
        .map(|(number, decision)| {
            Ok(DecisionScore {
                words: decision.words().to_owned(),
                threshold: decision.threshold().map(|threshold| match &model.calibration {
                    Some(calibration) => calibration.threshold(threshold),
                    None => threshold,
                }),
                used: number == 0,
                validation: value(&trained.validation, decision)?,
                test: trained.test.as_ref().map(|test| value(test, decision)).transpose()?.flatten(),
            })
        })
        .collect()
}

/// Computes the scores of a model with two classes, and the measures of its calibrated probabilities. `threshold` is on the scale of the calibrated
/// probabilities; it gives the same decisions as the raw threshold does for the raw predictions.
fn evaluate_probabilities(
    model: &Model,
    predictions: &LabelledPredictions,
    threshold: f64,
    plan: &Plan,
    bootstrap: &Bootstrap<'_>,
) -> Result<Evaluation> {
    let probabilities = model.calibrated(&predictions.probabilities).into_owned();
    let predictions = LabelledPredictions { probabilities, ..predictions.clone() };
    if plan.temporal.is_some() {
        return Ok(Evaluation::Binary(summary_at(&predictions, threshold, plan, bootstrap)?));
    }
    let scores = scores_in_display_order(Some(plan.score.binary()?));
    let summary = with_resampled_rows(&predictions, bootstrap, |rows, bootstrap| {
        ScoreSummary::new(rows, threshold, &scores, bootstrap)?.with_probabilities(rows, bootstrap)
    })?;
    Ok(Evaluation::Binary(summary))
}

/// Computes the scores of predictions with two classes at a threshold. Errors are weighted by their timing if the plan says so.
fn summary_at(
    predictions: &LabelledPredictions,
    threshold: f64,
    plan: &Plan,
    bootstrap: &Bootstrap<'_>,
) -> Result<ScoreSummary> {
    let scores = scores_in_display_order(Some(plan.score.binary()?));
    match &plan.temporal {
        Some(weighting) => with_series(predictions, weighting, bootstrap, |rows, series, bootstrap| {
            ScoreSummary::of_series(rows, threshold, &scores, series, bootstrap)
        }),
        None => with_resampled_rows(predictions, bootstrap, |rows, bootstrap| {
            ScoreSummary::new(rows, threshold, &scores, bootstrap)
        }),
    }
}

/// Computes the scores of labelled predictions under a decision rule.
pub(super) fn evaluate(
    predictions: &LabelledPredictions,
    decision: &Decision,
    classes: &[String],
    plan: &Plan,
    bootstrap: &Bootstrap<'_>,
) -> Result<Evaluation> {
    if let Some(threshold) = decision.threshold() {
        return Ok(Evaluation::Binary(summary_at(predictions, threshold, plan, bootstrap)?));
    }
    let decisions: Vec<u32> = predictions.probabilities.chunks(classes.len()).map(|row| decision.label(row)).collect();
    let scores = common_class_scores(plan.score.multiclass())?;
    let weights = predictions.weights.as_deref();
    let mut summary = ClassSummary::new(classes, &predictions.labels, &decisions, weights, &scores)?;
    if let (MultiScore::Costs(costs), Some(first)) = (plan.score.multiclass(), summary.scores.first_mut()) {
        let interval = interval_of_mean_cost(&costs, predictions, &decisions, bootstrap)?;
        first.estimate = Estimate::new(first.estimate.value, interval);
    }
    Ok(Evaluation::Classes(summary))
}

/// The confusion matrices at all thresholds on the test rows of a model, or on its validation rows if there are no test rows. `None` with more than
/// two classes.
pub fn evaluation_sweep(trained: &Trained) -> Result<Option<Sweep>> {
    let predictions = trained.test.as_ref().unwrap_or(&trained.validation);
    match trained.model.decision {
        Decision::Threshold { .. } => with_rows(predictions, sweep).map(Some),
        _ => Ok(None),
    }
}

/// Creates the data of the page about a training run. `swept` must be the [`evaluation_sweep`] of the same model.
pub fn model_document(
    trained: &Trained,
    plan: &Plan,
    evaluation: &ModelEvaluation,
    summary: TrainSummary,
    swept: Option<&Sweep>,
    bootstrap: &Bootstrap<'_>,
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
    let (predictions, evaluation, rows) = match (&trained.test, &evaluation.test) {
        (Some(predictions), Some(evaluation)) => (predictions, evaluation, "test rows not used in training"),
        _ => (&trained.validation, &evaluation.validation, "validation rows used for early stopping"),
    };
    let Evaluation::Binary(evaluation) = evaluation else { return Ok(document) };
    // A bootstrap interval of the best threshold is computed only if the threshold was chosen by its score on the validation rows.
    let spread = match (chosen, &plan.temporal) {
        (ThresholdSource::ValidationSweep, Some(weighting)) => {
            with_series(&trained.validation, weighting, bootstrap, |rows, series, bootstrap| {
                Ok(series.best_thresholds(rows, &score, bootstrap)?.threshold.interval(0.95))
            })?
        }
        (ThresholdSource::ValidationSweep, None) => {
            with_resampled_rows(&trained.validation, bootstrap, |rows, bootstrap| {
                // `swept` holds the confusion matrices of the validation rows only if there are no test rows; otherwise it cannot be used here.
                let swept = trained.test.is_none().then_some(swept);
                Ok(best_threshold_bootstrap(rows, swept, &score, &[], bootstrap)?.threshold.interval(0.95))
            })?
        }
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
        qualifying: None,
        intervals: evaluation.intervals(),
        net_benefit: with_resampled_rows(predictions, bootstrap, net_benefit_intervals)?,
        persistence: persistence_confusion(predictions)?,
    };
    if let Some(weighting) = &plan.temporal {
        // The theory of a score under a random threshold applies only to unweighted errors, so this page has no section about it.
        let (weighted, alarms) = with_series(predictions, weighting, bootstrap, |rows, series, _| {
            let unit = if trained.test.is_some() { "test rows" } else { "validation rows" };
            let alarms = AlarmTimeline::new(rows, *threshold, series, &format!("{unit} in the order of time"))?;
            Ok((series.sweep(rows)?, alarms))
        })?;
        let forecast = forecast_of_series(swept, &weighted, &options);
        document.forecast = Some(ForecastEvaluation { calibrated: calibrated_bins(model, predictions)?, ..forecast });
        document.alarms = Some(alarms);
        return Ok(document);
    }
    document.forecast =
        Some(ForecastEvaluation { calibrated: calibrated_bins(model, predictions)?, ..forecast(swept, &options) });
    if let Some(prior) = &prior {
        document.theory = Some(with_rows(predictions, |rows| {
            let theory = report(&score, prior, rows, &DEFAULT_FRACTIONS, None)?;
            Ok(theory_page(&score, prior, &theory, &ScoreDistribution::new(&score, prior, rows)?))
        })?);
    }
    Ok(document)
}

/// The calibrated probabilities in bins, and the decision threshold on the scale of calibrated probabilities; `None` if the model has no calibration.
fn calibrated_bins(model: &Model, predictions: &LabelledPredictions) -> Result<Option<CalibratedForecast>> {
    let (Some(_), Some(threshold)) = (&model.calibration, model.probability_threshold()) else { return Ok(None) };
    let probabilities = model.calibrated(&predictions.probabilities).into_owned();
    let predictions = LabelledPredictions { probabilities, ..predictions.clone() };
    let bins = with_rows(&predictions, |rows| Ok(prediction_bins(&sweep(rows)?)))?;
    Ok(Some(CalibratedForecast { threshold, bins }))
}

/// Calls `work` with the rows of a binary forecast: the predictions, their labels and their weights.
fn with_rows<T>(
    predictions: &LabelledPredictions,
    work: impl for<'a> FnOnce(&Rows<'a, Probabilities<'a, f64>>) -> scorewise::Result<T>,
) -> Result<T> {
    let labels = predictions.positives();
    let rows = Rows::new(Probabilities(&predictions.probabilities), &labels)?;
    match &predictions.weights {
        Some(weights) => Ok(work(&rows.weighted(weights)?)?),
        None => Ok(work(&rows)?),
    }
}

/// The 95 % interval of the mean cost of decisions between more than two classes; `None` if all rows have the weight 0.
fn interval_of_mean_cost(
    costs: &CostMatrix,
    predictions: &LabelledPredictions,
    decisions: &[u32],
    bootstrap: &Bootstrap<'_>,
) -> Result<Option<(f64, f64)>> {
    if predictions.weights.as_ref().is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0)) {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..decisions.len()).collect();
    let resampling = match &predictions.dependence {
        Dependence::Independent => bootstrap.resampling,
        Dependence::Groups(groups) => Resampling::Groups(groups),
        Dependence::Time { positions, block } => {
            order.sort_by_key(|row| positions[*row]);
            Resampling::Blocks(block.map_or(BlockLength::Auto, BlockLength::Rows))
        }
    };
    // A negative cost is a gain. If there is one, the lowest cost is subtracted from all costs, so that no row pays less than 0.
    let lowest = costs.rows().flatten().copied().fold(0.0, f64::min);
    let rows: Vec<&[f64]> = costs.rows().collect();
    let paid = |row: &usize| rows[predictions.labels[*row] as usize][decisions[*row] as usize] - lowest;
    let paid: Vec<f64> = order.iter().map(paid).collect();
    let weights: Option<Vec<f64>> =
        predictions.weights.as_ref().map(|weights| order.iter().map(|row| weights[*row]).collect());
    // `CostSummary` expects false alarms and misses. So each row is passed as a miss, with the cost that the row pays.
    let (probabilities, labels) = (vec![0.0; paid.len()], vec![true; paid.len()]);
    let misses = Rows::new(Probabilities(&probabilities), &labels)?.with_weights(weights.as_deref())?;
    let costs = CostSummary::new(&CostRows::new(&misses, &paid, &paid)?, 0.5, &Bootstrap { resampling, ..*bootstrap })?;
    Ok(costs.per_row.interval().map(|(low, high)| (low + lowest, high + lowest)))
}

/// Calls `work` with the rows and with a bootstrap that takes the dependence between rows into account: it resamples single rows, groups of rows, or
/// blocks of rows in the order of time. For a bootstrap of blocks, the rows are also passed in the order of time.
pub(super) fn with_resampled_rows<T>(
    predictions: &LabelledPredictions,
    bootstrap: &Bootstrap<'_>,
    work: impl for<'a> FnOnce(&Rows<'a, Probabilities<'a, f64>>, &Bootstrap<'_>) -> scorewise::Result<T>,
) -> Result<T> {
    match &predictions.dependence {
        Dependence::Independent => with_rows(predictions, |rows| work(rows, bootstrap)),
        Dependence::Groups(groups) => {
            let bootstrap = Bootstrap { resampling: Resampling::Groups(groups), ..*bootstrap };
            with_rows(predictions, |rows| work(rows, &bootstrap))
        }
        Dependence::Time { positions, block } => {
            let length = block.map_or(BlockLength::Auto, BlockLength::Rows);
            let bootstrap = Bootstrap { resampling: Resampling::Blocks(length), ..*bootstrap };
            if positions.is_sorted() {
                return with_rows(predictions, |rows| work(rows, &bootstrap));
            }
            let mut order: Vec<usize> = (0..positions.len()).collect();
            order.sort_by_key(|row| positions[*row]);
            let select = |numbers: &[f64]| order.iter().map(|row| numbers[*row]).collect::<Vec<f64>>();
            let sorted = LabelledPredictions {
                labels: order.iter().map(|row| predictions.labels[*row]).collect(),
                probabilities: select(&predictions.probabilities),
                weights: predictions.weights.as_deref().map(select),
                ..LabelledPredictions::default()
            };
            with_rows(&sorted, |rows| work(rows, &bootstrap))
        }
    }
}

/// Calls `work` with three arguments: the rows in the order of time; the weighting of errors, with the stretch of neighbouring rows to which each row
/// belongs; and a bootstrap. It resamples blocks of rows, groups of rows or single rows, depending on which rows depend on each other.
fn with_series<T>(
    predictions: &LabelledPredictions,
    weighting: &Weighting,
    bootstrap: &Bootstrap<'_>,
    work: impl FnOnce(&Rows<'_, Probabilities<'_, f64>>, &SeriesOptions<'_>, &Bootstrap<'_>) -> scorewise::Result<T>,
) -> Result<T> {
    let (order, stretches) = predictions.time_order();
    let (sorted, _) = predictions.in_time_order();
    let groups: Vec<u32>;
    let resampling = match &predictions.dependence {
        Dependence::Independent => Resampling::Poisson,
        Dependence::Groups(codes) => {
            groups = order.iter().map(|row| codes[*row]).collect();
            Resampling::Groups(&groups)
        }
        Dependence::Time { block, .. } => Resampling::Blocks(block.map_or(BlockLength::Auto, BlockLength::Rows)),
    };
    let series = SeriesOptions { weighting, sequences: Some(&stretches) };
    with_rows(&sorted, |rows| work(rows, &series, &Bootstrap { resampling, ..*bootstrap }))
}

/// Confusion matrix of the persistence forecast, which predicts an event later if there is an event now; `None` when the target has no lead time.
fn persistence_confusion(predictions: &LabelledPredictions) -> Result<Option<Confusion>> {
    let Some(forecast) = &predictions.persistence else { return Ok(None) };
    let probabilities: Vec<f64> = forecast.iter().map(|yes| f64::from(u8::from(*yes))).collect();
    let predictions = LabelledPredictions {
        labels: predictions.labels.clone(),
        probabilities,
        weights: predictions.weights.clone(),
        ..LabelledPredictions::default()
    };
    with_rows(&predictions, |rows| confusion(rows, 0.5)).map(Some)
}

/// The training history, epoch by epoch. Ensemble members of another type (`network`, `linear` or `trees`) than the first member are left out.
/// `score` must be `None` with more than two classes.
#[must_use]
pub fn training_curves(fits: &[Fit], plan: &Plan, score: Option<&Score>) -> document::TrainingHistory {
    let score = score.filter(|_| plan.has_prior());
    // The loss is 1 minus the score, or the score itself if lower scores are better, so the score can be computed from the loss.
    let score_of = |loss: f64| match score?.direction() {
        Direction::Higher => Some(1.0 - loss),
        Direction::Lower => Some(loss),
        Direction::Toward(_) => None,
    };
    let epoch = |epoch: &fit::Epoch, score_of: &dyn Fn(f64) -> Option<f64>| document::EpochRecord {
        training: epoch.training,
        validation: epoch.validation,
        // Coverage is the fraction of predictions inside the support of the prior. It is defined only for two classes and a loss with a prior.
        coverage: score.is_some().then_some(epoch.coverage),
        score: score_of(epoch.validation),
    };
    // The last losses of a training run that diverged are not finite and cannot be plotted.
    let is_finite = |epoch: &&fit::Epoch| epoch.training.is_finite() && epoch.validation.is_finite();
    let member = |fit: &Fit| document::MemberHistory {
        warm_up: fit.warm_up.iter().take_while(is_finite).map(|each| epoch(each, &|_| None)).collect(),
        epochs: fit.history.iter().take_while(is_finite).map(|each| epoch(each, &score_of)).collect(),
        kept: fit.kept,
        end: match fit.stop_reason {
            fit::StopReason::Epochs => "all epochs were run",
            fit::StopReason::Patience => "the validation loss stopped falling",
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
    // Epochs of networks and rounds of trees are not comparable, so only the members of the same type as the first member are shown.
    let is_shown = |fit: &&Fit| Some(fit.member.kind()) == fits.first().map(|fit| fit.member.kind());
    document::TrainingHistory { loss, score, members: fits.iter().filter(is_shown).map(member).collect() }
}
