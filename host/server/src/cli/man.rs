//! `hub man`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};

#[derive(Args, Debug)]
pub(super) struct Man {
    /// Folder to write the pages into, such as ~/.local/share/man/man1; it is created
    dir: PathBuf,
}

impl Man {
    /// Writes a page for each command, but for those of the API: `hub NOUN --help` describes them.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let cannot = || format!("cannot write into {}", self.dir.display());
        std::fs::create_dir_all(&self.dir).with_context(cannot)?;
        let command = super::help::arrange(super::api::extend(super::Cli::command(), |_| false));
        clap_mangen::generate_to(command, &self.dir).with_context(cannot)
    }
}
