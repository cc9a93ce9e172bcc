//! Permissions: groups of nodes, nodes of players, and what a player may do by them.
//!
//! Invariants: a node is identified by its name, context and world together, and adding one again replaces it; an expired
//! node is neither listed nor counted, from the moment it expires; what a player may do is resolved from what is stored at
//! that moment, so that no answer is ever stale. Names are stored as they were sent; only the resolver compares them
//! without case.
//! Tables: `permission_groups` (each with its nodes, as one row) and `permission_nodes` (the players' own).

mod body;
mod context;
mod model;
mod resolver;
mod routes;
pub(crate) mod service;
mod store;

pub(crate) use routes::router;
