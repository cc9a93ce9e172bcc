//! `economy.review`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::{check_amount, check_reason};
use crate::contract::Point;
use crate::contract::economy::{Change, ChangeKind, Decision};
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Owner type of players.
const PLAYER: &str = "player";

/// `economy.review`. In a chain amendments pass on, and a refusal ends it.
#[derive(Clone, Copy, Debug)]
pub struct ReviewChange;

impl Operation for ReviewChange {
    const POINT: Point = Point::Economy;
    const NAME: &'static str = "review";
    type Input = Change;
    type Answer = Decision;
    type Ruling = Decision;

    fn any_input(change: &Arc<Change>) -> AnyInput {
        AnyInput::Change(Arc::clone(change))
    }

    fn ruling_answer(ruling: &Decision) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Decision {
        Decision::Refuse("Changes of balances can't be reviewed right now.".into())
    }

    fn apply(ruling: &mut Decision, change: &mut Arc<Change>, answer: Decision) -> ControlFlow<()> {
        match answer {
            Decision::Accept => {}
            Decision::Amend(amount) => {
                for operation in &mut Arc::make_mut(change).operations {
                    operation.amount = amount;
                }
                *ruling = Decision::Amend(amount);
            }
            refuse @ Decision::Refuse(_) => {
                *ruling = refuse;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn invoke(running: Running<'_>, change: &Change) -> wasmtime::Result<Decision> {
        running.export.version.review_change(running, change)
    }

    fn check(change: &Change, decision: &Decision) -> Result<(), String> {
        match (decision, change.kind, change.operations.as_slice()) {
            (Decision::Accept, ..) => Ok(()),
            (Decision::Refuse(reason), ..) => check_reason(reason, true),
            (Decision::Amend(amount), ChangeKind::Modify, [asked]) => {
                if *amount == 0 || amount.signum() != asked.amount.signum() {
                    return Err("an amended amount must not be 0, and must have the sign of the one before".into());
                }
                check_amount(*amount)
            }
            (Decision::Amend(_), ..) => Err("a transaction can only be accepted or refused".into()),
        }
    }

    fn player(change: &Change) -> Option<&str> {
        change.operations.iter().find(|it| it.owner_type == PLAYER).map(|it| it.owner_key.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::economy::Operation as Part;

    fn change(kind: ChangeKind, amounts: &[i64]) -> Change {
        let part = |amount: &i64| Part {
            owner_type: PLAYER.into(),
            owner_key: "p".into(),
            currency: "coins".into(),
            amount: *amount,
        };
        Change { kind, operations: amounts.iter().map(part).collect(), reason: None, server_id: None }
    }

    #[test]
    fn an_amendment_keeps_the_sign() {
        let amended =
            |asked, amount| ReviewChange::check(&change(ChangeKind::Modify, &[asked]), &Decision::Amend(amount));
        for (asked, amount, is_valid) in [
            (10, 20, true),
            (-10, -1, true),
            (10, 0, false),
            (10, -10, false),
            (-10, 10, false),
            (0, 1, false),
            (0, 0, false),
            (1, 9_000_000_000_000_000_000, true),
            (1, 9_000_000_000_000_000_001, false),
            (-1, i64::MIN, false),
        ] {
            assert_eq!(amended(asked, amount).is_ok(), is_valid, "{asked} to {amount}");
        }
        let parts = change(ChangeKind::Transaction, &[10]);
        assert!(ReviewChange::check(&parts, &Decision::Amend(20)).unwrap_err().contains("accepted or refused"));
        assert!(ReviewChange::check(&parts, &Decision::Refuse("no".into())).is_ok());
        assert!(ReviewChange::check(&parts, &Decision::Refuse(" ".into())).is_err());
    }
}
