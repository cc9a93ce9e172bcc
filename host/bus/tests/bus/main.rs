//! The bus through its public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod access;
mod cluster;
mod common;
mod interleavings;
mod limits;
mod loss_model;
mod losses;
mod nats;
mod pending;
#[path = "../../../testing/src/ports.rs"]
mod ports;
mod proxy;
mod storage;
mod streams;
mod threads;
