//! Statistics: numbers counted for owners, each over four periods at once.
//!
//! Invariants: one write changes the day, the week, the month and the lifetime, or none of them; a period begins at
//! 00:00 UTC by the clock alone, and earlier values stay readable under their first day. Players are the owners of the
//! type `player`: their routes and the economy's are two views of the same rows.
//! Tables: `statistics`.

mod model;
mod period;
mod routes;
pub mod service;
mod store;

pub use routes::router;
pub(crate) use routes::{PlayerStatistics, player_statistics};

use crate::http::json::WrittenJson;
use crate::shared_reads::SharedReads;
use crate::values::NetworkId;

/// Leaderboards that are being read, by network and request.
#[derive(Debug, Default)]
pub struct Leaderboards(SharedReads<(NetworkId, String), WrittenJson>);
