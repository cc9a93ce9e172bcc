//! The points `login`, `economy` and `queue`.

use crate::support::{
    NOW, StoreHost, TestSandbox, call, chain, change, link, link_with, login_attempt, relaxed_limits, ticket,
};
use crate::wat::{hex, later_module};
use hub_sandbox::contract::economy::{Change, ChangeKind, Decision as Reviewed};
use hub_sandbox::contract::login::{Decision as Checked, Refusal};
use hub_sandbox::contract::queue::Decision as Placed;
use hub_sandbox::contract::{Point, economy};
use hub_sandbox::{CheckLogin, Limits, OnFailure, PlaceTicket, ReviewChange};
use std::sync::Arc;
use std::time::Duration;

/// Ends a call as failed.
const TRAP: &str = "unreachable";

/// Bytes at address 64, and the text `no` at 512.
fn data(bytes: &[u8]) -> String {
    format!(r#"(data (i32.const 64) "{}") (data (i32.const 512) "no") (data (i32.const 520) "vpn")"#, hex(bytes))
}

/// Refuses with the reason `no`. `at` is the offset of the payload.
fn refusal(case: u8, at: usize, has_kind: bool) -> Vec<u8> {
    let mut bytes = vec![0; at];
    bytes[0] = case;
    bytes.extend([0, 2, 0, 0, 2, 0, 0, 0]);
    if has_kind {
        bytes.extend([8, 2, 0, 0, 3, 0, 0, 0]);
    }
    bytes
}

/// A module for `economy` with this answer. It traps for a currency that begins with `x`.
fn economy(answer: &[u8]) -> Vec<u8> {
    let first = "(i32.load8_u (i32.load offset=16 (i32.load offset=100 (local.get 0))))";
    let body = format!("(if (i32.eq {first} (i32.const 120)) (then {TRAP}))");
    later_module("economy-module", "economy@1.1.0#review", &body, &data(answer))
}

fn amending(amount: i64) -> Vec<u8> {
    economy(&[&[1, 0, 0, 0, 0, 0, 0, 0][..], &amount.to_le_bytes()].concat())
}

/// A module for `queue` with this answer.
fn queue(answer: &[u8]) -> Vec<u8> {
    later_module("queue-module", "queue@1.1.0#place", "", &data(answer))
}

fn admitting(priority: i32) -> Vec<u8> {
    queue(&[&[0; 4][..], &priority.to_le_bytes()].concat())
}

/// A module for `login` with this answer. It computes for ever for a server that begins with `s`, and traps for one that
/// begins with `x`.
fn login(answer: &[u8]) -> Vec<u8> {
    let first = "(i32.load8_u (i32.load offset=132 (local.get 0)))";
    let body = format!(
        "(if (i32.eq {first} (i32.const 120)) (then {TRAP}))
         (if (i32.eq {first} (i32.const 115)) (then (loop $again (br $again))))"
    );
    later_module("login-module", "login@1.1.0#check", &body, &data(answer))
}

#[tokio::test]
async fn an_amended_amount_passes_on_and_a_refusal_ends_the_chain() {
    let test = TestSandbox::new();
    let skip = OnFailure::Skip;
    let doubles = link(test.module(amending(20)).await, "doubles", "{}", skip);
    let turns = link(test.module(amending(-20)).await, "turns", "{}", skip);
    let accepts = link(test.module(economy(&[0])).await, "accepts", "{}", skip);
    let refuses = link(test.module(economy(&refusal(2, 8, false))).await, "refuses", "{}", skip);
    let review = async |links: &[_], asked: Change| {
        let outcome = test.sandbox.run_chain::<ReviewChange>(&chain(links), &call(NOW), asked).await;
        let failed = outcome.steps.iter().filter(|step| step.report.as_ref().is_some_and(|it| it.result.is_err()));
        (outcome.ruling, outcome.steps.len(), failed.count())
    };
    let (doubles, turns, accepts, refuses) = (&doubles, &turns, &accepts, &refuses);
    let both = [Arc::clone(doubles), Arc::clone(accepts)];
    assert_eq!(review(&both, change(10)).await, (Reviewed::Amend(20), 2, 0));
    // A sign that changes is an invalid answer, and what a module before decided stays.
    let one_fails = [Arc::clone(doubles), Arc::clone(turns)];
    assert_eq!(review(&one_fails, change(10)).await, (Reviewed::Amend(20), 2, 1));
    let ends = [Arc::clone(refuses), Arc::clone(doubles)];
    assert_eq!(review(&ends, change(10)).await, (Reviewed::Refuse("no".into()), 1, 0));
    // Several changes can't be amended.
    let several = Change { kind: ChangeKind::Transaction, ..change(10) };
    assert_eq!(review(&[Arc::clone(doubles)], several.clone()).await, (Reviewed::Accept, 1, 1));
    assert_eq!(review(&[Arc::clone(refuses)], several).await.0, Reviewed::Refuse("no".into()));
}

#[tokio::test]
async fn a_failing_review_is_skipped_or_refuses() {
    let test = TestSandbox::new();
    let module = test.module(amending(20)).await;
    let mut asked = change(10);
    for operation in &mut asked.operations {
        operation.currency = "xp".into();
    }
    for (on_failure, refuses) in [(OnFailure::Skip, false), (OnFailure::Refuse, true)] {
        let link = link(module.clone(), "fails", "{}", on_failure);
        let outcome = test.sandbox.run_chain::<ReviewChange>(&chain(&[link]), &call(NOW), asked.clone()).await;
        assert_eq!(matches!(outcome.ruling, economy::Decision::Refuse(_)), refuses, "{outcome:?}");
    }
}

#[tokio::test]
async fn priorities_add_up_and_a_refusal_ends_the_chain() {
    let test = TestSandbox::new();
    let make = async |bytes: Vec<u8>| link(test.module(bytes).await, "places", "{}", OnFailure::Skip);
    let place =
        async |links: &[_]| test.sandbox.run_chain::<PlaceTicket>(&chain(links), &call(NOW), ticket()).await.ruling;
    let (high, low) = (make(admitting(700)).await, make(admitting(-50)).await);
    let (wrong, refuses) = (make(admitting(1001)).await, make(queue(&refusal(1, 4, false))).await);
    assert_eq!(place(&[]).await, None);
    assert_eq!(place(&[Arc::clone(&high), Arc::clone(&low)]).await, Some(Placed::Admit(650)));
    assert_eq!(place(&[Arc::clone(&high), Arc::clone(&high)]).await, Some(Placed::Admit(1000)));
    assert_eq!(place(&[Arc::clone(&wrong)]).await, None);
    assert_eq!(place(&[high, refuses, low]).await, Some(Placed::Refuse("no".into())));
}

#[tokio::test]
async fn the_first_refusal_of_a_login_ends_the_chain() {
    let test = TestSandbox::new();
    let make = async |bytes: Vec<u8>| link(test.module(bytes).await, "checks", "{}", OnFailure::Skip);
    let (allows, refuses) = (make(login(&[0])).await, make(login(&refusal(1, 4, true))).await);
    let links = [Arc::clone(&allows), refuses, Arc::clone(&allows)];
    let outcome = test.sandbox.run_chain::<CheckLogin>(&chain(&links), &call(NOW), login_attempt()).await;
    let refused = Refusal { reason: "no".into(), kind: "vpn".into() };
    assert_eq!((outcome.ruling, outcome.steps.len()), (Checked::Refuse(refused), 2));
    let outcome = test.sandbox.run_chain::<CheckLogin>(&chain(&[allows]), &call(NOW), login_attempt()).await;
    assert_eq!(outcome.ruling, Checked::Allow);
}

#[tokio::test]
async fn a_late_login_is_allowed_unless_its_module_must_not_be_skipped() {
    let test = TestSandbox::new();
    let module = test.module(login(&[0])).await;
    let limits = Limits {
        wait: Duration::from_millis(50),
        fuel: u64::MAX / 2,
        ..relaxed_limits(Point::Login).with_compute(Duration::from_secs(60))
    };
    for (server, on_failure, kind) in [
        ("slow", OnFailure::Skip, None),
        ("slow", OnFailure::Refuse, Some("module_failed")),
        ("xenon", OnFailure::Skip, None),
        ("xenon", OnFailure::Refuse, Some("module_failed")),
        ("lobby", OnFailure::Refuse, None),
    ] {
        let limits = if server == "slow" { limits } else { relaxed_limits(Point::Login) };
        let link = link_with(module.clone(), "checks", "{}", on_failure, limits, Arc::new(StoreHost::default()));
        let mut attempt = login_attempt();
        attempt.server_id = server.into();
        let outcome = test.sandbox.run_chain::<CheckLogin>(&chain(&[link]), &call(NOW), attempt).await;
        let refused = match &outcome.ruling {
            Checked::Allow => None,
            Checked::Refuse(refusal) => Some(refusal.kind.as_str()),
        };
        assert_eq!(refused, kind, "{server} {on_failure:?}: {outcome:?}");
    }
}
