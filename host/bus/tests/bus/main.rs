//! The bus as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
mod interleavings;
mod limits;
mod rendezvous;
mod streams;
mod threads;
