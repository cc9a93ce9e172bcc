//! Permissions: groups of nodes, nodes of players, and what a player may do by them.
//!
//! Invariants: a node is known by its name, context and world together, and adding one again replaces it; an expired
//! node is neither listed nor counted, from the moment it expires; what a player may do is worked out from what is
//! stored at that moment, so that no answer is ever stale. Names are kept as they were sent; only the resolver reads
//! them without case.
//! Tables: `permission_groups` (each with its nodes, as one row) and `permission_nodes` (the players' own).

mod body;
mod context;
mod model;
mod resolver;
mod routes;
pub mod service;
mod store;

pub use context::{Context, Contexts, World};
pub use model::{Group, Node};
pub(crate) use routes::router;
