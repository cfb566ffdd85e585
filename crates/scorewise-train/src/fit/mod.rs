//! What every training has in common, whichever learner it trains and wherever it runs.
//!
//! | file | contents |
//! |---|---|
//! | `objective` | the loss to minimise, for two classes and for more |
//! | `sample` | the rows of one training, borrowed from a data set |
//! | `batch` | logits, labels and weights of the rows of one step |
//! | `course` | when to stop, when to start again, which weights to keep |

mod objective;
mod sample;
mod batch;
mod course;

pub(crate) use batch::Batch;
pub use course::{Action, Course, CourseSummary, Keep, Policy, WarmUpPolicy};
pub use objective::Objective;
pub use sample::Sample;

use crate::learner::Member;

/// Which loss an epoch minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Cross-entropy, before a warm start.
    WarmUp,
    /// The objective itself.
    Main,
}

/// The losses of one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Which loss was minimised; both losses below are of this kind.
    pub phase: Phase,
    /// Mean loss of the batches, each computed before its step.
    pub training: f64,
    /// Loss of the validation rows after the epoch.
    pub validation: f64,
    /// Share of the validation predictions inside the support of the prior. At 0 the gradient is 0 and nothing is learnt any more.
    pub coverage: f64,
}

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The maximum number of epochs was reached.
    Epochs,
    /// The validation loss did not fall for as many epochs as patience allows.
    Patience,
    /// The user stopped it; the best weights so far are kept.
    Stopped,
    /// A loss or a weight was no longer finite: the learning rate is too large for these data. The best weights before are kept.
    Diverged,
}

/// A fitted member and how its training went.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The fitted member; all its numbers are finite.
    pub member: Member,
    /// Epochs of cross-entropy before a warm start; empty without one.
    pub warm_up: Vec<Epoch>,
    /// Validation loss before the first epoch with the objective.
    pub first: f64,
    /// Epochs with the objective. Empty if the training was stopped during its warm-up.
    pub history: Vec<Epoch>,
    /// Index in `history` of the epoch whose weights are kept; `None` if the weights before it were no worse, as after a warm start that
    /// could not be improved or a training that diverged at once.
    pub kept: Option<usize>,
    /// Why the training ended.
    pub stop_reason: StopReason,
    /// Whether anything was learnt: the validation loss fell below that of the initial weights, and the predictions are not all on one
    /// side of the best threshold (with more than two classes: not all of the same class).
    pub success: bool,
    /// Number of dead attempts before this one.
    pub restarts: usize,
}

impl Fit {
    pub(crate) fn new(member: Member, summary: CourseSummary) -> Self {
        let CourseSummary { warm_up, first, history, kept, stop_reason, success, restarts } = summary;
        Fit { member, warm_up, first, history, kept, stop_reason, success, restarts }
    }

    /// Number of epochs of all phases.
    #[must_use]
    pub fn epochs(&self) -> usize {
        self.warm_up.len() + self.history.len()
    }
}
