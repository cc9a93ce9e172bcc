//! Several real hub processes on one PostgreSQL and one NATS. Nodes are killed, paused and disconnected under load, and
//! every acknowledgement to clients is checked against the final state.
#![allow(unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod any_node;
mod belonging;
mod bus_losses;
#[path = "../../../bus/tests/bus/proxy.rs"]
mod bus_proxy;
mod chaos;
mod chat_history;
mod client;
mod clocks;
mod compare_and_set;
mod control;
mod database_epoch;
mod deliveries;
mod delivery_model;
mod endpoints;
mod events;
mod faults;
mod fleet;
mod forgetting;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/modules/handlers/handler.rs"]
mod handler;
mod handlers;
mod idle;
mod imports;
mod isolation;
mod lease_model;
mod leases;
mod lines;
mod long_requests;
mod modules;
mod moves;
mod payments;
mod play_time;
mod player_sessions;
mod propagation;
mod purchase_model;
mod reachability;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/webhooks/receiver.rs"]
mod receiver;
mod rights;
mod routing;
mod schedules;
mod secrets;
mod session_model;
mod slots;
#[path = "../it/support/events.rs"]
mod stream;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/modules/handlers/ticker.rs"]
mod ticker;
mod told;
mod upgrade;
mod usage;
mod webhooks;
