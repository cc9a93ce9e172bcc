//! Modules: the network's own WebAssembly at the extension points.
//!
//! An upload is compiled and tried, then it is a numbered version that never changes. A point's chain lists the
//! versions that run there, in order; its decision is a proposal that the calling component carries out.
//!
//! Invariants: a version's number is never reused, not even after its deletion; every version in a chain is READY,
//! serves the point and cannot be deleted; a chain is swapped whole, so that each call runs one chain from start to
//! end; a module's store never exceeds its quota; nothing that a module does or says reaches another network.
//! Tables: `modules`, `module_names`, `module_code`, `extension_points`, `module_store`, `module_store_usage`; bytes
//! too large for `module_code` are in `crate::blobs`.

mod compiler;
mod host;
mod left;
mod limits;
mod logs;
mod model;
mod network_state;
mod records;
mod routes;
pub mod service;
mod state;
mod store;

pub use compiler::{open_sandbox_in, own_executable};
pub use host::ModuleData;
pub use left::UploadedModules;
pub use logs::{explain, level_name};
pub use network_state::LoadedModules;
pub use routes::router;
pub use service::key_value::open_store;
pub use state::Modules;
