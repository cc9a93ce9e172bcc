//! Program of the hub, for its child processes.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Path of the running program. Its file may already be an upgrade for the next start.
pub fn own_executable() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find the hub's own executable")
}
