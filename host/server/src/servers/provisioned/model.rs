//! State of a server before it has registered.

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, EnumString};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::geo::Region;
use crate::values::Identifier;

/// Phase of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = ProvisioningPhase)]
pub(crate) enum Phase {
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
pub(crate) enum DesiredState {
    /// The machine runs.
    #[default]
    Running,
    /// The machine exists but does not run.
    Stopped,
}

/// Machine of a server, from a provisioner.
#[derive(Clone, Debug)]
pub(crate) struct MachineSpec {
    pub(crate) server_type: Option<Identifier>,
    pub(crate) display_name: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) desired_state: DesiredState,
    pub(crate) region: Option<Region>,
    pub(crate) server_vm_type: Option<String>,
    pub(crate) ipv4: Option<String>,
}

/// A server that is, or was, provisioned.
#[derive(Clone, Debug)]
pub(crate) struct ProvisionedServer {
    pub(crate) server_id: Identifier,
    pub(crate) spec: MachineSpec,
    pub(crate) phase: Phase,
    pub(crate) verify_url: Option<String>,
    pub(crate) user_code: Option<String>,
    pub(crate) created_at: Millis,
    pub(crate) updated_at: Millis,
}
