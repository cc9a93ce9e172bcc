//! Decisions of a chain of modules.

use crate::support::{
    NOW, TestSandbox, call, chain, line, link, link_with, proposal, relaxed_limits, servers, starter,
};
use crate::wat::{chat_module, ranks, reviewing, verdict};
use hub_sandbox::contract::chat::Decision;
use hub_sandbox::contract::{Point, PunishmentKind, punishment};
use hub_sandbox::{BreakerState, Chain, FilterChat, OnFailure, RankServers, Ranking, ReviewPunishment};
use std::sync::Arc;

const SKIP: OnFailure = OnFailure::Skip;

/// A chat module that traps, but not in the trial call.
fn trapping() -> Vec<u8> {
    chat_module(
        "(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (unreachable)))",
        "",
    )
}

const LONG: &str = "a line of more than sixteen bytes";

#[tokio::test]
async fn an_empty_chain_decides_nothing() {
    let test = TestSandbox::new();
    let empty = Chain::default();
    assert!(empty.is_empty());
    let outcome = test.sandbox.run_chain::<RankServers>(&empty, &call(NOW), servers(&[1, 2])).await;
    assert_eq!(outcome.ruling, Ranking::BuiltIn);
    assert!(outcome.steps.is_empty());
    let outcome = test.sandbox.run_chain::<FilterChat>(&empty, &call(NOW), line("hi")).await;
    assert_eq!(outcome.ruling.decision, Decision::Allow);
}

#[tokio::test]
async fn each_module_ranks_the_remaining_candidates() {
    let test = TestSandbox::new();
    // Of three servers, the first module leaves the last two in reverse; the second takes the last of those.
    let first = link(test.module(ranks(&[1, 0])).await, "first", "{}", SKIP);
    let second = link(test.module(ranks(&[1])).await, "second", "{}", SKIP);
    let rank = async |links: &[_]| {
        let outcome = test.sandbox.run_chain::<RankServers>(&chain(links), &call(NOW), servers(&[0, 1, 2])).await;
        (outcome.ruling, outcome.steps.len())
    };
    let (first, second) = (&first, &second);
    assert_eq!(rank(&[Arc::clone(first)]).await, (Ranking::Order(vec![1, 0]), 1));
    assert_eq!(rank(&[Arc::clone(second)]).await, (Ranking::Order(vec![1]), 1));
    assert_eq!(rank(&[Arc::clone(first), Arc::clone(second)]).await, (Ranking::Order(vec![0]), 2));
    // The other way round, the second index is not there any more, and the module is skipped.
    assert_eq!(rank(&[Arc::clone(second), Arc::clone(first)]).await, (Ranking::Order(vec![1]), 2));
}

#[tokio::test]
async fn an_empty_ranking_refuses() {
    let test = TestSandbox::new();
    let nobody = link(test.module(ranks(&[])).await, "nobody", "{}", SKIP);
    let last = link(test.module(ranks(&[0])).await, "last", "{}", SKIP);
    let outcome = test.sandbox.run_chain::<RankServers>(&chain(&[nobody, last]), &call(NOW), servers(&[0])).await;
    assert_eq!(outcome.ruling, Ranking::Refused(None));
    assert_eq!(outcome.steps.len(), 1);
}

#[tokio::test]
async fn a_rewrite_passes_on_and_a_refusal_ends_the_chain() {
    let test = TestSandbox::new();
    let guard = test.module(starter("chat-guard")).await;
    let masks = |word: &str| link(guard.clone(), "masks", &format!(r#"{{"words": ["{word}"]}}"#), SKIP);
    let refuses = link(guard.clone(), "refuses", r#"{"words": ["heck"], "action": "REFUSE", "reason": "no"}"#, SKIP);
    let both = chain(&[masks("darn"), masks("heck")]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&both, &call(NOW), line("darn and heck")).await;
    assert_eq!(outcome.ruling.decision, Decision::Rewrite("**** and ****".into()));

    let refusing = chain(&[masks("darn"), Arc::clone(&refuses), masks("and")]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&refusing, &call(NOW), line("darn and heck")).await;
    assert_eq!(outcome.ruling.decision, Decision::Refuse("no".into()));
    assert_eq!(outcome.steps.len(), 2);

    // A later module does not see words masked by an earlier one.
    let masked_first = chain(&[masks("heck"), refuses]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&masked_first, &call(NOW), line("heck")).await;
    assert_eq!(outcome.ruling.decision, Decision::Rewrite("****".into()));
}

#[tokio::test]
async fn an_amendment_passes_on() {
    let test = TestSandbox::new();
    let escalation = test.module(starter("escalation")).await;
    let becomes = |from: &str, to: &str| {
        let config = format!(r#"{{"rules": [{{"type": "{from}", "count": 1, "becomes": "{to}"}}]}}"#);
        link(escalation.clone(), "escalation", &config, SKIP)
    };
    let twice = chain(&[becomes("WARN", "MUTE"), becomes("MUTE", "BAN")]);
    let outcome = test.sandbox.run_chain::<ReviewPunishment>(&twice, &call(NOW), proposal(PunishmentKind::Warn)).await;
    let punishment::Decision::Amend(terms) = outcome.ruling.decision else { panic!("{outcome:?}") };
    assert_eq!(terms.kind, PunishmentKind::Ban);
    assert_eq!(terms.reason, "1st mute within 30 days: 1st warning within 30 days: spam");
}

#[tokio::test]
async fn the_longest_mute_counts() {
    let test = TestSandbox::new();
    let muting = async |ms: u64| {
        let module = test.module(chat_module("", &verdict(0, 0, Some(ms)))).await;
        link(module, "mutes", "{}", SKIP)
    };
    let chain = chain(&[muting(5_000).await, muting(9_000).await, muting(7_000).await]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&chain, &call(NOW), line("hi")).await;
    assert_eq!(outcome.ruling.decision, Decision::Allow);
    assert_eq!(outcome.ruling.mute.unwrap().duration_ms, 9_000);
}

#[tokio::test]
async fn follow_ups_add_up_and_a_refusal_drops_them() {
    let test = TestSandbox::new();
    let accepts = link(test.module(reviewing(0, 2)).await, "accepts", "{}", SKIP);
    let refuses = link(test.module(reviewing(2, 1)).await, "refuses", "{}", SKIP);
    let review = async |links: &[_]| {
        let proposal = proposal(PunishmentKind::Mute);
        test.sandbox.run_chain::<ReviewPunishment>(&chain(links), &call(NOW), proposal).await.ruling
    };
    let accepted = review(&[Arc::clone(&accepts), Arc::clone(&accepts)]).await;
    assert_eq!((accepted.decision, accepted.follow_ups.len()), (punishment::Decision::Accept, 4));
    let refused = review(&[accepts, refuses]).await;
    assert_eq!(refused.decision, punishment::Decision::Refuse("no".into()));
    assert!(refused.follow_ups.is_empty());
}

#[tokio::test]
async fn a_failing_module_is_skipped_or_refuses() {
    let test = TestSandbox::new();
    let module = test.module(trapping()).await;
    let skipped = chain(&[link(module.clone(), "skipped", "{}", OnFailure::Skip)]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&skipped, &call(NOW), line(LONG)).await;
    assert_eq!(outcome.ruling.decision, Decision::Allow);
    assert!(outcome.steps[0].report.as_ref().unwrap().result.is_err());

    let refusing = chain(&[link(module, "refusing", "{}", OnFailure::Refuse)]);
    let outcome = test.sandbox.run_chain::<FilterChat>(&refusing, &call(NOW), line(LONG)).await;
    assert!(matches!(outcome.ruling.decision, Decision::Refuse(_)), "{outcome:?}");
}

#[tokio::test]
async fn the_breaker_opens_when_half_of_twenty_calls_failed_and_tries_the_module_again() {
    let test = TestSandbox::new();
    let link = link(test.module(trapping()).await, "breaks", "{}", OnFailure::Refuse);
    let chain = chain(&[Arc::clone(&link)]);
    let run = async |at: u64, message: &str| {
        let outcome = test.sandbox.run_chain::<FilterChat>(&chain, &call(NOW + at), line(message)).await;
        let step = &outcome.steps[0];
        (step.report.is_some(), outcome.ruling.decision == Decision::Allow, step.opening.map(|it| it.to_string()))
    };
    for at in 0..10 {
        assert_eq!(run(at, "short").await, (true, true, None));
    }
    for at in 10..19 {
        assert_eq!(run(at, LONG).await, (true, false, None));
    }
    let (called, allowed, opening) = run(19, LONG).await;
    assert_eq!((called, allowed, link.breaker(NOW + 19)), (true, false, BreakerState::Open));
    assert!(opening.unwrap().contains("10 of the 20 calls of the last 10 s failed by the module's own fault"));
    // The module is not called, and the built-in behaviour applies, regardless of `on_failure`.
    assert_eq!(run(20, LONG).await, (false, true, None));
    assert_eq!(link.breaker(NOW + 1_019), BreakerState::HalfOpen);
    let (called, _, opening) = run(1_019, LONG).await;
    assert!(called && opening.unwrap().contains("tried again in 2 s"));
    assert_eq!(run(3_018, "short").await, (false, true, None));
    assert_eq!(run(3_019, "short").await, (true, true, None));
    assert_eq!(link.breaker(NOW + 3_019), BreakerState::Closed);

    let stats = link.stats();
    assert_eq!((stats.calls, stats.failures, stats.late), (22, 11, 0));
    assert!(stats.p50_micros > 0 && stats.p99_micros >= stats.p50_micros && stats.fuel_p50 > 0);
}

#[tokio::test]
async fn a_link_keeps_its_breaker_in_the_next_chain_until_it_is_closed() {
    let test = TestSandbox::new();
    let module = test.module(trapping()).await;
    let host = Arc::new(hub_sandbox::EmptyHost);
    let link = link_with(module, "kept", "{}", SKIP, relaxed_limits(Point::Chat), host);
    for at in 0..20 {
        let chain = Chain::new(vec![Arc::clone(&link)], 1);
        test.sandbox.run_chain::<FilterChat>(&chain, &call(NOW + at), line(LONG)).await;
    }
    assert_eq!(link.breaker(NOW + 20), BreakerState::Open);
    link.close_breaker();
    assert_eq!(link.breaker(NOW + 20), BreakerState::Closed);
}
