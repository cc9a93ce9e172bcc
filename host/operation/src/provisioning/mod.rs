//! Provisioning: software for machines that run game servers, and device codes for their sign-in.
//!
//! Invariants: the served agent script is the one with the served hash; a bundle is replaced as a whole, and downloads
//! of the previous one complete; a sign-in request of a machine has no effect once its server has registered.
//! Tables: `provisioning_bundles`; the bytes are in `crate::blobs`. Servers that are being provisioned belong to the
//! registry, the component `presence`.

mod agent;
mod bundles;
mod routes;
mod store;

pub use agent::{SignedAgent, signed_agent};

use crate::component::column::{read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::values::Identifier;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "agent script, bundles and device codes for machines that run game servers",
    tags: &[Tag("Provisioning", "Agent script, file bundles, and servers being provisioned.")],
    routes: || agent::router().merge(routes::router()).database_only(),
    tables: &[TableRule::moved("provisioning_bundles").columns(&[
        read::<Identifier>("server_type"),
        text::<255>("file_id"),
        text::<64>("sha256"),
    ])],
    errors: &[ErrorCode::new("unknown_bundle", &[404], "No bundle for this server type.")],
    ..Component::new(module_path!())
};
