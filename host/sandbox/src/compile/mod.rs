//! Compiling untrusted bytes to native code, in a process of its own.
//!
//! The child reads the limits from standard input, applies them to itself, and gives up files, network and other
//! processes ([`confined`](crate::confined)). Then it reads the upload, and writes either the component and its compiled
//! code or the reason for the failure to standard output.

mod child;
mod parent;
mod protocol;

pub use child::child_main;
pub(crate) use parent::ModuleCompiler;

use crate::componentize::componentize;
use crate::inspect::ModuleInfo;
use std::path::PathBuf;

/// Method of compiling modules.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// By this executable, called with the one argument `compile-module`, which must only call [`child_main`].
    Child(PathBuf),
    /// In this process, without limits. For tools and tests whose modules are trusted.
    InProcess,
}

/// A compiled component.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The component if the upload was a core module.
    pub(crate) wrapped: Option<Vec<u8>>,
    /// Native code and its metadata, serialized by wasmtime.
    pub(crate) artifact: Vec<u8>,
    pub(crate) info: ModuleInfo,
}

/// Checks, wraps if needed, and compiles. The error is for the module's author.
fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Compiled, String> {
    let (component, info) = componentize(bytes)?;
    let artifact =
        engine.precompile_component(&component).map_err(|error| format!("it does not compile: {error:#}"))?;
    Ok(Compiled {
        wrapped: match component {
            std::borrow::Cow::Owned(wrapped) => Some(wrapped),
            std::borrow::Cow::Borrowed(_) => None,
        },
        artifact,
        info,
    })
}
