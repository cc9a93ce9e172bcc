//! The connector against real hubs: the program that `HUB_BINARY` names, else the build beside these tests.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod client;
mod connector;
mod data;
mod example;
mod game;
mod hub;
mod money;
mod outage;
mod overtaken;
#[path = "../../../../host/testing/src/ports.rs"]
mod ports;
mod proxy;
mod recipes;
mod stream;
mod verifier;

/// Waits for up to a minute until this is true.
macro_rules! eventually {
    ($what:expr, $condition:expr) => {
        let end = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        while !$condition {
            assert!(tokio::time::Instant::now() < end, "not in time: {}", $what);
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
}
pub(crate) use eventually;
