//! Progress bar of `scorewise train`.

use std::ops::ControlFlow;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::Error;
use scorewise_train::backend::Watch;
use scorewise_train::fit::{Epoch, Fit};
use scorewise_train::job::Job;

use crate::interrupt;
use crate::outcome::Failure;

/// The number of steps by which one complete training run moves the progress bar.
const STEPS_PER_TRAINING_RUN: usize = 1000;

/// Shows the progress of training runs that are done in parallel, and stops them on a signal.
pub struct ProgressWatch {
    bar: ProgressBar,
    /// The training runs that are known so far, also those that have not started.
    jobs: RwLock<Vec<JobProgress>>,
    /// Number of finished training runs.
    finished: AtomicUsize,
}

/// The progress of one training run.
struct JobProgress {
    /// Maximum number of epochs of the training run.
    max_epochs: usize,
    /// Number of finished epochs of the training run. When the training run is finished, it is set to `max_epochs`, even after an early stop.
    epochs: AtomicUsize,
}

impl ProgressWatch {
    /// A progress bar for about `training_runs` training runs; `unit` is the singular name of what one training run produces: `fold` or `member`.
    pub fn new(unit: &str, training_runs: usize) -> Result<Self, Failure> {
        // The progress bar appears on standard error, and is hidden if standard error is not a terminal.
        let bar = ProgressBar::new(training_runs.saturating_mul(STEPS_PER_TRAINING_RUN) as u64);
        let style = ProgressStyle::with_template("{prefix} {bar:30} {percent} %, {msg}, {eta} left");
        bar.set_style(style?.progress_chars("━╸ "));
        bar.set_prefix(if training_runs > 1 { format!("training {unit}s") } else { "training".into() });
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(ProgressWatch { bar, jobs: RwLock::default(), finished: AtomicUsize::new(0) })
    }

    /// Shows the current progress.
    fn update_bar(&self) {
        if self.bar.is_hidden() {
            return;
        }
        let Ok(jobs) = self.jobs.read() else { return };
        let steps = |job: &JobProgress| {
            STEPS_PER_TRAINING_RUN * job.epochs.load(Ordering::Relaxed).min(job.max_epochs) / job.max_epochs.max(1)
        };
        self.bar.set_position(jobs.iter().map(steps).sum::<usize>() as u64);
        let (finished, all) =
            (self.finished.load(Ordering::Relaxed), self.bar.length().unwrap_or(0) / STEPS_PER_TRAINING_RUN as u64);
        self.bar.set_message(format!("{finished} of {all} done"));
    }

    /// Removes the progress bar; returns whether a signal has stopped the training.
    pub fn finish(self) -> bool {
        self.bar.finish_and_clear();
        interrupt::is_stop_requested()
    }
}

impl Watch for ProgressWatch {
    /// Adds jobs to the progress bar before their training begins. `first` is the number of earlier jobs.
    fn begin(&self, first: usize, jobs: &[Job]) {
        let Ok(mut planned) = self.jobs.write() else { return };
        planned.truncate(first);
        planned.extend(
            jobs.iter().map(|job| JobProgress { max_epochs: job.learner.max_epochs(), epochs: AtomicUsize::new(0) }),
        );
        // The expected number of training runs may be wrong, because small tables get fewer folds and large tables fewer networks. So the length of
        // the bar is set again when the training runs are known.
        if first == 0 || (planned.len() * STEPS_PER_TRAINING_RUN) as u64 > self.bar.length().unwrap_or(0) {
            self.bar.set_length((planned.len() * STEPS_PER_TRAINING_RUN) as u64);
        }
    }

    /// Moves the progress bar after an epoch, and stops the training run if a signal has been received.
    fn epoch(&self, job: usize, _: usize, _: &Epoch) -> ControlFlow<()> {
        if let Some(job) = self.jobs.read().as_deref().ok().and_then(|jobs| jobs.get(job)) {
            job.epochs.fetch_add(1, Ordering::Relaxed);
        }
        self.update_bar();
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether a signal has been received.
    fn is_stopped(&self) -> bool {
        interrupt::is_stop_requested()
    }

    /// Counts a finished training run.
    fn finished(&self, job: usize, _: &Fit, _: f64) -> Result<(), Error> {
        // A training run that stopped early is complete, so it counts as if all its epochs had been run.
        if let Some(job) = self.jobs.read().as_deref().ok().and_then(|jobs| jobs.get(job)) {
            job.epochs.store(job.max_epochs, Ordering::Relaxed);
        }
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.update_bar();
        Ok(())
    }
}
