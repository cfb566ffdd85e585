//! The hand that stops long work.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static STOPPED: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();

/// From now on the first Ctrl-C asks the work to end, and a second one ends the program.
pub fn listen() {
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if STOPPED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
}

/// Whether Ctrl-C was pressed.
pub fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}
