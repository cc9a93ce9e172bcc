//! Creates modules from templates and builds them, in each language that there is an SDK for: `hub module new` and
//! `hub module build`.
//!
//! What a build gives depends on the sources, the pinned packages and the tools alone, not on where the folder is, so that
//! anybody can check a component against its source.

mod c;
mod cargo;
mod embedded;
mod error;
mod job;
mod js;
pub(crate) mod language;
mod manifest;
mod python;
mod seal;
mod symbols;
mod template;
mod toolchain;
mod tools;

pub use error::BuildError;
pub use language::Language;
pub use symbols::Symbols;
pub use template::create;
pub use toolchain::{TARGET, rustc_version};

use crate::componentize::componentize;
use crate::contract::Point;
use job::BuildJob;
use manifest::Manifest;
use std::path::{Path, PathBuf};

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

/// Builds the module in a folder and writes `<its name>.wasm` into it. Installs the packages it is to be built with where
/// they are missing. Blocks; the progress of the tools goes to standard error.
///
/// # Errors
/// See [`BuildError`].
pub fn build(folder: &Path, symbols: Symbols) -> Result<(Built, PathBuf), BuildError> {
    let built = compile(folder, symbols)?;
    let path = folder.join(&built.name).with_extension("wasm");
    embedded::write(&path, &built.component)?;
    Ok((built, path))
}

/// Builds the module in a folder without writing its component into the folder.
///
/// # Errors
/// See [`BuildError`].
pub fn compile(folder: &Path, symbols: Symbols) -> Result<Built, BuildError> {
    let (name, built) = match Manifest::read(folder)? {
        None => cargo::compile(folder, symbols)?,
        Some(manifest) => {
            let work =
                tempfile::tempdir().map_err(|error| BuildError::Io { path: "a temporary folder".into(), error })?;
            let folder = folder.canonicalize().map_err(|error| BuildError::Io { path: folder.into(), error })?;
            let built = build_in(&BuildJob::new(&folder, &manifest, work.path())?, symbols)?;
            (manifest.name, built)
        }
    };
    let (component, info) = componentize(&built).map_err(BuildError::Invalid)?;
    Ok(Built { name, component: component.into_owned(), points: info.points })
}

fn build_in(job: &BuildJob<'_>, symbols: Symbols) -> Result<Vec<u8>, BuildError> {
    match job.manifest.language {
        Language::Js | Language::Ts | Language::Python if symbols == Symbols::Lines => Err(BuildError::Tool(
            "a module in this language has no debug build: what it throws says where by itself".to_owned(),
        )),
        Language::Js | Language::Ts => js::build(job),
        Language::Python => python::build(job),
        Language::C => c::build(job, symbols),
        Language::Rust => Err(BuildError::Package {
            folder: job.folder.into(),
            why: format!("a module in Rust has a Cargo.toml and no {}", manifest::FILE),
        }),
    }
}
