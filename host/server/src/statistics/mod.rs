//! Statistics: numbers counted for owners, each over four periods at once.
//!
//! Invariants: one write changes the day, the week, the month and the lifetime, or none of them; a period begins at
//! 00:00 UTC by the clock alone, and earlier values stay readable under their first day. Players are the owners of the
//! type `player`: their routes and the economy's are two views of the same rows.
//! Tables: `statistics`.

mod model;
mod period;
mod routes;
pub(crate) mod service;
mod store;

pub(crate) use routes::{PlayerStatistics, player_statistics, router};
