//! Creates modules from templates and builds them, in each language with an SDK: `hub module new` and `hub module
//! build`.
//!
//! The output of a build depends on the sources, the pinned packages and the tools alone, not on the folder's location,
//! so that a component can be verified against its source.

mod c;
mod cargo;
mod component_cache;
mod embedded;
mod error;
mod job;
mod js;
pub(crate) mod language;
mod manifest;
mod module_toml;
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
use crate::sha256::Sha256Sum;
use job::BuildJob;
use manifest::Manifest;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A built module.
#[derive(Clone, Debug)]
pub struct Built {
    /// The package's name.
    pub name: String,
    /// The component.
    pub component: Vec<u8>,
    /// The points it serves.
    pub points: Vec<Point>,
    /// Checksum of its inputs; `None` if it cannot be determined.
    inputs: Option<Sha256Sum>,
    /// True if an earlier build from the same inputs was reused.
    is_cached: bool,
}

/// Builds the module in a folder and writes `<its name>.wasm` into it, unless that was built from the same inputs.
/// Installs missing packages for the build. Blocks; the progress of the tools goes to standard error.
///
/// # Errors
/// See [`BuildError`].
pub fn build(folder: &Path, symbols: Symbols) -> Result<(Built, PathBuf), BuildError> {
    let built = compile(folder, symbols)?;
    let path = folder.join(&built.name).with_extension("wasm");
    if !built.is_cached {
        embedded::write(&path, &built.component)?;
        component_cache::record(folder, built.inputs, &built.component)?;
    }
    Ok((built, path))
}

/// Builds the module in a folder without writing its component into the folder.
///
/// # Errors
/// See [`BuildError`].
pub fn compile(folder: &Path, symbols: Symbols) -> Result<Built, BuildError> {
    let Some(manifest) = Manifest::read(folder)? else {
        // Cargo itself builds only what has changed.
        let (name, core) = cargo::compile(folder, symbols)?;
        let manifest = module_toml::read(folder, &name)?;
        return finish(name, &core, manifest.as_deref(), None, false);
    };
    if symbols == Symbols::Lines && !matches!(manifest.language, Language::C) {
        return Err(BuildError::Tool(
            "a module in this language has no debug build: its exceptions carry their location".to_owned(),
        ));
    }
    let declared = module_toml::read_for(folder, &manifest)?;
    let folder = folder.canonicalize().map_err(|error| BuildError::Io { path: folder.into(), error })?;
    let tools = install(&folder, &manifest)?;
    let inputs = component_cache::inputs(&folder, &manifest, symbols, &tools);
    if let Some(component) = component_cache::find(&folder, &manifest.name, inputs) {
        // The manifest is in it.
        return finish(manifest.name, &component, None, inputs, true);
    }
    let work = tempfile::tempdir().map_err(|error| BuildError::Io { path: "a temporary folder".into(), error })?;
    let interfaces = module_toml::interfaces(&manifest.points, declared.as_deref());
    let built = build_in(&BuildJob::new(&folder, &manifest, interfaces, work.path())?, symbols)?;
    finish(manifest.name, &built, declared.as_deref(), inputs, false)
}

fn finish(
    name: String,
    built: &[u8],
    manifest: Option<&[u8]>,
    inputs: Option<Sha256Sum>,
    is_cached: bool,
) -> Result<Built, BuildError> {
    let with_manifest = module_toml::add(built, manifest);
    let (component, info) = componentize(&with_manifest).map_err(BuildError::Invalid)?;
    let component = match component {
        Cow::Borrowed(component) => component.to_vec(),
        // The manifest belongs to the outermost module.
        Cow::Owned(wrapped) => module_toml::add(&wrapped, manifest),
    };
    Ok(Built { name, component, points: info.points, inputs, is_cached })
}

/// Installs missing packages for a module's build; returns the versions of the tools.
fn install(folder: &Path, manifest: &Manifest) -> Result<Vec<u8>, BuildError> {
    match manifest.language {
        Language::Js | Language::Ts => {
            js::install(folder)?;
            js::version()
        }
        // The environment records its own versions.
        Language::Python => python::environment(folder).map(|_| vec![]),
        Language::C => c::version(),
        Language::Rust => Ok(vec![]),
    }
}

fn build_in(job: &BuildJob<'_>, symbols: Symbols) -> Result<Vec<u8>, BuildError> {
    match job.manifest.language {
        Language::Js | Language::Ts => js::build(job),
        Language::Python => python::build(job),
        Language::C => c::build(job, symbols),
        Language::Rust => Err(BuildError::Package {
            folder: job.folder.into(),
            why: format!("a module in Rust has a Cargo.toml and no {}", manifest::FILE),
        }),
    }
}
