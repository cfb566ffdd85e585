//! Runs training jobs on the threads of this machine. A job uses several threads only if there are fewer jobs than threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use scorewise_table::error::{Error, Result};

use super::{Backend, Watch};
use crate::fit::Fit;
use crate::job::{Dataset, Job};
use crate::trees::while_busy;

/// Runs training jobs on the threads of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Number of threads. Results do not depend on this number.
    pub threads: usize,
}

impl Backend for Cpu {
    /// Runs the jobs and returns their results in the order of the jobs; `None` for a job that was not begun.
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>> {
        let ended = AtomicBool::new(false);
        // If there are more threads than jobs, the threads are divided among the jobs, and the threads of one job share the work of each batch.
        let threads_of_job = (self.threads / jobs.len().max(1)).max(1);
        let results = in_parallel(jobs.len(), self.threads, |number| {
            if ended.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let start = Instant::now();
            let Job { dataset, split, learner, objective, seed } = &jobs[number];
            let sample = datasets[*dataset].sample(*split);
            let fit = learner.fit(objective, *seed, &sample, threads_of_job, &mut |epoch, losses| {
                let flow = watch.epoch(number, epoch, losses);
                if flow.is_break() {
                    ended.store(true, Ordering::Relaxed);
                }
                flow
            });
            let seconds = start.elapsed().as_secs_f64();
            let result = fit.and_then(|fit| watch.finished(number, &fit, seconds).map(|()| fit));
            if result.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            result.map(Some)
        })?;
        results.into_iter().collect()
    }
}

/// Calls `work` with every number from 0 to `count` − 1, on the given number of threads. The calls begin in ascending order of the numbers, and the
/// results are returned in this order.
///
/// Parallel operations inside `work`, such as sorting, run on these threads too.
pub fn in_parallel<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Result<Vec<T>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|error| {
        Error::setting("threads", format!("{threads} threads cannot be started: {error}"), "use fewer threads")
    })?;
    let next = AtomicUsize::new(0);
    // Each free thread takes the lowest number that no thread has taken yet, so that the calls begin in ascending order of the numbers. Rayon's
    // parallel iterators would split the range of numbers in halves instead.
    let parts = pool.broadcast(|_| {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            // While a thread works on its own job, it must not help to train the trees of another job, because its own job would have to wait.
            done.push((number, while_busy(|| work(number))));
        }
    });
    let mut results: Vec<(usize, T)> = parts.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
