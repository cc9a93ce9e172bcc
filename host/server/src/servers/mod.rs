//! Game servers: the registry, and presence, which is the online servers and the players on them.
//!
//! Presence is in memory (`presence/`); the database has a copy. Changes that requests wait for (register, unregister,
//! join, leave, world change) are saved before the answer, many at once together; heartbeats are saved every second. At
//! start the servers whose offline time has not passed are restored. If several nodes form one hub, reserved slots are
//! saved before the answer, too. The routes are in `sessions`.
//!
//! Invariants: a player is on at most one server; a server is online until the offline time has passed since its last
//! heartbeat, evaluated at each look-up; players and reservations of an offline server do not count; a player who
//! leaves for the target of their transfer stays on the old server until they arrive.
//! Tables: `servers`, `server_players`, `slot_reservations`, `provisioned_servers` (machines of a provisioner).

mod error;
mod model;
mod network_state;
mod presence;
pub(crate) mod provisioned;
mod registry;
mod saving;
pub mod service;
mod snapshot;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use error::ServersError;
#[cfg(test)]
pub(crate) use model::Software;
pub(crate) use model::{
    Count, GameState, Heartbeat, PlayerLocation, PluginReport, Registration, Role, ServerInfo, SoftwareReport,
    WorldReport,
};
pub(crate) use network_state::PresenceState;
pub use presence::Presence;
pub(crate) use presence::{
    LiveWorld, NetworkPresence, PresenceError, RESERVATION_TTL, Reservation, Server, free_slots, join_order,
};
pub(crate) use registry::{KnownServer, RegisteredServer, Search};
pub(crate) use saving::{save, save_reserved, start, stop};
pub(crate) use snapshot::{LiveServer, World};

/// Events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![
        EventSchema::of::<presence::ServerPresence>(EventKind::ServerOnline),
        EventSchema::of::<presence::ServerPresence>(EventKind::ServerOffline),
        EventSchema::of::<presence::PlayerPresence>(EventKind::PlayerJoined),
        EventSchema::of::<presence::PlayerPresence>(EventKind::PlayerLeft),
        EventSchema::of::<presence::PlayerPresence>(EventKind::PlayerSwitched),
    ]
}
