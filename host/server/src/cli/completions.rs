//! `hub completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Args, Debug)]
pub(super) struct Completions {
    /// Shell; for bash: `hub completions bash > ~/.local/share/bash-completion/completions/hub`
    shell: Shell,
}

impl Completions {
    pub(super) fn print(self) {
        clap_complete::generate(
            self.shell,
            &mut super::api::extend(super::Cli::command(), |_| true),
            "hub",
            &mut std::io::stdout(),
        );
    }
}
