//! Statistics: numbers that owners gather, each counted over four periods at once.
//!
//! Invariants: one write moves the day, the week, the month and the lifetime, or none of them; a period begins by the
//! clock alone, at 00:00 UTC, and what was counted before stays readable under its first day. Players are the owners of
//! the type `player`: their routes and the economy's are two views of the same rows.
//! Tables: `statistics`.

mod model;
mod period;
mod routes;
pub mod service;
mod store;

pub use period::Period;
pub(crate) use routes::router;
