//! Modules: the network's own WebAssembly at the extension points.
//!
//! An upload is compiled and tried, and is then a numbered version that never changes. A point's chain names the
//! versions that run there and in which order; what a chain decides is a proposal that the calling component carries out.
//!
//! Invariants: a version's number is never used again, not even after it was deleted; what a chain names is READY,
//! serves the point and can't be deleted; a chain is swapped whole, so that each call runs one chain from start to end;
//! a module's store never holds more than its quota; nothing a module does or says reaches another network.
//! Tables: `modules`, `module_names`, `module_code`, `extension_points`, `module_store`, `module_store_usage`; what is
//! too large for `module_code` is in `crate::blobs`.

mod compiler;
mod host;
mod limits;
mod logs;
mod model;
mod network_state;
mod records;
mod routes;
pub mod service;
mod state;
mod store;

pub(crate) use compiler::{open_sandbox_in, own_executable};
pub(crate) use logs::{explain, level_name};
pub(crate) use network_state::LoadedModules;
pub(crate) use routes::router;
pub(crate) use service::key_value::open_store;
pub use state::Modules;
