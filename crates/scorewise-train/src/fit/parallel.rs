//! Many trainings side by side: each on one thread, results in their order, the same bits for any number of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Epoch, Fit, Sample, Settings, fit};
use crate::net::Shape;
use scorewise_table::error::{Error, Result};

/// One of many trainings: repeats, folds, members, points of a grid.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The network's shape.
    pub shape: Shape,
    /// Its data.
    pub sample: Sample<'a>,
    /// How to train.
    pub settings: Settings,
}

/// Trains all jobs on so many threads; results in the order of the jobs.
///
/// `watch` sees every epoch of every job: job, epoch, what happened. Where it breaks, that job ends with its best so far, and
/// jobs that have not begun are left out, as nothing: so an interrupt is answered within an epoch, and no half-trained network
/// is taken for a whole one. The first fault in the order of the jobs is returned.
pub fn fit_all(
    jobs: &[Job<'_>],
    threads: usize,
    watch: impl Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync,
) -> Result<Vec<Option<Fit>>> {
    let ended = AtomicBool::new(false);
    let results = side_by_side(jobs.len(), threads, |number| {
        if ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Job { shape, sample, settings } = &jobs[number];
        let result = fit(shape, sample, settings, |epoch, what| {
            let flow = watch(number, epoch, what);
            if flow.is_break() {
                ended.store(true, Ordering::Relaxed);
            }
            flow
        });
        if result.is_err() {
            ended.store(true, Ordering::Relaxed);
        }
        result.map(Some)
    })?;
    results.into_iter().collect()
}

/// Does `work` for 0 to `count` on so many threads, beginning them in this order; results in this order.
///
/// What the work itself spreads over threads (sorting, sweeping) stays on these threads.
pub fn side_by_side<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Result<Vec<T>> {
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
