//! `schedules.tick` and `timers.fire`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use super::handle::{HandleEvent, Handled, check_handled};
use crate::contract::Point;
use crate::contract::schedules::{Tick, Timer};
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `schedules.tick`: one tick of a schedule, answered with effects as a handler does.
#[derive(Clone, Copy, Debug)]
pub struct RunTick;

/// `timers.fire`: one timer, answered with effects as a handler does.
#[derive(Clone, Copy, Debug)]
pub struct FireTimer;

macro_rules! operation {
    ($operation:ident, $name:literal, $input:ident, $function:ident, $key:ident) => {
        impl Operation for $operation {
            const POINT: Point = Point::Schedules;
            const NAME: &'static str = $name;
            const HANDOVER_BYTES: usize = HandleEvent::HANDOVER_BYTES;
            type Input = $input;
            type Answer = Handled;
            type Ruling = Handled;

            fn any_input(input: &Arc<$input>) -> AnyInput {
                AnyInput::$input(Arc::clone(input))
            }

            fn ruling_answer(ruling: &Handled) -> Option<AnyAnswer> {
                HandleEvent::ruling_answer(ruling)
            }

            fn unavailable() -> Handled {
                HandleEvent::unavailable()
            }

            fn apply(ruling: &mut Handled, _: &mut Arc<$input>, answer: Handled) -> ControlFlow<()> {
                *ruling = answer;
                ControlFlow::Break(())
            }

            fn invoke(running: Running<'_>, input: &$input) -> wasmtime::Result<Handled> {
                let Running { store, instance, export, context } = running;
                let running = Running { store: &mut *store, instance, export, context };
                let answer = export.version.$function(running, input)?;
                Ok(Handled { answer, state: store.data_mut().take_state() })
            }

            fn check(_: &$input, handled: &Handled) -> Result<(), String> {
                check_handled(handled)
            }

            fn player(input: &$input) -> Option<&str> {
                Some(&input.$key)
            }
        }
    };
}

operation!(RunTick, "tick", Tick, tick, schedule);
operation!(FireTimer, "fire", Timer, fire, key);
