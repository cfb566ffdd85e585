//! Progress bar of `scorewise train`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::backend::Watch;
use scorewise_train::fit::Epoch;
use scorewise_train::plan::Plan;

use crate::interrupt;
use crate::outcome::Failure;

/// Shows the progress of training runs that are done in parallel, and stops them on a signal.
pub struct ProgressWatch {
    bar: ProgressBar,
    /// Number of finished epochs, one counter for each training run.
    epochs: Vec<AtomicUsize>,
}

impl ProgressWatch {
    /// A bar for `training_runs` training runs; `unit` is the singular name of what one training run produces, such as `fold` or `member`.
    pub fn new(unit: &str, training_runs: usize, plan: &Plan) -> Result<Self, Failure> {
        // The bar is drawn on standard error, and hidden if standard error is not a terminal.
        let max_epochs = training_runs.saturating_mul(plan.learner.max_epochs());
        let bar = ProgressBar::new(max_epochs as u64);
        let prefix =
            if training_runs > 1 { format!("{training_runs} training runs ({unit}s)") } else { "training".into() };
        let style =
            ProgressStyle::with_template("{prefix} {bar:30} epoch {pos} of at most {len}, {msg}, at most {eta} left");
        bar.set_style(style?.progress_chars("━╸ "));
        bar.set_prefix(prefix);
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(ProgressWatch { bar, epochs: (0..training_runs).map(|_| AtomicUsize::new(0)).collect() })
    }

    /// Removes the bar; returns whether a signal has stopped the training.
    pub fn finish(self) -> bool {
        self.bar.finish_and_clear();
        interrupt::is_stop_requested()
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
        if interrupt::is_stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
