//! Runs training jobs on workers, which may be other processes or other machines.
//!
//! ```text
//! this process   list of jobs ─▶ chunks ─▶ transport ─▶ …                    … ─▶ RemoteRun::receive ─▶ results in the order of the jobs
//! a worker                                    … ─▶ train_chunk (with Cpu) ─▶ …
//! ```
//!
//! The caller passes a function, the transport, that sends the bytes to workers: as tasks of a cluster, as files in a folder, or to
//! threads. It has to make sure that some worker calls [`train_chunk`] for each chunk, in any order and as often as needed, and to pass the
//! bytes that [`train_chunk`] returns to [`RemoteRun::receive`].

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::{Error, Location, Result};

use super::message::{request_hash, response_bytes, response_from_bytes};
use super::{Backend, Cpu, Watch};
use crate::fit::{Epoch, Fit};
use crate::job::{Dataset, Job};

/// Runs training jobs on workers: divides the list of jobs into chunks and passes them to a transport.
///
/// ```
/// use scorewise_train::backend::{Remote, RemoteRun, train_chunk};
///
/// // A transport that trains all chunks in this process. `Remote { chunks: 4, transport }` is the backend.
/// let transport = |run: &RemoteRun<'_>| -> scorewise_train::Result<()> {
///     for (chunk, jobs) in run.chunks().iter().enumerate() {
///         run.receive(chunk, &train_chunk(run.datasets(), jobs, 2))?;
///         if run.is_stopped() {
///             break;
///         }
///     }
///     Ok(())
/// };
/// let backend = Remote { chunks: 4, transport };
/// # use scorewise_train::backend::Backend;
/// # assert!(backend.fit(&[], &[], &|_: usize, _: usize, _: &_| std::ops::ControlFlow::Continue(())).unwrap().is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Remote<T> {
    /// Number of chunks; there are fewer if there are fewer jobs. Results do not depend on this number.
    pub chunks: usize,
    /// The function that sends the chunks to workers and passes their responses to [`RemoteRun::receive`]. It returns when all responses have
    /// been received, or when [`RemoteRun::is_stopped`] is true, or with an error if it has to give up.
    pub transport: T,
}

/// The chunks of one list of jobs, and the responses that have arrived so far.
pub struct RemoteRun<'a> {
    datasets: &'a [Dataset],
    jobs: &'a [Job],
    watch: &'a dyn Watch,
    dataset_bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
    chunks: Vec<Vec<u8>>,
    /// For each chunk, whether its response has arrived.
    received: Vec<AtomicBool>,
    /// Whether the user stopped the run, or a chunk failed.
    stopped: AtomicBool,
    results: Mutex<RemoteResults>,
}

/// The results of the chunks whose responses have arrived.
struct RemoteResults {
    /// The training result of each job; `None` if it has not arrived.
    fits: Vec<Option<Fit>>,
    /// If chunks have failed, the lowest number of a failed chunk, and the error of that chunk.
    error: Option<(usize, Error)>,
}

impl<T: Fn(&RemoteRun<'_>) -> Result<()> + Sync> Backend for Remote<T> {
    /// Runs the jobs on workers and returns their results in the order of the jobs; `None` for a job whose result has not arrived.
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let run = RemoteRun::new(datasets, jobs, watch, self.chunks.clamp(1, jobs.len()))?;
        let sent = (self.transport)(&run);
        run.finish(sent)
    }
}

impl<'a> RemoteRun<'a> {
    /// Divides the jobs into `count` chunks of about the same size, and encodes the data sets and the chunks as bytes.
    fn new(datasets: &'a [Dataset], jobs: &'a [Job], watch: &'a dyn Watch, count: usize) -> Result<Self> {
        let ranges: Vec<Range<usize>> =
            (0..count).map(|chunk| chunk * jobs.len() / count..(chunk + 1) * jobs.len() / count).collect();
        let chunks = ranges.iter().map(|range| Job::to_bytes(&jobs[range.clone()])).collect::<Result<_>>()?;
        Ok(RemoteRun {
            datasets,
            jobs,
            watch,
            dataset_bytes: Dataset::to_bytes(datasets)?,
            ranges,
            chunks,
            received: (0..count).map(|_| AtomicBool::new(false)).collect(),
            stopped: AtomicBool::new(false),
            results: Mutex::new(RemoteResults { fits: jobs.iter().map(|_| None).collect(), error: None }),
        })
    }

    /// All data sets, encoded as bytes. They are the first argument of [`train_chunk`] for every chunk.
    #[must_use]
    pub fn datasets(&self) -> &[u8] {
        &self.dataset_bytes
    }

    /// The jobs of each chunk, encoded as bytes. They are the second argument of [`train_chunk`].
    #[must_use]
    pub fn chunks(&self) -> &[Vec<u8>] {
        &self.chunks
    }

    /// Takes the bytes that [`train_chunk`] returned for the chunk with this index. A second response to the same chunk is ignored.
    ///
    /// This method returns an error if the bytes cannot be used, for example because they are damaged. The transport can then have the
    /// chunk trained again, or give up and return the error. If the training of the chunk failed, it would fail again, so this method stops
    /// the run and returns `Ok`; [`Remote`] then returns the error of the training.
    pub fn receive(&self, chunk: usize, response: &[u8]) -> Result<()> {
        let Some(range) = self.ranges.get(chunk).cloned() else {
            return Err(Error::setting(
                "chunk",
                format!("there is no chunk {chunk}; the greatest chunk number is {}", self.ranges.len() - 1),
                "",
            ));
        };
        let in_chunk = |error: Error| self.error(chunk, format!("{error:#}"));
        let request_hash = request_hash(&self.dataset_bytes, &self.chunks[chunk]);
        let response = response_from_bytes(&request_hash, response).map_err(in_chunk)?;
        if let Ok(fits) = &response {
            self.check(&range, fits).map_err(|problem| self.error(chunk, problem))?;
        }
        if self.received[chunk].swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        match response {
            Ok(fits) => {
                for (job, (fit, seconds)) in range.zip(fits) {
                    if let Err(error) = self.report(job, &fit, seconds) {
                        self.fail(chunk, error);
                    }
                    self.lock().fits[job] = Some(fit);
                }
            }
            Err(problem) => self.fail(chunk, self.error(chunk, problem)),
        }
        Ok(())
    }

    /// Whether no further responses are needed, because the user stopped the run or a chunk failed. The transport should then cancel what it has
    /// sent, and return.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) || self.watch.is_stopped()
    }

    /// Checks that the training results in a response can come from the jobs with these indices.
    fn check(&self, range: &Range<usize>, fits: &[(Fit, f64)]) -> std::result::Result<(), String> {
        if fits.len() != range.len() {
            return Err(format!("the response has {} training results for {} jobs", fits.len(), range.len()));
        }
        for (job, (Fit { member, .. }, _)) in self.jobs[range.clone()].iter().zip(fits) {
            let Dataset { matrix, binned, classes, .. } = &self.datasets[job.dataset];
            let positions = binned.iter().flat_map(|columns| columns.iter()).map(BinnedColumn::positions);
            let fits_rows = member.inputs() == matrix.columns() && positions.eq(member.positions().iter().copied());
            if !fits_rows || member.outputs() != job.objective.outputs(*classes) {
                return Err("the response has a member whose inputs or outputs do not match its job".into());
            }
        }
        Ok(())
    }

    /// Reports all epochs of a job to the [`Watch`], and then reports that the job has ended.
    fn report(&self, job: usize, fit: &Fit, seconds: f64) -> Result<()> {
        for epochs in [&fit.warm_up, &fit.history] {
            for (number, epoch) in epochs.iter().enumerate() {
                if self.watch.epoch(job, number, epoch).is_break() {
                    self.stopped.store(true, Ordering::SeqCst);
                }
            }
        }
        self.watch.finished(job, fit, seconds)
    }

    /// Stops all training because a chunk (a range of the jobs) failed with this error. If several chunks fail, the error of the chunk that has the
    /// lowest number is kept.
    fn fail(&self, chunk: usize, error: Error) {
        self.stopped.store(true, Ordering::SeqCst);
        let mut results = self.lock();
        if results.error.as_ref().is_none_or(|(first, _)| chunk < *first) {
            results.error = Some((chunk, error));
        }
    }

    /// The error for a problem with a chunk. Its message names the chunk and its jobs.
    fn error(&self, chunk: usize, problem: String) -> Error {
        let Range { start, end } = self.ranges[chunk];
        let place = format!("chunk {} of {} (jobs {} to {end})", chunk + 1, self.ranges.len(), start + 1);
        Error::data(Location::file(&place), problem, "")
    }

    /// Locks the results, even if another thread panicked while it held the lock.
    fn lock(&self) -> std::sync::MutexGuard<'_, RemoteResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the training results of all jobs, or the error with which the run ended. `sent` is what the transport returned.
    fn finish(self, sent: Result<()>) -> Result<Vec<Option<Fit>>> {
        let is_stopped = self.is_stopped();
        if let Some((_, error)) = self.lock().error.take() {
            return Err(error);
        }
        sent?;
        let missing = self.received.iter().position(|received| !received.load(Ordering::SeqCst));
        if let Some(chunk) = missing.filter(|_| !is_stopped) {
            return Err(self.error(chunk, "no response has arrived".into()));
        }
        Ok(self.results.into_inner().unwrap_or_else(PoisonError::into_inner).fits)
    }
}

/// The function that a worker calls: trains the jobs of a chunk on the threads of this machine. Takes the bytes of [`RemoteRun::datasets`]
/// and one element of [`RemoteRun::chunks`], and returns the bytes for [`RemoteRun::receive`]. If the training fails, the returned
/// bytes contain the error.
#[must_use]
pub fn train_chunk(datasets: &[u8], jobs: &[u8], threads: usize) -> Vec<u8> {
    // `{:#}` keeps the marks around the names of settings, so that the command line and Python can each write a setting in their own form.
    let response = train(datasets, jobs, threads).map_err(|error| format!("{error:#}"));
    let request_hash = request_hash(datasets, jobs);
    let bytes = response_bytes(request_hash.clone(), &response);
    bytes.or_else(|error| response_bytes(request_hash, &Err(error.to_string()))).unwrap_or_default()
}

/// Decodes the data sets and jobs and trains the jobs. Returns each training result with the duration of the training in seconds.
fn train(datasets: &[u8], jobs: &[u8], threads: usize) -> Result<Vec<(Fit, f64)>> {
    let (datasets, jobs) = (Dataset::from_bytes(datasets)?, Job::from_bytes(jobs)?);
    for (number, Job { dataset, split, .. }) in jobs.iter().enumerate() {
        if datasets.get(*dataset).is_none_or(|dataset| *split >= dataset.splits.len()) {
            let problem = format!("job {number} needs split {split} of data set {dataset}, which does not exist");
            return Err(Error::setting("jobs", problem, ""));
        }
    }
    let seconds = DurationWatch(jobs.iter().map(|_| Mutex::new(0.0)).collect());
    let fits = Cpu { threads }.fit(&datasets, &jobs, &seconds)?;
    let seconds = seconds.0.into_iter().map(|seconds| seconds.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(fits.into_iter().zip(seconds).filter_map(|(fit, seconds)| Some((fit?, seconds))).collect())
}

/// Records how many seconds each job took.
struct DurationWatch(Vec<Mutex<f64>>);

impl Watch for DurationWatch {
    fn epoch(&self, _job: usize, _number: usize, _epoch: &Epoch) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }

    fn finished(&self, job: usize, _fit: &Fit, seconds: f64) -> Result<()> {
        *self.0[job].lock().unwrap_or_else(PoisonError::into_inner) = seconds;
        Ok(())
    }
}
