//! Players: who was ever seen, where they are routed from, and the data that games keep about them.
//!
//! Invariants: reading never makes a player; the engine of a player is recorded once; the version of a namespace's data
//! rises by one with every write, and a write that names a version happens only on top of that one.
//! Tables: `players` (on SQLite with its index `player_search`) and `player_data`. The addresses of players are the
//! room `punishments`', their balances and statistics those of `economy` and `statistics`.

mod model;
mod regions;
mod routes;
pub mod service;
mod store;

pub use regions::PlayerRegions;
pub(crate) use routes::router;
