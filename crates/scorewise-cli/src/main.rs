//! The command `scorewise`. The code is in the library, so that the Python package can install the same command.

use std::process::ExitCode;

/// The environment variable with the number of queues of a GPU of NVIDIA.
const GPU_QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

fn main() -> ExitCode {
    // With `--device cuda`, up to 32 groups of networks train at the same time. The driver of the GPU reads the number of its queues from this variable.
    if std::env::var_os(GPU_QUEUES).is_none() {
        // SAFETY: no other thread has been started yet, so none can read the environment at the same time.
        unsafe { std::env::set_var(GPU_QUEUES, "32") };
    }
    ExitCode::from(scorewise_cli::main(std::env::args_os()))
}
