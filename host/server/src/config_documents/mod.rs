//! Config documents: one JSON value for each group and namespace, for connectors to share.
//!
//! Invariants: a document is kept as it was sent but for whitespace; registering never changes what is stored; every
//! change is told once, after it is stored, and what changes nothing is not told.
//! Tables: `config_documents`.

mod model;
mod routes;
pub mod service;
mod store;

pub use model::{ConfigDocument, ConfigKey};
pub(crate) use routes::router;
