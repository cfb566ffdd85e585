//! Catches panics of the Parquet and Arrow decoders on damaged files, so that they become errors.
//!
//! This library does not set a panic hook, because a program has only one. The panic hook of a program can call [`is_guarded`] and print
//! nothing if it returns `true`, because the panic is then reported as an error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    /// Whether this thread is inside a call of [`catch_panic`].
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught and reported as an error. The panic hook of a program can call this function.
#[must_use]
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Runs `work` and returns its result; `None` if it panicked.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    // `AssertUnwindSafe` is justified: a panic may leave the decoder in an inconsistent state, but the decoder is not used again.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::{catch_panic, is_guarded};

    #[test]
    fn catch_panic_returns_none_after_a_panic_and_is_guarded_is_true_only_inside_it() {
        assert_eq!(catch_panic(|| 1), Some(1));
        assert_eq!(catch_panic(is_guarded), Some(true));
        let panicked: Option<u32> = catch_panic(|| panic!("a decoder panics"));
        assert_eq!(panicked, None);
        assert!(!is_guarded());
    }
}
