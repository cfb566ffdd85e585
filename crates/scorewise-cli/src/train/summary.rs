//! The result of a training run as text for the terminal.

use scorewise::temporal::Weighting;
use scorewise_report::document::COMMON_SCORES;
use scorewise_report::evaluation::{
    DecisionScore, Evaluation, FoldSummary, FoldsSummary, ModelEvaluation, NamedEstimate, TrainSummary,
};
use scorewise_train::fit::Fit;
use scorewise_train::model::{Decision, Model};
use scorewise_train::plan::Plan;
use scorewise_train::train::Trained;

use crate::formatting::{aligned_table, format_number, format_optional, key_value_lines};

/// Remark that is printed below the numbers of training and validation rows if each network has its own validation rows: a training row of one
/// network may then be a validation row of another.
const OWN_VALIDATION_REMARK: &str = "training and validation rows overlap, because each network has its own validation rows; \
    for validation, a row is predicted only by networks that were not trained on it";

/// Remark that is printed below the numbers of training and validation rows if the members of the ensemble are cross-fitted, that is, if each is
/// trained without one fold of the rows.
const CROSS_FIT_REMARK: &str =
    "training rows are also validation rows; for validation, a row is predicted only by members not trained on it";

/// The result of a training run as text for the terminal.
pub fn text(trained: &Trained, evaluation: &ModelEvaluation, summary: &TrainSummary, plan: &Plan) -> String {
    let model = &trained.model;
    let test = evaluation.test.as_ref().map_or(String::new(), |test| format!(", test {}", row_count_text(test)));
    let training = format!(
        "training {}, validation {}{test}",
        row_count_text(&evaluation.train),
        row_count_text(&evaluation.validation)
    );
    let head = key_value_lines(&[
        ("target", target_text(model)),
        ("rows", training),
        ("", if plan.own_validation { OWN_VALIDATION_REMARK.into() } else { String::new() }),
        ("", if plan.cross_fit > 0 { CROSS_FIT_REMARK.into() } else { String::new() }),
        ("model", members_text(model)),
        ("loss", loss_text(model)),
        ("errors", plan.temporal.as_ref().map_or(String::new(), timing_weights_text)),
        ("training", epochs_text(trained, summary.seconds)),
        ("threshold", threshold_text(model)),
        ("calibration", calibration_text(summary)),
    ]);
    let decisions = decisions_text(&evaluation.decisions, plan.score.text());
    let mut text = format!("{head}\n{decisions}{}", scores_text(evaluation));
    if let Some(folds) = &summary.folds {
        text.push_str(&format!("\n{}", folds_text(folds, plan.score.text())));
    }
    text
}

/// The number of rows, and of positive rows if there are two classes.
fn row_count_text(evaluation: &Evaluation) -> String {
    match evaluation {
        Evaluation::Binary(summary) => format!("{} ({} positive)", summary.rows, summary.positives),
        Evaluation::Classes(summary) => summary.rows.to_string(),
    }
}

/// The scores that are printed: the score that the model was trained for and those in `COMMON_SCORES`; with more than two classes, all scores.
fn main_scores(evaluation: &Evaluation) -> Vec<&NamedEstimate> {
    match evaluation {
        Evaluation::Binary(summary) => {
            let is_common = |score: &&NamedEstimate| COMMON_SCORES.contains(&score.name.as_str());
            let first = summary.scores.iter().take(1);
            first.chain(summary.scores.iter().skip(1).filter(is_common)).collect()
        }
        Evaluation::Classes(summary) => summary.scores.iter().collect(),
    }
}

/// The target that the model predicts, with its positive class or the number of its classes.
fn target_text(model: &Model) -> String {
    let target = model.target.to_string();
    match model.classes.as_slice() {
        [_, positive] if !target.contains(positive.as_str()) => format!("{target}, positive: {positive}"),
        [_, _] => target,
        classes => format!("{target}, {} classes", classes.len()),
    }
}

/// How many networks, sets of boosted trees and linear models the model has, and the weight of each kind in the weighted mean. If all members are of
/// one kind, the text describes the first member instead of the weights, for example by the widths of its layers or its number of trees.
fn members_text(model: &Model) -> String {
    let total: f64 = model.weights.iter().sum();
    let mut learners: Vec<(&str, usize, f64, String)> = Vec::new();
    for (member, weight) in model.members.iter().zip(&model.weights) {
        match learners.iter_mut().find(|(kind, ..)| *kind == member.kind()) {
            Some((_, count, share, _)) => (*count, *share) = (*count + 1, *share + weight / total),
            None => learners.push((member.kind(), 1, weight / total, member.summary())),
        }
    }
    let name = |kind: &str, count: usize| match (kind, count) {
        ("network", 1) => "network".to_owned(),
        ("network", _) => "networks".to_owned(),
        ("linear", 1) => "linear model".to_owned(),
        ("linear", _) => "linear models".to_owned(),
        ("trees", 1) => "set of boosted trees".to_owned(),
        ("trees", _) => "sets of boosted trees".to_owned(),
        _ => kind.to_owned(),
    };
    match learners.as_slice() {
        [(_, 1, _, summary)] => summary.clone(),
        [(kind, count, _, summary)] => format!("{count} {}: {summary}", name(kind, *count)),
        learners => learners
            .iter()
            .map(|(kind, count, share, _)| format!("{count} {} {:.0} %", name(kind, *count), 100.0 * share))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The training loss, with the score and the prior of the threshold if the loss has a prior.
fn loss_text(model: &Model) -> String {
    match &model.prior {
        Some(prior) => format!("{} of {}, threshold prior {prior}", model.loss, model.score),
        None => model.loss.clone(),
    }
}

/// How errors are weighted by their timing, with the numbers of the weighting rounded.
fn timing_weights_text(weighting: &Weighting) -> String {
    let text = weighting.to_string();
    let name = text.split(':').next().unwrap_or_default();
    let numbers: Vec<String> = weighting.weights().iter().map(|weight| format!("{weight:.3}")).collect();
    let numbers: Vec<&str> = numbers.iter().map(|text| text.trim_end_matches('0').trim_end_matches('.')).collect();
    format!("weighted by their distance in time from events and alarms, {name}:{}", numbers.join(","))
}

/// The number of epochs, the training time, and how many training runs were restarted or failed to learn.
fn epochs_text(trained: &Trained, seconds: f64) -> String {
    let epochs: Vec<usize> = trained.fits.iter().map(Fit::epochs).collect();
    let range = match (epochs.iter().min(), epochs.iter().max()) {
        (Some(min), Some(max)) if min != max => format!("{min} to {max}"),
        (_, max) => max.map_or(String::new(), ToString::to_string),
    };
    let restarts: usize = trained.fits.iter().map(|fit| fit.restarts).sum();
    let restarted =
        if restarts > 0 { format!(", {restarts} restarts after failed initialisations") } else { String::new() };
    let failed = trained.fits.iter().filter(|fit| !fit.success).count();
    let failed = if failed > 0 {
        format!(", {failed} of {} training runs failed to learn", trained.fits.len())
    } else {
        String::new()
    };
    format!("{range} epochs in {seconds:.1} s{restarted}{failed}")
}

/// The decision threshold and how it was chosen; with more than two classes, the decision rule in words.
fn threshold_text(model: &Model) -> String {
    match &model.decision {
        Decision::Threshold { threshold, words, .. } if model.calibration.is_some() => {
            let probability = model.probability_threshold().map_or(String::new(), format_number);
            format!("{probability}; {} before the calibration ({words})", format_number(*threshold))
        }
        Decision::Threshold { threshold, interval: Some((low, high)), words, .. } => {
            format!(
                "{} ({words}; equally good from {} to {})",
                format_number(*threshold),
                format_number(*low),
                format_number(*high)
            )
        }
        Decision::Threshold { threshold, words, .. } => format!("{} ({words})", format_number(*threshold)),
        decision => decision.words().into(),
    }
}

/// The method of the calibration, and the log-loss with and without it. With more than two classes, the text says that there is no calibration.
fn calibration_text(summary: &TrainSummary) -> String {
    let Some(calibration) = &summary.calibration else {
        let is_binary = summary.threshold.is_some();
        return if is_binary { String::new() } else { "none, because there are more than two classes".into() };
    };
    let [uncalibrated, chosen] = [calibration.log_loss.uncalibrated, calibration.chosen_loss()].map(format_number);
    match &calibration.method {
        Some(method) => format!("{method}; cross-validated log-loss {chosen}, uncalibrated {uncalibrated}"),
        None => format!("none, because no calibration has a lower cross-validated log-loss than {uncalibrated}"),
    }
}

/// A table of the decision rules among which training chose, with their scores; empty if there was only one rule.
fn decisions_text(decisions: &[DecisionScore], score: &str) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let has_test = decisions.iter().any(|decision| decision.test.is_some());
    let row = |decision: &DecisionScore| {
        let mut row = vec![
            if decision.used { "used" } else { "" }.to_owned(),
            decision.threshold.map_or(String::new(), |threshold| format!("{threshold:.4}")),
            format_score(decision.validation),
        ];
        row.extend(has_test.then(|| format_score(decision.test)));
        row.push(decision.words.clone());
        row
    };
    let rows: Vec<Vec<String>> = decisions.iter().map(row).collect();
    let (validation, test) = (format!("{score} validation"), format!("{score} test"));
    let mut heading = vec!["", "threshold", &validation];
    heading.extend(has_test.then_some(test.as_str()));
    heading.push("decision");
    format!("{}\n", aligned_table(&heading, &rows))
}

/// A table of scores on each set of rows; intervals are for the test rows, or for the validation rows if there are no test rows.
fn scores_text(evaluation: &ModelEvaluation) -> String {
    let ModelEvaluation { train, validation, test, .. } = evaluation;
    let interval_scores = main_scores(test.as_ref().unwrap_or(validation));
    let mut heading = vec!["score", "training", "validation"];
    if test.is_some() {
        heading.push("test");
    }
    let has_intervals = interval_scores.iter().any(|score| score.estimate.interval().is_some());
    if has_intervals {
        heading.extend(["low", "high"]);
    }
    let columns: Vec<Vec<&NamedEstimate>> =
        [Some(train), Some(validation), test.as_ref()].into_iter().flatten().map(main_scores).collect();
    let row = |(at, score): (usize, &&NamedEstimate)| {
        let mut row = vec![score.name.clone()];
        row.extend(columns.iter().map(|scores| format_score(scores[at].estimate.value)));
        if has_intervals {
            row.extend([format_score(score.estimate.low), format_score(score.estimate.high)]);
        }
        row
    };
    let mut rows: Vec<Vec<String>> = interval_scores.iter().enumerate().map(row).collect();
    rows.extend(measure_rows(evaluation, has_intervals));
    let name = if test.is_some() { "test" } else { "validation" };
    let foot = if has_intervals {
        format!("LOW and HIGH: 95 % bootstrap interval on the {name} rows\n")
    } else {
        String::new()
    };
    format!("{}{foot}", aligned_table(&heading, &rows))
}

/// Further rows for the table of scores, one for each measure of the quality of the probabilities, such as the Brier score; empty with more than two
/// classes.
fn measure_rows(evaluation: &ModelEvaluation, has_intervals: bool) -> Vec<Vec<String>> {
    let measures = |evaluation: &Evaluation| match evaluation {
        Evaluation::Binary(summary) => summary.probabilities.as_ref().map(|probabilities| probabilities.named()),
        Evaluation::Classes(_) => None,
    };
    let ModelEvaluation { train, validation, test, .. } = evaluation;
    let columns: Vec<_> =
        [Some(train), Some(validation), test.as_ref()].into_iter().flatten().filter_map(measures).collect();
    let Some(last) = columns.last() else { return Vec::new() };
    let row = |at: usize| {
        let mut row = vec![last[at].0.to_owned()];
        row.extend(columns.iter().map(|column| format_score(column[at].1.value)));
        if has_intervals {
            row.extend([format_score(last[at].1.low), format_score(last[at].1.high)]);
        }
        row
    };
    (0..last.len()).map(row).collect()
}

/// Formats a score with four decimals, because further digits of a score on a sample are noise.
fn format_score(value: Option<f64>) -> String {
    value.map_or_else(|| format_optional(None), |value| format!("{value:.4}"))
}

/// A table with the scores of each fold of a cross-validation, and their mean and standard deviation.
fn folds_text(folds: &FoldsSummary, score: &str) -> String {
    let row = |fold: &FoldSummary| {
        vec![
            fold.repeat.to_string(),
            fold.fold.to_string(),
            fold.test.rows().to_string(),
            fold.epochs.map_or(String::new(), |epochs| epochs.to_string()),
            fold.threshold.map_or(String::new(), |threshold| format!("{threshold:.4}")),
            format_score(fold.value()),
        ]
    };
    let rows: Vec<Vec<String>> = folds.each.iter().map(row).collect();
    let heading = ["repeat", "fold", "test rows", "epochs", "threshold", score];
    let foot = match folds.mean.zip(folds.deviation) {
        Some((mean, deviation)) => format!("{score} over the folds: {mean:.4} ± {deviation:.4}\n"),
        None => String::new(),
    };
    format!("{}{foot}", aligned_table(&heading, &rows))
}
