//! Begins modules and builds them, in each language that there is an SDK for: what `hub module new` and `hub module build`
//! do.
//!
//! What a build gives depends on the sources, the pinned packages and the tools alone, not on where the folder is, so that
//! anybody can check a component against its source.

mod c;
mod cargo;
mod embedded;
mod js;
mod language;
mod manifest;
mod python;
mod seal;
mod template;
mod toolchain;
mod tools;

pub use language::Language;
pub use template::begin;
pub use toolchain::rustc_version;

use crate::componentize::componentize;
use crate::contract::Point;
use manifest::Manifest;
use std::io;
use std::path::{Path, PathBuf};
use tools::{is_installed, needs, run};

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

/// What a module says of itself in a backtrace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// Its functions' names.
    #[default]
    Names,
    /// Files and lines, too. The component is several times as large.
    Lines,
}

impl Symbols {
    /// The most that the language of a folder's module has.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn most(folder: &Path) -> Result<Self, BuildError> {
        Ok(match Manifest::read(folder)?.map(|manifest| manifest.language) {
            None | Some(Language::Rust | Language::C) => Self::Lines,
            Some(Language::Js | Language::Ts | Language::Python) => Self::Names,
        })
    }
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
            let built = Job::new(&folder, &manifest, work.path())?.build(symbols)?;
            (manifest.name, built)
        }
    };
    let (component, offer) = componentize(&built).map_err(BuildError::Invalid)?;
    Ok(Built { name, component: component.into_owned(), points: offer.points })
}

/// One build of a module that has a manifest.
struct Job<'a> {
    folder: &'a Path,
    manifest: &'a Manifest,
    /// For what is needed during the build only.
    work: &'a Path,
}

impl<'a> Job<'a> {
    /// Begins a build with the contract at hand.
    fn new(folder: &'a Path, manifest: &'a Manifest, work: &'a Path) -> Result<Self, BuildError> {
        let job = Self { folder, manifest, work };
        // The folder of a version bears its first two numbers.
        let version = manifest.contract.rsplit_once('.').map_or("", |(version, _)| version);
        for (name, content) in embedded::under(&format!("wit/{version}/")) {
            embedded::write(&job.wit().join(name), content)?;
        }
        embedded::write(&job.wit().join("module.wit"), manifest.world().as_bytes())?;
        Ok(job)
    }

    fn build(&self, symbols: Symbols) -> Result<Vec<u8>, BuildError> {
        match self.manifest.language {
            Language::Js | Language::Ts | Language::Python if symbols == Symbols::Lines => Err(BuildError::Tool(
                "a module in this language has no debug build: what it throws says where by itself".to_owned(),
            )),
            Language::Js | Language::Ts => js::build(self),
            Language::Python => python::build(self),
            Language::C => c::build(self, symbols),
            Language::Rust => Err(BuildError::Package {
                folder: self.folder.into(),
                why: format!("a module in Rust has a Cargo.toml and no {}", manifest::FILE),
            }),
        }
    }

    /// The folder of the contract, with the module's world in it.
    fn wit(&self) -> PathBuf {
        self.work.join("wit")
    }
}

/// Reads a component of a language whose runtime wants more than the contract, and does without.
fn sealed(output: &Path) -> Result<Vec<u8>, BuildError> {
    let component = std::fs::read(output).map_err(|error| BuildError::Io { path: output.into(), error })?;
    seal::seal(&component).map_err(BuildError::Invalid)
}
