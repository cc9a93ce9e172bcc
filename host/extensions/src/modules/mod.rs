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

use crate::component::{Component, ErrorCode, TableRule, Tag};

pub use compiler::open_sandbox_in;
pub use host::ModuleData;
pub use logs::{explain, level_name};
pub use network_state::LoadedModules;
pub use service::key_value::open_store;
pub use state::Modules;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the networks' own WebAssembly at the extension points; recorded calls are in memory",
    tags: &[Tag("Modules", "Upload and activate WebAssembly modules.")],
    routes: routes::router,
    tables: &[
        TableRule::moved("modules").without_players("names, sizes and hashes of code"),
        TableRule::moved("module_names").without_players("names of code"),
        TableRule::moved("module_code").without_players("code"),
        TableRule::moved("extension_points"),
        TableRule::moved("module_store").in_module_store(),
        TableRule::moved("module_store_usage").without_players("sizes").in_module_store(),
    ],
    errors: &[
        ErrorCode::new("invalid_module", &[400], "The file is not a valid module; see the message."),
        ErrorCode::new("unknown_module", &[400, 404], "No such module or version."),
        ErrorCode::new("module_not_ready", &[400], "The module is not compiled yet, or was rejected."),
        ErrorCode::new(
            "failed_trial",
            &[400],
            "The module's trial call with this configuration failed; see the message.",
        ),
        ErrorCode::new("module_in_use", &[400], "The version is part of a chain."),
        ErrorCode::new("unknown_point", &[404], "No such extension point."),
        ErrorCode::new("point_not_offered", &[400], "The module does not export this extension point."),
        ErrorCode::new("nothing_to_roll_back", &[400], "The extension point has no previous chain."),
        ErrorCode::new("unknown_call", &[404], "No such recorded call."),
    ],
    network_state: Some(&LoadedModules),
    creations: Some(&left::UploadedModules),
    forget: |app| app.state::<Modules>().evict_all(),
    ..Component::new(module_path!())
};
