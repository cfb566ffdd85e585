//! The experiments of Marchetti et al. (2022), with the published settings and with settings that give better scores.
//!
//! | file | contents |
//! |---|---|
//! | `rows`, `adult`, `pollution` | the training, validation and test rows of one repetition of an experiment |
//! | `inputs`, `least_squares` | the inputs of the pollution forecasts |
//! | `contender` | the forecasting methods that are compared |
//! | `strong` | settings that Marchetti et al. (2022) did not use |
//! | `trial` | one task (a contender in one repetition of an experiment) and its scores |
//! | `run` | runs all tasks as one list of jobs |
//! | `journal` | the results file, with one line for each finished task, from which an interrupted run continues |
//! | `summary` | the rows of a results table |
//! | `paper` | the numbers that Marchetti et al. (2022) published |
//!
//! ```
//! use scorewise_train::reproduce::{Experiment, ExperimentData};
//!
//! let data = ExperimentData::new(Experiment::Pollution)?;
//! let tasks = Experiment::Pollution.tasks(&["tss".parse().unwrap()], &["cosine:0.5,0.1".parse()?], 1, &[true]);
//! let trial = tasks[0].attempt(&data, 0)?;
//! assert!(trial.success && trial.train_best.unwrap() > 0.9);
//! # Ok::<(), scorewise_train::Error>(())
//! ```

mod rows;
mod adult;
mod inputs;
mod least_squares;
mod pollution;
mod contender;
mod strong;
mod trial;
mod run;
mod journal;
mod summary;
mod paper;

pub use adult::Adult;
pub use contender::Contender;
pub use inputs::{PollutionInput, PollutionInputs, Weather};
pub use journal::Journal;
pub use paper::paper;
pub use pollution::{Pollution, TEST_HOURS, WINDOW_STEP_HOURS, WINDOWS, Window};
pub use rows::RepeatRows;
pub use run::perform;
pub use strong::MEMBERS;
pub use summary::{Difference, ResultRow};
pub use trial::{Task, Trial};

use scorewise::{Prior, Score};
use scorewise_table::error::{Error, Result};

use crate::network::{BatchSize, HiddenLayers, NetworkSettings};

/// One of the two experiments of Marchetti et al. (2022).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Income from census data: Table 1 and Figure 2 of Marchetti et al. (2022).
    Adult,
    /// Air pollution in Beijing: Table 2 of Marchetti et al. (2022).
    Pollution,
}

/// The data of an experiment.
#[derive(Clone, Debug)]
pub enum ExperimentData {
    /// Census data, one row for each person.
    Adult(Adult),
    /// Air pollution data, one row for each hour.
    Pollution(Pollution),
}

impl Experiment {
    /// Both experiments of Marchetti et al. (2022).
    pub const ALL: [Experiment; 2] = [Experiment::Adult, Experiment::Pollution];

    /// The name of the experiment as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Adult => "adult",
            Experiment::Pollution => "pollution",
        }
    }

    /// The scores that Marchetti et al. (2022) train for in this experiment.
    #[must_use]
    pub fn scores(self) -> &'static [&'static str] {
        match self {
            Experiment::Adult => &["f1"],
            Experiment::Pollution => &["tss", "csi"],
        }
    }

    /// The contenders for each score: those in the results table of Marchetti et al. (2022), and further priors that are not in that table.
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

    /// Maximum number of repetitions. Each repetition of the pollution experiment uses another window, and the number of windows is fixed. The rows
    /// of the Adult experiment are drawn at random and could be drawn any number of times, so the limit for this experiment is an arbitrary large
    /// number.
    #[must_use]
    pub fn max_repeats(self) -> usize {
        match self {
            Experiment::Adult => 10_000,
            Experiment::Pollution => WINDOWS,
        }
    }

    /// The network settings of Marchetti et al. (2022), except `keep` and `cure`, which the task sets.
    pub(crate) fn settings(self) -> Result<NetworkSettings> {
        let settings = NetworkSettings { hidden: self.hidden()?, ..NetworkSettings::default() };
        Ok(match self {
            Experiment::Adult => NetworkSettings { batch: BatchSize::Rows(64), epochs: 500, patience: 30, ..settings },
            Experiment::Pollution => NetworkSettings { batch: BatchSize::Full, epochs: 1000, patience: 50, ..settings },
        })
    }

    /// The hidden layers of Marchetti et al. (2022).
    pub(crate) fn hidden(self) -> Result<HiddenLayers> {
        match self {
            Experiment::Adult => "50,20,5".parse(),
            Experiment::Pollution => "15,8".parse(),
        }
    }

    /// All tasks of the given contenders (the forecasting methods that are compared). They are ordered by repetition, so that an interrupted run has
    /// results for every contender. `cures` lists the values of the field [`Task::cured`]: there is one task for each of them. The exception is a
    /// contender whose training cannot get stuck. Its result is the same for both values, so each repetition has a single task, with the value false.
    #[must_use]
    pub fn tasks(self, scores: &[Score], contenders: &[Contender], repeats: usize, cures: &[bool]) -> Vec<Task> {
        let mut tasks = Vec::new();
        for repeat in 0..repeats {
            for score in scores {
                for contender in contenders {
                    for (index, cured) in cures.iter().enumerate() {
                        if contender.can_get_stuck() || index == 0 {
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

impl ExperimentData {
    /// Reads the data of an experiment.
    pub fn new(experiment: Experiment) -> Result<Self> {
        Ok(match experiment {
            Experiment::Adult => ExperimentData::Adult(Adult::read()?),
            Experiment::Pollution => ExperimentData::Pollution(Pollution::read()?),
        })
    }

    /// The experiment to which the data belong.
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        match self {
            ExperimentData::Adult(_) => Experiment::Adult,
            ExperimentData::Pollution(_) => Experiment::Pollution,
        }
    }

    /// The training, validation and test rows of one repetition. `inputs` is used only by the pollution experiment.
    #[must_use]
    pub fn rows(&self, repeat: usize, inputs: &PollutionInputs, seed: u64) -> RepeatRows {
        match self {
            ExperimentData::Adult(adult) => adult.repeat_rows(seed),
            ExperimentData::Pollution(pollution) => pollution.window_rows(&Window::of_paper(repeat), inputs, seed),
        }
    }
}
