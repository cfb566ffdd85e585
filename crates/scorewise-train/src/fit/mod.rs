//! The parts of a training run that do not depend on the learner or on the backend.
//!
//! | file | contents |
//! |---|---|
//! | `objective` | the loss to minimise, for two classes and for more |
//! | `sample` | the rows of one training run, borrowed from a data set |
//! | `batch` | logits, labels and weights of the rows of one optimiser step |
//! | `course` | when to stop, when to start again, which weights to keep |

mod objective;
mod sample;
mod batch;
mod course;

pub(crate) use batch::{Batch, are_neighbours};
pub use course::{Action, Course, CourseSummary, EpochLimits, Keep, Policy, WarmUpPolicy};
pub use objective::Objective;
pub use sample::Sample;

use serde::{Deserialize, Serialize};

use crate::learner::Member;

/// The phase of a training run, which determines the loss that its epochs minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The warm-up, which minimises cross-entropy.
    WarmUp,
    /// The main phase, which minimises the objective of the training run.
    Main,
}

/// The losses of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The phase of the epoch. `training` and `validation` are values of the loss that this phase minimises.
    pub phase: Phase,
    /// Mean loss of the batches of the epoch. The loss of a batch is computed before the weights are updated with its gradient.
    pub training: f64,
    /// Loss of the validation rows after the epoch.
    pub validation: f64,
    /// Share of the validation predictions that lie inside the support of the prior; 1 if the loss has no prior. Predictions outside the support have
    /// the gradient 0, so if the share is 0, usually nothing more can be learnt.
    pub coverage: f64,
}

/// Why a training run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// The maximum number of epochs was reached.
    Epochs,
    /// The validation loss reached no new minimum for as many epochs as the patience setting allows.
    Patience,
    /// The user stopped the training run. The weights of the best or of the last epoch so far are kept, as [`Keep`] says.
    Stopped,
    /// A loss or a weight was no longer finite, usually because the learning rate is too large for the data. The best weights of the earlier
    /// epochs are kept.
    Diverged,
}

/// A fitted member, with the history of its training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The fitted member; all its parameters are finite.
    pub member: Member,
    /// Epochs of the warm-up with cross-entropy; empty if there was no warm-up.
    pub warm_up: Vec<Epoch>,
    /// Validation loss before the first epoch of the main phase.
    pub first: f64,
    /// Epochs of the main phase, which minimises the objective; empty if the training run ended during its warm-up.
    pub history: Vec<Epoch>,
    /// Index in `history` of the epoch whose weights are kept. `None` if the weights before the main phase are kept, for example because the
    /// main phase did not improve on the warm-up or diverged in its first epoch.
    pub kept: Option<usize>,
    /// Why the training run ended.
    pub stop_reason: StopReason,
    /// Whether anything was learnt: in the warm-up or in the main phase the validation loss fell below its value at the start of that phase, and
    /// the validation rows do not all get the same label.
    pub success: bool,
    /// Number of earlier attempts that were given up because they learnt nothing.
    pub restarts: usize,
}

impl Fit {
    pub(crate) fn new(member: Member, summary: CourseSummary) -> Self {
        let CourseSummary { warm_up, first, history, kept, stop_reason, success, restarts } = summary;
        Fit { member, warm_up, first, history, kept, stop_reason, success, restarts }
    }

    /// Number of epochs of the warm-up and the main phase together.
    #[must_use]
    pub fn epochs(&self) -> usize {
        self.warm_up.len() + self.history.len()
    }
}
