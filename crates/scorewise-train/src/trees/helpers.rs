//! Keeps idle threads awake while trees are trained on several threads.
//!
//! The tasks that threads share while a tree is grown take a fraction of a millisecond. It takes about as long to wake a sleeping thread, above all
//! on virtual machines. So while trees are trained, idle threads look for work instead of going to sleep until they are woken.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A helper is an idle thread that looks for work. If it finds no work for this long, it sleeps for a short time between two searches, so that it
/// does not waste processor time.
const PATIENCE: Duration = Duration::from_millis(2);

thread_local! {
    /// Whether this thread has a job of its own. Such a thread must not become a helper, not even while it waits for another thread,
    /// because it would remain a helper until the training of the other thread ends.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`, during which this thread does not become a helper.
pub(crate) fn while_busy<T>(work: impl FnOnce() -> T) -> T {
    /// Restores the old value of the flag `IS_BUSY` when it is dropped, also after a panic.
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IS_BUSY.set(self.0);
        }
    }
    let _reset = Reset(IS_BUSY.replace(true));
    work()
}

/// Calls `train`. If `threads` is above 1, other threads of the same pool are kept awake until it returns. The number of threads does not affect the
/// result.
pub(super) fn with_helpers<T>(threads: usize, train: impl FnOnce() -> T) -> T {
    if threads < 2 || rayon::current_thread_index().is_none() {
        return train();
    }
    let is_done = AtomicBool::new(false);
    while_busy(|| {
        rayon::in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| help(&is_done));
            }
            // When `train` returns or panics, this value is dropped, which ends the helpers.
            let _end = SetAtEnd(&is_done);
            train()
        })
    })
}

/// Sets a flag to true when it is dropped.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Takes over work of other threads of the pool until `is_done` is set. Returns at once if this thread has a job of its own.
fn help(is_done: &AtomicBool) {
    if IS_BUSY.get() {
        return;
    }
    let mut last_work = Instant::now();
    while !is_done.load(Ordering::Acquire) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            last_work = Instant::now();
        } else if last_work.elapsed() > PATIENCE {
            std::thread::sleep(Duration::from_micros(50));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use super::*;

    #[test]
    fn training_runs_whose_threads_wait_for_each_other_do_not_hang() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let sums = pool.broadcast(|_| {
            with_helpers(3, || {
                let halves = |round: u64| rayon::join(move || (0..round).sum::<u64>(), move || (0..round).sum::<u64>());
                (0..200u64).map(|round| halves(round * 10)).map(|(a, b)| a + b).sum::<u64>()
            })
        });
        let expected: u64 = (0..200u64).map(|round| 10 * round * (10 * round).saturating_sub(1)).sum();
        assert_eq!(sums, vec![expected; 4]);
    }

    #[test]
    fn a_panic_ends_the_helpers() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let train = AssertUnwindSafe(|| pool.install(|| with_helpers(2, || panic!("in training"))));
        let result = std::panic::catch_unwind(train);
        assert!(result.is_err());
        assert_eq!(pool.install(|| with_helpers(2, || 3)), 3);
    }
}
