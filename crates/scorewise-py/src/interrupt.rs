//! Runs long computations so that Ctrl-C stops them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Runs `work` in another thread and checks for Ctrl-C until it ends. Ctrl-C sets the flag that was passed to `work`, and `work` must then stop.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (send, mut receive) = channel();
        scope.spawn(move || send.send(work(stop)));
        loop {
            let received;
            (receive, received) = py.detach(move || {
                let received = receive.recv_timeout(Duration::from_millis(20));
                (receive, received)
            });
            match received {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the working thread panicked"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(interrupt) = py.check_signals() {
                        stop.store(true, Ordering::Relaxed);
                        let _ = py.detach(move || receive.recv());
                        return Err(interrupt);
                    }
                }
            }
        }
    })
}
