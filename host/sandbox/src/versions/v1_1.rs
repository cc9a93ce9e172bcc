//! Version 1.1: its types are the hub's own, so that everything passes unchanged.

use super::version::{Running, Version, call};
use crate::contract::endpoints::Request;
use crate::contract::events::Event;
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::schedules::{Tick, Timer};
use crate::contract::{HostError, Point, chat, economy, login, punishment, queue};
use crate::linker;
use crate::operation::candidates::{Candidates, RankAnswer};
use crate::operation::{EndpointAnswer, HandlerAnswer};
use crate::state::CallState;
use wasmtime::Result;
use wasmtime::component::Linker;

pub(super) struct V1_1;

impl Version for V1_1 {
    fn number(&self) -> &'static str {
        "1.1.0"
    }

    fn interfaces(&self) -> &'static [&'static str] {
        &["log", "store", "state", "players", "candidates"]
    }

    fn has_point(&self, _: Point) -> bool {
        true
    }

    fn link(&self, to: &mut Linker<CallState>) -> Result<()> {
        linker::log(to, self.number())?;
        linker::store::<HostError>(to, self.number())?;
        linker::state::<HostError>(to, self.number())?;
        linker::players::<HostError>(to, self.number())?;
        linker::online_players::<HostError>(to, self.number())?;
        linker::candidates::<HostError>(to, self.number())
    }

    fn rank_servers(&self, running: Running<'_>, input: &Candidates<ServerCandidate>) -> Result<RankAnswer> {
        let params = (running.context, input.request(), input.candidates());
        call(running, params)
    }

    fn rank_worlds(&self, running: Running<'_>, input: &Candidates<WorldCandidate>) -> Result<RankAnswer> {
        let params = (running.context, input.request(), input.candidates());
        call(running, params)
    }

    fn filter(&self, running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict> {
        let params = (running.context, line);
        call(running, params)
    }

    fn review(&self, running: Running<'_>, proposal: &punishment::Proposal) -> Result<punishment::Verdict> {
        let params = (running.context, proposal);
        call(running, params)
    }

    fn handle(&self, running: Running<'_>, event: &Event) -> Result<HandlerAnswer> {
        let params = (running.context, event);
        call(running, params)
    }

    fn answer(&self, running: Running<'_>, request: &Request) -> Result<EndpointAnswer> {
        let params = (running.context, request);
        call(running, params)
    }

    fn tick(&self, running: Running<'_>, tick: &Tick) -> Result<HandlerAnswer> {
        let params = (running.context, tick);
        call(running, params)
    }

    fn fire(&self, running: Running<'_>, timer: &Timer) -> Result<HandlerAnswer> {
        let params = (running.context, timer);
        call(running, params)
    }

    fn check_login(&self, running: Running<'_>, attempt: &login::Attempt) -> Result<login::Decision> {
        let params = (running.context, attempt);
        call(running, params)
    }

    fn review_change(&self, running: Running<'_>, change: &economy::Change) -> Result<economy::Decision> {
        let params = (running.context, change);
        call(running, params)
    }

    fn place_ticket(&self, running: Running<'_>, ticket: &queue::Ticket) -> Result<queue::Decision> {
        let params = (running.context, ticket);
        call(running, params)
    }
}
