//! Matchmaking: the best server or world for a player, and a slot reserved there until they arrive.
//!
//! Works on presence alone, so that a match needs no database, unless it asks for an owner's world or several nodes are one
//! hub: then the slot is saved before it is answered. Where the built-in policy decides, candidates are evaluated and one is
//! chosen under a single lock. Where the network's modules decide, they rank outside the lock, and the first ranked candidate
//! that still has room is chosen, so that no slot is given away twice. Many candidates are surveyed beside the threads
//! that serve requests, some at a time under the lock; modules and explanations get the best thousand of them.
//!
//! Reservations are part of presence, so there are no tables.

mod best_servers;
mod candidate;
mod direct;
mod explanation;
mod model;
mod offer;
mod policy;
mod reserve;
mod routes;
mod service;
mod survey;

pub(crate) use routes::router;
