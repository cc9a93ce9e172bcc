//! Why a module could not be built.

use std::io;
use std::path::PathBuf;

/// A module could not be built. The text is for its author.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A program that is needed is missing or failed; its own messages went to standard error, or follow.
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
