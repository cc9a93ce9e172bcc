//! `queue.place`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::check_reason;
use crate::contract::Point;
use crate::contract::queue::{Decision, MAX_PRIORITY, Ticket};
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `queue.place`. In a chain priorities add up, inside their bounds, and a refusal ends it.
#[derive(Clone, Copy, Debug)]
pub struct PlaceTicket;

impl Operation for PlaceTicket {
    const POINT: Point = Point::Queue;
    const NAME: &'static str = "place";
    type Input = Ticket;
    type Answer = Decision;
    /// None if no module decided.
    type Ruling = Option<Decision>;

    fn any_input(ticket: &Arc<Ticket>) -> AnyInput {
        AnyInput::Ticket(Arc::clone(ticket))
    }

    fn ruling_answer(ruling: &Option<Decision>) -> Option<AnyAnswer> {
        ruling.clone().map(AnyAnswer::from)
    }

    fn unavailable() -> Decision {
        Decision::Refuse("The line is not available right now.".into())
    }

    fn apply(ruling: &mut Option<Decision>, _: &mut Arc<Ticket>, answer: Decision) -> ControlFlow<()> {
        match answer {
            Decision::Admit(priority) => {
                let before = match ruling {
                    Some(Decision::Admit(before)) => *before,
                    _ => 0,
                };
                let sum = before.saturating_add(priority).clamp(-MAX_PRIORITY, MAX_PRIORITY);
                *ruling = Some(Decision::Admit(sum));
                ControlFlow::Continue(())
            }
            refuse @ Decision::Refuse(_) => {
                *ruling = Some(refuse);
                ControlFlow::Break(())
            }
        }
    }

    fn invoke(running: Running<'_>, ticket: &Ticket) -> wasmtime::Result<Decision> {
        running.export.version.place_ticket(running, ticket)
    }

    fn check(_: &Ticket, decision: &Decision) -> Result<(), String> {
        match decision {
            Decision::Admit(priority) if !(-MAX_PRIORITY..=MAX_PRIORITY).contains(priority) => {
                Err(format!("a priority must be -{MAX_PRIORITY} to {MAX_PRIORITY}, this one is {priority}"))
            }
            Decision::Admit(_) => Ok(()),
            Decision::Refuse(reason) => check_reason(reason, true),
        }
    }

    fn player(ticket: &Ticket) -> Option<&str> {
        Some(&ticket.player.uuid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PlayerRef;

    fn ticket() -> Ticket {
        let player = PlayerRef { uuid: "p".into(), name: "P".into() };
        Ticket { player, members: vec![], server_type: "bedwars".into(), world_type: None, region: None }
    }

    #[test]
    fn priorities_have_bounds() {
        for (priority, is_valid) in [(-1001, false), (-1000, true), (0, true), (1000, true), (1001, false)] {
            assert_eq!(PlaceTicket::check(&ticket(), &Decision::Admit(priority)).is_ok(), is_valid, "{priority}");
        }
        assert!(PlaceTicket::check(&ticket(), &Decision::Refuse(String::new())).is_err());
    }

    #[test]
    fn priorities_of_a_chain_add_up_inside_their_bounds() {
        let mut ticket = Arc::new(ticket());
        let mut ruling = None;
        for (priority, sum) in [(400, 400), (-100, 300), (900, 1000), (-300, 700)] {
            assert!(PlaceTicket::apply(&mut ruling, &mut ticket, Decision::Admit(priority)).is_continue());
            assert_eq!(ruling, Some(Decision::Admit(sum)));
        }
        assert!(PlaceTicket::apply(&mut ruling, &mut ticket, Decision::Refuse("full".into())).is_break());
        assert_eq!(ruling, Some(Decision::Refuse("full".into())));
    }
}
