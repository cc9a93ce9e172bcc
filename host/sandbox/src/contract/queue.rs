//! `queue.wit`.

use super::PlayerRef;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Highest priority of a ticket; the lowest is its negative.
pub const MAX_PRIORITY: i32 = 1000;

/// A new ticket of a waiting line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// The player, or the leader of a party.
    #[component(name = "player")]
    pub player: PlayerRef,
    /// The other members of the party.
    #[component(name = "members")]
    #[serde(default)]
    pub members: Vec<PlayerRef>,
    /// Type of the servers it waits for.
    #[component(name = "server-type")]
    pub server_type: String,
    /// Type of the worlds it waits for.
    #[component(name = "world-type")]
    pub world_type: Option<String>,
    /// The player's region.
    #[component(name = "region")]
    pub region: Option<String>,
}

/// Decision about a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It waits with this priority.
    #[component(name = "admit")]
    Admit(i32),
    /// It does not wait, for this reason.
    #[component(name = "refuse")]
    Refuse(String),
}
