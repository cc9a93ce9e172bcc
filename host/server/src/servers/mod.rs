//! Game servers: the registry, and who is alive and who is on them.
//!
//! Presence is in memory (`presence/`), fed by register, heartbeats, joins and leaves; the database keeps a copy.
//! Register, unregister, join, leave and world change are written before they are answered, many at once together;
//! heartbeats about every second. At start whatever is inside the offline time is brought back. Where several nodes are
//! one hub, reserved slots are written before anybody is told of them, too.
//!
//! Invariants: a player is on at most one server; a server is online until the offline time has passed since its last
//! heartbeat, judged whenever somebody looks; players and reservations of a server that is not online count for nothing;
//! a player who left for the server they are being transferred to stays shown where they were until they arrive.
//! Tables: `servers`, `server_players`, `slot_reservations`, `provisioned_servers` (those whose machine is made by a provisioner).

mod model;
mod presence;
pub(crate) mod provisioned;
mod saving;
pub mod service;
mod snapshot;
mod store;

pub(crate) use model::{
    Count, Facts, GameState, Heartbeat, KnownServer, Location, PluginReport, RegisteredServer, Registration, Role,
    Search, SoftwareReport, WorldReport,
};
pub use presence::Presence;
pub(crate) use presence::{
    HOLD, LiveWorld, NetworkPresence, PresenceError, Reservation, Server, free_slots,
};
pub(crate) use saving::{bring_back, save, save_reserved, start, stop};
pub(crate) use snapshot::{LiveServer, World};
