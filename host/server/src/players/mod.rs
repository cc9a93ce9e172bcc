//! Players: everyone ever seen, the region they are routed from, and the data that games store about them.
//!
//! Invariants: reading never creates a player; the engine of a player is recorded once; the version of a namespace's data
//! rises by one with every write, and a write that names a version succeeds only on top of that one.
//! Tables: `players` (on SQLite with its index `network_player_search`) and `player_data`. Players' addresses belong to
//! `punishments`, their balances and statistics to `economy` and `statistics`.

mod model;
mod regions;
mod routes;
pub(crate) mod service;
mod store;

pub(crate) use model::{LoadRequest, NamespaceData, Profile};
pub use regions::PlayerRegions;
pub(crate) use routes::{Connection, router};
