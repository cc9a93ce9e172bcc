//! Sessions of game servers and of the players on them: register, heartbeat, unregister, join, change world, leave; and
//! the lists that join the registry with presence and control.
//!
//! The state belongs to `servers`. This component is above it, because a join also ends a transfer and a player's
//! absence, and a list also shows a node agent's reports.

mod routes;
mod service;

pub(crate) use routes::router;
