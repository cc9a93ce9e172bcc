//! Modules with fuzzed answers, host calls and allocators. The answer is valid or the call has failed; both are the
//! same the second time.
#![no_main]

use hub_fuzz::modules::{VerboseHost, embed, sandbox};
use hub_fuzz::scripted;
use hub_sandbox::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, WorldCandidate};
use hub_sandbox::contract::{CallContext, PlayerRef, Point, PunishmentKind, chat, punishment};
use hub_sandbox::{
    CallFailure, CallReport, Candidates, FilterChat, Limits, MAX_DURATION_MS, MAX_FOLLOW_UPS, MAX_LINE_CHARS,
    MAX_REASON_CHARS, ModuleHandle, Operation, PlainCandidate, PlainTexts, RankAnswer, RankServers, RankWorlds,
    ReviewPunishment, Sandbox,
};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::runtime::Runtime;

struct Setup {
    runtime: Runtime,
    sandbox: Sandbox,
    module: ModuleHandle,
}

static SETUP: LazyLock<Setup> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let (sandbox, module) = runtime.block_on(async {
        let sandbox = sandbox(folder.path());
        let core = wat::parse_str(scripted::text()).expect("the scripted module is WebAssembly");
        let upload = embed("full-module", core).expect("the scripted module has a type");
        let prepared = sandbox.prepare(upload).await.expect("the scripted module is a module");
        let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await.expect("it loads");
        (sandbox, module)
    });
    Setup { runtime, sandbox, module }
});

fuzz_target!(|data: &[u8]| {
    let [operation, candidates, script @ ..] = data else { return };
    let candidates = candidates % 8;
    match operation % 4 {
        0 => check_call::<RankServers>(script, &|| servers(candidates), |answer| check_ranking(candidates, answer)),
        1 => check_call::<RankWorlds>(script, &|| worlds(candidates), |answer| check_ranking(candidates, answer)),
        2 => check_call::<FilterChat>(script, &line, check_chat),
        _ => check_call::<ReviewPunishment>(script, &proposal, check_review),
    }
});

fn check_call<O: Operation>(script: &[u8], input: &dyn Fn() -> O::Input, check: impl Fn(&O::Answer))
where
    O::Answer: Debug + PartialEq,
{
    let first = call::<O>(script, input());
    if let Ok(answer) = &first.result {
        check(answer);
    }
    if let Err(CallFailure::Unavailable { reason }) = &first.result {
        panic!("not the module's fault: {reason}");
    }
    let limits = limits(O::POINT);
    assert!(first.logs.len() <= limits.log_lines);
    assert!(first.logs.iter().all(|line| line.message.len() <= limits.log_line_bytes));
    assert!(first.host_calls.len() <= limits.host_calls as usize);
    assert!(first.memory_bytes <= limits.memory_bytes && first.fuel <= limits.fuel);

    let second = call::<O>(script, input());
    assert_eq!(first.result, second.result);
    assert_eq!((first.fuel, &first.logs, &first.host_calls), (second.fuel, &second.logs, &second.host_calls));
}

fn call<O: Operation>(script: &[u8], input: O::Input) -> CallReport<O::Answer> {
    let context = CallContext {
        call_id: "call".into(),
        network_id: "network".into(),
        now_ms: 1_700_000_000_000,
        seed: 42,
        config: scripted::config(script),
        ..CallContext::default()
    };
    let Setup { runtime, sandbox, module } = &*SETUP;
    runtime.block_on(sandbox.call::<O>(module, limits(O::POINT), Arc::new(VerboseHost), context, Arc::new(input)))
}

/// The limits of a point, with time for a busy machine.
fn limits(point: Point) -> Limits {
    Limits::of(point).with_compute(Duration::from_secs(20))
}

fn check_ranking(candidates: u8, answer: &RankAnswer) {
    match answer {
        Ok(order) => {
            let mut seen = order.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), order.len(), "an index came twice");
            assert!(order.iter().all(|&index| index < u32::from(candidates)), "an index is out of range");
        }
        Err(refusal) => check_reason(&refusal.reason),
    }
}

fn check_chat(verdict: &chat::Verdict) {
    match &verdict.decision {
        chat::Decision::Allow => {}
        chat::Decision::Rewrite(text) => {
            assert!((1..=MAX_LINE_CHARS).contains(&text.chars().count()));
            assert!(!text.chars().any(char::is_control));
        }
        chat::Decision::Refuse(reason) => check_reason(reason),
    }
    if let Some(mute) = &verdict.mute {
        assert!((1..=MAX_DURATION_MS).contains(&mute.duration_ms));
        check_reason(&mute.reason);
    }
}

fn check_review(verdict: &punishment::Verdict) {
    assert!(verdict.follow_ups.len() <= MAX_FOLLOW_UPS);
    let amended = match &verdict.decision {
        punishment::Decision::Amend(terms) => Some(terms),
        punishment::Decision::Accept => None,
        punishment::Decision::Refuse(reason) => {
            check_reason(reason);
            None
        }
    };
    for terms in verdict.follow_ups.iter().chain(amended) {
        assert!(terms.reason.chars().count() <= MAX_REASON_CHARS);
        assert!(terms.duration_ms.is_none_or(|duration| (1..=MAX_DURATION_MS).contains(&duration)));
    }
}

fn check_reason(reason: &str) {
    assert!(!reason.trim().is_empty() && reason.chars().count() <= MAX_REASON_CHARS);
    assert!(!reason.chars().any(char::is_control));
}

fn player() -> PlayerRef {
    PlayerRef { uuid: "6f1c1c1e-0000-4000-8000-000000000001".into(), name: "Steve".into() }
}

fn line() -> chat::Line {
    chat::Line {
        player: player(),
        message: "hello".into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: Some("spawn".into()),
        rank: None,
    }
}

fn proposal() -> punishment::Proposal {
    punishment::Proposal {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        terms: punishment::Terms { kind: PunishmentKind::Ban, duration_ms: Some(60_000), reason: "spam".into() },
        ip_based: false,
        issuer_uuid: None,
        issuer_name: Some("Alex".into()),
    }
}

fn request() -> Arc<MatchRequest> {
    Arc::new(MatchRequest {
        player_uuid: Some(player().uuid),
        player_name: None,
        region: 1,
        server_type: "lobby".into(),
        world_type: None,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    })
}

fn texts(count: u8) -> Arc<PlainTexts> {
    let candidate = |number| PlainCandidate { server_id: format!("lobby-{number}"), ..PlainCandidate::default() };
    Arc::new(PlainTexts {
        candidates: (0..count).map(candidate).collect(),
        regions: vec!["UNKNOWN".into(), "EUROPE".into()],
    })
}

fn servers(count: u8) -> Candidates<ServerCandidate> {
    let server = |number: u8| ServerCandidate {
        index: 0,
        region: u16::from(number) % 2,
        state: GameState::Waiting,
        affinity: false,
        current_players: number.into(),
        max_players: 16,
        free_slots: 8,
        players_to_start: 8,
        players_needed: 2,
    };
    Candidates::new(request(), (0..count).map(server).collect(), texts(count))
}

fn worlds(count: u8) -> Candidates<WorldCandidate> {
    let world = |number: u8| WorldCandidate {
        index: 0,
        region: u16::from(number) % 2,
        state: GameState::Idle,
        affinity: true,
        current_players: number.into(),
        max_players: 16,
        free_slots: 8,
        players_to_start: 0,
        players_needed: 0,
        server: number.into(),
        server_free_slots: 100,
    };
    Candidates::new(request(), (0..count).map(world).collect(), texts(count))
}
