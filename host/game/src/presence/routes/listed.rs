//! A server in a list: a registered one, or one whose machine is being provisioned.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::KnownServer;
use crate::presence::provisioned::{DesiredState, Phase, ProvisionedServer};
use crate::presence::routes::record::{ServerRecord, Status};
use crate::presence::sessions::Reachability;
use crate::values::Identifier;

/// A server of the network.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum ListedServer {
    /// The server has registered.
    Registered(Box<ServerRecord>),
    /// It has not registered: its machine is being provisioned.
    Provisioning(ProvisioningRecord),
}

/// A server that has not registered yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProvisioningRecord {
    #[schema(example = "bedwars-9")]
    server_id: Identifier,
    #[schema(value_type = Option<String>, example = "bedwars")]
    server_type: Option<Identifier>,
    display_name: Option<String>,
    /// Always PROVISIONING.
    status: Status,
    /// Time of its first report.
    first_seen: Millis,
    /// Time of its last report.
    last_seen: Millis,
    /// Always false: it has not registered.
    online: bool,
    provisioning: Provisioning,
}

/// State of a machine that is being provisioned.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvisioningInfo)]
struct Provisioning {
    /// Name of the provider.
    #[schema(example = "hetzner")]
    provider: Option<String>,
    phase: Phase,
    desired_state: DesiredState,
    region: Option<Region>,
    /// Type of the machine.
    #[schema(example = "cx32")]
    server_vm_type: Option<String>,
    #[schema(example = "203.0.113.7")]
    ipv4: Option<String>,
}

impl From<ProvisionedServer> for ProvisioningRecord {
    fn from(server: ProvisionedServer) -> Self {
        let spec = server.spec;
        Self {
            server_id: server.server_id,
            server_type: spec.server_type,
            display_name: spec.display_name,
            status: Status::Provisioning,
            first_seen: server.created_at,
            last_seen: server.updated_at,
            online: false,
            provisioning: Provisioning {
                provider: spec.provider,
                phase: server.phase,
                desired_state: spec.desired_state,
                region: spec.region,
                server_vm_type: spec.server_vm_type,
                ipv4: spec.ipv4,
            },
        }
    }
}

impl From<(KnownServer, Reachability)> for ListedServer {
    fn from((server, reachability): (KnownServer, Reachability)) -> Self {
        match server {
            KnownServer::Registered(server) => Self::Registered(Box::new(ServerRecord::new(*server, reachability))),
            KnownServer::Provisioning(server) => Self::Provisioning((*server).into()),
        }
    }
}
