//! A hub under a mixed load while faults are drawn at random from a seed: nodes are killed, paused, isolated, replaced;
//! links are cut; PostgreSQL and NATS restart; disks fill up; clocks are off. Clients record what they sent and what they
//! were told, and checkers compare that with what is stored. `scripts/chaos SECONDS SEED [KIND,KIND…]` runs it.

mod client;
mod commands;
mod data;
mod disks;
mod faults;
mod links;
mod money;
mod report;
mod run;
mod served;
mod site;
mod slots;
mod stalls;
mod stream;
mod told;
mod worlds;
