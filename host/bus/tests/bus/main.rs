//! The bus as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cluster;
mod common;
mod interleavings;
mod limits;
mod nats;
mod rendezvous;
mod streams;
mod threads;
