//! Runs the WebAssembly modules of networks, with limits.
//!
//! A module is a component that serves extension points of the hub ([`contract::Point`]) as the WIT package
//! `network-hub:module` describes them. This crate knows nothing of HTTP, SQL or what a network is:
//!
//! 1. [`Sandbox::prepare`] makes an upload a module: it is validated, compiled in a child process under limits, and
//!    tried once. The outcome is to be stored.
//! 2. [`Sandbox::load`] makes a stored module ready to be called, on any node: its compiled code comes from memory, else
//!    from disk (authenticated by a MAC), else it is compiled again from its [`ComponentSource`].
//! 3. A [`Chain`] holds the modules of one network at one point. [`Sandbox::run_chain`] runs it for an [`Operation`] and
//!    gives what it decided, with a [`CallReport`] for each module: answer or failure, time, fuel, memory, logs, host
//!    calls.
//!
//! Every call is a fresh instance on a thread of the sandbox's own, with its own memory, fuel and deadline; only
//! [`Instances::Reused`] has calls of one link share instances.
//! Its calls to the hub go through a [`Host`]: a host call is a value and so is its answer, so that they are counted,
//! recorded and replayed. A module's answer is a proposal: out of bounds, it is a failure.
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
//! let chain = Chain::new(vec![Arc::new(link)], MAX_CHAIN_CALLS);
//!
//! let call = Call { call_id: "1".into(), network_id: "n".into(), now_ms: 1_700_000_000_000, seed: 4 };
//! let outcome = sandbox.run_chain::<FilterChat>(&chain, &call, line).await;
//! println!("{:?}", outcome.ruling.decision);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bounds;
pub mod build;
mod cache;
mod call;
mod chain;
mod clock;
mod compile;
mod componentize;
pub mod confined;
pub mod contract;
mod engine;
mod error;
mod failure;
mod host;
mod inline;
mod inspect;
mod instance_pool;
mod json;
mod limits;
mod linker;
mod load;
pub mod manifest;
mod module;
mod network;
mod open;
mod operation;
mod prepare;
mod priority;
mod recorded;
mod report;
mod run;
mod sandbox;
mod sha256;
mod state;
mod state_overlay;
pub mod test_case;
mod texts;
mod threads;
mod ticker;
mod time;
mod trial;
mod versions;
mod wasi;

pub use chain::{
    BreakerOpening, BreakerState, Call, Chain, Instances, Link, LinkConfig, LinkStats, MAX_CHAIN_CALLS, Mode,
    OnFailure, Outcome, Shadow, ShadowExample, ShadowRun, ShadowStats, Step,
};
pub use clock::{CallClock, ManualCallClock};
pub use compile::{Compiler, child_main};
pub use error::{LoadError, PrepareError, SandboxError};
pub use host::{BoxFuture, EmptyHost, Host, HostAnswer, HostCall, HostCallRecord};
pub use limits::{CompileLimits, Limits, MAX_DURATION_MS, MAX_FOLLOW_UPS, MAX_LINE_CHARS, MAX_REASON_CHARS};
pub use module::{ComponentSource, ModuleHandle, Prepared};
pub use network::UploadPermit;
pub use operation::{
    AnswerRequest, Answered, AnyAnswer, AnyInput, Candidate, Candidates, CheckLogin, EndpointAnswer, FilterChat,
    FireTimer, HandleEvent, Handled, HandlerAnswer, Operation, PlaceTicket, Rank, RankAnswer, RankServers, RankWorlds,
    Ranking, ReviewChange, ReviewPunishment, RunTick,
};
pub use recorded::RecordedHost;
pub use report::{CallFailure, CallReport, CallTimes, LogLine};
pub use sandbox::{Sandbox, SandboxConfig};
pub use sha256::Sha256Sum;
pub use texts::{CandidateText, CandidateTexts, PlainCandidate, PlainTexts};
