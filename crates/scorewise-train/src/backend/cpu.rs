//! Trainings on the threads of this machine, each on one thread while there are more jobs than threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use scorewise_table::error::{Error, Result};

use super::{Backend, Watch};
use crate::fit::Fit;
use crate::job::{Dataset, Job};

/// Trains on the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Number of threads. The result does not depend on it.
    pub threads: usize,
}

impl Backend for Cpu {
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>> {
        let ended = AtomicBool::new(false);
        // Threads that have no job of their own share the batches of the others.
        let threads_of_job = (self.threads / jobs.len().max(1)).max(1);
        let results = in_parallel(jobs.len(), self.threads, |number| {
            if ended.load(Ordering::Relaxed) {
                return Ok(None);
            }
            watch.started(number);
            let Job { dataset, split, learner, objective, seed } = &jobs[number];
            let sample = datasets[*dataset].sample(*split);
            let fit = learner.fit(objective, *seed, &sample, threads_of_job, &mut |epoch, losses| {
                let flow = watch.epoch(number, epoch, losses);
                if flow.is_break() {
                    ended.store(true, Ordering::Relaxed);
                }
                flow
            });
            let result = fit.and_then(|fit| watch.finished(number, &fit).map(|()| fit));
            if result.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            result.map(Some)
        })?;
        results.into_iter().collect()
    }
}

/// Calls `work` for 0 to `count` on this many threads, in ascending order; returns the results in that order.
///
/// Parallel work inside `work` (sorting, sweeping) stays on these threads.
pub fn in_parallel<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Result<Vec<T>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .map_err(|error| Error::setting("threads", format!("{threads} cannot be started: {error}"), "ask for fewer"))?;
    let next = AtomicUsize::new(0);
    // Each thread takes the next number that is left: unlike halving the list, this begins them in order.
    let parts = pool.broadcast(|_| {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    });
    let mut results: Vec<(usize, T)> = parts.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
