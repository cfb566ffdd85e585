//! `scorewise completions`: what a shell needs to complete the command.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::outcome::{Failure, Outcome};

/// What `scorewise completions` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise completions bash > ~/.local/share/bash-completion/completions/scorewise\n  \
    scorewise completions fish > ~/.config/fish/completions/scorewise.fish")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// The script for the shell.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "scorewise", &mut script);
    Ok(String::from_utf8(script)?.into())
}
