//! `endpoints.answer`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::effects::{check_failure, check_state};
use crate::bounds::response::check_response;
use crate::contract::Point;
use crate::contract::endpoints::{Request, Response};
use crate::contract::events::Failure;
use crate::contract::state::StateChanges;
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `endpoints.answer`: one request. Endpoints are no chain: each is called by itself, with
/// [`Sandbox::call`](crate::Sandbox::call).
#[derive(Clone, Copy, Debug)]
pub struct AnswerRequest;

/// An endpoint's answer: a response with its effects, or its own failure.
pub type EndpointAnswer = Result<Response, Failure>;

/// Answer of an endpoint, with what its call read and wrote in `state`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The response, inside the bounds of the contract, or the failure.
    pub answer: EndpointAnswer,
    /// Reads and writes.
    pub state: StateChanges,
}

impl Default for Answered {
    /// 204.
    fn default() -> Self {
        Self { answer: Ok(Response::default()), state: StateChanges::default() }
    }
}

impl Operation for AnswerRequest {
    const POINT: Point = Point::Endpoints;
    const NAME: &'static str = "answer";
    // The effects may have 512 KiB, and the body 256.
    const HANDOVER_BYTES: usize = 1 << 20;
    type Input = Request;
    type Answer = Answered;
    type Ruling = Answered;

    fn any_input(request: &Arc<Request>) -> AnyInput {
        AnyInput::Request(Arc::clone(request))
    }

    fn ruling_answer(ruling: &Answered) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Answered {
        Answered {
            answer: Err(Failure::Retry("The module is not available right now.".into())),
            state: StateChanges::default(),
        }
    }

    fn apply(ruling: &mut Answered, _: &mut Arc<Request>, answer: Answered) -> ControlFlow<()> {
        *ruling = answer;
        ControlFlow::Break(())
    }

    fn invoke(running: Running<'_>, request: &Request) -> wasmtime::Result<Answered> {
        let Running { store, instance, export, context } = running;
        let answer = export.version.answer(Running { store: &mut *store, instance, export, context }, request)?;
        Ok(Answered { answer, state: store.data_mut().take_state() })
    }

    fn check(request: &Request, answered: &Answered) -> Result<(), String> {
        check_state(&answered.state)?;
        match &answered.answer {
            Ok(response) => check_response(request, response, !answered.state.writes.is_empty()),
            Err(failure) => check_failure(failure),
        }
    }

    fn player(request: &Request) -> Option<&str> {
        Some(&request.address_hash)
    }
}
