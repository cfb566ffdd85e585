//! The tables: ours beside the paper's, as text, as Markdown and as JSON.

use scorewise::Spread;
use scorewise_report::document::Grid;
use scorewise_train::reproduce::{Contender, Difference, Experiment, ResultRow, Trial, WINDOWS, paper};
use scorewise_train::reproduce::{MEMBERS, TEST_HOURS, WINDOW_STEP_HOURS};
use serde_json::{Value, json};

use super::arguments::{Arguments, Chosen};
use crate::table::aligned;

/// All lines of an experiment.
pub struct Results {
    experiment: Experiment,
    command: String,
    seed: u64,
    /// Ours, in the order of the rows: without the cure, then with it.
    lines: Vec<ResultRow>,
    paper: Vec<ResultRow>,
    differences: Vec<(String, Difference)>,
    /// Trainings of this table, and how long they took one after the other.
    trainings: usize,
    epochs: f64,
    busy: f64,
    seconds: f64,
}

/// What stands in a column of a line; nothing where the line has no such thing.
type Cell = fn(&ResultRow) -> String;

impl Results {
    pub fn new(chosen: &Chosen, trials: &[Trial], arguments: &Arguments, seconds: f64) -> Self {
        let mut lines = Vec::new();
        for score in &chosen.scores {
            for contender in &chosen.contenders {
                for cured in [false, true] {
                    let (score, contender) = (score.to_string(), contender.to_string());
                    let is =
                        |trial: &&Trial| trial.score == score && trial.contender == contender && trial.cured == cured;
                    lines.extend(ResultRow::of(&trials.iter().filter(is).collect::<Vec<_>>()));
                }
            }
        }
        let is_ours = |theirs: &ResultRow| {
            lines.iter().any(|ours| ours.score == theirs.score && ours.contender == theirs.contender)
        };
        let differences = chosen.scores.iter().filter_map(|score| {
            let found = difference(trials, &score.to_string(), arguments.seed)?;
            Some((score.to_string(), found))
        });
        let differences = differences.collect();
        let is_trained = |trial: &&Trial| trial.epochs > 0.0;
        let members = |trial: &Trial| trial.contender.parse::<Contender>().map_or(1, |who| who.members());
        Results {
            experiment: chosen.experiment,
            command: command(arguments),
            seed: arguments.seed,
            paper: paper(chosen.experiment).into_iter().filter(is_ours).collect(),
            lines,
            differences,
            trainings: trials.iter().filter(is_trained).map(members).sum(),
            epochs: trials.iter().map(|trial| trial.epochs * members(trial) as f64).sum(),
            busy: trials.iter().map(|trial| trial.seconds).sum(),
            seconds,
        }
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for grid in self.grids() {
            let heading: Vec<&str> = grid.heading.iter().map(String::as_str).collect();
            text += &format!("{}\n\n{}\n", grid.title, aligned(&heading, &grid.rows));
        }
        for line in self.remarks() {
            text += &format!("{line}\n");
        }
        text
    }

    /// For a document.
    pub fn markdown(&self) -> String {
        let mut text = format!("`{}`, version {}, seed {}.\n", self.command, env!("CARGO_PKG_VERSION"), self.seed);
        for grid in self.grids() {
            let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
            text += &format!("\n{}\n\n{}", grid.title, row(&grid.heading));
            text += &format!("|{}\n", "---|".repeat(grid.heading.len()));
            text.extend(grid.rows.iter().map(|cells| row(cells)));
        }
        text += "\n";
        for line in self.remarks() {
            text += &format!("- {line}\n");
        }
        text
    }

    /// By the names that stay.
    pub fn json(&self) -> Value {
        let differences: Vec<Value> = self.differences.iter().map(|(score, difference)| {
            json!({
                "score": score, "of": "strong", "from": "tuned-ce", "mean": difference.mean,
                "low": difference.interval.0, "high": difference.interval.1,
                "blocks": { "windows": difference.block, "low": difference.in_blocks.0, "high": difference.in_blocks.1 },
            })
        }).collect();
        let mut document = json!({
            "experiment": self.experiment.name(),
            "seed": self.seed,
            "table": self.lines.iter().map(|line| line_json(line, true)).collect::<Vec<_>>(),
            "paper": self.paper.iter().map(|line| line_json(line, false)).collect::<Vec<_>>(),
            "trainings": self.trainings,
            "epochs": self.epochs,
            "training_seconds": self.busy,
            "seconds": self.seconds,
        });
        if !differences.is_empty() {
            document["differences"] = json!(differences);
        }
        document
    }

    /// The tables, one for each score.
    pub fn grids(&self) -> Vec<Grid> {
        let mut scores: Vec<&str> = self.lines.iter().map(|line| line.score.as_str()).collect();
        scores.dedup();
        scores.into_iter().map(|score| self.grid(score)).collect()
    }

    /// The table of a score: the paper's line under ours.
    fn grid(&self, score: &str) -> Grid {
        let lines: Vec<(&ResultRow, &str)> = self
            .lines
            .iter()
            .filter(|line| line.score == score)
            .flat_map(|line| {
                let theirs = self.paper.iter().find(|paper| paper.score == score && paper.contender == line.contender);
                // Once, under the first of our lines.
                let theirs = theirs.filter(|_| self.first_of(line));
                let who = if line.cured { "cured" } else { "ours" };
                std::iter::once((line, who)).chain(theirs.map(|theirs| (theirs, "paper")))
            })
            .collect();
        // A column that no line fills is left out: the paper's two tables have different ones.
        let columns: [(&str, Cell); 8] = [
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
            let name = if *who == "paper" || (line.cured && !self.first_of(line)) {
                String::new()
            } else {
                line.contender.clone()
            };
            [name, (*who).to_owned()].into_iter().chain(columns.iter().map(|(_, cell)| cell(line))).collect()
        };
        let what = match self.experiment {
            Experiment::Adult => "Adult, Table 1",
            Experiment::Pollution => "Beijing PM2.5, Table 2",
        };
        Grid { title: format!("{what}: {score}"), heading, rows: lines.iter().map(row).collect() }
    }

    /// Whether no line of the same row stands before it.
    fn first_of(&self, line: &ResultRow) -> bool {
        let same = |other: &&ResultRow| other.score == line.score && other.contender == line.contender;
        self.lines.iter().find(same).is_some_and(|first| first.cured == line.cured)
    }

    /// What else there is to say.
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
            self.trainings, self.epochs, self.busy, self.seconds
        ));
        remarks.push("mean ± deviation over the trainings in which something was learnt; the threshold is τ*, the best on the training rows, and `outside` counts those outside the prior's support".into());
        remarks
    }
}

/// Strong at ½ against tuned cross-entropy at its threshold, where both were run.
fn difference(trials: &[Trial], score: &str, seed: u64) -> Option<Difference> {
    let of = |who: &str| {
        let mut found: Vec<&Trial> =
            trials.iter().filter(|trial| trial.score == score && trial.contender == who).collect();
        found.sort_by_key(|trial| trial.repeat);
        found
    };
    let (strong, tuned) = (of("strong"), of("tuned-ce"));
    let pairs = strong.iter().zip(&tuned).filter(|(strong, tuned)| strong.repeat == tuned.repeat);
    let pairs: Vec<(f64, f64)> =
        pairs.filter_map(|(strong, tuned)| Some((strong.test_half, tuned.test_best?))).collect();
    // So many windows apart, two test parts share no hour.
    Difference::of(&pairs, (TEST_HOURS / WINDOW_STEP_HOURS).min(WINDOWS), seed)
}

fn spread(spread: Option<Spread>, digits: usize) -> String {
    match spread {
        Some(Spread { mean, deviation: Some(deviation) }) => format!("{mean:.digits$} ± {deviation:.*}", digits.min(3)),
        Some(Spread { mean, deviation: None }) => format!("{mean:.digits$}"),
        None => String::new(),
    }
}

fn line_json(line: &ResultRow, ours: bool) -> Value {
    let who = line.contender.parse::<Contender>().ok();
    let spread = |spread: Option<Spread>| spread.map(|spread| json!({ "mean": spread.mean, "sd": spread.deviation }));
    let mut document = json!({
        "score": line.score,
        "contender": line.contender,
        "loss": who.as_ref().and_then(Contender::loss),
        "prior": who.as_ref().and_then(Contender::prior).map(ToString::to_string),
        "cure": line.cured,
        "repeats": line.repeats,
        "successes": line.successes,
        "out_of_support": line.outside,
        "epochs": spread(line.epochs),
        "threshold": spread(line.threshold),
        "train": { "half": spread(line.train_half), "best": spread(line.train_best) },
        "test": { "half": spread(line.test_half), "best": spread(line.test_best) },
    });
    if !ours && let Some(fields) = document.as_object_mut() {
        fields.remove("cure");
    }
    document
}

/// What was typed, as it would be typed again.
fn command(arguments: &Arguments) -> String {
    let mut command = format!("scorewise reproduce {}", arguments.experiment);
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{option} {}", if value.contains(' ') { format!("\"{value}\"") } else { value });
        }
    };
    add("repeats", (arguments.repeats != 100).then(|| arguments.repeats.to_string()));
    add("priors", arguments.priors.clone());
    add("scores", arguments.scores.clone());
    add("seed", (arguments.seed != 0).then(|| arguments.seed.to_string()));
    add(
        "cure",
        match arguments.cure {
            super::arguments::Cure::Both => None,
            super::arguments::Cure::On => Some("on".into()),
            super::arguments::Cure::Off => Some("off".into()),
        },
    );
    if arguments.beyond {
        command += " --beyond";
    }
    command
}
