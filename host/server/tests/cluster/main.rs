//! Several real hub processes on one PostgreSQL and one NATS: what clients are told is written down, and checked
//! afterwards against what became of it. Nodes are killed, stopped for a while, and cut off meanwhile.
#![allow(unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod apart;
mod changes;
mod control;
mod data;
mod events;
mod faults;
mod fleet;
mod held;
mod money;
mod places;
mod reach;
#[path = "../it/support/events.rs"]
mod stream;
mod upgrade;
mod waits;
