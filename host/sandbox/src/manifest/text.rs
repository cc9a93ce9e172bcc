//! The text of a manifest. Unknown fields are ignored, so that a later version's manifest can be read.

use super::{Endpoint, Events, Grants, Manifest, Schedule, Schema};
use serde::Deserialize;

/// All fields beside each other: serde loses the paths of flattened ones.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManifestText {
    manifest: u32,
    contract: Option<String>,
    name: Option<String>,
    description: Option<String>,
    events: Option<Events>,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
    #[serde(default)]
    schedules: Vec<Schedule>,
    #[serde(default)]
    timers: bool,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    permission_nodes: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
    config: Option<Schema>,
}

impl From<ManifestText> for Manifest {
    fn from(text: ManifestText) -> Self {
        let ManifestText { manifest, contract, name, description, events, endpoints, schedules, timers, config, .. } =
            text;
        let needs = Grants {
            scopes: text.scopes,
            hosts: text.hosts,
            secrets: text.secrets,
            permission_nodes: text.permission_nodes,
            commands: text.commands,
        };
        Self { manifest, contract, name, description, events, endpoints, schedules, timers, needs, config }
    }
}
