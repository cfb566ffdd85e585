//! Catches panics of the Parquet and Arrow decoders on damaged files, so that they become errors.
//!
//! Panic hooks belong to programs, so this library sets none. A program whose hook asks [`is_guarded`] can leave out the message of a
//! panic that is reported as an error anyway.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would become an error: for the panic hook of a program.
#[must_use]
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// The result of `work`; `None` if it panicked.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    // The decoder is not used again after a panic, so an inconsistent state of it does no harm.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::{catch_panic, is_guarded};

    #[test]
    fn a_panic_becomes_none_and_the_guard_ends_with_the_work() {
        assert_eq!(catch_panic(|| 1), Some(1));
        assert_eq!(catch_panic(is_guarded), Some(true));
        let panicked: Option<u32> = catch_panic(|| panic!("a decoder panics"));
        assert_eq!(panicked, None);
        assert!(!is_guarded());
    }
}
