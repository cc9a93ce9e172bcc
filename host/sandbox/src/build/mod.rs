//! Builds a module written in Rust: what `hub module build` does.
//!
//! The bytes depend on the source, its `Cargo.lock` and the toolchain alone, not on where the checkout, the target
//! folder or Cargo's home are, so that anybody can check a component against its source.

mod cargo;
mod toolchain;

pub use toolchain::rustc_version;

use crate::componentize::componentize;
use crate::contract::Point;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The target modules are built for. It has no operating system, and so no WASI.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// A module that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The package's name.
    pub name: String,
    /// The component.
    pub component: Vec<u8>,
    /// The points it serves.
    pub points: Vec<Point>,
}

/// A module could not be built. The text is for its author.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A program that is needed is missing or failed; its own words went to standard error, or follow.
    #[error("{0}")]
    Tool(String),
    /// The folder is not that of a module.
    #[error("{folder}: {why}")]
    Package {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What was built can't be a module.
    #[error("the build succeeded, but its result is no module: {0}")]
    Invalid(String),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Builds the module in a folder and writes `<package name>.wasm` into it. Adds the compilation target where it is
/// missing. Blocks; Cargo's progress goes to standard error.
///
/// # Errors
/// See [`BuildError`].
pub fn build(folder: &Path) -> Result<(Built, PathBuf), BuildError> {
    let built = compile(folder)?;
    let path = folder.join(&built.name).with_extension("wasm");
    std::fs::write(&path, &built.component).map_err(|error| BuildError::Io { path: path.clone(), error })?;
    Ok((built, path))
}

/// Builds the module in a folder without writing into the folder.
///
/// # Errors
/// See [`BuildError`].
pub fn compile(folder: &Path) -> Result<Built, BuildError> {
    let package = cargo::package(folder)?;
    toolchain::ensure_target(folder)?;
    let path = cargo::build(folder, &package)?;
    let core = std::fs::read(&path).map_err(|error| BuildError::Io { path, error })?;
    let (component, offer) = componentize(&core).map_err(BuildError::Invalid)?;
    Ok(Built { name: package.name, component: component.into_owned(), points: offer.points })
}

/// Runs a program to its end, its standard error passed through.
fn run(command: &mut Command) -> Result<Output, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(std::process::Stdio::inherit()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            BuildError::Tool(format!("`{program}` was not found. Building a module needs Rust; rustup installs it"))
        }
        _ => BuildError::Tool(format!("`{program}` did not start: {error}")),
    })?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(BuildError::Tool(format!("`{program}` failed ({})", output.status)))
    }
}
