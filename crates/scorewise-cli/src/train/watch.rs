//! A bar while networks are trained.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::backend::Watch;
use scorewise_train::fit::Epoch;
use scorewise_train::plan::Plan;

use crate::interrupt;
use crate::outcome::Failure;

/// Watches trainings that run side by side.
pub struct ProgressWatch {
    bar: ProgressBar,
    /// Epochs of each training so far.
    epochs: Vec<AtomicUsize>,
}

impl ProgressWatch {
    /// Over so many trainings; `what` they are called.
    pub fn new(what: &str, trainings: usize, plan: &Plan) -> Result<Self, Failure> {
        // Drawn on standard error, and only where that is a terminal.
        let most = trainings.saturating_mul(plan.learner.max_epochs());
        let bar = ProgressBar::new(most as u64);
        let of = if trainings > 1 { format!("{trainings} trainings ({what}s)") } else { "training".into() };
        let style =
            ProgressStyle::with_template("{prefix} {bar:30} epoch {pos} of at most {len}, {msg}, at most {eta} left");
        bar.set_style(style?.progress_chars("━╸ "));
        bar.set_prefix(of);
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(ProgressWatch { bar, epochs: (0..trainings).map(|_| AtomicUsize::new(0)).collect() })
    }

    /// Takes the bar away; whether the user has stopped the work.
    pub fn end(self) -> bool {
        self.bar.finish_and_clear();
        interrupt::stopped()
    }
}

impl Watch for ProgressWatch {
    fn epoch(&self, job: usize, _: usize, epoch: &Epoch) -> ControlFlow<()> {
        if let Some(epochs) = self.epochs.get(job) {
            epochs.fetch_add(1, Ordering::Relaxed);
        }
        if !self.bar.is_hidden() {
            self.bar.set_position(self.epochs.iter().map(|epochs| epochs.load(Ordering::Relaxed) as u64).sum());
            self.bar.set_message(format!("validation loss {:.4}", epoch.validation));
        }
        if interrupt::stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
