//! REPRODUCE: the paper's experiments, training by training, as they were and beyond.
//!
//! | file | what it does |
//! |---|---|
//! | `part`, `adult`, `pollution` | the rows of a repeat |
//! | `contender` | who takes part |
//! | `strong` | the recipe that goes beyond |
//! | `trial` | one training, from its rows to its scores |
//! | `journal` | results as they come, so that nothing is ever lost |
//! | `summary` | lines of a table |
//! | `paper` | the numbers to stand beside |
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use scorewise_train::reproduce::{Experiment, Stage};
//!
//! let stage = Stage::new(Experiment::Pollution)?;
//! let tasks = Experiment::Pollution.tasks(&["tss".parse().unwrap()], &["cosine:0.5,0.1".parse()?], 1, &[true]);
//! let trial = tasks[0].attempt(&stage, 0, &|_| ControlFlow::Continue(()))?.unwrap();
//! assert!(trial.success && trial.train_best.unwrap() > 0.9);
//! # Ok::<(), scorewise_train::Error>(())
//! ```

mod part;
mod adult;
mod inputs;
mod line;
mod pollution;
mod contender;
mod strong;
mod trial;
mod journal;
mod summary;
mod paper;

pub use adult::Adult;
pub use contender::Contender;
pub use inputs::{Input, Inputs, Weather};
pub use journal::Journal;
pub use paper::paper;
pub use part::Part;
pub use pollution::{LIMIT, Pollution, STEP, TEST, TRAINING, WINDOWS, Window};
pub use strong::MEMBERS;
pub use summary::{Difference, Line};
pub use trial::{Task, Trial};

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use scorewise::{Prior, Score};

use crate::fit::{Epoch, Settings, side_by_side};
use scorewise_table::error::{Error, Result};

/// One of the paper's two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Table 1 and Figure 2.
    Adult,
    /// Table 2.
    Pollution,
}

/// An experiment's data.
#[derive(Clone, Debug)]
pub enum Stage {
    /// People.
    Adult(Adult),
    /// Hours.
    Pollution(Pollution),
}

impl Experiment {
    /// Both.
    pub const ALL: [Experiment; 2] = [Experiment::Adult, Experiment::Pollution];

    /// As a user writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Adult => "adult",
            Experiment::Pollution => "pollution",
        }
    }

    /// The scores that the paper trains for.
    #[must_use]
    pub fn scores(self) -> &'static [&'static str] {
        match self {
            Experiment::Adult => &["f1"],
            Experiment::Pollution => &["tss", "csi"],
        }
    }

    /// The rows of the paper's table, for each score; with the priors that it trains and does not print.
    #[must_use]
    pub fn contenders(self) -> Vec<Contender> {
        let cosine = |mu: f64, delta: f64| Prior::cosine(mu, delta).ok().map(Contender::Sol);
        let uniform = Contender::Sol(Prior::uniform());
        match self {
            Experiment::Adult => {
                let centres = [0.3, 0.5, 0.7].into_iter();
                let cosines = centres.flat_map(|mu| [0.1, 0.2, 0.3].map(|delta| cosine(mu, delta)));
                std::iter::once(uniform).chain(cosines.flatten()).collect()
            }
            Experiment::Pollution => {
                let cosines = [0.1, 0.3, 0.5].into_iter().filter_map(|delta| cosine(0.5, delta));
                [Contender::CrossEntropy, uniform].into_iter().chain(cosines).collect()
            }
        }
    }

    /// How many repeats there can be: windows come to an end, drawn rows do not.
    #[must_use]
    pub fn most_repeats(self) -> usize {
        match self {
            Experiment::Adult => 10_000,
            Experiment::Pollution => WINDOWS,
        }
    }

    /// The paper's settings; objective, seed and cure are left to the task.
    pub(crate) fn settings(self) -> Settings {
        let settings = Settings::new(trial::cross_entropy());
        match self {
            Experiment::Adult => Settings { batch: Some(64), epochs: 500, patience: 30, ..settings },
            Experiment::Pollution => Settings { batch: None, epochs: 1000, patience: 50, ..settings },
        }
    }

    /// Widths of the paper's hidden layers.
    fn hidden(self) -> &'static [usize] {
        match self {
            Experiment::Adult => &[50, 20, 5],
            Experiment::Pollution => &[15, 8],
        }
    }

    /// All trainings of these rows, repeat by repeat, so that unfinished work is worth something for every row. The cure is
    /// for those that can get stuck; without one, the rest would be the same twice.
    #[must_use]
    pub fn tasks(self, scores: &[Score], contenders: &[Contender], repeats: usize, cures: &[bool]) -> Vec<Task> {
        let mut tasks = Vec::new();
        for repeat in 0..repeats {
            for score in scores {
                for contender in contenders {
                    for (at, cured) in cures.iter().enumerate() {
                        if contender.can_get_stuck() || at == 0 {
                            let cured = *cured && contender.can_get_stuck();
                            tasks.push(Task { score: score.clone(), contender: contender.clone(), cured, repeat });
                        }
                    }
                }
            }
        }
        tasks
    }
}

impl std::str::FromStr for Experiment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Experiment::ALL.into_iter().find(|experiment| experiment.name() == text).ok_or_else(|| {
            let problem = format!("there is no experiment `{}`", text.escape_debug());
            Error::setting("reproduce", problem, "write `adult` or `pollution`")
        })
    }
}

impl Stage {
    /// Reads the data of an experiment.
    pub fn new(experiment: Experiment) -> Result<Self> {
        Ok(match experiment {
            Experiment::Adult => Stage::Adult(Adult::read()?),
            Experiment::Pollution => Stage::Pollution(Pollution::read()?),
        })
    }

    /// Which it is.
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        match self {
            Stage::Adult(_) => Experiment::Adult,
            Stage::Pollution(_) => Experiment::Pollution,
        }
    }

    /// The rows of a repeat.
    #[must_use]
    pub fn part(&self, repeat: usize, inputs: &Inputs, seed: u64) -> Part {
        match self {
            Stage::Adult(adult) => adult.part(seed),
            Stage::Pollution(pollution) => pollution.part(&Window::of_paper(repeat), inputs, seed),
        }
    }
}

/// Does all tasks that the journal does not know yet, on so many threads, and writes each down as it ends. `seen` is told of every
/// one, and whether it is new; where `stopped` says so, no further one is begun, those that run are given up, and nothing comes
/// back. The results are in the order of the tasks.
pub fn perform(
    stage: &Stage,
    tasks: &[Task],
    seed: u64,
    threads: usize,
    journal: &Journal,
    seen: impl Fn(&Task, &Trial, bool) + Sync,
    stopped: impl Fn() -> bool + Sync,
) -> Result<Option<Vec<Trial>>> {
    let failed = AtomicBool::new(false);
    let ended = || stopped() || failed.load(Ordering::Relaxed);
    let watch = |_: &Epoch| if ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let work = |number: usize| -> Result<Option<Trial>> {
        let task = &tasks[number];
        if let Some(known) = journal.find(task) {
            seen(task, &known, false);
            return Ok(Some(known));
        }
        if ended() {
            return Ok(None);
        }
        let trial = task.attempt(stage, seed, &watch)?;
        if let Some(trial) = &trial {
            journal.add(trial)?;
            seen(task, trial, true);
        }
        Ok(trial)
    };
    let results = side_by_side(tasks.len(), threads, |number| {
        let result = work(number);
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    })?;
    results.into_iter().collect()
}
