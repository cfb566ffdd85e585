//! How good a model is, as a table and as JSON.

use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::{Bootstrap, Resampling};
use scorewise::{Probabilities, Rows, Spread};
use scorewise_report::document::{USUAL, in_order};
use scorewise_train::fit::Fit;
use scorewise_train::learner::Member;
use scorewise_train::model::{Decision, Model};
use scorewise_train::plan::Plan;
use scorewise_train::train::{FoldResult, LabelledPredictions, Trained};
use serde_json::{Value, json};

use super::Arguments;
use crate::classes::ClassSummary;
use crate::outcome::Failure;
use crate::score::{Scored, Summary};
use crate::table::{aligned, facts, short, shown};

/// Name, value and interval of a score.
type Line = (String, Option<f64>, Option<(f64, f64)>);

/// The scores of one part, of two classes or of more.
pub enum Part {
    /// Two classes.
    Binary(Summary),
    /// More.
    Multi(ClassSummary),
}

/// The scores of all parts.
pub struct Judged {
    /// Of the rows that were learnt from.
    pub training: Part,
    /// Of the rows that stopped the training and chose the threshold.
    pub validation: Part,
    /// Of the rows that were never seen.
    pub test: Option<Part>,
}

/// Each network stops by rows of its own, so a row is counted among both.
const OWN_VALIDATION: &str = "these overlap: each network has validation rows of its own, and the validation scores are those of networks \
    that have not learnt from the row";

/// Judges every part at the model's threshold.
pub fn judge(trained: &Trained, plan: &Plan, arguments: &Arguments) -> Result<Judged, Failure> {
    let one =
        |answers: &LabelledPredictions| part(answers, &trained.model.decision, &trained.model.classes, plan, arguments);
    Ok(Judged {
        training: one(&trained.training)?,
        validation: one(&trained.validation)?,
        test: trained.test.as_ref().map(one).transpose()?,
    })
}

fn part(
    answers: &LabelledPredictions,
    decision: &Decision,
    classes: &[String],
    plan: &Plan,
    arguments: &Arguments,
) -> Result<Part, Failure> {
    let Some(threshold) = decision.threshold() else {
        return Ok(Part::Multi(of_classes(answers, decision, classes, plan)?));
    };
    let scores = in_order(Some(plan.score.binary()?));
    let bootstrap = bootstrap(plan, arguments);
    let labels = answers.positives();
    let rows = Rows::new(Probabilities(&answers.probabilities), &labels)?;
    let rows = match &answers.weights {
        Some(weights) => rows.weighted(weights)?,
        None => rows,
    };
    Ok(Part::Binary(Summary::new(&rows, threshold, scores, &bootstrap)?))
}

/// Neighbours in time are alike: rows are drawn in blocks, or the intervals would be too narrow.
pub fn bootstrap(plan: &Plan, arguments: &Arguments) -> Bootstrap {
    let resampling = if plan.lead > 0 || plan.choice.lags > 0 { Resampling::Blocks(48) } else { Resampling::Poisson };
    Bootstrap { resampling, replicates: arguments.replicates as usize, seed: plan.seed }
}

impl Part {
    /// By the names that stay.
    pub fn json(&self) -> Value {
        match self {
            Part::Binary(summary) => summary.json(),
            Part::Multi(multi) => multi.json(),
        }
    }

    /// The score that was trained for, and those that readers of a forecast ask for first.
    fn scores(&self) -> Vec<Line> {
        match self {
            Part::Binary(summary) => {
                let one = |scored: &Scored| (scored.score.name().to_string(), scored.value, scored.interval);
                let is_usual = |scored: &&Scored| USUAL.contains(&scored.score.name());
                let first = summary.scores.iter().take(1);
                first.chain(summary.scores.iter().skip(1).filter(is_usual)).map(one).collect()
            }
            Part::Multi(multi) => multi.scores.iter().map(|(score, value)| (score.to_string(), *value, None)).collect(),
        }
    }

    fn rows(&self) -> String {
        match self {
            Part::Binary(summary) => format!("{} ({} positive)", summary.rows, summary.positives),
            Part::Multi(multi) => multi.rows.to_string(),
        }
    }
}

fn of_classes(
    answers: &LabelledPredictions,
    decision: &Decision,
    classes: &[String],
    plan: &Plan,
) -> Result<ClassSummary, Failure> {
    let predicted: Vec<u32> = answers.probabilities.chunks(classes.len()).map(|row| decision.label(row)).collect();
    let confusion =
        MultiConfusion::from_labels(classes.len(), &answers.labels, &predicted, answers.weights.as_deref())?;
    ClassSummary::new(answers.labels.len(), classes, confusion, plan.score.multiclass())
}

impl Judged {
    /// What the model file keeps of it.
    pub fn json(&self) -> Value {
        json!({
            "train": self.training.json(),
            "validation": self.validation.json(),
            "test": self.test.as_ref().map(Part::json),
        })
    }
}

/// For the terminal.
pub fn text(
    trained: &Trained,
    folds: Option<&[FoldResult]>,
    judged: &Judged,
    plan: &Plan,
    arguments: &Arguments,
    seconds: f64,
) -> Result<String, Failure> {
    let model = &trained.model;
    let test = judged.test.as_ref().map_or(String::new(), |test| format!(", test {}", test.rows()));
    let head = facts(&[
        ("target", target(model)),
        ("rows", format!("training {}, validation {}{test}", judged.training.rows(), judged.validation.rows())),
        ("", if plan.own_validation { OWN_VALIDATION.into() } else { String::new() }),
        ("network", network(model)),
        ("loss", loss(model)),
        ("training", story(trained, seconds)),
        ("threshold", threshold(model)),
    ]);
    let mut text = format!("{head}\n{}", scores(judged));
    if let Some(folds) = folds {
        text.push_str(&format!("\n{}", folds_text(folds, plan, arguments)?));
    }
    Ok(text)
}

fn target(model: &Model) -> String {
    let target = model.target.to_string();
    match model.classes.as_slice() {
        [_, positive] if !target.contains(positive.as_str()) => format!("{target}, positive: {positive}"),
        [_, _] => target,
        classes => format!("{target}, {} classes", classes.len()),
    }
}

fn network(model: &Model) -> String {
    let first = model.members.first().map(Member::summary).unwrap_or_default();
    match model.members.len() {
        1 => first,
        members => format!("{first}, {members} members"),
    }
}

fn loss(model: &Model) -> String {
    match &model.prior {
        Some(prior) => format!("{} of {}, threshold {prior}", model.loss, model.score),
        None => model.loss.clone(),
    }
}

fn story(trained: &Trained, seconds: f64) -> String {
    let epochs: Vec<usize> = trained.fits.iter().map(Fit::epochs).collect();
    let range = match (epochs.iter().min(), epochs.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (_, most) => most.map_or(String::new(), ToString::to_string),
    };
    let restarts: usize = trained.fits.iter().map(|fit| fit.restarts).sum();
    let again = if restarts > 0 { format!(", {restarts} dead starts begun anew") } else { String::new() };
    let stuck = trained.fits.iter().filter(|fit| !fit.success).count();
    let stuck = if stuck > 0 { format!(", {stuck} of {} learnt nothing", trained.fits.len()) } else { String::new() };
    format!("{range} epochs in {seconds:.1} s{again}{stuck}")
}

fn threshold(model: &Model) -> String {
    match &model.decision {
        Decision::Threshold { threshold, interval: Some((low, high)), words, .. } => {
            format!("{} ({words}; equally good from {} to {})", short(*threshold), short(*low), short(*high))
        }
        Decision::Threshold { threshold, words, .. } => format!("{} ({words})", short(*threshold)),
        decision => decision.words().into(),
    }
}

/// Scores by part; the interval is that of the test, or of the validation rows where there is none.
fn scores(judged: &Judged) -> String {
    let last = judged.test.as_ref().unwrap_or(&judged.validation);
    let mut heading = vec!["score", "training", "validation"];
    if judged.test.is_some() {
        heading.push("test");
    }
    let has_intervals = last.scores().iter().any(|(_, _, interval)| interval.is_some());
    if has_intervals {
        heading.extend(["low", "high"]);
    }
    let (training, validation) = (judged.training.scores(), judged.validation.scores());
    let test = judged.test.as_ref().map(Part::scores);
    let row = |at: usize| {
        let mut row = vec![training[at].0.clone(), rounded(training[at].1), rounded(validation[at].1)];
        row.extend(test.as_ref().map(|test| rounded(test[at].1)));
        if has_intervals {
            let interval = last.scores()[at].2;
            row.extend([rounded(interval.map(|ends| ends.0)), rounded(interval.map(|ends| ends.1))]);
        }
        row
    };
    let rows: Vec<Vec<String>> = (0..training.len()).map(row).collect();
    let part = if judged.test.is_some() { "test" } else { "validation" };
    let foot = if has_intervals {
        format!("low to high: 95 % bootstrap interval on the {part} rows\n")
    } else {
        String::new()
    };
    format!("{}{foot}", aligned(&heading, &rows))
}

/// Four digits: more would be noise for scores of a sample.
fn rounded(value: Option<f64>) -> String {
    value.map_or_else(|| shown(None), |value| format!("{value:.4}"))
}

/// The score of each fold on the rows that it never saw.
fn fold_scores(folds: &[FoldResult], plan: &Plan, arguments: &Arguments) -> Result<Vec<(Value, Option<f64>)>, Failure> {
    let mut found = Vec::new();
    for fold in folds {
        let classes = classes(fold);
        let part = part(&fold.test, &fold.decision, &classes, plan, arguments)?;
        found.push((part.json(), part.scores().first().and_then(|first| first.1)));
    }
    Ok(found)
}

/// Names for the classes of a fold, of which only their number matters here.
fn classes(fold: &FoldResult) -> Vec<String> {
    let rows = fold.test.labels.len().max(1);
    let outputs = (fold.test.probabilities.len() / rows).max(2);
    (0..outputs).map(|class| class.to_string()).collect()
}

/// By the names that stay.
pub fn folds_json(folds: &[FoldResult], plan: &Plan, arguments: &Arguments) -> Result<Value, Failure> {
    let scores = fold_scores(folds, plan, arguments)?;
    let values: Vec<f64> = scores.iter().filter_map(|(_, value)| *value).collect();
    let each = folds.iter().zip(scores).map(|(fold, (test, _))| {
        json!({
            "repeat": fold.repeat + 1,
            "fold": fold.fold + 1,
            "epochs": fold.epochs.iter().max(),
            "success": fold.success,
            "threshold": fold.decision.threshold(),
            "test": test,
        })
    });
    let spread = Spread::of(&values);
    let (mean, deviation) = (spread.map(|spread| spread.mean), spread.and_then(|spread| spread.deviation));
    Ok(json!({ "each": each.collect::<Vec<_>>(), "mean": mean, "deviation": deviation }))
}

fn folds_text(folds: &[FoldResult], plan: &Plan, arguments: &Arguments) -> Result<String, Failure> {
    let scores = fold_scores(folds, plan, arguments)?;
    let values: Vec<f64> = scores.iter().filter_map(|(_, value)| *value).collect();
    let row = |(fold, (_, value)): (&FoldResult, &(Value, Option<f64>))| {
        vec![
            (fold.repeat + 1).to_string(),
            (fold.fold + 1).to_string(),
            fold.test.labels.len().to_string(),
            fold.epochs.iter().max().map_or(String::new(), ToString::to_string),
            fold.decision.threshold().map_or(String::new(), |threshold| format!("{threshold:.4}")),
            rounded(*value),
        ]
    };
    let rows: Vec<Vec<String>> = folds.iter().zip(&scores).map(row).collect();
    let heading = ["repeat", "fold", "test rows", "epochs", "threshold", plan.score.text()];
    let foot = match Spread::of(&values) {
        Some(Spread { mean, deviation: Some(deviation) }) => {
            format!("{} over the folds: {mean:.4} ± {deviation:.4}\n", plan.score)
        }
        _ => String::new(),
    };
    Ok(format!("{}{foot}", aligned(&heading, &rows)))
}
