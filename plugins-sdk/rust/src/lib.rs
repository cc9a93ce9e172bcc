//! Write modules for a Network Hub in Rust.
//!
//! A module is a small program that decides something for a network: where a player is sent
//! ([`matchmaking`]), whether a chat line goes out ([`chat`]), what becomes of a punishment ([`punishment`]).
//! The hub runs it inside its own process, isolated, within a few milliseconds. This is a whole one:
//!
//! ```
//! use network_hub_module::matchmaking::{Matchmaking, MatchRequest, Ranking, ServerCandidate};
//! use network_hub_module::CallContext;
//!
//! struct FillUp;
//!
//! impl Matchmaking for FillUp {
//!     fn rank_servers(_: &CallContext, _: &MatchRequest, mut servers: Vec<ServerCandidate>) -> Ranking {
//!         servers.sort_by_key(|server| server.free_slots);
//!         Ok(servers.iter().map(|server| server.index).collect())
//!     }
//! }
//!
//! network_hub_module::matchmaking!(FillUp);
//! ```
//!
//! In `Cargo.toml`: `crate-type = ["cdylib", "rlib"]`. `hub module build` builds it, `hub module push` uploads it.
//!
//! - **Context.** Every call is given a [`CallContext`]: the time, a seed for randomness, the module's configuration
//!   ([`config`]). A module has no clock, randomness, file or socket of its own, so the same call always gives
//!   the same answer, and can be replayed.
//! - **Asking the hub.** [`store`] is a key-value store of the module's own, [`players`] what the hub knows about players,
//!   [`candidates`] the texts of matchmaking candidates. A call may ask for data 8 times.
//! - **Logging.** [`debug!`], [`info!`], [`warn!`] and [`error!`] take what `println!` takes. A panic ends the call
//!   as failed and is logged with its place in the source.
//! - **State.** Every call starts from scratch; whatever is to be kept goes into the [`store`].
//! - **Several points.** Implement several traits and name each in its macro.
//! - **Unit tests** run natively, without a hub: [`testing`] stands in for it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[doc(hidden)]
pub mod bindings;
pub mod candidates;
pub mod chat;
mod config;
#[doc(hidden)]
pub mod entry;
pub mod log;
pub mod matchmaking;
pub mod players;
pub mod punishment;
pub mod store;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

/// The host functions as generated, or what stands in for them in a native build.
#[cfg(target_arch = "wasm32")]
use bindings::host::network_hub::module as host;
#[cfg(not(target_arch = "wasm32"))]
use testing::host;

pub use bindings::host::network_hub::module::types::{CallContext, HostError, PlayerRef, PunishmentKind};
pub use config::{config, try_config};
