//! The checked-in starter modules, with real inputs.

use crate::support::{
    EUROPE, NOW, StoreHost, TestSandbox, change, context, event, line, login_attempt, player, proposal, relaxed_limits,
    root, servers, starter, ticket,
};
use hub_sandbox::contract::chat::{Decision, Mute};
use hub_sandbox::contract::endpoints::Request;
use hub_sandbox::contract::players::Punishment;
use hub_sandbox::contract::schedules::Tick;
use hub_sandbox::contract::{Point, PunishmentKind, punishment};
use hub_sandbox::test_case::{Answer, TestCase};
use hub_sandbox::{
    AnswerRequest, CallFailure, CheckLogin, EmptyHost, FilterChat, HandleEvent, HostCall, Operation, PlaceTicket,
    RankServers, ReviewChange, ReviewPunishment, RunTick,
};
use std::sync::Arc;

const UNKNOWN: u16 = 0;
const ASIA: u16 = 2;

/// The names of all starter modules.
fn names() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("plugins")).unwrap().map(|entry| entry.unwrap().path());
    let modules = folders.filter(|folder| folder.join("Cargo.toml").exists());
    modules.map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starters_pass_their_test_cases() {
    let test = TestSandbox::new();
    let names = names();
    assert_eq!(names.len(), 16, "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(root().join("plugins").join(&name).join("cases.json")).unwrap();
        let cases = TestCase::parse_all(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(cases.len() >= 5, "{name} has {} cases", cases.len());
        let module = test.module(starter(&name)).await;
        for case in cases {
            let reports = test.sandbox.run_test_case(&module, relaxed_limits(case.point), &case).await;
            for (step, report) in case.steps.iter().zip(&reports) {
                let answered = Answer::of(report);
                assert_eq!(Some(&answered), step.expect.as_ref(), "{name}: {}", case.name);
            }
        }
    }
}

/// Their examples of a configuration are accepted, and a call with them stays far from its limits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starters_accept_their_example_configuration_and_are_cheap() {
    let test = TestSandbox::new();
    for name in names() {
        let module = test.module(starter(&name)).await;
        let example = std::fs::read_to_string(root().join("plugins").join(&name).join("config.example.json")).unwrap();
        let point = module.points()[0];
        let host = Arc::new(StoreHost::default());
        let limits = relaxed_limits(point);
        let (fuel, failure) = match point {
            Point::Matchmaking => {
                let regions: Vec<_> = (0..1000).map(|number| number % 3).collect();
                let report = test.call_with::<RankServers>(&module, limits, host, &example, servers(&regions)).await;
                (report.fuel, report.result.err())
            }
            Point::Chat => {
                let longest = line(&"Join Example [dot] com, it IS 1.20.4! ".repeat(26));
                let report = test.call_with::<FilterChat>(&module, limits, host, &example, longest).await;
                (report.fuel, report.result.err())
            }
            Point::Punishment => {
                let input = proposal(PunishmentKind::Ban);
                let report = test.call_with::<ReviewPunishment>(&module, limits, host, &example, input).await;
                (report.fuel, report.result.err())
            }
            Point::Endpoints => {
                let (host, input) = (Arc::new(EmptyHost), request_of(&name));
                let report = test.call_with::<AnswerRequest>(&module, limits, host, &example, input).await;
                let answer = report.result.as_ref().ok().and_then(|answered| answered.answer.as_ref().ok());
                assert!(answer.is_some_and(|answer| !answer.effects.is_empty()), "{name}: {:?}", report.result);
                (report.fuel, report.result.err())
            }
            Point::Events => {
                let report = test.call_with::<HandleEvent>(&module, limits, host, &example, event("FIRST_JOIN")).await;
                (report.fuel, report.result.err())
            }
            Point::Schedules => {
                let tick = Tick { schedule: "trial".into(), due_at_ms: 1_700_000_000_000, missed: 0, manual: false };
                let report = test.call_with::<RunTick>(&module, limits, host, &example, tick).await;
                (report.fuel, report.result.err())
            }
            Point::Login => {
                let report = test.call_with::<CheckLogin>(&module, limits, host, &example, login_attempt()).await;
                (report.fuel, report.result.err())
            }
            Point::Economy => {
                let report = test.call_with::<ReviewChange>(&module, limits, host, &example, change(25_000)).await;
                (report.fuel, report.result.err())
            }
            Point::Queue => {
                let report = test.call_with::<PlaceTicket>(&module, limits, host, &example, ticket()).await;
                (report.fuel, report.result.err())
            }
        };
        assert_eq!(failure, None, "{name}");
        assert!(fuel < limits.fuel / 10, "{name} takes {fuel} of {}", limits.fuel);
    }
}

/// A request with effects to each module.
fn request_of(module: &str) -> Request {
    let player = |id: u8| format!("069a79f4-44e9-4726-a5be-fca90e38aaf{id}");
    let (endpoint, method, body) = match module {
        "friends" => ("request", "PUT", String::new()),
        "tebex-shop" => {
            let product = r#"{"id": 5551234, "quantity": 1}, {"id": 5551235, "quantity": 2}"#;
            let customer = format!(r#"{{"username": {{"id": "{}", "username": "Notch"}}}}"#, player(5));
            let payment = format!(r#"{{"transaction_id": "t", "customer": {customer}, "products": [{product}]}}"#);
            ("webhook", "POST", format!(r#"{{"id": "1", "type": "payment.completed", "subject": {payment}}}"#))
        }
        _ => ("vote", "POST", r#"{"id": "1", "player": "Notch"}"#.to_owned()),
    };
    Request {
        endpoint: endpoint.into(),
        method: method.into(),
        path: endpoint.into(),
        parameters: vec![("player".into(), player(5)), ("friend".into(), player(6))],
        headers: vec![("content-type".into(), "application/json".into())],
        body: body.into_bytes(),
        dedupe: Some("1".into()),
        ..Request::default()
    }
}

#[tokio::test]
async fn region_first_prefers_the_players_region_and_its_neighbours() {
    let test = TestSandbox::new();
    let module = test.module(starter("region-first")).await;
    assert_eq!(module.points(), [Point::Matchmaking]);
    let rank = async |config: &str| {
        let input = servers(&[UNKNOWN, ASIA, EUROPE]);
        let host = Arc::new(StoreHost::default());
        test.call_with::<RankServers>(&module, relaxed_limits(Point::Matchmaking), host, config, input).await
    };
    let report = rank("{}").await;
    assert_eq!(report.result, Ok(Ok(vec![2, 0, 1])));
    assert!(report.host_calls.is_empty());
    let neighbours = r#"{"neighbours": {"EUROPE": ["AFRICA", "ASIA"]}}"#;
    assert_eq!(rank(neighbours).await.result, Ok(Ok(vec![2, 1, 0])));
}

#[tokio::test]
async fn a_wrong_configuration_fails_with_its_reason() {
    let test = TestSandbox::new();
    let module = test.module(starter("region-first")).await;
    let host = Arc::new(StoreHost::default());
    let limits = relaxed_limits(Point::Matchmaking);
    let report = test.call_with::<RankServers>(&module, limits, host, r#"{"neighbors": {}}"#, servers(&[0])).await;
    let Err(CallFailure::Trap { backtrace, .. }) = &report.result else { panic!("{report:?}") };
    assert!(backtrace.contains("rank_servers"), "{backtrace}");
    let logged = &report.logs[0].message;
    assert!(logged.contains("unknown field `neighbors`"), "{logged}");
}

#[tokio::test]
async fn chat_guard_masks_words_and_stops_floods() {
    let test = TestSandbox::new();
    let module = test.module(starter("chat-guard")).await;
    let host = Arc::new(StoreHost::default());
    let config = r#"{"words": ["darn"], "flood": {"messages": 2, "reason": "slow down",
        "mute": {"afterFloods": 1, "durationMs": 9000, "reason": "flood"}}}"#;
    let say = async |message: &str| {
        let limits = relaxed_limits(Point::Chat);
        let host = Arc::clone(&host);
        test.call_with::<FilterChat>(&module, limits, host, config, line(message)).await
    };
    assert_eq!(say("hello").await.result.unwrap().decision, Decision::Allow);
    assert_eq!(say("oh d4rn").await.result.unwrap().decision, Decision::Rewrite("oh ****".into()));
    let third = say("hello?").await;
    let calls: Vec<_> = third.host_calls.iter().map(|record| &record.call).collect();
    assert!(
        matches!(
            calls[..],
            [
                HostCall::StoreIncrement { ttl_ms: Some(5000), .. },
                HostCall::StoreIncrement { .. },
                HostCall::StoreDelete { .. }
            ]
        ),
        "{calls:?}"
    );
    let verdict = third.result.unwrap();
    assert_eq!(verdict.decision, Decision::Refuse("slow down".into()));
    assert_eq!(verdict.mute, Some(Mute { duration_ms: 9000, reason: "flood".into() }));
    let sent = format!("sent:{}", player().uuid);
    assert_eq!(host.numbers.lock().unwrap()[&sent], 3);
}

#[tokio::test]
async fn escalation_makes_the_third_mute_a_ban() {
    let test = TestSandbox::new();
    let module = test.module(starter("escalation")).await;
    let mute = |id: u64, days_ago: u64| Punishment {
        id,
        kind: PunishmentKind::Mute,
        reason: "spam".into(),
        issued_at_ms: NOW - days_ago * 86_400_000,
        duration_ms: Some(1000),
        ip_based: false,
        issuer_name: None,
        active: false,
        revoked: false,
        expired: true,
    };
    let review = async |record: Vec<Punishment>| {
        let host = Arc::new(StoreHost { record, ..StoreHost::default() });
        let limits = relaxed_limits(Point::Punishment);
        let input = proposal(PunishmentKind::Mute);
        test.call_with::<ReviewPunishment>(&module, limits, host, "{}", input).await
    };
    let second = review(vec![mute(1, 2)]).await;
    assert_eq!(second.result.unwrap().decision, punishment::Decision::Accept);
    let third = review(vec![mute(2, 1), mute(1, 20)]).await;
    let HostCall::Punishments { player: asked, filter } = &third.host_calls[0].call else { panic!("{third:?}") };
    assert_eq!(*asked, player().uuid);
    assert_eq!(filter.since_ms, Some(NOW - 30 * 86_400_000));
    let punishment::Decision::Amend(terms) = third.result.unwrap().decision else { panic!("not amended") };
    assert_eq!(terms.kind, PunishmentKind::Ban);
    assert_eq!(terms.duration_ms, Some(7 * 86_400_000));
    assert_eq!(terms.reason, "3rd mute within 30 days: spam");
}

#[tokio::test]
async fn the_same_call_costs_the_same_fuel_and_gives_the_same_answer() {
    async fn twice<O: Operation>(test: &TestSandbox, name: &str, input: impl Fn() -> O::Input)
    where
        O::Answer: PartialEq + std::fmt::Debug,
    {
        let module = test.module(starter(name)).await;
        let mut reports = Vec::new();
        for _ in 0..2 {
            let host = Arc::new(StoreHost::default());
            let input = Arc::new(input());
            let report = test.sandbox.call::<O>(&module, relaxed_limits(O::POINT), host, context("{}"), input).await;
            reports.push((report.result.unwrap(), report.fuel, report.memory_bytes, report.host_calls));
        }
        assert_eq!(reports[0], reports[1]);
    }
    let test = TestSandbox::new();
    for name in ["region-first", "fill-waiting", "skill-balance", "party-together"] {
        twice::<RankServers>(&test, name, || servers(&[0, 1, 2])).await;
    }
    for name in ["chat-guard", "slow-mode", "link-filter", "caps-and-repeat"] {
        twice::<FilterChat>(&test, name, || line("hello")).await;
    }
    for name in ["escalation", "appeal-shield"] {
        twice::<ReviewPunishment>(&test, name, || proposal(PunishmentKind::Mute)).await;
    }
}
