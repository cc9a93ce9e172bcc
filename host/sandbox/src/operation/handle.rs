//! `events.handle`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::effects::{check_effects, check_failure, check_state};
use crate::contract::Point;
use crate::contract::effects::Effect;
use crate::contract::events::{Event, Failure};
use crate::contract::state::StateChanges;
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `events.handle`: one event, answered with effects. Handlers are no chain: each is called by itself, with
/// [`Sandbox::call`](crate::Sandbox::call).
#[derive(Clone, Copy, Debug)]
pub struct HandleEvent;

/// A handler's answer: effects in their order, or its own failure.
pub type HandlerAnswer = Result<Vec<Effect>, Failure>;

/// Answer of a handler, with what its call read and wrote in `state`.
#[derive(Clone, Debug, PartialEq)]
pub struct Handled {
    /// The effects, inside the bounds of the contract, or the failure.
    pub answer: HandlerAnswer,
    /// Reads and writes. The reads of a failure count too: it may rest on what has changed meanwhile.
    pub state: StateChanges,
}

impl Default for Handled {
    /// No effects.
    fn default() -> Self {
        Self { answer: Ok(Vec::new()), state: StateChanges::default() }
    }
}

impl Operation for HandleEvent {
    const POINT: Point = Point::Events;
    const NAME: &'static str = "handle";
    // The effects alone may have 512 KiB.
    const HANDOVER_BYTES: usize = 1 << 20;
    type Input = Event;
    type Answer = Handled;
    type Ruling = Handled;

    fn any_input(event: &Arc<Event>) -> AnyInput {
        AnyInput::Event(Arc::clone(event))
    }

    fn ruling_answer(ruling: &Handled) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Handled {
        Handled {
            answer: Err(Failure::Retry("The module is not available right now.".into())),
            state: StateChanges::default(),
        }
    }

    fn apply(ruling: &mut Handled, _: &mut Arc<Event>, answer: Handled) -> ControlFlow<()> {
        *ruling = answer;
        ControlFlow::Break(())
    }

    fn invoke(running: Running<'_>, event: &Event) -> wasmtime::Result<Handled> {
        let Running { store, instance, export, context } = running;
        let answer = export.version.handle(Running { store: &mut *store, instance, export, context }, event)?;
        Ok(Handled { answer, state: store.data_mut().take_state() })
    }

    fn check(_: &Event, handled: &Handled) -> Result<(), String> {
        check_handled(handled)
    }

    fn player(event: &Event) -> Option<&str> {
        Some(&event.key)
    }
}

/// Checks an answer of effects.
pub(super) fn check_handled(handled: &Handled) -> Result<(), String> {
    check_state(&handled.state)?;
    match &handled.answer {
        Ok(effects) => check_effects(effects),
        Err(failure) => check_failure(failure),
    }
}
