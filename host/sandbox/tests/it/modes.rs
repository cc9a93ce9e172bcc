//! Canaries and shadows.

use crate::support::{NOW, TestSandbox, call, chain, config, line, link, link_in, servers, starter};
use crate::wat::{chat_module, ranks, verdict};
use hub_sandbox::contract::Point;
use hub_sandbox::contract::chat::{Decision, Line, Verdict};
use hub_sandbox::{
    BreakerState, Call, CallFailure, Chain, EmptyHost, FilterChat, Instances, Limits, Link, LinkConfig, Mode,
    ModuleHandle, OnFailure, Outcome, RankServers, Ranking, Sandbox, SandboxConfig,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const CANARY: fn(u8) -> Mode = |percent| Mode::Canary { percent };

/// A chat module that refuses every line with this many letters `x`.
async fn refusing(test: &TestSandbox, letters: u32) -> ModuleHandle {
    test.module(chat_module("", &verdict(2, letters, None))).await
}

fn line_of(number: u32) -> Line {
    let mut line = line("hi");
    line.player.uuid = format!("00000000-0000-4000-8000-{number:012}");
    line
}

async fn say(test: &TestSandbox, chain: &Chain, line: Line) -> Outcome<Verdict, Verdict> {
    test.sandbox.run_chain::<FilterChat>(chain, &call(NOW), line).await
}

fn reason(verdict: &Verdict) -> usize {
    match &verdict.decision {
        Decision::Refuse(reason) => reason.len(),
        _ => 0,
    }
}

#[tokio::test]
async fn a_canary_takes_the_place_of_the_active_version_for_its_players() {
    let test = TestSandbox::new();
    let (old, new) = (refusing(&test, 1).await, refusing(&test, 2).await);
    let with = |percent| {
        let canary = link_in(CANARY(percent), new.clone(), "guard", "{}");
        chain(&[link(old.clone(), "guard", "{}", OnFailure::Skip), canary])
    };
    let chosen = async |chain: &Chain| {
        let mut chosen = Vec::new();
        for number in 0..60 {
            let outcome = say(&test, chain, line_of(number)).await;
            assert_eq!(outcome.steps.len(), 1);
            if reason(&outcome.ruling) == 2 {
                chosen.push(number);
            }
        }
        chosen
    };
    let (few, more) = (chosen(&with(20)).await, chosen(&with(60)).await);
    assert!(!few.is_empty() && few.len() < more.len() && more.len() < 60, "{few:?} {more:?}");
    // A higher percentage keeps the chosen players, and 100 chooses all.
    assert!(few.iter().all(|number| more.contains(number)));
    assert_eq!(chosen(&with(100)).await.len(), 60);
    assert_eq!(chosen(&with(20)).await, few);
}

#[tokio::test]
async fn a_canary_without_an_active_version_runs_for_its_players_only() {
    let test = TestSandbox::new();
    let canary = link_in(CANARY(40), refusing(&test, 2).await, "guard", "{}");
    let other = link(refusing(&test, 1).await, "other", "{}", OnFailure::Skip);
    let chain = chain(&[canary, other]);
    let mut lengths = [0; 3];
    for number in 0..60 {
        lengths[reason(&say(&test, &chain, line_of(number)).await.ruling)] += 1;
    }
    assert!(lengths[1] > 10 && lengths[2] > 10 && lengths[0] == 0, "{lengths:?}");
}

#[tokio::test]
async fn a_call_without_a_player_is_chosen_by_its_seed() {
    let test = TestSandbox::new();
    let chain = chain(&[link_in(CANARY(50), test.module(ranks(&[1])).await, "m", "{}")]);
    let mut picked = 0;
    for seed in 0..60 {
        let mut request = servers(&[0, 1]).request().clone();
        (request.player_uuid, request.player_name) = (None, None);
        let servers = servers(&[0, 1]);
        let input = hub_sandbox::Candidates::new(Arc::new(request), servers.candidates().to_vec(), {
            Arc::new(hub_sandbox::PlainTexts::default())
        });
        let call = Call { seed, ..call(NOW) };
        let ruling = test.sandbox.run_chain::<RankServers>(&chain, &call, input).await.ruling;
        picked += u32::from(ruling == Ranking::Order(vec![1]));
    }
    assert!((15..45).contains(&picked), "{picked}");
}

#[tokio::test]
async fn a_canary_that_keeps_failing_is_replaced_by_the_active_version() {
    let test = TestSandbox::new();
    // It traps on lines of more than sixteen bytes; the trial's line is shorter.
    let traps = "(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (unreachable)))";
    let canary = link_in(CANARY(100), test.module(chat_module(traps, "")).await, "guard", "{}");
    let chain = chain(&[link(refusing(&test, 1).await, "guard", "{}", OnFailure::Skip), Arc::clone(&canary)]);
    let long = || line("a line of more than sixteen bytes");
    for _ in 0..20 {
        assert_eq!(reason(&say(&test, &chain, long()).await.ruling), 0);
    }
    assert_eq!(canary.breaker(NOW), BreakerState::Open);
    assert_eq!(reason(&say(&test, &chain, long()).await.ruling), 1);
    // Of two calls at the time of the trial one tries the canary, and the active version serves the other.
    let later = call(NOW + 1_000);
    let (one, other) = tokio::join!(
        test.sandbox.run_chain::<FilterChat>(&chain, &later, long()),
        test.sandbox.run_chain::<FilterChat>(&chain, &later, long()),
    );
    assert_eq!((reason(&one.ruling), reason(&other.ruling)), (0, 1));
}

/// Runs the shadows of a call to their ends.
async fn run_shadows(test: &TestSandbox, outcome: Outcome<Verdict, Verdict>) {
    for shadow in outcome.shadows {
        test.sandbox.run_shadow(shadow).await;
    }
}

fn shadow_of(module: &ModuleHandle, name: &str, config: &str) -> Arc<Link> {
    link_in(Mode::Shadow, module.clone(), name, config)
}

#[tokio::test]
async fn a_shadow_is_compared_with_its_name_on_the_same_input_and_has_no_effect() {
    let test = TestSandbox::new();
    let guard = test.module(starter("chat-guard")).await;
    let active = link(guard.clone(), "guard", r#"{"words": ["darn"]}"#, OnFailure::Skip);
    let same = shadow_of(&guard, "guard", r#"{"words": ["darn"]}"#);
    let other = shadow_of(&guard, "guard", r#"{"words": ["heck"]}"#);
    let alone = shadow_of(&guard, "alone", r#"{"words": ["darn", "heck"]}"#);
    // A shadow may come before or after the link it is compared with; one that is alone gets the input at its position.
    let chain = chain(&[Arc::clone(&other), active, Arc::clone(&same), Arc::clone(&alone)]);
    let outcome = say(&test, &chain, line("darn")).await;
    assert_eq!(outcome.ruling.decision, Decision::Rewrite("****".into()));
    assert_eq!((outcome.steps.len(), outcome.shadows.len()), (1, 3));
    run_shadows(&test, outcome).await;
    let outcome = say(&test, &chain, line("heck")).await;
    assert_eq!(outcome.ruling.decision, Decision::Allow);
    run_shadows(&test, outcome).await;

    let counts = |link: &Link| {
        let stats = link.shadow().unwrap();
        (stats.same, stats.different, stats.failed, stats.skipped)
    };
    assert_eq!(counts(&same), (2, 0, 0, 0));
    assert_eq!(counts(&other), (0, 2, 0, 0));
    assert_eq!(counts(&alone), (1, 1, 0, 0));
    let examples = other.shadow().unwrap().examples;
    assert_eq!(examples[0].expected, json!({"decision": {"rewrite": "****"}, "mute": null}));
    assert_eq!(examples[0].actual, json!({"decision": "allow", "mute": null}));
    assert_eq!((examples[0].call_id.as_str(), examples[0].at, examples.len()), ("call", NOW, 2));
    assert_eq!(alone.shadow().unwrap().examples[0].actual, json!({"decision": {"rewrite": "****"}, "mute": null}));
    assert_eq!(same.stats().calls, 2);
}

#[tokio::test]
async fn a_shadow_gets_the_host_answers_of_the_link_it_is_compared_with() {
    let test = TestSandbox::new();
    let guard = test.module(starter("chat-guard")).await;
    let flood = r#"{"flood": {"messages": 2, "perMs": 60000}}"#;
    let active = link(guard.clone(), "guard", flood, OnFailure::Skip);
    let shadow = shadow_of(&guard, "guard", flood);
    let chain = chain(&[active, Arc::clone(&shadow)]);
    for number in 0..4 {
        let outcome = say(&test, &chain, line("hi")).await;
        assert_eq!(reason(&outcome.ruling) > 0, number >= 2, "{number}");
        run_shadows(&test, outcome).await;
    }
    assert_eq!(shadow.shadow().unwrap().same, 4);
}

#[tokio::test]
async fn a_failing_shadow_costs_its_own_breaker_only() {
    let test = TestSandbox::new();
    let traps = "(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (unreachable)))";
    let active = link(refusing(&test, 1).await, "guard", "{}", OnFailure::Refuse);
    let shadow = shadow_of(&test.module(chat_module(traps, "")).await, "guard", "{}");
    let chain = chain(&[Arc::clone(&active), Arc::clone(&shadow)]);
    for _ in 0..22 {
        let outcome = say(&test, &chain, line("a line of more than sixteen bytes")).await;
        assert_eq!(reason(&outcome.ruling), 1);
        run_shadows(&test, outcome).await;
    }
    let stats = shadow.shadow().unwrap();
    assert_eq!((stats.failed, stats.skipped, stats.examples.len()), (20, 2, 10));
    assert_eq!(stats.examples[0].actual, json!({"failure": "trap"}));
    assert_eq!((active.breaker(NOW), shadow.breaker(NOW)), (BreakerState::Closed, BreakerState::Open));
    assert!(active.shadow().is_none());
}

#[tokio::test]
async fn shadows_that_are_too_many_at_once_are_skipped() {
    let test = TestSandbox::new();
    let loops = "(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (loop (br 0))))";
    let shadow = shadow_of(&test.module(chat_module(loops, "")).await, "loops", "{}");
    let chain = chain(&[Arc::clone(&shadow)]);
    let mut runs = Vec::new();
    for _ in 0..3 {
        let outcome = say(&test, &chain, line("a line of more than sixteen bytes")).await;
        assert_eq!(outcome.ruling.decision, Decision::Allow);
        runs.extend(outcome.shadows.into_iter().map(|shadow| test.sandbox.run_shadow(shadow)));
    }
    // The sandbox of the tests has one shadow permit.
    let mut runs = runs.into_iter();
    let (one, two, three) = tokio::join!(runs.next().unwrap(), runs.next().unwrap(), runs.next().unwrap());
    assert_eq!([one.is_some(), two.is_some(), three.is_some()], [true, false, false]);
    let stats = shadow.shadow().unwrap();
    assert_eq!((stats.failed, stats.skipped), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shadow_that_computes_for_long_takes_no_cpu_permit_from_calls() {
    let folder = tempfile::tempdir().unwrap();
    let config = SandboxConfig { cpus_per_network: 1, ..config(folder.path()) };
    let test = TestSandbox { sandbox: Sandbox::new(config).unwrap(), folder };
    let loops = "(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then (loop (br 0))))";
    let within = |seconds| {
        let fuel = u64::MAX / 2;
        Limits { fuel, ..Limits::of(Point::Chat) }.with_compute(Duration::from_secs(seconds))
    };
    let made = async |mode, name: &str, wasm, limits| {
        let module = test.module(wasm).await;
        let (name, config, host) = (name.to_owned(), "{}".to_owned(), Arc::new(EmptyHost));
        let (instances, on_failure) = (Instances::Fresh, OnFailure::Skip);
        Arc::new(Link::new(LinkConfig { module, name, version: 1, config, mode, instances, on_failure, limits, host }))
    };
    let shadow = made(Mode::Shadow, "loops", chat_module(loops, ""), within(3)).await;
    let active = made(Mode::Active, "active", chat_module("", &verdict(2, 1, None)), within(1)).await;
    // The shadow comes first, because the other refuses, which ends the chain.
    let chain = chain(&[shadow, active]);
    let long = line("a line of more than sixteen bytes");
    let beside = say(&test, &chain, long).await.shadows.into_iter().next().unwrap();
    let sandbox = test.sandbox.clone();
    let running = tokio::spawn(async move { sandbox.run_shadow(beside).await.unwrap() });
    while !running.is_finished() {
        let outcome = say(&test, &chain, line("hi")).await;
        assert_eq!(reason(&outcome.ruling), 1, "{:?}", outcome.steps);
    }
    // On a busy machine, where it runs last, its time may be up before it has computed for so long.
    let result = running.await.unwrap().report.result;
    assert!(matches!(result, Err(CallFailure::TimedOut(_) | CallFailure::Late(_))), "{result:?}");
}
