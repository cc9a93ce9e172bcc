//! Matchmaking: the best server or world for a player, and a slot kept there until they arrive.
//!
//! Works on presence alone, so that a find touches no database, but for one that asks for an owner's world; where several
//! nodes are one hub, the slot is written down before it is told of. Candidates are judged and, where the built-in policy
//! decides, one is taken under a single lock. Where the network's modules decide, they rank outside the lock and the first
//! ranked candidate that still has room is taken: whatever happens meanwhile, a slot is given away once.
//!
//! The room owns no tables: reservations are part of presence.

mod candidate;
mod direct;
mod explanation;
mod model;
mod offer;
mod policy;
mod routes;
pub mod service;

pub(crate) use routes::router;
