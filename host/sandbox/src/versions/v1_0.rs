//! Version 1.0: its context and its errors of host functions lack what came later; the rest is the hub's own.

use super::version::{Running, Version, call};
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{CallContext, HostError, chat, punishment};
use crate::linker;
use crate::operation::candidates::{Candidates, RankAnswer};
use crate::state::CallState;
use wasmtime::Result;
use wasmtime::component::{ComponentType, Linker, Lower};

pub(super) struct V1_0;

/// The lowered context borrows from the hub's own.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Context<'a> {
    #[component(name = "call-id")]
    call_id: &'a str,
    #[component(name = "network-id")]
    network_id: &'a str,
    #[component(name = "now-ms")]
    now_ms: u64,
    #[component(name = "seed")]
    seed: u64,
    #[component(name = "config")]
    config: &'a str,
}

impl<'a> From<&'a CallContext> for Context<'a> {
    fn from(context: &'a CallContext) -> Self {
        let CallContext { call_id, network_id, now_ms, seed, config, .. } = context;
        Self { call_id, network_id, now_ms: *now_ms, seed: *seed, config }
    }
}

#[derive(ComponentType, Lower)]
#[component(variant)]
enum Error {
    #[component(name = "invalid")]
    Invalid(String),
    #[component(name = "quota-exceeded")]
    QuotaExceeded,
    #[component(name = "unavailable")]
    Unavailable,
}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Invalid(why) => Self::Invalid(why),
            HostError::QuotaExceeded => Self::QuotaExceeded,
            HostError::Unavailable | HostError::Forbidden => Self::Unavailable,
        }
    }
}

impl Version for V1_0 {
    fn number(&self) -> &'static str {
        "1.0.0"
    }

    fn interfaces(&self) -> &'static [&'static str] {
        &["log", "store", "players", "candidates"]
    }

    fn link(&self, to: &mut Linker<CallState>) -> Result<()> {
        linker::log(to, self.number())?;
        linker::store::<Error>(to, self.number())?;
        linker::players::<Error>(to, self.number())?;
        linker::candidates::<Error>(to, self.number())
    }

    fn rank_servers(&self, running: Running<'_>, input: &Candidates<ServerCandidate>) -> Result<RankAnswer> {
        let params = (Context::from(running.context), input.request(), input.candidates());
        call(running, params)
    }

    fn rank_worlds(&self, running: Running<'_>, input: &Candidates<WorldCandidate>) -> Result<RankAnswer> {
        let params = (Context::from(running.context), input.request(), input.candidates());
        call(running, params)
    }

    fn filter(&self, running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict> {
        let params = (Context::from(running.context), line);
        call(running, params)
    }

    fn review(&self, running: Running<'_>, proposal: &punishment::Proposal) -> Result<punishment::Verdict> {
        let params = (Context::from(running.context), proposal);
        call(running, params)
    }
}
