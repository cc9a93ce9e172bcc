//! The symbols that stay in a module.

use super::error::BuildError;
use super::language::Language;
use super::manifest::Manifest;
use std::path::Path;

/// Content of a module's backtraces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// Its functions' names.
    #[default]
    Names,
    /// Files and lines, too. The component is several times as large.
    Lines,
}

impl Symbols {
    /// Maximum that the language of a folder's module supports.
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
