//! Runs foreign decoders on damaged files: a panic inside them becomes an error.
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
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    // What the work leaves half done is dropped with the error: nobody sees it again.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::{guarded, is_guarded};

    #[test]
    fn a_panic_becomes_none_and_the_guard_ends_with_the_work() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(is_guarded), Some(true));
        let nothing: Option<u32> = guarded(|| panic!("a decoder gave up"));
        assert_eq!(nothing, None);
        assert!(!is_guarded());
    }
}
