//! Where trainings run. A backend trains a list of jobs; the same job gives the same bits on any number of threads.

mod cpu;

pub use cpu::{Cpu, in_parallel};

use std::ops::ControlFlow;

use scorewise_table::error::Result;

use crate::fit::{Epoch, Fit};
use crate::job::{Dataset, Job};

/// Trains jobs.
pub trait Backend: Sync {
    /// Trains all jobs and returns their results in the order of the jobs.
    ///
    /// If the user stops a job, it ends with its best weights so far, and jobs that have not begun are `None`. The first error in the
    /// order of the jobs is returned.
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>>;
}

/// Follows trainings while they run. A closure of job, epoch number and losses is a watcher too.
pub trait Watch: Sync {
    /// Called when a job begins, on the thread that trains it.
    fn started(&self, job: usize) {
        let _ = job;
    }

    /// Called after every epoch of every job, with the index of the job and the number of the epoch within its phase. `Break` ends the
    /// job and begins no other.
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()>;

    /// Called once for every job that has ended, on the thread that trained it.
    fn finished(&self, job: usize, fit: &Fit) -> Result<()> {
        let _ = (job, fit);
        Ok(())
    }
}

impl<F: Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync> Watch for F {
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()> {
        self(job, number, epoch)
    }
}
