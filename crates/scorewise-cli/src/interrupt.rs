//! Signals that end the program: SIGINT, which is Ctrl-C, and SIGTERM.
//!
//! Work that has something to keep, a training, ends by itself when [`stopped`] tells it to; all other work ends at once. Either way no
//! partial file is left, and the exit code is 128 plus the number of the signal. A second signal ends everything at once.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use scorewise_table::output::remove_partial_files_and_exit;

/// The exit code of the signal that came first; 0 before that.
static CODE: AtomicU8 = AtomicU8::new(0);
/// How many pieces of work end by themselves.
static GRACES: AtomicUsize = AtomicUsize::new(0);

/// The exit code of SIGINT.
const INTERRUPTED: u8 = 130;

/// Listens to the signals of this process from now on. For programs, not for libraries: a host such as Python has its own ways.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    // A file beyond the limit of `ulimit -f` is then an error that names it, and not the end of the program.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|signal| received(128 + signal as u8)));
    }
}

/// Listens to Ctrl-C from now on.
#[cfg(not(unix))]
pub fn install() {
    let _ = ctrlc::set_handler(|| received(INTERRUPTED));
}

/// Runs in a thread of its own, not in the signal's handler, so that it may lock and remove files.
fn received(code: u8) {
    let is_first = CODE.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    if !is_first || GRACES.load(Ordering::SeqCst) == 0 {
        remove_partial_files_and_exit(code.into());
    }
}

/// As long as this lives, the first signal only asks the work to end.
pub struct Grace(());

impl Grace {
    /// From now on.
    pub fn new() -> Self {
        GRACES.fetch_add(1, Ordering::SeqCst);
        Grace(())
    }
}

impl Drop for Grace {
    fn drop(&mut self) {
        GRACES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a signal asks the work to end.
pub fn stopped() -> bool {
    exit_code().is_some()
}

/// The exit code of the signal that came; `None` where none did.
pub fn exit_code() -> Option<u8> {
    Some(CODE.load(Ordering::SeqCst)).filter(|code| *code != 0)
}

/// What the user did, for messages.
pub fn name() -> &'static str {
    if exit_code() == Some(INTERRUPTED) { "Ctrl-C" } else { "SIGTERM" }
}
