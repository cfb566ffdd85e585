//! Foreign decoders on damaged files: a panic within them becomes an error, and says nothing on the way.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives, or `None` where it panicked.
///
/// The first call sets a panic hook that keeps still on threads within such work and else calls the hook set before.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !QUIET.get() {
                before(about);
            }
        }));
    });
    let before = QUIET.replace(true);
    // What the work leaves half done is given up with the error: nobody sees it again.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_no_answer() {
        assert_eq!(guarded(|| 1), Some(1));
        let nothing: Option<u32> = guarded(|| panic!("a decoder at its wits' end"));
        assert_eq!(nothing, None);
    }
}
