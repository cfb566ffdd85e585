//! `scorewise completions`: completion scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::outcome::{Failure, Outcome};

/// Arguments of `scorewise completions`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise completions bash > ~/.local/share/bash-completion/completions/scorewise\n  \
    scorewise completions fish > ~/.config/fish/completions/scorewise.fish")]
pub struct CompletionsArguments {
    /// Shell for which the completion script is printed
    shell: Shell,
}

/// Returns the completion script.
pub fn run(arguments: &CompletionsArguments) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::CommandLine::command(), "scorewise", &mut script);
    Ok(String::from_utf8(script)?.into())
}
