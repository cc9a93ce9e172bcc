//! `punishment.review`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::{check_duration, check_reason};
use crate::contract::Point;
use crate::contract::punishment::{Decision, Proposal, Terms, Verdict};
use crate::limits::MAX_FOLLOW_UPS;
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `punishment.review`. In a chain amendments pass on, a refusal ends it without follow-ups, follow-ups add up.
#[derive(Clone, Copy, Debug)]
pub struct ReviewPunishment;

impl Operation for ReviewPunishment {
    const POINT: Point = Point::Punishment;
    const NAME: &'static str = "review";
    type Input = Proposal;
    type Answer = Verdict;
    type Ruling = Verdict;

    fn any_input(proposal: &Arc<Proposal>) -> AnyInput {
        AnyInput::Proposal(Arc::clone(proposal))
    }

    fn ruling_answer(ruling: &Verdict) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Verdict {
        let decision = Decision::Refuse("Punishments can't be reviewed right now.".into());
        Verdict { decision, follow_ups: Vec::new() }
    }

    fn apply(ruling: &mut Verdict, proposal: &mut Arc<Proposal>, answer: Verdict) -> ControlFlow<()> {
        match answer.decision {
            Decision::Accept => {}
            Decision::Amend(terms) => {
                Arc::make_mut(proposal).terms.clone_from(&terms);
                ruling.decision = Decision::Amend(terms);
            }
            refuse @ Decision::Refuse(_) => {
                *ruling = Verdict { decision: refuse, follow_ups: Vec::new() };
                return ControlFlow::Break(());
            }
        }
        ruling.follow_ups.extend(answer.follow_ups);
        ControlFlow::Continue(())
    }

    fn invoke(running: Running<'_>, proposal: &Proposal) -> wasmtime::Result<Verdict> {
        running.export.version.review(running, proposal)
    }

    fn check(proposal: &Proposal, verdict: &Verdict) -> Result<(), String> {
        match &verdict.decision {
            Decision::Accept => {}
            Decision::Amend(terms) => check_terms(&proposal.terms, terms)?,
            Decision::Refuse(reason) => check_reason(reason, true)?,
        }
        if verdict.follow_ups.len() > MAX_FOLLOW_UPS {
            return Err(format!("{} follow-ups are more than {MAX_FOLLOW_UPS}", verdict.follow_ups.len()));
        }
        let mut follow_ups = verdict.follow_ups.iter();
        follow_ups.try_for_each(|terms| check_terms(&proposal.terms, terms))
    }

    fn player(proposal: &Proposal) -> Option<&str> {
        proposal.player_uuid.as_deref().or(proposal.player_name.as_deref())
    }
}

/// Checks a module's changes to the proposed terms; the rest is the hub's own.
fn check_terms(proposed: &Terms, terms: &Terms) -> Result<(), String> {
    if terms.reason != proposed.reason {
        check_reason(&terms.reason, false)?;
    }
    match terms.duration_ms {
        Some(duration_ms) if terms.duration_ms != proposed.duration_ms => check_duration(duration_ms),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PunishmentKind;

    #[test]
    fn only_changed_terms_are_checked() {
        let terms =
            |duration_ms, reason: &str| Terms { kind: PunishmentKind::Mute, duration_ms, reason: reason.into() };
        let long = "x".repeat(300);
        let proposed = terms(Some(u64::MAX), &long);
        assert!(check_terms(&proposed, &terms(Some(u64::MAX), &long)).is_ok());
        assert!(check_terms(&proposed, &terms(None, "short")).is_ok());
        assert!(check_terms(&proposed, &terms(Some(0), "short")).is_err());
        assert!(check_terms(&proposed, &terms(Some(1), &"y".repeat(257))).is_err());
    }
}
