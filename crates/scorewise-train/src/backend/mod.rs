//! Backends, which run a list of training jobs on one kind of hardware, such as the CPU of this machine or other machines. The result of a job is the
//! same to the last bit on any number of threads.
//!
//! | file | contents |
//! |---|---|
//! | `cpu` | runs jobs on the threads of this machine |
//! | `remote` | divides the list into chunks for workers, for example on other machines, and contains the function that a worker calls |
//! | `cuda` | trains hundreds of small networks at once on a GPU of NVIDIA |
//! | `message` | data sets, jobs and training results as bytes |

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod message;
mod remote;

pub use cpu::{Cpu, in_parallel};
#[cfg(feature = "cuda")]
pub use cuda::Cuda;
pub use remote::{Remote, RemoteRun, train_chunk};

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock};

use scorewise_table::error::Result;

use crate::fit::{Epoch, Fit};
use crate::job::{Dataset, Job};

/// Runs training jobs on one kind of hardware, such as the CPU of this machine or other machines.
pub trait Backend: Sync {
    /// Runs all jobs and returns their results in the order of the jobs.
    ///
    /// If the user stops a job, its result has the weights of one of its epochs so far, and the results of jobs that have not begun are `None`. If
    /// several jobs fail, the error of the job that comes first in the list is returned.
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>>;
}

/// The backend that [`install`] has chosen for this process.
static INSTALLED: RwLock<Option<Arc<dyn Backend + Send>>> = RwLock::new(None);

/// The hardware on which networks are trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Device {
    /// The threads of this machine
    #[default]
    Cpu,
    /// The first GPU of NVIDIA for small networks with dense inputs and without warm start (recipe `paper`), this machine's threads for all else
    Cuda,
    /// The GPU if there is one, otherwise the threads of this machine
    Auto,
}

/// Returns the backend that [`install`] has chosen or, if it has chosen none, the backend of this device; jobs that run on the CPU use the given
/// number of threads. The command line and Python train with this backend. An error says why the GPU cannot be used.
pub fn open(device: Device, threads: usize) -> Result<Arc<dyn Backend>> {
    let installed = INSTALLED.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(backend) = installed {
        return Ok(backend);
    }
    match device {
        Device::Cpu => Ok(Arc::new(Cpu { threads })),
        Device::Cuda => open_cuda(threads),
        Device::Auto => Ok(open_cuda(threads).unwrap_or_else(|_| Arc::new(Cpu { threads }))),
    }
}

/// Opens the GPU.
#[cfg(feature = "cuda")]
fn open_cuda(threads: usize) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(Cuda::open(threads)?))
}

/// The error for a program that was built without support for GPUs.
#[cfg(not(feature = "cuda"))]
fn open_cuda(_threads: usize) -> Result<Arc<dyn Backend>> {
    use scorewise_table::{error::Error, setting::Setting};
    let hint = format!("train with `{}`", Setting("device").to("cpu"));
    Err(Error::setting("device", "this program was built without the feature `cuda`", hint))
}

/// Chooses the backend that [`open`] returns in this process from now on; `None` stands for the threads of this machine. Returns the backend that
/// was chosen before.
pub fn install(backend: Option<Arc<dyn Backend + Send>>) -> Option<Arc<dyn Backend + Send>> {
    std::mem::replace(&mut *INSTALLED.write().unwrap_or_else(PoisonError::into_inner), backend)
}

/// Receives the progress of jobs while they run, and can stop them. A closure with the parameters of [`Watch::epoch`] implements this
/// trait.
pub trait Watch: Sync {
    /// Called before the first job of a list begins. If jobs are trained in several lists, `first` is the number of jobs in the earlier
    /// lists.
    fn begin(&self, first: usize, jobs: &[Job]) {
        let _ = (first, jobs);
    }

    /// Called after every epoch of every job, with the index of the job and the number of the epoch within its phase (warm-up or main phase). If
    /// this method returns `Break`, the job ends and no other job is begun. [`Remote`] calls it for all epochs of a job when the job has ended.
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()>;

    /// Whether the user has stopped the training. [`Remote`] needs this method because it calls [`Watch::epoch`] only after a job has ended.
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
