//! Players: who was ever seen, the region they are routed from, their language, the data that games store about them, and a
//! player with what other components keep for them, so that a join is one call.
//!
//! Invariants: reading never creates a player; the engine of a player is recorded once; the version of a namespace's data
//! rises by one with every write, and a write that names a version succeeds only on top of that one.
//! Tables: `players` (on SQLite with its index `network_player_search`) and `player_data`, `player_languages`. Players' addresses belong to
//! `punishments`, their balances and statistics to `economy` and `statistics`.

mod includes;
mod language;
mod model;
mod profile;
mod regions;
mod routes;
pub mod service;
mod store;

pub use regions::KnownRegions;
pub use regions::PlayerRegions;
pub use routes::router;
