//! State of a server before it has registered.

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, EnumString};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::values::Identifier;

/// Phase of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = ProvisioningPhase)]
pub enum Phase {
    /// The machine is being created.
    Provisioning,
    /// It waits for a person to open its address and enter its code.
    AwaitingAuth,
    /// Its server has registered.
    Registered,
}

impl Phase {
    /// The stored phase, unless the server has registered.
    pub(super) fn of(stored: &str, registered: bool) -> Self {
        match stored {
            _ if registered => Self::Registered,
            "AWAITING_AUTH" => Self::AwaitingAuth,
            _ => Self::Provisioning,
        }
    }
}

/// Desired state of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, AsRefStr, EnumString)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum DesiredState {
    /// The machine runs.
    #[default]
    Running,
    /// The machine exists but does not run.
    Stopped,
}

/// Machine of a server, from a provisioner.
#[derive(Clone, Debug)]
pub struct MachineSpec {
    pub server_type: Option<Identifier>,
    pub display_name: Option<String>,
    pub provider: Option<String>,
    pub desired_state: DesiredState,
    pub region: Option<Region>,
    pub server_vm_type: Option<String>,
    pub ipv4: Option<String>,
}

/// A server that is, or was, provisioned.
#[derive(Clone, Debug)]
pub struct ProvisionedServer {
    pub server_id: Identifier,
    pub spec: MachineSpec,
    pub phase: Phase,
    pub verify_url: Option<String>,
    pub user_code: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
}
