//! Presence: the registry of game servers, which of them and which players are online, and who is on which server.
//!
//! Presence is in memory (`memory/`); the database has a copy. What requests wait for (register, unregister, join, leave,
//! join, leave, world change) are saved before the answer, many at once together; heartbeats are saved every second. At
//! start the servers whose offline time has not passed are restored. If several nodes form one hub, reserved slots are
//! they are answered, too. Connectors register, send heartbeats, and report who joins and leaves (`sessions`).
//!
//! Invariants: a player is on at most one server; a server is online until the offline time has passed since its last
//! heartbeat, evaluated at each look-up; players and reservations of an offline server do not count; a player who
//! leaves for the target of their transfer stays on the old server until they arrive.
//! Tables: `servers`, `server_players`, `slot_reservations`, `provisioned_servers` (machines of a provisioner).

mod error;
mod hooks;
mod memory;
mod model;
mod network_state;
pub(crate) mod provisioned;
mod registry;
mod routes;
mod saving;
pub mod service;
mod sessions;
mod snapshot;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use error::ServersError;
pub(crate) use hooks::{AgentReport, Hooks, PresenceHooks};
pub use memory::Presence;
pub(crate) use memory::{
    LiveWorld, NetworkPresence, PresenceError, RESERVATION_TTL, Reservation, Server, free_slots, join_order,
};
#[cfg(test)]
pub(crate) use model::Software;
pub(crate) use model::{
    Count, GameState, Heartbeat, PlayerLocation, PluginReport, Registration, Role, ServerInfo, SoftwareReport,
    WorldReport,
};
pub(crate) use network_state::{PresencePeaks, PresenceState};
pub(crate) use registry::{KnownServer, RegisteredServer, Search};
pub(crate) use routes::router;
pub(crate) use saving::{save, save_reserved, start, stop};
pub(crate) use snapshot::{LiveServer, World};

/// Events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![
        EventSchema::of::<memory::ServerPresence>(EventKind::ServerOnline),
        EventSchema::of::<memory::ServerPresence>(EventKind::ServerOffline),
        EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerJoined),
        EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerLeft),
        EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerSwitched),
    ]
}
