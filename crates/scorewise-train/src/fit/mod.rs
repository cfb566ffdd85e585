//! FIT: epochs of steps, early stopping on the validation loss, and a history of what happened.
//!
//! | file | what it does |
//! |---|---|
//! | `settings` | how to train, and why each default |
//! | `objective` | what is minimised: losses of two classes and of more, behind one door |
//! | `sample` | the data of a training |
//! | `batch` | the rows of a step, put together |
//! | `optimiser` | from a gradient to a step |
//! | `training` | the loop: steps, validation, best weights |
//! | `parallel` | many trainings side by side |

mod settings;
mod objective;
mod sample;
mod batch;
mod optimiser;
mod training;
mod parallel;

pub use objective::Objective;
pub use optimiser::Method;
pub use parallel::{Job, fit_all, side_by_side};
pub use sample::Sample;
pub use settings::{Keep, Settings, WarmStart};

use std::ops::ControlFlow;

use scorewise::{Purpose, stream};

use crate::net::{Network, Shape};
use scorewise_table::error::Result;
use training::{Plan, Run, Training};

/// What an epoch was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Cross-entropy, before a warm start.
    WarmUp,
    /// The objective itself.
    Main,
}

/// What happened in one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// What it was for, and so which loss the two below are.
    pub phase: Phase,
    /// The mean loss of its steps, each before it was taken.
    pub training: f64,
    /// The loss of the validation rows after it.
    pub validation: f64,
    /// The share of the validation predictions inside the prior's support: at 0 nothing moves any more.
    pub coverage: f64,
}

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All epochs were run.
    Epochs,
    /// The validation loss did not fall for as many epochs as patience allows.
    Patience,
    /// The watcher ended it; the best weights so far are kept.
    Stopped,
    /// A loss or a weight was no longer finite: the rate is too great for these data. The best weights before are kept.
    Diverged,
}

/// A trained network and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The network that is kept; its numbers are finite.
    pub network: Network,
    /// The epochs of cross-entropy before a warm start (asked for, or the cure where nothing else is); none without one.
    pub warm_up: Vec<Epoch>,
    /// The validation loss that the objective began with.
    pub first: f64,
    /// Epoch by epoch. Empty where a training was ended in its warm-up.
    pub history: Vec<Epoch>,
    /// The epoch of `history` whose weights are kept, from 0; nothing where those before it were no worse: a warm start that was
    /// best as it was, or a training that diverged at once.
    pub kept: Option<usize>,
    /// Why it ended.
    pub outcome: Outcome,
    /// Whether anything was learnt: the validation loss fell below that of the first weights, and the predictions are not all on
    /// one side of the best threshold (with more than two classes: not all the same class).
    pub success: bool,
    /// How many dead starts came before this one.
    pub restarts: usize,
}

/// Starts that stay dead before the last one is taken as it is.
const STARTS: usize = 5;

/// Trains a network. After every epoch `watch` sees its number in its phase and what happened, and may end the training; what
/// was best so far is kept. A start that is given up begins again from epoch 0.
///
/// Runs on one thread; many run side by side with [`fit_all`]. The same seed gives the same bits.
pub fn fit(
    shape: &Shape,
    sample: &Sample<'_>,
    settings: &Settings,
    mut watch: impl FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    settings.check()?;
    sample.check(shape, &settings.objective)?;
    let mut restarts = 0;
    loop {
        let may_restart = settings.cure && restarts + 1 < STARTS;
        if let Some(fit) = start(shape, sample, settings, restarts, may_restart, &mut watch)? {
            return Ok(fit);
        }
        restarts += 1;
    }
}

/// One start of a training; nothing where it is dead and may be given up.
fn start(
    shape: &Shape,
    sample: &Sample<'_>,
    settings: &Settings,
    restarts: usize,
    may_restart: bool,
    watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Option<Fit>> {
    let seed = stream(settings.seed, Purpose::Restart, restarts as u64);
    let mut training = Training::new(shape, sample, settings, seed);
    let warm = settings.warm_start_for(shape).and_then(|warm| Some((warm, settings.objective.warm_up()?)));
    let mut plan = Plan::new(settings, may_restart);
    let mut warm_up = Run::default();
    if let Some((warm, objective)) = &warm {
        warm_up = training.run(&Plan::warm_up(settings, warm, objective, may_restart), watch)?;
        if warm_up.is_dead {
            return Ok(None);
        }
        training.move_biases(warm)?;
        plan = plan.after(warm);
        if matches!(warm_up.outcome, Outcome::Stopped | Outcome::Diverged) {
            plan.epochs = 0;
        }
    } else if settings.cure {
        training.centre();
    }
    let mut run = training.run(&plan, watch)?;
    if plan.epochs == 0 {
        run.outcome = warm_up.outcome;
    }
    if run.is_dead {
        return Ok(None);
    }
    let success = (warm_up.fell() || run.fell()) && !training.is_one_sided()?;
    let ended_early = matches!(run.outcome, Outcome::Stopped | Outcome::Diverged);
    // A training may also die on its way, when a step takes all predictions out of the support.
    let died = run.history.last().is_some_and(|epoch| epoch.coverage == 0.0);
    if may_restart && died && !success && !ended_early {
        return Ok(None);
    }
    let Run { first, history, kept, outcome, .. } = run;
    let network = training.network;
    Ok(Some(Fit { network, warm_up: warm_up.history, first, history, kept, outcome, success, restarts }))
}
