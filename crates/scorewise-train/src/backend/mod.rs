//! Backends, which train a list of jobs on some hardware. The result of a job is the same to the last bit on any number of threads.

mod cpu;

pub use cpu::{Cpu, in_parallel};

use std::ops::ControlFlow;

use scorewise_table::error::Result;

use crate::fit::{Epoch, Fit};
use crate::job::{Dataset, Job};

/// Trains jobs on some hardware.
pub trait Backend: Sync {
    /// Trains all jobs and returns their results in the order of the jobs.
    ///
    /// If the user stops a job, the job keeps weights of the epochs so far, and the results of jobs that have not begun are `None`. If several
    /// jobs fail, the error of the job that comes first in the list is returned.
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>>;
}

/// The backend that trains on this machine with the given number of threads. Both the command line and Python call this
/// function, so it is the place to choose another backend.
#[must_use]
pub fn open(threads: usize) -> Box<dyn Backend> {
    Box::new(Cpu { threads })
}

/// Receives the progress of jobs while they run, and can stop them. A closure with the parameters of [`Watch::epoch`] implements this
/// trait.
pub trait Watch: Sync {
    /// Called before the first job of a list begins. If jobs are trained in several lists, `first` is the number of jobs in the lists before.
    fn begin(&self, first: usize, jobs: &[Job]) {
        let _ = (first, jobs);
    }

    /// Called after every epoch of every job, with the index of the job and the number of the epoch within its phase (warm-up or main phase). If
    /// this method returns `Break`, the job ends and no other job is begun.
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()>;

    /// Whether the training run should stop. A backend that waits for other machines asks this between epochs.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Called once for every job that has ended without an error, with the time that its training took. If this method returns an error, the job
    /// fails.
    fn finished(&self, job: usize, fit: &Fit, seconds: f64) -> Result<()> {
        let _ = (job, fit, seconds);
        Ok(())
    }
}

impl<F: Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync> Watch for F {
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()> {
        self(job, number, epoch)
    }
}
