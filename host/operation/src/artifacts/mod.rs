//! Artifacts: plugin archives stored by a network's owner and installed on servers.
//!
//! Invariants: the bytes of a name and version never change; a link names one artifact of one network, is signed with
//! a secret that never leaves the hub, and expires. Anyone who has the link can download that artifact and nothing
//! else.
//! Table: `artifacts`; the bytes are in `crate::blobs`.

mod link;
mod model;
mod routes;
mod service;
mod store;

use crate::artifacts::model::ArtifactLabel;
use crate::component::column::{read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "plugin archives of a network's owner, and their download links",
    tags: &[Tag("Artifacts", "Files such as plugins, and their download links.")],
    routes: || routes::router().merge(routes::public()),
    tables: &[TableRule::moved("artifacts").columns(&[
        text::<255>("artifact_id"),
        read::<ArtifactLabel>("name"),
        read::<ArtifactLabel>("version"),
        text::<64>("sha256"),
    ])],
    errors: &[
        ErrorCode::new("invalid_link", &[403], "The link is malformed or has an invalid signature."),
        ErrorCode::new("unknown_artifact", &[404], "No such artifact."),
        ErrorCode::new("version_exists", &[400], "This version has other bytes; a version never changes."),
    ],
    ..Component::new(module_path!())
};
