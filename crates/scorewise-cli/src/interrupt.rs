//! Handling of the signals SIGINT (Ctrl-C) and SIGTERM.
//!
//! `scorewise train` polls [`is_stop_requested`], stops, and saves the best model so far; `scorewise reproduce` keeps the results of finished
//! training runs; every other command exits at once. Partial files are always removed, and the exit code is 128 plus the number of the signal. A
//! second signal ends the process at once.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use scorewise_table::output::remove_partial_files_and_exit;

/// The exit code that belongs to the first signal received; 0 as long as no signal has been received.
static EXIT_CODE: AtomicU8 = AtomicU8::new(0);
/// The number of [`GracefulStop`] values that exist at this moment.
static GRACEFUL_STOPS: AtomicUsize = AtomicUsize::new(0);

/// The exit code after SIGINT.
const SIGINT_EXIT_CODE: u8 = 130;

/// Installs the signal handlers. Call it only in programs: a library must leave signals to its host, for example Python.
#[cfg(unix)]
pub fn install_signal_handlers() {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    // With a handler for SIGXFSZ, a write beyond `ulimit -f` returns an error instead of terminating the process.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|signal| handle_signal(128 + signal as u8)));
    }
}

/// On systems other than Unix, installs the handler of Ctrl-C.
#[cfg(not(unix))]
pub fn install_signal_handlers() {
    let _ = ctrlc::set_handler(|| handle_signal(SIGINT_EXIT_CODE));
}

/// Handles a signal: stores the exit code, removes partial files and ends the process. If a [`GracefulStop`] exists, the first signal only stores the
/// exit code. This function runs in a separate thread, not in the signal handler itself, so it may take locks and remove files.
fn handle_signal(code: u8) {
    let is_first = EXIT_CODE.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    if !is_first || GRACEFUL_STOPS.load(Ordering::SeqCst) == 0 {
        remove_partial_files_and_exit(code.into());
    }
}

/// While a value of this type exists, the first signal makes [`is_stop_requested`] return true instead of ending the process.
pub struct GracefulStop(());

impl GracefulStop {
    /// Until the returned value is dropped, the first signal does not end the process.
    pub fn new() -> Self {
        GRACEFUL_STOPS.fetch_add(1, Ordering::SeqCst);
        GracefulStop(())
    }
}

impl Drop for GracefulStop {
    /// From now on, a signal ends the process, unless another `GracefulStop` exists.
    fn drop(&mut self) {
        GRACEFUL_STOPS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a signal has been received; if so, the current work should stop.
pub fn is_stop_requested() -> bool {
    exit_code().is_some()
}

/// The exit code that belongs to the first signal received; `None` if no signal has been received.
pub fn exit_code() -> Option<u8> {
    Some(EXIT_CODE.load(Ordering::SeqCst)).filter(|code| *code != 0)
}

/// The name of the signal received, for messages.
pub fn signal_name() -> &'static str {
    if exit_code() == Some(SIGINT_EXIT_CODE) { "Ctrl-C" } else { "SIGTERM" }
}
