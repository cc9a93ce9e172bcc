//! Errors of starting a sandbox, and of accepting or loading a module.

/// The sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The engine refused its settings, or its pool does not fit the address space.
    #[error("the WebAssembly engine did not start: {0}")]
    Engine(String),
    /// The folder for compiled code could not be created, or a thread not started.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// An upload did not become a module.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// It is not a valid module; the reason is for its author.
    #[error("{0}")]
    Invalid(String),
    /// The hub failed; the reason is for its operator.
    #[error("{0}")]
    Internal(String),
}

/// A module could not be loaded; the reason is for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

impl From<PrepareError> for LoadError {
    fn from(error: PrepareError) -> Self {
        Self(error.to_string())
    }
}
