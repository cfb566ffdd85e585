//! The experiments of the paper: our results beside the published ones.

use scorewise::{MeanAndDeviation, Prior, Score};
use scorewise_train::reproduce::{
    Contender, Difference, Experiment, MEMBERS, ResultRow, TEST_HOURS, Trial, WINDOW_STEP_HOURS, WINDOWS, paper,
};
use serde::{Deserialize, Serialize};

use crate::document::{ResultTable, ScoreThresholds};

/// All lines of an experiment, ours and the paper's.
#[derive(Clone, Debug)]
pub struct PaperComparison {
    experiment: Experiment,
    seed: u64,
    /// Our lines in the order of the table's rows: without the cure, then with it.
    lines: Vec<ResultRow>,
    paper: Vec<ResultRow>,
    differences: Vec<(String, Difference)>,
    trainings: usize,
    epochs: f64,
    /// How long the trainings would take one after the other.
    training_seconds: f64,
    seconds: f64,
}

/// The result of a reproduction, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproductionSummary {
    /// The name of the experiment.
    pub experiment: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// Our lines.
    pub table: Vec<ReproductionRow>,
    /// The paper's lines.
    pub paper: Vec<PaperRow>,
    /// How many networks were trained.
    pub trainings: usize,
    /// The epochs of all of them.
    pub epochs: f64,
    /// How long the trainings would take one after the other.
    pub training_seconds: f64,
    /// How long this run took.
    pub seconds: f64,
    /// The strong recipe less tuned cross-entropy, for each score for which both were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceSummary>,
}

/// One of our lines, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproductionRow {
    /// The name of the score.
    pub score: String,
    /// The contender: a prior, `ce`, …
    pub contender: String,
    /// The name of its loss.
    pub loss: Option<String>,
    /// The prior of its threshold.
    pub prior: Option<String>,
    /// Whether the first predictions were moved to where the prior sees them.
    pub cure: bool,
    /// How many trainings there are.
    pub repeats: usize,
    /// In how many of them something was learnt; the following numbers are about these alone.
    pub successes: usize,
    /// In how many the best threshold lies outside the support of the prior.
    pub out_of_support: Option<usize>,
    /// The epochs of a training.
    pub epochs: Option<MeanAndSd>,
    /// The best threshold on the training rows.
    pub threshold: Option<MeanAndSd>,
    /// The score on the training rows.
    pub train: ThresholdPair,
    /// The score on the test rows.
    pub test: ThresholdPair,
}

/// One of the paper's lines, as JSON. Its keys have another order than ours, which is kept stable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperRow {
    /// The name of the score.
    pub score: String,
    /// The contender: a prior, `ce`, …
    pub contender: String,
    /// The name of its loss.
    pub loss: Option<String>,
    /// The prior of its threshold.
    pub prior: Option<String>,
    /// The score on the test rows.
    pub test: ThresholdPair,
    /// How many trainings there are.
    pub repeats: usize,
    /// In how many of them something was learnt.
    pub successes: usize,
    /// In how many the best threshold lies outside the support of the prior.
    pub out_of_support: Option<usize>,
    /// The epochs of a training.
    pub epochs: Option<MeanAndSd>,
    /// The best threshold on the training rows.
    pub threshold: Option<MeanAndSd>,
    /// The score on the training rows.
    pub train: ThresholdPair,
}

/// A score at two thresholds, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdPair {
    /// At one half.
    pub half: Option<MeanAndSd>,
    /// At the best threshold of the training rows.
    pub best: Option<MeanAndSd>,
}

/// A mean and a standard deviation, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanAndSd {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` for a single number.
    pub sd: Option<f64>,
}

/// The difference of two contenders, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSummary {
    /// The name of the score.
    pub score: String,
    /// The contender whose score is reduced.
    pub of: String,
    /// The contender that is subtracted.
    pub from: String,
    /// The mean difference.
    pub mean: f64,
    /// The lower end of its 95 % interval when windows are independent.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The same when windows are drawn in blocks, since they overlap.
    pub blocks: DifferenceBlocks,
}

/// The interval of a difference by a block bootstrap, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceBlocks {
    /// The windows of a block.
    pub windows: usize,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The text of one column of a line; empty when the line has no such value.
type CellText = fn(&ResultRow) -> String;

impl PaperComparison {
    /// The lines of these trainings. `seconds` is how long this run took.
    #[must_use]
    pub fn new(
        experiment: Experiment,
        scores: &[Score],
        contenders: &[Contender],
        trials: &[Trial],
        seed: u64,
        seconds: f64,
    ) -> Self {
        let mut lines = Vec::new();
        for score in scores {
            for contender in contenders {
                for cured in [false, true] {
                    let (score, contender) = (score.to_string(), contender.to_string());
                    let is_of_line =
                        |trial: &&Trial| trial.score == score && trial.contender == contender && trial.cured == cured;
                    lines.extend(ResultRow::of(&trials.iter().filter(is_of_line).collect::<Vec<_>>()));
                }
            }
        }
        let is_ours = |theirs: &ResultRow| {
            lines.iter().any(|ours| ours.score == theirs.score && ours.contender == theirs.contender)
        };
        let differences = scores.iter().filter_map(|score| {
            let score = score.to_string();
            let found = difference(trials, &score, seed)?;
            Some((score, found))
        });
        let is_trained = |trial: &&Trial| trial.epochs > 0.0;
        let members = |trial: &Trial| trial.contender.parse::<Contender>().map_or(1, |contender| contender.members());
        PaperComparison {
            experiment,
            seed,
            paper: paper(experiment).into_iter().filter(is_ours).collect(),
            differences: differences.collect(),
            lines,
            trainings: trials.iter().filter(is_trained).map(members).sum(),
            epochs: trials.iter().map(|trial| trial.epochs * members(trial) as f64).sum(),
            training_seconds: trials.iter().map(|trial| trial.seconds).sum(),
            seconds,
        }
    }

    /// The result as JSON.
    #[must_use]
    pub fn summary(&self) -> ReproductionSummary {
        let difference = |(score, difference): &(String, Difference)| DifferenceSummary {
            score: score.clone(),
            of: "strong".into(),
            from: "tuned-ce".into(),
            mean: difference.mean,
            low: difference.interval.0,
            high: difference.interval.1,
            blocks: DifferenceBlocks {
                windows: difference.block,
                low: difference.in_blocks.0,
                high: difference.in_blocks.1,
            },
        };
        ReproductionSummary {
            experiment: self.experiment.name().into(),
            seed: self.seed,
            table: self.lines.iter().map(ReproductionRow::new).collect(),
            paper: self.paper.iter().map(|line| ReproductionRow::new(line).into()).collect(),
            trainings: self.trainings,
            epochs: self.epochs,
            training_seconds: self.training_seconds,
            seconds: self.seconds,
            differences: self.differences.iter().map(difference).collect(),
        }
    }

    /// One table for each score, the paper's line under ours.
    #[must_use]
    pub fn grids(&self) -> Vec<ResultTable> {
        let mut scores: Vec<&str> = self.lines.iter().map(|line| line.score.as_str()).collect();
        scores.dedup();
        scores.into_iter().map(|score| self.grid(score)).collect()
    }

    fn grid(&self, score: &str) -> ResultTable {
        let lines: Vec<(&ResultRow, &str)> = self
            .lines
            .iter()
            .filter(|line| line.score == score)
            .flat_map(|line| {
                let theirs = self.paper.iter().find(|paper| paper.score == score && paper.contender == line.contender);
                // Once, under the first of our lines.
                let theirs = theirs.filter(|_| self.is_first_of_row(line));
                let who = if line.cured { "cured" } else { "ours" };
                std::iter::once((line, who)).chain(theirs.map(|theirs| (theirs, "paper")))
            })
            .collect();
        // A column that no line fills is left out: the paper's two tables have different columns.
        let columns: [(&str, CellText); 8] = [
            ("success", |line| {
                if line.epochs.is_some() { format!("{}/{}", line.successes, line.repeats) } else { String::new() }
            }),
            ("outside", |line| match line.outside {
                Some(outside) if line.contender.parse::<Contender>().is_ok_and(|who| who.can_get_stuck()) => {
                    outside.to_string()
                }
                _ => String::new(),
            }),
            ("epochs", |line| spread(line.epochs, 1)),
            ("train at .5", |line| spread(line.train_half, 4)),
            ("threshold", |line| spread(line.threshold, 3)),
            ("train at best", |line| spread(line.train_best, 4)),
            ("test at .5", |line| spread(line.test_half, 4)),
            ("test at best", |line| spread(line.test_best, 4)),
        ];
        let columns: Vec<_> =
            columns.into_iter().filter(|(_, cell)| lines.iter().any(|(line, _)| !cell(line).is_empty())).collect();
        let heading = ["row", ""].into_iter().chain(columns.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
        let row = |(line, who): &(&ResultRow, &str)| {
            let name = if *who == "paper" || (line.cured && !self.is_first_of_row(line)) {
                String::new()
            } else {
                line.contender.clone()
            };
            [name, (*who).to_owned()].into_iter().chain(columns.iter().map(|(_, cell)| cell(line))).collect()
        };
        let table = match self.experiment {
            Experiment::Adult => "Adult, Table 1",
            Experiment::Pollution => "Beijing PM2.5, Table 2",
        };
        ResultTable { title: format!("{table}: {score}"), heading, rows: lines.iter().map(row).collect() }
    }

    /// Whether no line of the same row comes before it.
    fn is_first_of_row(&self, line: &ResultRow) -> bool {
        let is_same = |other: &&ResultRow| other.score == line.score && other.contender == line.contender;
        self.lines.iter().find(is_same).is_some_and(|first| first.cured == line.cured)
    }

    /// Remarks under the tables.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (score, difference) in &self.differences {
            let Difference { mean, interval: (low, high), in_blocks: (wide_low, wide_high), block } = difference;
            remarks.push(format!(
                "{score}: strong, untuned at ½, less cross-entropy with {MEMBERS} members and its tuned threshold, window by window: {mean:+.4} \
                 (95 % {low:+.4} to {high:+.4}; with windows in blocks of {block}, as they overlap, {wide_low:+.4} to {wide_high:+.4})"
            ));
        }
        remarks.push(format!(
            "{} trainings, {:.0} epochs, {:.1} s of one core; this run took {:.1} s",
            self.trainings, self.epochs, self.training_seconds, self.seconds
        ));
        remarks.push("mean ± deviation over the trainings in which something was learnt; the threshold is τ*, the best on the training rows, and `outside` counts those outside the prior's support".into());
        remarks
    }
}

/// Figure 2 of the paper, one for each score: the best thresholds under the prior with which they were trained. `cured` chooses the
/// trainings with or without the cure.
#[must_use]
pub fn best_thresholds(
    scores: &[Score],
    contenders: &[Contender],
    cured: bool,
    trials: &[Trial],
) -> Vec<ScoreThresholds> {
    let of_score = |score: String| {
        let panel = |prior: &Prior| {
            let (name, mut thresholds) = (prior.to_string(), Vec::new());
            for trial in trials.iter().filter(|trial| trial.score == score && trial.contender == name) {
                thresholds.extend(trial.threshold.filter(|_| trial.success && trial.cured == cured));
            }
            (name, thresholds)
        };
        let panels = contenders.iter().filter_map(Contender::prior).map(panel).collect();
        ScoreThresholds { score, panels }
    };
    let all = scores.iter().map(|score| of_score(score.to_string()));
    all.filter(|figure| !figure.panels.is_empty()).collect()
}

/// The strong recipe at ½ less tuned cross-entropy at its threshold; `None` when one of them was not run.
fn difference(trials: &[Trial], score: &str, seed: u64) -> Option<Difference> {
    let of_contender = |contender: &str| {
        let mut found: Vec<&Trial> =
            trials.iter().filter(|trial| trial.score == score && trial.contender == contender).collect();
        found.sort_by_key(|trial| trial.repeat);
        found
    };
    let (strong, tuned) = (of_contender("strong"), of_contender("tuned-ce"));
    let pairs = strong.iter().zip(&tuned).filter(|(strong, tuned)| strong.repeat == tuned.repeat);
    let pairs: Vec<(f64, f64)> =
        pairs.filter_map(|(strong, tuned)| Some((strong.test_half, tuned.test_best?))).collect();
    // Windows that are this far apart have no hour of their test rows in common.
    Difference::of(&pairs, (TEST_HOURS / WINDOW_STEP_HOURS).min(WINDOWS), seed)
}

fn spread(spread: Option<MeanAndDeviation>, digits: usize) -> String {
    match spread {
        Some(MeanAndDeviation { mean, deviation: Some(deviation) }) => {
            format!("{mean:.digits$} ± {deviation:.*}", digits.min(3))
        }
        Some(MeanAndDeviation { mean, deviation: None }) => format!("{mean:.digits$}"),
        None => String::new(),
    }
}

impl ReproductionRow {
    fn new(line: &ResultRow) -> Self {
        let contender = line.contender.parse::<Contender>().ok();
        let spread = |spread: Option<MeanAndDeviation>| {
            spread.map(|MeanAndDeviation { mean, deviation }| MeanAndSd { mean, sd: deviation })
        };
        ReproductionRow {
            score: line.score.clone(),
            contender: line.contender.clone(),
            loss: contender.as_ref().and_then(Contender::loss).map(str::to_owned),
            prior: contender.as_ref().and_then(Contender::prior).map(ToString::to_string),
            cure: line.cured,
            repeats: line.repeats,
            successes: line.successes,
            out_of_support: line.outside,
            epochs: spread(line.epochs),
            threshold: spread(line.threshold),
            train: ThresholdPair { half: spread(line.train_half), best: spread(line.train_best) },
            test: ThresholdPair { half: spread(line.test_half), best: spread(line.test_best) },
        }
    }
}

impl From<ReproductionRow> for PaperRow {
    fn from(row: ReproductionRow) -> Self {
        let ReproductionRow { score, contender, loss, prior, repeats, successes, out_of_support, .. } = row;
        let ReproductionRow { epochs, threshold, train, test, .. } = row;
        PaperRow { score, contender, loss, prior, test, repeats, successes, out_of_support, epochs, threshold, train }
    }
}
