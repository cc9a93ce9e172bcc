//! `login.check`.

use super::Operation;
use super::any::{AnyAnswer, AnyInput};
use crate::bounds::check_reason;
use crate::contract::Point;
use crate::contract::login::{Attempt, Decision, Refusal};
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Maximum length of a refusal's kind.
const MAX_KIND: usize = 32;
/// Kind of refusals in place of a module that failed.
const FAILED: &str = "module_failed";

/// `login.check`. In a chain the first refusal ends it.
#[derive(Clone, Copy, Debug)]
pub struct CheckLogin;

impl Operation for CheckLogin {
    const POINT: Point = Point::Login;
    const NAME: &'static str = "check";
    const REFUSES_LATE: bool = true;
    type Input = Attempt;
    type Answer = Decision;
    type Ruling = Decision;

    fn any_input(attempt: &Arc<Attempt>) -> AnyInput {
        AnyInput::Attempt(Arc::clone(attempt))
    }

    fn ruling_answer(ruling: &Decision) -> Option<AnyAnswer> {
        Some(ruling.clone().into())
    }

    fn unavailable() -> Decision {
        let reason = "Logins can't be checked right now.".into();
        Decision::Refuse(Refusal { reason, kind: FAILED.into() })
    }

    fn apply(ruling: &mut Decision, _: &mut Arc<Attempt>, answer: Decision) -> ControlFlow<()> {
        match answer {
            Decision::Allow => ControlFlow::Continue(()),
            refuse @ Decision::Refuse(_) => {
                *ruling = refuse;
                ControlFlow::Break(())
            }
        }
    }

    fn invoke(running: Running<'_>, attempt: &Attempt) -> wasmtime::Result<Decision> {
        running.export.version.check_login(running, attempt)
    }

    fn check(_: &Attempt, decision: &Decision) -> Result<(), String> {
        let Decision::Refuse(Refusal { reason, kind }) = decision else { return Ok(()) };
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
        if !(1..=MAX_KIND).contains(&kind.len()) || !kind.bytes().all(allowed) {
            return Err(format!("a refusal's kind must be 1 to {MAX_KIND} of a-z, 0-9, _ and -"));
        }
        check_reason(reason, true)
    }

    fn player(attempt: &Attempt) -> Option<&str> {
        Some(&attempt.player.uuid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PlayerRef;

    #[test]
    fn a_refusal_has_a_reason_and_a_kind() {
        let player = PlayerRef { uuid: "p".into(), name: "P".into() };
        let region = "EUROPE".into();
        let attempt = Attempt { player, ip_hash: None, region, server_id: "lobby-1".into(), first_join: false };
        for (reason, kind, is_valid) in [
            ("no", "vpn", true),
            ("no", "2fa_not-set", true),
            ("no", &"k".repeat(32), true),
            ("no", &"k".repeat(33), false),
            ("no", "", false),
            ("no", "VPN", false),
            ("", "vpn", false),
            ("a\nb", "vpn", false),
        ] {
            let refusal = Decision::Refuse(Refusal { reason: reason.into(), kind: kind.into() });
            assert_eq!(CheckLogin::check(&attempt, &refusal).is_ok(), is_valid, "{reason:?} {kind:?}");
        }
        assert!(CheckLogin::check(&attempt, &CheckLogin::unavailable()).is_ok());
    }
}
