//! A bar while networks are trained.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::fit::Epoch;
use scorewise_train::train::Plan;

use crate::interrupt;
use crate::outcome::Failure;

/// Watches trainings that run side by side.
pub struct Watch {
    bar: ProgressBar,
    /// Epochs of each training so far.
    epochs: Vec<AtomicUsize>,
}

impl Watch {
    /// Over so many trainings; `what` they are called.
    pub fn new(what: &str, trainings: usize, plan: &Plan) -> Result<Self, Failure> {
        let phases = if plan.settings.warm_start.is_some() { 2 } else { 1 };
        // Drawn on standard error, and only where that is a terminal.
        let most = trainings.saturating_mul(plan.settings.epochs).saturating_mul(phases);
        let bar = ProgressBar::new(most as u64);
        let of = if trainings > 1 { format!("{trainings} trainings ({what}s)") } else { "training".into() };
        let style =
            ProgressStyle::with_template("{prefix} {bar:30} epoch {pos} of at most {len}, {msg}, at most {eta} left");
        bar.set_style(style?.progress_chars("━╸ "));
        bar.set_prefix(of);
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(Watch { bar, epochs: (0..trainings).map(|_| AtomicUsize::new(0)).collect() })
    }

    /// Sees an epoch of a training; ends it where the user wants to.
    pub fn see(&self, training: usize, _epoch: usize, what: &Epoch) -> ControlFlow<()> {
        if let Some(epochs) = self.epochs.get(training) {
            epochs.fetch_add(1, Ordering::Relaxed);
        }
        if !self.bar.is_hidden() {
            self.bar.set_position(self.epochs.iter().map(|epochs| epochs.load(Ordering::Relaxed) as u64).sum());
            self.bar.set_message(format!("validation loss {:.4}", what.validation));
        }
        if interrupt::stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Takes the bar away; whether the user has stopped the work.
    pub fn end(self) -> bool {
        self.bar.finish_and_clear();
        interrupt::stopped()
    }
}
