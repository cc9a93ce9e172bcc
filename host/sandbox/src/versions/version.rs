//! Interface of a version of the contract.

use crate::contract::endpoints::Request;
use crate::contract::events::Event;
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::schedules::{Tick, Timer};
use crate::contract::{CallContext, Point, chat, economy, login, punishment, queue};
use crate::operation::candidates::{Candidates, RankAnswer};
use crate::operation::{EndpointAnswer, HandlerAnswer};
use crate::state::CallState;
use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Instance, Lift, Linker, Lower};
use wasmtime::{Error, Result, Store};

/// A version of the contract: calls the functions of its modules with arguments in its own types.
pub(crate) trait Version: Sync {
    /// Its number, such as `1.0.0`.
    fn number(&self) -> &'static str;

    /// Host interfaces that its modules may import.
    fn interfaces(&self) -> &'static [&'static str];

    /// True if its modules may serve the point.
    fn has_point(&self, point: Point) -> bool {
        point.is_of_first_version()
    }

    /// Adds its host functions.
    fn link(&self, linker: &mut Linker<CallState>) -> Result<()>;

    /// `matchmaking.rank-servers`.
    fn rank_servers(&self, running: Running<'_>, input: &Candidates<ServerCandidate>) -> Result<RankAnswer>;

    /// `matchmaking.rank-worlds`.
    fn rank_worlds(&self, running: Running<'_>, input: &Candidates<WorldCandidate>) -> Result<RankAnswer>;

    /// `chat.filter`.
    fn filter(&self, running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict>;

    /// `punishment.review`.
    fn review(&self, running: Running<'_>, proposal: &punishment::Proposal) -> Result<punishment::Verdict>;

    /// `events.handle`, since 1.1.
    fn handle(&self, _: Running<'_>, _: &Event) -> Result<HandlerAnswer> {
        Err(Error::msg("this version of the contract has no handlers"))
    }

    /// `endpoints.answer`, since 1.1.
    fn answer(&self, _: Running<'_>, _: &Request) -> Result<EndpointAnswer> {
        Err(Error::msg("this version of the contract has no endpoints"))
    }

    /// `schedules.tick`, since 1.1.
    fn tick(&self, _: Running<'_>, _: &Tick) -> Result<HandlerAnswer> {
        Err(Error::msg("this version of the contract has no schedules"))
    }

    /// `timers.fire`, since 1.1.
    fn fire(&self, _: Running<'_>, _: &Timer) -> Result<HandlerAnswer> {
        Err(Error::msg("this version of the contract has no timers"))
    }

    /// `login.check`, since 1.1.
    fn check_login(&self, _: Running<'_>, _: &login::Attempt) -> Result<login::Decision> {
        Err(Error::msg("this version of the contract has no login"))
    }

    /// `economy.review`, since 1.1.
    fn review_change(&self, _: Running<'_>, _: &economy::Change) -> Result<economy::Decision> {
        Err(Error::msg("this version of the contract has no economy"))
    }

    /// `queue.place`, since 1.1.
    fn place_ticket(&self, _: Running<'_>, _: &queue::Ticket) -> Result<queue::Decision> {
        Err(Error::msg("this version of the contract has no queue"))
    }
}

/// An exported function, and its version of the contract.
#[derive(Clone, Copy)]
pub(crate) struct Export<'a> {
    pub(crate) version: &'static dyn Version,
    pub(crate) index: &'a ComponentExportIndex,
}

/// A running call.
pub struct Running<'a> {
    pub(crate) store: &'a mut Store<CallState>,
    pub(crate) instance: &'a Instance,
    pub(crate) export: Export<'a>,
    pub(crate) context: &'a CallContext,
}

/// Calls the exported function with arguments in the version's own types.
pub(super) fn call<Params, Answer>(running: Running<'_>, params: Params) -> Result<Answer>
where
    Params: ComponentNamedList + Lower,
    Answer: Send + Sync + Lift + 'static,
{
    let Running { store, instance, export, .. } = running;
    let function = instance.get_typed_func::<Params, (Answer,)>(&mut *store, export.index)?;
    Ok(function.call(store, params)?.0)
}
