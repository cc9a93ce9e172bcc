//! `chat.filter`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::{check_duration, check_line, check_reason};
use crate::contract::Point;
use crate::contract::chat::{Decision, Line, Verdict};
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// `chat.filter`. In a chain rewrites pass on, a refusal ends it, the longest mute counts.
#[derive(Clone, Copy, Debug)]
pub struct FilterChat;

impl Operation for FilterChat {
    const POINT: Point = Point::Chat;
    const NAME: &'static str = "filter";
    type Input = Line;
    type Answer = Verdict;
    type Ruling = Verdict;

    fn any_input(line: &Arc<Line>) -> AnyInput {
        AnyInput::Line(Arc::clone(line))
    }

    fn ruling_answer(ruling: &Verdict) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Verdict {
        Verdict { decision: Decision::Refuse("Chat is not available right now.".into()), mute: None }
    }

    fn apply(ruling: &mut Verdict, line: &mut Arc<Line>, answer: Verdict) -> ControlFlow<()> {
        ruling.mute = [ruling.mute.take(), answer.mute].into_iter().flatten().max_by_key(|mute| mute.duration_ms);
        match answer.decision {
            Decision::Allow => {}
            Decision::Rewrite(message) => {
                Arc::make_mut(line).message.clone_from(&message);
                ruling.decision = Decision::Rewrite(message);
            }
            refuse @ Decision::Refuse(_) => {
                ruling.decision = refuse;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn invoke(running: Running<'_>, line: &Line) -> wasmtime::Result<Verdict> {
        running.export.version.filter(running, line)
    }

    fn check(_: &Line, verdict: &Verdict) -> Result<(), String> {
        match &verdict.decision {
            Decision::Allow => {}
            Decision::Rewrite(text) => check_line(text)?,
            Decision::Refuse(reason) => check_reason(reason, true)?,
        }
        if let Some(mute) = &verdict.mute {
            check_duration(mute.duration_ms)?;
            check_reason(&mute.reason, true)?;
        }
        Ok(())
    }

    fn player(line: &Line) -> Option<&str> {
        Some(&line.player.uuid)
    }
}
