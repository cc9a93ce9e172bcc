//! A hub under a mixed load while faults are drawn at random from a seed: nodes are killed, paused, isolated, replaced;
//! links are cut; PostgreSQL and NATS restart; disks fill up; clocks are off. Clients record their requests and the
//! answers, and checkers compare these with the stored data. `scripts/chaos SECONDS SEED [KIND,KIND…]` runs it.

#![allow(
    clippy::needless_for_each,
    clippy::redundant_closure_for_method_calls,
    clippy::float_cmp,
    clippy::struct_field_names,
    clippy::cmp_owned,
    clippy::unnecessary_debug_formatting,
    clippy::type_complexity,
    reason = "a tool for developers, kept short; amounts are multiples of a power of two"
)]

mod client;
mod commands;
mod data;
mod database_faults;
mod disks;
mod doubles;
mod faults;
mod items;
mod links;
mod money;
mod report;
mod run;
mod served;
mod site;
mod slots;
mod stalls;
mod strangers;
mod stream;
mod told;
mod worlds;
