//! Progress bar of `scorewise train`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::Error;
use scorewise_train::backend::Watch;
use scorewise_train::fit::{Epoch, Fit};
use scorewise_train::plan::Plan;

use crate::interrupt;
use crate::outcome::Failure;

/// Maximum number of training runs whose epochs are counted.
const MAX_COUNTED: usize = 1 << 20;

/// Shows the progress of training runs that are done in parallel, and stops them on a signal.
pub struct ProgressWatch {
    bar: ProgressBar,
    /// Maximum number of epochs of one training run.
    max_epochs: usize,
    /// Number of finished epochs, one counter for each training run. A finished training run counts as the maximum.
    epochs: Vec<AtomicUsize>,
    /// Number of finished training runs.
    finished: AtomicUsize,
}

impl ProgressWatch {
    /// A bar for `training_runs` training runs; `unit` is the singular name of what one training run produces, such as `fold` or `member`.
    pub fn new(unit: &str, training_runs: usize, plan: &Plan) -> Result<Self, Failure> {
        // The bar is drawn on standard error, and hidden if standard error is not a terminal.
        let max_epochs = plan.learners.iter().map(|learner| learner.max_epochs()).max().unwrap_or(1);
        let bar = ProgressBar::new(training_runs.saturating_mul(max_epochs) as u64);
        let style = ProgressStyle::with_template("{prefix} {bar:30} {percent} %, {msg}, {eta} left");
        bar.set_style(style?.progress_chars("━╸ "));
        bar.set_prefix(if training_runs > 1 { format!("training {unit}s") } else { "training".into() });
        bar.enable_steady_tick(Duration::from_millis(200));
        // The number of folds has not been checked yet, so it may be absurdly large.
        let epochs = (0..training_runs.min(MAX_COUNTED)).map(|_| AtomicUsize::new(0)).collect();
        Ok(ProgressWatch { bar, max_epochs, epochs, finished: AtomicUsize::new(0) })
    }

    fn update(&self) {
        if self.bar.is_hidden() {
            return;
        }
        let done = self.epochs.iter().map(|epochs| epochs.load(Ordering::Relaxed).min(self.max_epochs) as u64).sum();
        self.bar.set_position(done);
        let (finished, all) = (self.finished.load(Ordering::Relaxed), self.epochs.len());
        self.bar.set_message(format!("{finished} of {all} done"));
    }

    /// Removes the bar; returns whether a signal has stopped the training.
    pub fn finish(self) -> bool {
        self.bar.finish_and_clear();
        interrupt::is_stop_requested()
    }
}

impl Watch for ProgressWatch {
    fn epoch(&self, job: usize, _: usize, _: &Epoch) -> ControlFlow<()> {
        if let Some(epochs) = self.epochs.get(job) {
            epochs.fetch_add(1, Ordering::Relaxed);
        }
        self.update();
        if interrupt::is_stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn finished(&self, job: usize, _: &Fit) -> Result<(), Error> {
        // A training run that stopped early is complete, so it counts as if all its epochs had been run.
        if let Some(epochs) = self.epochs.get(job) {
            epochs.store(self.max_epochs, Ordering::Relaxed);
        }
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.update();
        Ok(())
    }
}
