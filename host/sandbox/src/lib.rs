//! Runs the WebAssembly modules of networks, with limits.
//!
//! A module is a component that serves extension points of the hub ([`contract::Point`]) as the WIT package
//! `network-hub:module` describes them. This crate knows nothing of HTTP, SQL or what a network is:
//!
//! 1. [`Sandbox::prepare`] makes an upload a module: it is validated, compiled in a child process under limits, and
//!    tried once. What comes back is to be stored.
//! 2. [`Sandbox::load`] makes a stored module ready to be called, on any node: its compiled code comes from memory, else
//!    from disk (recognised by a MAC), else it is compiled again from its [`ComponentSource`].
//! 3. A [`Chain`] holds the modules of one network at one point. [`Sandbox::rank_servers`],
//!    [`Sandbox::rank_worlds`], [`Sandbox::filter_chat`] and [`Sandbox::review_punishment`] run it and say what it
//!    decided, with a [`CallReport`] for each module: answer or failure, time, fuel, memory, logs, host calls.
//!
//! Every call is a fresh instance on a thread of its own pool, with its own memory, fuel and deadline; only
//! [`Instances::Reused`] has calls of one link share instances.
//! What it asks the hub for goes through a [`Host`]: a call is a value and so is its answer, which makes them
//! countable, recordable and repeatable. A module's answer is a proposal: out of bounds, it is a failure.
//!
//! ```no_run
//! # use hub_sandbox::{*, contract::*};
//! # use std::sync::Arc;
//! # async fn example(upload: Vec<u8>, line: chat::Line) -> Result<(), Box<dyn std::error::Error>> {
//! let compiler = Compiler::Child(std::env::current_exe()?);
//! let sandbox = Sandbox::new(SandboxConfig::new(compiler, "cache".into(), [7; 32]))?;
//!
//! let prepared = sandbox.prepare(upload).await?;
//! let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await?;
//! let link = Link::new(LinkConfig {
//!     module,
//!     name: "chat-guard".into(),
//!     version: 1,
//!     config: "{}".into(),
//!     mode: Mode::Active,
//!     instances: Instances::Fresh,
//!     on_failure: OnFailure::Skip,
//!     limits: Limits::of(Point::Chat),
//!     host: Arc::new(EmptyHost),
//! });
//! let chain = Chain::new(vec![Arc::new(link)], CALLS_AT_ONCE);
//!
//! let call = Call { call_id: "1".into(), network_id: "n".into(), now_ms: 1_700_000_000_000, seed: 4 };
//! let outcome = sandbox.filter_chat(&chain, &call, line).await;
//! println!("{:?}", outcome.ruling.decision);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bounds;
pub mod build;
mod cache;
mod call;
pub mod case;
mod chain;
mod clock;
mod compile;
mod componentize;
pub mod contract;
mod engine;
mod failure;
mod host;
mod inspect;
mod limits;
mod linker;
mod module;
mod network;
mod open;
mod operation;
mod priority;
mod report;
mod reuse;
mod run;
mod sandbox;
mod state;
mod texts;
mod threads;
mod ticker;
mod trial;
mod versions;
mod wasi;

pub use chain::{
    BreakerState, CALLS_AT_ONCE, Call, Chain, Instances, Link, LinkConfig, LinkStats, Mode, OnFailure, Outcome,
    Ranking, Shadow, ShadowExample, ShadowStats, Step,
};
pub use compile::{Compiler, child_main};
pub use host::{BoxFuture, EmptyHost, Host, HostAnswer, HostCall, HostCallRecord};
pub use limits::{CompileLimits, Limits, MAX_DURATION_MS, MAX_FOLLOW_UPS, MAX_LINE_CHARS, MAX_REASON_CHARS};
pub use module::{ComponentSource, ModuleHandle, Sha256Sum};
pub use network::UploadPermit;
pub use operation::{
    Candidate, Candidates, FilterChat, Operation, RankAnswer, RankServers, RankWorlds, ReviewPunishment,
};
pub use report::{CallFailure, CallReport, LogLine};
pub use sandbox::{LoadError, PrepareError, Prepared, Sandbox, SandboxConfig, SandboxError};
pub use texts::{CandidateTexts, PlainCandidate, PlainTexts, Text};
