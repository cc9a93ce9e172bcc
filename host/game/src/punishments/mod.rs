//! Punishments: bans, mutes, warnings, kicks, of players and of addresses.
//!
//! Invariants: every punishment is reviewed by the network's modules before it is created, except those that a review adds; ids count from 1 in each network; a punishment is active while it is open and has not expired, whether or
//! not the expiry was recorded yet; each is published as CREATED once, and then at most once as REVOKED or EXPIRED; a kick
//! is never active.
//! Tables: `punishments`, `punishment_counters`, `player_addresses` (the addresses players were seen with) and
//! `player_names` (the names they were seen with).

mod body;
mod expiry;
mod import;
mod model;
mod name_right;
pub mod review;
mod routes;
pub mod service;
mod store;
mod values;

use crate::events::{EventKind, EventSchema};

pub(crate) use body::PunishmentBody;
pub use import::{
    ImportedPunishment, ImportedRevocation, check_new, count_of_target, open_ones, revoke_imported, see, write_imported,
};
pub use model::{Actor, Identity, Punishment, PunishmentFilter, PunishmentState, Target};
pub use model::{KnownAddress, NewPunishment, PunishmentTerms};
pub use name_right::NameRight;
pub use routes::router;
pub use values::PunishmentDuration;
pub use values::{IpAddress, PunishmentKind};

/// Starts the background work.
pub fn start(app: &crate::app::App) {
    app.spawn(expiry::watch(app.clone()));
}

/// The events of this component, for the document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::PunishmentChange>(EventKind::Punishment)]
}
