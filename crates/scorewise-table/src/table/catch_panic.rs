//! Catches panics of the Parquet and Arrow decoders on damaged files, without printing a panic message.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `work`, or `None` if it panicked.
///
/// The first call installs a panic hook that is silent on threads that are running such work and otherwise calls the previous hook.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    let was_quiet = QUIET.replace(true);
    // The decoder is not used again after a panic, so an inconsistent state of it does no harm.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(was_quiet);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn a_panic_gives_none() {
        assert_eq!(catch_panic(|| 1), Some(1));
        let panicked: Option<u32> = catch_panic(|| panic!("a decoder panics"));
        assert_eq!(panicked, None);
    }
}
