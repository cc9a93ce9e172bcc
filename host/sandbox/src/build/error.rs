//! Errors of a module's build.

use std::io;
use std::path::PathBuf;

/// A module could not be built. The text is for its author.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A required program is missing or failed; its own messages went to standard error, or follow.
    #[error("{0}")]
    Tool(String),
    /// The folder has no module.
    #[error("{folder}: {why}")]
    Package {
        /// The folder.
        folder: PathBuf,
        /// Problem with it.
        why: String,
    },
    /// The built file is no valid module.
    #[error("the build succeeded, but the result is not a valid module: {0}")]
    Invalid(String),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
}
