//! Write modules for a Network Hub in Rust.
//!
//! A module is a small program that decides something for a network: where a player is sent
//! ([`matchmaking`]), whether a chat line goes out ([`chat`]), what happens to a punishment ([`punishment`]), who may join
//! ([`login`]), what a change of a balance comes to ([`economy`]), where a ticket stands in its line ([`queue`]). Or it
//! handles what happened, or what is due, and has the hub do something about it ([`events`], [`schedules`], [`timers`]), or
//! answers requests to the network's own routes ([`endpoints`]).
//! The hub runs it inside its own process, isolated, within a few milliseconds. This is a whole one:
//!
//! ```
//! use network_hub_module::matchmaking::{Matchmaking, MatchRequest, Ranking, ServerCandidate};
//! use network_hub_module::CallContext;
//!
//! struct FillUp;
//!
//! #[network_hub_module::export]
//! impl Matchmaking for FillUp {
//!     fn rank_servers(_: &CallContext, _: &MatchRequest, mut servers: Vec<ServerCandidate>) -> Ranking {
//!         servers.sort_by_key(|server| server.free_slots);
//!         Ok(servers.iter().map(|server| server.index).collect())
//!     }
//! }
//! ```
//!
//! In `Cargo.toml`: `crate-type = ["cdylib", "rlib"]`. `hub module build` builds it, `hub module push` uploads it.
//!
//! - **Context.** Every call is given a [`CallContext`]: the time, a seed for randomness, the module's configuration
//!   ([`config`]). A module has no clock, randomness, file or socket of its own, so the same call always gives
//!   the same answer, and can be replayed.
//! - **Host calls.** [`store`] is the module's own key-value store, [`state`] that of handlers, [`players`] has the hub's
//!   data about players, [`candidates`] the texts of matchmaking candidates. A call has 8 host calls to data, a handler's 32, an
//!   endpoint's 16, a tick's 128.
//! - **Logging.** [`debug!`], [`info!`], [`warn!`] and [`error!`] take the arguments of `println!`. A panic ends the call
//!   as failed and is logged with its place in the source.
//! - **State.** Every call starts with fresh memory; keep data in the [`store`], in handlers in the [`state`].
//! - **Memory.** The allocator comes with this crate, so a module has no `#[global_allocator]` of its own.
//! - **Several points.** Implement several traits, each with its own [`macro@export`].
//! - **Unit tests** run natively, without a hub: [`testing`] stands in for it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[doc(hidden)]
pub mod bindings;
pub mod candidates;
pub mod chat;
mod config;
pub mod economy;
pub mod effects;
pub mod endpoints;
#[doc(hidden)]
pub mod entry;
pub mod events;
pub mod log;
pub mod login;
pub mod matchmaking;
pub mod players;
pub mod punishment;
pub mod queue;
pub mod schedules;
pub mod state;
pub mod store;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod timers;

/// The standard library's allocator, but with a heap that begins in memory which every instance has (`hub module build`
/// reserves it): growing the memory costs a call more than all other work of the hub for it.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The generated host functions, or their stand-in in a native build.
#[cfg(target_arch = "wasm32")]
use bindings::host::network_hub::module as host;
#[cfg(not(target_arch = "wasm32"))]
use testing::host;

pub use bindings::host::network_hub::module::types::{CallContext, Cause, HostError, PlayerRef, PunishmentKind};
pub use config::{config, try_config};
///
/// ```
/// use network_hub_module::CallContext;
/// use network_hub_module::chat::{Chat, Line, Verdict};
///
/// struct NoShouting;
///
/// #[network_hub_module::export]
/// impl Chat for NoShouting {
///     fn filter(_: &CallContext, line: &Line) -> Verdict {
///         Verdict::rewrite(line.message.to_lowercase())
///     }
/// }
/// ```
///
/// A module exports as many points as it serves: one implementation of each trait, on one type or on several. Native
/// builds export nothing; unit tests call the trait's functions. Other traits do not compile:
///
/// ```compile_fail
/// # struct NoShouting;
/// #[network_hub_module::export] // The trait is not one of an extension point.
/// impl Clone for NoShouting {
///     fn clone(&self) -> Self {
///         Self
///     }
/// }
/// ```
pub use network_hub_module_macros::export;
