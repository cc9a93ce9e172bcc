//! The templates of every language: each builds without changes, and all of them give the same answers.

use crate::support::{TestSandbox, line, relaxed_limits, root};
use hub_sandbox::build::{Language, Symbols, build, create};
use hub_sandbox::contract::Point;
use hub_sandbox::test_case::{Answer, TestCase};
use hub_sandbox::{CallFailure, FilterChat};
use std::fs;
use std::path::{Path, PathBuf};

/// Common cases of a point's policies.
fn cases(point: Point) -> Vec<TestCase> {
    let cases = read_cases(&root().join(format!("plugins-sdk/examples/{point}.cases.json")));
    assert!(cases.len() > if FIRST_POINTS.contains(&point) { 10 } else { 6 }, "{point}");
    cases
}

fn read_cases(file: &Path) -> Vec<TestCase> {
    TestCase::parse_all(&fs::read_to_string(file).unwrap()).unwrap()
}

/// A file of the module that answers with every effect, and uses every function of the state.
fn every_effect(file: &str) -> PathBuf {
    root().join("host/sandbox/tests/it/every_effect").join(file)
}

/// A file of the module that uses every part of requests and answers.
fn every_request(file: &str) -> PathBuf {
    root().join("host/sandbox/tests/it/every_request").join(file)
}

/// A module of a point, created like with `hub module new`.
fn template(folder: &Path, language: Language, point: Point) -> PathBuf {
    let folder = folder.join(format!("{language}-{point}"));
    create(&folder, &format!("{language}-{point}"), language, point).unwrap();
    folder
}

/// Builds the module in a folder; returns its component.
async fn built(folder: PathBuf) -> Vec<u8> {
    tokio::task::spawn_blocking(move || build(&folder, Symbols::Names).unwrap().0.component).await.unwrap()
}

/// Builds the module in a folder, or says why not.
async fn built_or_refused(folder: &Path) -> Result<Vec<u8>, String> {
    let folder = folder.to_owned();
    let build = move || build(&folder, Symbols::Names).map(|(built, _)| built.component);
    tokio::task::spawn_blocking(build).await.unwrap().map_err(|error| error.to_string())
}

/// Runs all cases of the points that a component serves.
async fn answers_as_expected(component: Vec<u8>, points: &[Point]) {
    answers_to(component, points, points.iter().flat_map(|&point| cases(point)).collect()).await;
}

async fn answers_to(component: Vec<u8>, points: &[Point], cases: Vec<TestCase>) {
    let test = TestSandbox::new();
    let module = test.module(component).await;
    assert_eq!(module.points(), points);
    let mut wrong = vec![];
    for case in cases {
        let point = case.point;
        let reports = test.sandbox.run_test_case(&module, relaxed_limits(point), &case).await;
        for (step, report) in case.steps.iter().zip(reports) {
            let expected = step.expect.as_ref().expect("each case says what it expects");
            let answered = Answer::of(&report);
            if *expected != answered {
                let logs: Vec<_> = report.logs.iter().map(|line| &line.message).collect();
                let (expected, answered) = (expected.to_json(), answered.to_json());
                wrong.push(format!("{point}: {}: expected {expected}, got {answered} {logs:?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The points of the first version of the contract.
const FIRST_POINTS: [Point; 3] = [Point::Matchmaking, Point::Chat, Point::Punishment];

#[test]
fn each_language_has_each_point() {
    for language in Language::ALL {
        for point in Point::ALL {
            assert!(language.serves(point), "{language}: {point}");
        }
    }
}

#[test]
fn a_handler_has_a_module_toml_and_an_override_of_the_older_contract_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let why = |module: &Path| build(module, Symbols::Names).unwrap_err().to_string();
    let handler = template(folder.path(), Language::C, Point::Events);
    let declared = handler.join("module.toml");
    let chat = template(folder.path(), Language::C, Point::Chat);
    fs::rename(&declared, chat.join("module.toml")).unwrap();
    assert!(
        why(&handler).contains("there is no module.toml, in which a module for events declares"),
        "{}",
        why(&handler)
    );
    assert!(why(&chat).contains("its module.toml needs `contract` 1.1.0 in its hub-module.json"), "{}", why(&chat));
    fs::write(declared, "scopes = [\"FLY\"]\n").unwrap();
    assert!(why(&handler).contains("its module.toml is invalid: `/scopes/0`"), "{}", why(&handler));
}

async fn each_template_answers(language: Language) {
    let folder = tempfile::tempdir().unwrap();
    for point in Point::ALL.into_iter().filter(|point| language.serves(*point)) {
        let module = template(folder.path(), language, point);
        answers_as_expected(built(module).await, &[point]).await;
    }
}

#[tokio::test]
async fn rust() {
    let folder = tempfile::tempdir().unwrap();
    // Their common dependencies are compiled once, and kept for the next run.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    fs::create_dir(folder.path().join(".cargo")).unwrap();
    fs::write(folder.path().join(".cargo/config.toml"), format!("build.target-dir = {target:?}")).unwrap();
    for point in Point::ALL {
        let module = template(folder.path(), Language::Rust, point);
        answers_as_expected(built(module).await, &[point]).await;
    }
}

/// A module that traps on one line.
const FRAGILE: &str = r#"use network_hub_module::CallContext;
use network_hub_module::chat::{Chat, Line, Verdict};

struct Fragile;

#[network_hub_module::export]
impl Chat for Fragile {
    fn filter(_: &CallContext, line: &Line) -> Verdict {
        if line.message == "boom" { burst(line) } else { Verdict::allow() }
    }
}

#[inline(never)]
fn burst(line: &Line) -> Verdict {
    let lines: Vec<&str> = line.message.lines().skip(1).collect();
    Verdict::refuse(lines[0])
}
"#;

#[tokio::test]
async fn a_backtrace_names_functions_and_of_a_debug_build_lines() {
    let folder = tempfile::tempdir().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    fs::create_dir(folder.path().join(".cargo")).unwrap();
    fs::write(folder.path().join(".cargo/config.toml"), format!("build.target-dir = {target:?}")).unwrap();
    let module = folder.path().join("fragile");
    create(&module, "fragile", Language::Rust, Point::Chat).unwrap();
    fs::write(module.join("src/lib.rs"), FRAGILE).unwrap();
    let test = TestSandbox::new();
    for (symbols, has_lines) in [(Symbols::Names, false), (Symbols::Lines, true)] {
        let module = module.clone();
        let built = tokio::task::spawn_blocking(move || build(&module, symbols).unwrap().0).await.unwrap();
        let report = test.call::<FilterChat>(built.component, line("boom")).await;
        let Err(CallFailure::Trap { backtrace, .. }) = report.result else { panic!("{report:?}") };
        assert!(backtrace.contains("burst"), "{backtrace}");
        assert_eq!(backtrace.contains("src/lib.rs:16"), has_lines, "{backtrace}");
    }
}

#[tokio::test]
async fn typescript() {
    each_template_answers(Language::Ts).await;
}

#[tokio::test]
async fn c() {
    each_template_answers(Language::C).await;
}

/// One module for all overrides, since compiling Python takes its time.
#[tokio::test]
async fn python() {
    let folder = tempfile::tempdir().unwrap();
    let [all, chat, punishment] = FIRST_POINTS.map(|point| template(folder.path(), Language::Python, point));
    merge(&all, "py", &[chat, punishment], &FIRST_POINTS);
    let reexports = "from module_1 import Chat\nfrom module_2 import Punishment\n";
    append(&all.join("src/module.py"), reexports);
    answers_as_expected(built(all).await, &FIRST_POINTS).await;
}

/// A module has the contract of its own points alone.
#[tokio::test]
async fn python_has_each_later_point_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    for point in Point::ALL.into_iter().filter(|point| !FIRST_POINTS.contains(point)) {
        let module = template(folder.path(), Language::Python, point);
        answers_as_expected(built(module).await, &[point]).await;
    }
}

#[tokio::test]
async fn c_has_every_effect() {
    let folder = tempfile::tempdir().unwrap();
    let module = template(folder.path(), Language::C, Point::Events);
    fs::copy(every_effect("module.c"), module.join("src/module.c")).unwrap();
    answers_to(built(module).await, &[Point::Events], read_cases(&every_effect("cases.json"))).await;
}

#[tokio::test]
async fn c_has_every_part_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let module = template(folder.path(), Language::C, Point::Endpoints);
    fs::copy(every_request("module.c"), module.join("src/module.c")).unwrap();
    answers_to(built(module).await, &[Point::Endpoints], read_cases(&every_request("cases.json"))).await;
}

#[tokio::test]
async fn python_has_every_effect_and_request_in_one_module_with_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let [all, others @ ..] = MIXED.map(|point| template(folder.path(), Language::Python, point));
    merge(&all, "py", &others, &MIXED);
    merge_tomls(&all, &others);
    let later = "from module_4 import Login\nfrom module_5 import Economy\nfrom module_6 import Queue\n";
    let reexports = format!("from module_1 import Chat\nfrom module_3 import Schedules, Timers\n{later}");
    let every = [every_effect("append.py"), every_request("append.py")].map(|file| fs::read_to_string(file).unwrap());
    append(&all.join("src/module.py"), &format!("{reexports}{}", every.concat()));
    serves_all(built(all).await).await;
}

/// One module for all overrides, which is built of several files.
#[tokio::test]
async fn javascript() {
    let folder = tempfile::tempdir().unwrap();
    let [all, chat, punishment] = FIRST_POINTS.map(|point| template(folder.path(), Language::Js, point));
    merge(&all, "js", &[chat, punishment], &FIRST_POINTS);
    let reexports = "export { chat } from \"./module_1.js\";\nexport { punishment } from \"./module_2.js\";\n";
    append(&all.join("src/index.js"), reexports);
    answers_as_expected(built(all).await, &FIRST_POINTS).await;
}

#[tokio::test]
async fn javascript_has_every_effect_and_request_in_one_module_with_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let [all, others @ ..] = MIXED.map(|point| template(folder.path(), Language::Js, point));
    merge(&all, "js", &others, &MIXED);
    merge_tomls(&all, &others);
    let exports = [(1, "chat"), (3, "schedules, timers"), (4, "login"), (5, "economy"), (6, "queue")];
    let reexports = exports.map(|(number, names)| format!("export {{ {names} }} from \"./module_{number}.js\";\n"));
    let reexports = reexports.concat();
    let every = [every_effect("append.js"), every_request("append.js")].map(|file| fs::read_to_string(file).unwrap());
    append(&all.join("src/index.js"), &format!("{reexports}{}", every.concat()));
    serves_all(built(all).await).await;
}

/// Points of a module that serves several; the first one's template is extended. Contract 1.1 has the overrides, too.
const MIXED: [Point; 7] =
    [Point::Events, Point::Chat, Point::Endpoints, Point::Schedules, Point::Login, Point::Economy, Point::Queue];

async fn serves_all(component: Vec<u8>) {
    let every = [every_effect("cases.json"), every_request("cases.json")];
    let every = every.iter().flat_map(|file| read_cases(file));
    let cases = MIXED.into_iter().flat_map(cases).chain(every).collect();
    let mut points = MIXED;
    points.sort_unstable();
    answers_to(component, &points, cases).await;
}

const TICKS_IN_C: &str = r#"#include "hub_effects.h"

bool exports_schedules_tick(exports_schedules_call_context_t *context, exports_schedules_schedule_tick_t *tick,
                            exports_schedules_list_effect_t *answer, exports_schedules_failure_t *failure) {
  (void)context, (void)failure;
  hub_effects_t effects = {0};
  hub_announce(&effects, tick->schedule);
  return hub_done(answer, effects);
}
"#;

const TIMERS_IN_TS: &str = r#"import { announce } from "network-hub-module/effects";
import type { Timers } from "network-hub-module/timers";

export const timers: Timers = { fire: (_, { key }) => [announce(key)] };
"#;

#[tokio::test]
async fn a_module_has_schedules_or_timers_as_its_module_toml_declares() {
    let folder = tempfile::tempdir().unwrap();
    let schedules = "[[schedules]]\nname = \"evening\"\ncron = \"0 18 * * *\"\n";
    for (language, source, declared, input) in [
        (Language::C, TICKS_IN_C, schedules, r#"{"schedule": "evening", "dueAt": 1}"#),
        (Language::Ts, TIMERS_IN_TS, "timers = true\n", r#"{"key": "evening", "at": 1}"#),
    ] {
        let module = template(folder.path(), language, Point::Schedules);
        let toml = module.join("module.toml");
        fs::write(&toml, declared).unwrap();
        // The template has both: one of them would never be called.
        let why = built_or_refused(&module).await.unwrap_err();
        assert!(why.contains("failed"), "{why}");
        let entry = fs::read_dir(module.join("src")).unwrap().next().unwrap().unwrap().path();
        fs::write(entry, source).unwrap();
        let expected = r#"{"effects": [{"sendChat": {"target": "NETWORK", "text": "evening", "prefix": null}}]}"#;
        let case = format!(r#"[{{"name": "one", "point": "schedules", "input": {input}, "expect": {expected}}}]"#);
        let component = built_or_refused(&module).await.unwrap();
        answers_to(component, &[Point::Schedules], TestCase::parse_all(&case).unwrap()).await;
        fs::write(&toml, "timers = false\n").unwrap();
        let why = built_or_refused(&module).await.unwrap_err();
        assert!(why.contains("declares neither `schedules` nor `timers`"), "{why}");
    }
}

/// Extends a module to serve more points, with the sources of the others beside its own.
fn merge(all: &Path, extension: &str, others: &[PathBuf], points: &[Point]) {
    for (number, other) in (1..).zip(others) {
        let source = fs::read_dir(other.join("src")).unwrap().next().unwrap().unwrap().path();
        fs::copy(source, all.join(format!("src/module_{number}.{extension}"))).unwrap();
    }
    let manifest = all.join("hub-module.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    json["points"] = serde_json::json!(points);
    fs::write(manifest, json.to_string()).unwrap();
}

/// Adds what the others declare in their `module.toml`.
fn merge_tomls(all: &Path, others: &[PathBuf]) {
    let read = |folder: &Path| -> Option<toml::Table> {
        fs::read_to_string(folder.join("module.toml")).ok().map(|text| toml::from_str(&text).unwrap())
    };
    let mut merged = read(all).unwrap();
    for (field, value) in others.iter().filter_map(|folder| read(folder)).flatten() {
        match (merged.get_mut(&field), value) {
            (Some(toml::Value::Array(before)), toml::Value::Array(more)) => {
                before.extend(more.into_iter().filter(|one| !before.contains(one)).collect::<Vec<_>>());
            }
            (Some(_), _) => {}
            (None, value) => drop(merged.insert(field, value)),
        }
    }
    fs::write(all.join("module.toml"), toml::to_string(&merged).unwrap()).unwrap();
}

fn append(file: &Path, text: &str) {
    fs::write(file, fs::read_to_string(file).unwrap() + text).unwrap();
}
