//! The Rust toolchain that builds a module.

use super::error::BuildError;
use super::tools::{read, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Target that modules are built for. It has no operating system, and so no WASI.
pub const TARGET: &str = "wasm32-unknown-unknown";

pub(super) const NEEDS: &str = "a module in Rust needs Rust, which rustup installs";

/// Version of the compiler that builds a folder's module, such as `rustc 1.95.0 (59807616e 2026-04-14)`.
///
/// # Errors
/// There is no compiler.
pub fn rustc_version(folder: &Path) -> Result<String, BuildError> {
    let output = read(Command::new("rustc").arg("--version").current_dir(folder), NEEDS)?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// Installs the target's standard library, if it is missing.
pub(super) fn ensure_target(folder: &Path) -> Result<(), BuildError> {
    let query = ["--print", "target-libdir", "--target", TARGET];
    let output = read(Command::new("rustc").args(query).current_dir(folder), NEEDS)?;
    let library = PathBuf::from(String::from_utf8_lossy(&output).trim());
    if library.is_dir() {
        return Ok(());
    }
    run(Command::new("rustup").args(["target", "add", TARGET]).current_dir(folder), NEEDS).map_err(|error| {
        BuildError::Tool(format!("the standard library for {TARGET} is missing and could not be installed: {error}"))
    })
}
