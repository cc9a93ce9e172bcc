//! Files of test cases: parsed, run and rewritten.

use crate::support::{TestSandbox, relaxed_limits, starter};
use hub_sandbox::contract::HostError;
use hub_sandbox::contract::players::{Period, PermissionState, PunishmentFilter};
use hub_sandbox::test_case::{Answer, NewAnswer, TestCase, TestCaseHost, one_line, write_answers};
use hub_sandbox::{CallFailure, HostAnswer, HostCall, HostCallRecord};
use serde_json::{Value, json};

const STEVE: &str = "6f1c1c1e-0000-4000-8000-000000000001";

fn read(cases: &Value) -> Vec<TestCase> {
    TestCase::parse_all(&cases.to_string()).unwrap()
}

fn line(message: &str) -> Value {
    json!({"player": {"uuid": STEVE, "name": "Steve"}, "message": message, "serverId": "a", "serverType": "lobby"})
}

async fn answers(module: &str, case: &TestCase) -> Vec<Value> {
    let test = TestSandbox::new();
    let module = test.sandbox.open(starter(module)).await.unwrap();
    let reports = test.sandbox.run_test_case(&module, relaxed_limits(case.point), case).await;
    reports.iter().map(|report| Answer::of(report).to_json().clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_share_a_store_whose_entries_expire_by_the_time_of_the_calls() {
    let flood = json!({"flood": {"messages": 1, "perMs": 5000, "reason": "slowly"}});
    let cases = read(&json!([{
        "name": "flood", "point": "chat", "config": flood, "nowMs": 10_000, "steps": [
            {"input": line("one"), "expect": {"decision": "allow"}},
            {"input": line("two"), "nowMs": 14_999, "expect": {"decision": {"refuse": "slowly"}}},
            {"input": line("three"), "nowMs": 15_000, "expect": {"decision": "allow", "mute": null}},
            {"input": line("four")},
        ],
    }]));
    let steps = &cases[0].steps;
    let got = answers("chat-guard", &cases[0]).await;
    for (step, got) in steps[..3].iter().zip(&got) {
        assert_eq!(step.expect.as_ref().unwrap().to_json(), got);
    }
    assert_eq!((steps[3].now_ms, &steps[3].expect), (15_000, &None));
    assert_eq!(got[3]["decision"], json!({"refuse": "slowly"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_gets_the_host_answers_of_its_case() {
    let mute = |at: u64| json!({"type": "MUTE", "issuedAtMs": at});
    let case = |earlier: Value| {
        read(&json!([{
            "name": "third", "point": "punishment", "nowMs": 1_700_000_000_000_u64,
            "hub": {"punishments": {STEVE: earlier}},
            "input": {"playerUuid": STEVE, "terms": {"type": "MUTE", "reason": "spam"}, "ipBased": false},
            "expect": {"decision": "accept"},
        }]))
    };
    let twice = json!([mute(1_699_999_000_000), mute(1_699_998_000_000)]);
    let third = answers("escalation", &case(twice)[0]).await;
    assert_eq!(third[0]["decision"]["amend"]["type"], "BAN", "{third:?}");
    let case = case(json!([mute(1_699_999_000_000), mute(1_600_000_000_000)]));
    assert_eq!(answers("escalation", &case[0]).await[0], *case[0].steps[0].expect.as_ref().unwrap().to_json());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compiled_code_is_opened_from_the_cache() {
    let test = TestSandbox::new();
    let first = test.sandbox.open(starter("chat-guard")).await.unwrap();
    // No compiler is left: modules opened now were compiled before.
    let config = hub_sandbox::SandboxConfig {
        compiler: hub_sandbox::Compiler::Child("/nowhere".into()),
        ..crate::support::config(test.folder.path())
    };
    let again = hub_sandbox::Sandbox::new(config).unwrap();
    assert_eq!(again.open(starter("chat-guard")).await.unwrap().id(), first.id());
    assert!(again.open(starter("escalation")).await.is_err());
}

fn host(hub: &Value) -> TestCaseHost {
    read(&json!([{"name": "n", "point": "chat", "hub": hub, "input": line("x")}]))[0].host()
}

#[tokio::test]
async fn fixtures_answer_from_their_data() {
    let other = "6f1c1c1e-0000-4000-8000-000000000002";
    let host = host(&json!({
            "store": {"n": "4", "text": "x"},
            "permissions": {STEVE: {"may": true, "may.not": false}},
            "statistics": {STEVE: {"kills": 3, "bedwars/wins": 1.5}},
            "balances": {STEVE.to_uppercase(): {"coins": 12.5}},
            "online": {STEVE: {"serverId": "a", "serverType": "lobby", "worldId": "w"}, other: {"serverId": "a", "serverType": "lobby"}},
            "punishments": {STEVE: [
                {"type": "BAN", "issuedAtMs": 100, "durationMs": 900}, {"type": "MUTE", "issuedAtMs": 200},
                {"type": "KICK", "issuedAtMs": 300}, {"type": "BAN", "issuedAtMs": 400, "durationMs": 601, "reason": "r"},
            ]},
    }));
    let at_1000 = host.at(1000);
    let ask = async |call: HostCall| at_1000.answer(&call).await;
    let text = str::to_owned;
    let permission =
        |node: &str| HostCall::Permission { player: text(STEVE), node: text(node), context: None, world: None };
    for (node, state) in
        [("may", PermissionState::Granted), ("may.not", PermissionState::Denied), ("x", PermissionState::Undefined)]
    {
        assert_eq!(ask(permission(node)).await, Ok(HostAnswer::Permission(state)));
    }
    let statistic = |name: &str, mode: &str| HostCall::Statistics {
        players: vec![text(STEVE), text(other)],
        name: text(name),
        game_mode: text(mode),
        period: Period::Lifetime,
    };
    for (name, mode, value) in [
        ("kills", "global", Some(3.0)),
        ("wins", "bedwars", Some(1.5)),
        ("wins", "global", None),
        ("kills", "bedwars", None),
    ] {
        assert_eq!(ask(statistic(name, mode)).await, Ok(HostAnswer::Statistics(vec![value, None])));
    }
    let balance = |currency: &str| HostCall::Balance { player: text(STEVE), currency: text(currency) };
    assert_eq!(ask(balance("coins")).await, Ok(HostAnswer::Balance(Some(125_000))));
    assert_eq!(ask(balance("gems")).await, Ok(HostAnswer::Balance(None)));
    let on = |world: Option<&str>| HostCall::PlayersOn { server_id: text("a"), world_id: world.map(text) };
    assert_eq!(ask(on(None)).await, Ok(HostAnswer::Players(vec![text(STEVE), text(other)])));
    assert_eq!(ask(on(Some("w"))).await, Ok(HostAnswer::Players(vec![text(STEVE)])));
    let record = |since_ms, limit| HostCall::Punishments {
        player: text(STEVE),
        filter: PunishmentFilter { since_ms, kind: None, limit },
    };
    let Ok(HostAnswer::Punishments(all)) = ask(record(None, 10)).await else { panic!("no record") };
    let seen: Vec<_> = all.iter().map(|past| (past.id, past.active, past.expired)).collect();
    assert_eq!(seen, [(4, true, false), (3, false, false), (2, true, false), (1, false, true)]);
    let Ok(HostAnswer::Punishments(some)) = ask(record(Some(200), 2)).await else { panic!("no record") };
    assert_eq!(some.iter().map(|past| past.id).collect::<Vec<_>>(), [4, 3]);

    let increment = |key: &str, by| HostCall::StoreIncrement { key: text(key), by, ttl_ms: Some(5) };
    assert_eq!(ask(increment("n", 2)).await, Ok(HostAnswer::Number(6)));
    assert_eq!(ask(increment("new", 2)).await, Ok(HostAnswer::Number(2)));
    let get = |key: &str| HostCall::StoreGet { key: text(key) };
    let later = host.at(1005);
    assert_eq!(later.answer(&get("n")).await, Ok(HostAnswer::Value(Some(text("6")))));
    assert_eq!(later.answer(&get("new")).await, Ok(HostAnswer::Value(None)));
    assert!(matches!(ask(increment("text", 1)).await, Err(HostError::Invalid(_))));
    assert!(matches!(ask(increment("n", i64::MAX)).await, Err(HostError::Invalid(_))));
    let delete = HostCall::StoreDelete { key: text("n") };
    assert_eq!(ask(delete.clone()).await, Ok(HostAnswer::Deleted(true)));
    assert_eq!(ask(delete).await, Ok(HostAnswer::Deleted(false)));
}

#[tokio::test]
async fn the_store_of_a_case_has_the_real_quota() {
    let host = host(&json!({}));
    let set = |key: &str, bytes, ttl_ms| HostCall::StoreSet { key: key.to_owned(), value: "x".repeat(bytes), ttl_ms };
    let half = 8 << 20;
    assert_eq!(host.at(1).answer(&set("a", half, Some(10))).await, Ok(HostAnswer::Done));
    assert_eq!(host.at(2).answer(&set("b", half, None)).await, Err(HostError::QuotaExceeded));
    assert_eq!(host.at(2).answer(&set("a", half + 1, Some(10))).await, Ok(HostAnswer::Done));
    assert_eq!(host.at(12).answer(&set("b", half, None)).await, Ok(HostAnswer::Done));
}

#[tokio::test]
async fn a_recorded_case_gives_the_recorded_answers() {
    let increment = HostCall::StoreIncrement { key: "n".to_owned(), by: 1, ttl_ms: None };
    let record = HostCallRecord { call: increment.clone(), answer: Ok(HostAnswer::Number(7)) };
    let cases = read(&json!([{
        "name": "n", "point": "chat", "callId": "c", "networkId": "w", "seed": u64::MAX.to_string(), "nowMs": 5,
        "hostCalls": [record], "input": line("x"),
    }]));
    let context = cases[0].context(&cases[0].steps[0]);
    assert_eq!((context.call_id.as_str(), context.network_id.as_str()), ("c", "w"));
    assert_eq!((context.seed, context.now_ms, context.config.as_str()), (u64::MAX, 5, "{}"));
    let host = cases[0].host();
    assert_eq!(host.at(5).answer(&increment).await, Ok(HostAnswer::Number(7)));
    assert_eq!(host.unrecorded(), 0);
    assert_eq!(host.at(5).answer(&increment).await, Ok(HostAnswer::Number(8)));
    assert_eq!(host.unrecorded(), 1);
}

#[test]
fn a_mistake_is_named_by_its_case_and_its_place() {
    let good = json!({"name": "good", "point": "chat", "input": line("x")});
    let with = |field: &str, value: Value| {
        let mut case = good.clone();
        case[field] = value;
        json!([good, case]).to_string()
    };
    for (text, hints) in [
        ("[".to_owned(), &["not valid JSON", "line 1"][..]),
        ("{}".to_owned(), &["array"]),
        ("[5]".to_owned(), &["case 1"]),
        (r#"[{"point": "chat"}]"#.to_owned(), &["case 1", "`name`"]),
        (with("point", json!("weather")), &["case 2 (good)", "`point`", "weather", "chat"]),
        (with("expct", json!({})), &["case 2 (good)", "expct"]),
        (with("config", json!([])), &["`config`"]),
        (with("seed", json!("x")), &["`seed`", "`x`"]),
        (with("seed", json!(-1)), &["`seed`", "whole number"]),
        (with("input", json!(null)), &["`input`", "`steps`"]),
        (with("input", json!({"player": {"uuid": "u"}})), &["case 2 (good)", "`input`", "`player`", "`name`"]),
        (with("steps", json!([])), &["`input`", "`steps`"]),
        (with("expect", json!({"decision": "alow"})), &["`expect`", "`decision`", "alow"]),
        (with("expect", json!({"desicion": "allow"})), &["`expect`", "desicion"]),
        (with("expect", json!({"failure": "traps"})), &["`expect`", "traps", "timed_out"]),
        (with("hub", json!({"stor": {}})), &["`hub", "stor"]),
        (with("hub", json!({"punishments": {"u": [{"type": "BAN"}]}})), &["`hub.punishments.u[0]", "issuedAtMs"]),
        (
            json!([{"name": "b", "point": "chat", "hub": {}, "hostCalls": [], "input": line("x")}]).to_string(),
            &["`hub`", "`hostCalls`"],
        ),
        (with("hostCalls", json!([{"call": "fly", "answer": {"Ok": "done"}}])), &["`hostCalls[0]", "fly"]),
        (
            json!([{"name": "s", "point": "chat", "steps": [{"input": line("x")}, {"input": 5}]}]).to_string(),
            &["case 1 (s)", "`steps[1].input`"],
        ),
        (
            json!([{"name": "s", "point": "chat", "expect": {}, "steps": [{"input": line("x")}]}]).to_string(),
            &["`expect`", "`steps`"],
        ),
        (
            json!([{"name": "m", "point": "matchmaking", "input": {"serverType": "x", "servers": []}, "expect": {}}])
                .to_string(),
            &["`expect`", "`order`"],
        ),
    ] {
        let said = TestCase::parse_all(&text).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string();
        for hint in hints {
            assert!(said.contains(hint), "{text}\n{said}");
        }
    }
}

#[test]
fn every_failure_can_be_expected() {
    let reason = || "x".to_owned();
    let times = hub_sandbox::CallTimes { allowed_ms: 10, used_ms: 3, waited_ms: 41 };
    for failure in [
        CallFailure::Trap { message: reason(), backtrace: reason() },
        CallFailure::TimedOut(times),
        CallFailure::OutOfFuel,
        CallFailure::OutOfMemory,
        CallFailure::HostCallLimit,
        CallFailure::InvalidAnswer { reason: reason() },
        CallFailure::Late(times),
        CallFailure::Unavailable { reason: reason() },
    ] {
        assert!(CallFailure::CODES.contains(&failure.code()), "{failure}");
    }
}

#[test]
fn new_answers_leave_the_rest_of_a_file_as_it_was_written() {
    let line = line("x");
    let before = format!(
        r#"[
  {{ "name": "a",   "point": "chat",
    "input": {line},
    "expect": {{"decision":
        "allow"}} }},
  {{"name": "b", "point": "chat", "steps": [
    {{"input": {line}}},
    {{"input": {line}, "expect": {{"failure": "trap"}}}}
  ]}},
  {{
    "name": "c",
    "point": "chat",
    "input": {line}
  }}
]
"#
    );
    let after = format!(
        r#"[
  {{ "name": "a",   "point": "chat",
    "input": {line},
    "expect": {{"decision": {{"refuse": "no"}}, "mute": null}} }},
  {{"name": "b", "point": "chat", "steps": [
    {{"input": {line}, "expect": {{"decision": {{"refuse": "no"}}, "mute": null}}}},
    {{"input": {line}, "expect": {{"decision": {{"refuse": "no"}}, "mute": null}}}}
  ]}},
  {{
    "name": "c",
    "point": "chat",
    "input": {line},
    "expect": {{"decision": {{"refuse": "no"}}, "mute": null}}
  }}
]
"#
    );
    let cases = TestCase::parse_all(&before).unwrap();
    let point = cases[0].point;
    let new = |(case, step)| {
        let answer = Answer::parse(point, json!({"decision": {"refuse": "no"}})).unwrap();
        NewAnswer { case, step, answer }
    };
    let written = write_answers(&before, &[(0, 0), (1, 0), (1, 1), (2, 0)].map(new)).unwrap();
    assert_eq!(written, after);
    assert!(TestCase::parse_all(&written).unwrap()[1].steps[0].expect.is_some());
    assert_eq!(write_answers(&before, &[]).unwrap(), before);
}

#[test]
fn one_line_json_has_spaces() {
    let value = json!({"a": [1, {"b": "x:,"}], "c": null});
    assert_eq!(one_line(&value), r#"{"a": [1, {"b": "x:,"}], "c": null}"#);
}
