//! The experiments of Marchetti et al. (2022): our results beside the published ones.

use scorewise::{MeanAndDeviation, Prior, Score};
use scorewise_train::reproduce::{
    Contender, Difference, Experiment, MEMBERS, ResultRow, TEST_HOURS, Trial, WINDOW_STEP_HOURS, WINDOWS, paper,
};
use serde::{Deserialize, Serialize};

use crate::document::{ResultTable, ScoreThresholds};

/// The results of an experiment of Marchetti et al. (2022): those that we computed and those published in the paper, as rows of tables.
#[derive(Clone, Debug)]
pub struct PaperComparison {
    experiment: Experiment,
    seed: u64,
    /// The rows of results that we computed. For each score and contender (training method), the row of networks trained as published
    /// comes first, then the row of networks trained with the remedy for training runs that learn nothing (see [`ReproductionRow::cure`]).
    lines: Vec<ResultRow>,
    paper: Vec<ResultRow>,
    differences: Vec<(String, Difference)>,
    /// Number of networks trained.
    trainings: usize,
    /// Total number of epochs of all networks.
    epochs: f64,
    /// Sum of the durations of all training runs, in seconds.
    training_seconds: f64,
    /// Duration of this run of `reproduce`, in seconds.
    seconds: f64,
}

/// The result of `reproduce`, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproductionSummary {
    /// Name of the experiment.
    pub experiment: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The rows of results that this run of `reproduce` computed.
    pub table: Vec<ReproductionRow>,
    /// The rows of results published in Marchetti et al. (2022).
    pub paper: Vec<PaperRow>,
    /// Number of networks trained.
    pub trainings: usize,
    /// Total number of epochs of all networks.
    pub epochs: f64,
    /// Sum of the durations of all training runs, in seconds.
    pub training_seconds: f64,
    /// Duration of this run of `reproduce`, in seconds.
    pub seconds: f64,
    /// Score of `strong` (networks trained for the score, with settings that go beyond the paper) minus score of `tuned-ce` (cross-entropy with a
    /// tuned threshold), for every score for which both were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceSummary>,
}

/// The results that this run of `reproduce` computed for one score and one contender (training method), in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproductionRow {
    /// Name of the score.
    pub score: String,
    /// Name of the contender (training method): the prior of its loss, such as `cosine:0.5,0.1`, or a name such as `ce` (cross-entropy).
    pub contender: String,
    /// Name of the contender's loss.
    pub loss: Option<String>,
    /// Prior of the threshold in the contender's loss, as text such as `cosine:0.5,0.1`; `None` for a loss without a prior.
    pub prior: Option<String>,
    /// Whether the remedy for training runs that learn nothing was used: initial predictions are moved into the support of the prior, and training
    /// runs that learn nothing are restarted.
    pub cure: bool,
    /// Number of training runs.
    pub repeats: usize,
    /// Number of training runs in which the network learnt something. Means and standard deviations are over these runs only.
    pub successes: usize,
    /// Number of training runs whose best threshold lies outside the support of the prior.
    pub out_of_support: Option<usize>,
    /// Mean and standard deviation of the number of epochs of a training run.
    pub epochs: Option<MeanAndSd>,
    /// Mean and standard deviation of the best threshold on the training rows.
    pub threshold: Option<MeanAndSd>,
    /// Score on the training rows, at ½ and at the best threshold.
    pub train: ThresholdPair,
    /// Score on the test rows, at ½ and at the best threshold of the training rows.
    pub test: ThresholdPair,
}

/// The results published in Marchetti et al. (2022) for one score and one contender (training method), in the form that is written as JSON. The keys
/// are in another order than in [`ReproductionRow`], so that the output stays the same between versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperRow {
    /// Name of the score.
    pub score: String,
    /// Name of the contender (training method): the prior of its loss, such as `cosine:0.5,0.1`, or a name such as `ce` (cross-entropy).
    pub contender: String,
    /// Name of the contender's loss.
    pub loss: Option<String>,
    /// Prior of the threshold in the contender's loss, as text such as `cosine:0.5,0.1`; `None` for a loss without a prior.
    pub prior: Option<String>,
    /// Score on the test rows, at ½ and at the best threshold of the training rows.
    pub test: ThresholdPair,
    /// Number of training runs.
    pub repeats: usize,
    /// Number of training runs in which the network learnt something.
    pub successes: usize,
    /// Number of training runs whose best threshold lies outside the support of the prior.
    pub out_of_support: Option<usize>,
    /// Mean and standard deviation of the number of epochs of a training run.
    pub epochs: Option<MeanAndSd>,
    /// Mean and standard deviation of the best threshold on the training rows.
    pub threshold: Option<MeanAndSd>,
    /// Score on the training rows, at ½ and at the best threshold.
    pub train: ThresholdPair,
}

/// A score at the threshold ½ and at the best threshold of the training rows, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdPair {
    /// Score at the threshold ½.
    pub half: Option<MeanAndSd>,
    /// Score at the best threshold of the training rows.
    pub best: Option<MeanAndSd>,
}

/// A mean and a standard deviation, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanAndSd {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` when the mean is over a single number.
    pub sd: Option<f64>,
}

/// The mean difference between the scores of two training methods, score of `of` minus score of `from`, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSummary {
    /// Name of the score.
    pub score: String,
    /// Name of the training method whose score comes first in the difference.
    pub of: String,
    /// Name of the training method whose score is subtracted.
    pub from: String,
    /// Mean difference over the time windows of the experiment.
    pub mean: f64,
    /// Lower end of the 95 % interval of the mean difference, computed as if the windows were independent.
    pub low: f64,
    /// Upper end of the 95 % interval of the mean difference, computed as if the windows were independent.
    pub high: f64,
    /// 95 % interval of the mean difference from a block bootstrap, which takes the overlap of windows into account.
    pub blocks: DifferenceBlocks,
}

/// The 95 % interval of a mean difference from a block bootstrap, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceBlocks {
    /// Number of consecutive time windows in a block.
    pub windows: usize,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// A function that returns the text in one column of a table for a row of results. The text is empty if the row has no value in this column.
type CellText = fn(&ResultRow) -> String;

impl PaperComparison {
    /// Summarises the training runs in `trials`, and selects the published results with which they are compared. `seconds` is the
    /// duration of this run of `reproduce`.
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
            let difference_of_score = strong_minus_tuned_ce(trials, &score, seed)?;
            Some((score, difference_of_score))
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

    /// Converts the comparison to the form that is written as JSON.
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

    /// One table for each score. Each published row stands below the computed row that is compared with it.
    #[must_use]
    pub fn result_tables(&self) -> Vec<ResultTable> {
        let mut scores: Vec<&str> = self.lines.iter().map(|line| line.score.as_str()).collect();
        scores.dedup();
        scores.into_iter().map(|score| self.result_table(score)).collect()
    }

    /// The table of one score.
    fn result_table(&self, score: &str) -> ResultTable {
        let lines: Vec<(&ResultRow, &str)> = self
            .lines
            .iter()
            .filter(|line| line.score == score)
            .flat_map(|line| {
                let theirs = self.paper.iter().find(|paper| paper.score == score && paper.contender == line.contender);
                // We may have computed two rows for a training method, without and with the remedy for training runs that learn nothing. The
                // published row is shown only once, below the first of these two rows.
                let theirs = theirs.filter(|_| self.is_first_row_of_contender(line));
                let source = if line.cured { "cured" } else { "ours" };
                std::iter::once((line, source)).chain(theirs.map(|theirs| (theirs, "paper")))
            })
            .collect();
        // Columns without any value are left out, because the two tables of Marchetti et al. (2022) have different columns.
        let columns: [(&str, CellText); 8] = [
            ("success", |line| {
                if line.epochs.is_some() { format!("{}/{}", line.successes, line.repeats) } else { String::new() }
            }),
            ("outside", |line| match line.outside {
                Some(outside)
                    if line.contender.parse::<Contender>().is_ok_and(|contender| contender.can_get_stuck()) =>
                {
                    outside.to_string()
                }
                _ => String::new(),
            }),
            ("epochs", |line| format_mean_and_deviation(line.epochs, 1)),
            ("train at .5", |line| format_mean_and_deviation(line.train_half, 4)),
            ("threshold", |line| format_mean_and_deviation(line.threshold, 3)),
            ("train at best", |line| format_mean_and_deviation(line.train_best, 4)),
            ("test at .5", |line| format_mean_and_deviation(line.test_half, 4)),
            ("test at best", |line| format_mean_and_deviation(line.test_best, 4)),
        ];
        let columns: Vec<_> =
            columns.into_iter().filter(|(_, cell)| lines.iter().any(|(line, _)| !cell(line).is_empty())).collect();
        let heading = ["row", ""].into_iter().chain(columns.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
        let row = |(line, source): &(&ResultRow, &str)| {
            let name = if *source == "paper" || (line.cured && !self.is_first_row_of_contender(line)) {
                String::new()
            } else {
                line.contender.clone()
            };
            [name, (*source).to_owned()].into_iter().chain(columns.iter().map(|(_, cell)| cell(line))).collect()
        };
        let table = match self.experiment {
            Experiment::Adult => "Adult, Table 1",
            Experiment::Pollution => "Beijing PM2.5, Table 2",
        };
        ResultTable { title: format!("{table}: {score}"), heading, rows: lines.iter().map(row).collect() }
    }

    /// Whether a row is the first one that we computed for its score and its contender (training method).
    fn is_first_row_of_contender(&self, line: &ResultRow) -> bool {
        let is_same = |other: &&ResultRow| other.score == line.score && other.contender == line.contender;
        self.lines.iter().find(is_same).is_some_and(|first| first.cured == line.cured)
    }

    /// The remarks that are shown below the tables.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (score, difference) in &self.differences {
            let Difference { mean, interval: (low, high), in_blocks: (wide_low, wide_high), block } = difference;
            remarks.push(format!(
                "{score}: mean over the windows of the score of `strong` at the threshold ½ minus the score of cross-entropy with {MEMBERS} members at its tuned threshold: \
                 {mean:+.4} (95 % interval {low:+.4} to {high:+.4}; because windows overlap, also from a bootstrap of blocks of {block} windows: {wide_low:+.4} to {wide_high:+.4})"
            ));
        }
        remarks.push(format!(
            "{} training runs, {:.0} epochs, {:.1} s of training on one core; the whole command took {:.1} s",
            self.trainings, self.epochs, self.training_seconds, self.seconds
        ));
        remarks.push(
            "mean ± standard deviation over the training runs in which the network learnt something; \
             the threshold is τ*, the best on the training rows; \
             `outside` counts the runs with τ* outside the prior's support"
                .into(),
        );
        remarks
    }
}

/// The data of Figure 2 of Marchetti et al. (2022) for every score: the best thresholds of the successful training runs with each prior. `cured` says
/// which runs are used: those with (`true`) or without (`false`) the remedy for runs that learn nothing (see [`ReproductionRow::cure`]).
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

/// Score of the training method `strong` at the threshold ½ minus score of the training method `tuned-ce` at its best threshold; `None` when one of
/// the two methods was not run.
fn strong_minus_tuned_ce(trials: &[Trial], score: &str, seed: u64) -> Option<Difference> {
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
    // The block length is the number of steps after which two windows have no test hour in common.
    Difference::of(&pairs, (TEST_HOURS / WINDOW_STEP_HOURS).min(WINDOWS), seed)
}

/// Formats a mean and a standard deviation as `0.8123 ± 0.012`; an empty string for `None`.
fn format_mean_and_deviation(spread: Option<MeanAndDeviation>, digits: usize) -> String {
    match spread {
        Some(MeanAndDeviation { mean, deviation: Some(deviation) }) => {
            format!("{mean:.digits$} ± {deviation:.*}", digits.min(3))
        }
        Some(MeanAndDeviation { mean, deviation: None }) => format!("{mean:.digits$}"),
        None => String::new(),
    }
}

impl ReproductionRow {
    /// Converts a row of results to the form that is written as JSON.
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
