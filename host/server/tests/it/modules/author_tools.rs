//! The tools of a module's author: test, bench, logs, watch.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{chain, point, say, upload, wasm};
use crate::support::on_both;

const NOTCH: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

/// A folder with a module and its test cases.
struct Workspace(TempDir);

impl Workspace {
    fn new(module: &[u8], cases: &Value) -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        std::fs::write(workspace.path("m.wasm"), module).unwrap();
        workspace.write(cases);
        workspace
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, cases: &Value) {
        std::fs::write(self.path("cases.json"), serde_json::to_string_pretty(cases).unwrap()).unwrap();
    }

    fn run(&self, command: &str, more: &[&str]) -> Output {
        let mut hub = Command::new(env!("CARGO_BIN_EXE_hub"));
        hub.args(["module", command, &self.path("m.wasm")]).args(more);
        hub.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).output().unwrap()
    }

    /// The exit code, standard output and standard error, with a time limit for a slow machine.
    fn test(&self, more: &[&str]) -> (i32, String, String) {
        let output = self.run("test", &[more, &["--time-limit", "5000"]].concat());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }
}

fn line(message: &str) -> Value {
    json!({"player": {"uuid": NOTCH, "name": "Notch"}, "message": message, "serverId": "a", "serverType": "lobby"})
}

fn case(message: &str, expect: &Value) -> Value {
    json!({"name": format!("says {message}"), "point": "chat", "input": line(message), "expect": expect})
}

#[test]
fn test_cases_pass_and_fail() {
    let good = [
        case("W", &json!({"decision": {"rewrite": "polite"}})),
        case("U", &json!({"decision": {"refuse": "rude"}, "mute": {"durationMs": 60000, "reason": "rude"}})),
        case("T", &json!({"failure": "trap"})),
        case("M", &json!({"failure": "out_of_memory"})),
        case("N", &json!({"failure": "invalid_answer"})),
    ];
    let workspace = Workspace::new(&wasm::moody(1), &json!(good));
    let (code, printed, errors) = workspace.test(&[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{printed}");
    assert!(printed.contains("m.wasm: "), "{printed}");
    assert!(printed.contains("serves chat"), "{printed}");
    assert!(printed.ends_with("5 cases: 5 ok, 0 failed\n"), "{printed}");
    // Memory grew up to its limit.
    assert!(printed.contains(" % of the memory limit: "), "{printed}");

    let bad = [
        case("G1", &json!({"decision": {"refuse": "no"}})),
        case("T", &json!({"decision": "allow"})),
        case("fine", &json!({"decision": "allow"})),
        json!({"name": "open", "point": "chat", "input": line("R")}),
    ];
    workspace.write(&json!(bad));
    let (code, printed, errors) = workspace.test(&[]);
    assert_eq!((code, errors.as_str()), (1, "hub: 3 of 4 cases failed\n"), "{printed}");
    for hint in [
        "FAILED  says G1",
        r#"decision: expected {"refuse": "no"}"#,
        r#"got      "allow""#,
        "log     INFO  G1",
        "FAILED  says T",
        "the module trapped: wasm trap: wasm `unreachable` instruction executed",
        "ok      says fine",
        "FAILED  open",
        r#"got {"decision": {"refuse": "rude"}, "mute": null}"#,
        "4 cases: 1 ok, 3 failed",
    ] {
        assert!(printed.contains(hint), "{hint}\n{printed}");
    }
    let (code, printed, _) = workspace.test(&["--filter", "fine"]);
    assert_eq!(code, 0);
    assert!(printed.ends_with("1 case: 1 ok, 0 failed\n"), "{printed}");

    let (code, printed, _) = workspace.test(&["--json"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["ok"], &printed["failed"]), (1, &json!(1), &json!(3)));
    assert_eq!(printed["cases"][1]["steps"][0]["answer"], json!({"failure": "trap"}));
    assert!(printed["cases"][2]["steps"][0]["fuel"].as_u64().unwrap() > 0);
}

#[test]
fn an_infinite_loop_is_stopped_as_on_a_hub() {
    let workspace = Workspace::new(&wasm::moody(1), &json!([case("L", &json!({"failure": "timed_out"}))]));
    let output = workspace.run("test", &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn answers_are_written_as_the_expected_ones() {
    let step = |message: &str| json!({"input": line(message)});
    let counting = json!([{
        "name": "third line", "point": "chat", "nowMs": 1000, "steps": [
            step("a"), step("b"), step("c"), {"input": line("d"), "nowMs": 61_000, "expect": {"failure": "trap"}},
        ],
    }]);
    let workspace = Workspace::new(&wasm::counting(), &counting);
    let (code, printed, _) = workspace.test(&["--update"]);
    assert_eq!(code, 0);
    for hint in ["changed  third line (step 1)", "was nothing", r#"was {"failure": "trap"}"#, "4 answers written"] {
        assert!(printed.contains(hint), "{hint}\n{printed}");
    }
    let written: Value = serde_json::from_str(&std::fs::read_to_string(workspace.path("cases.json")).unwrap()).unwrap();
    let expected: Vec<_> = (0..4).map(|at| written[0]["steps"][at]["expect"]["decision"].clone()).collect();
    assert_eq!(expected, [json!("allow"), json!("allow"), json!({"refuse": "slow down"}), json!("allow")]);
    let (code, printed, _) = workspace.test(&["-v"]);
    assert_eq!(code, 0);
    assert!(printed.contains(r#"asked   storeIncrement {"by": 1, "key": "069a"#), "{printed}");
    assert!(printed.contains(r#"→ {"number": 3}"#), "{printed}");
    let (_, printed, _) = workspace.test(&["--update"]);
    assert!(printed.contains("same     third line"), "{printed}");
    assert!(printed.contains("is unchanged"), "{printed}");
}

#[test]
fn malformed_cases_and_modules_are_printed() {
    let workspace = Workspace::new(&wasm::moody(1), &json!([case("x", &json!({"decision": "alow"}))]));
    let other = Workspace::new(&wasm::wasi(), &json!([case("x", &json!({"decision": "allow"}))]));
    let review = json!([{
        "name": "review", "point": "punishment", "input": {"terms": {"type": "BAN", "reason": ""}, "ipBased": false},
    }]);
    let third = Workspace::new(&wasm::moody(1), &review);
    for (workspace, more, hints) in [
        (&workspace, &[][..], &["cases.json: case 1 (says x): `expect`: `decision`", "alow"][..]),
        (&workspace, &["/does/not/exist.json"], &["cannot read /does/not/exist.json"]),
        (&other, &["--filter", "nothing"], &["no case"]),
        (&other, &[], &["m.wasm is not a module", "WASI"]),
        (&third, &[], &["case `review`", "m.wasm does not serve punishment; it serves chat"]),
    ] {
        for command in ["test", "bench"] {
            let output = workspace.run(command, more);
            let printed = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{printed}");
            for hint in hints {
                assert!(printed.contains(hint), "{hint}: {printed}");
            }
        }
    }
}

#[test]
fn a_benchmark_gives_figures_for_each_case() {
    let cases = [case("W", &json!({"decision": {"rewrite": "polite"}})), case("T", &json!({"failure": "trap"}))];
    let workspace = Workspace::new(&wasm::moody(1), &json!(cases));
    let output = workspace.run("bench", &["--calls", "20"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(printed.contains("20 calls of each case"), "{printed}");
    for name in ["says W", "says T", "p99", "of limit", "calls/s"] {
        assert!(printed.contains(name), "{printed}");
    }
    let output = workspace.run("bench", &["--calls", "20", "--json"]);
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&figures[0]["name"], &figures[0]["calls"]), (&json!("says W"), &json!(20)));
    assert_eq!((&figures[0]["instances"], &figures[1]["instances"]), (&json!("FRESH"), &json!("REUSED")));
    let (p50, max) = (figures[0]["p50Micros"].as_u64().unwrap(), figures[0]["maxMicros"].as_u64().unwrap());
    assert!(0 < p50 && p50 <= max, "{figures}");
    assert!(figures[0]["percentOfLimit"]["fuel"].as_f64().unwrap() > 0.0);
    // An unexpected failure ends the benchmark.
    workspace.write(&json!([case("T", &json!({"decision": "allow"}))]));
    let output = workspace.run("bench", &["--calls", "20"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("trapped"));
}

/// A command that runs until it is dropped.
struct Following {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Following {
    fn start(url: &str, key: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.arg("module").args(arguments).env("HUB_URL", url).env("HUB_KEY", key);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

on_both! {
    async fn a_log_is_followed(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        say(&hub, &owner, "G1").await;
        let (url, key) = (hub.url(), owner.key.clone().unwrap());
        let mut following = Following::start(&url, &key, &["logs", "moody", "--follow"]);
        let read = |mut following: Following| async {
            tokio::task::spawn_blocking(move || (following.next(), following)).await.unwrap()
        };
        let (first, rest) = read(following).await;
        assert!(first.ends_with("v1 chat        INFO  G1"), "{first}");
        following = rest;
        say(&hub, &owner, "G2").await;
        let (second, _) = read(following).await;
        assert!(second.ends_with("G2"), "{second}");
    }
}

on_both! {
    async fn a_watched_module_is_uploaded_when_it_is_saved(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moody.wasm");
        std::fs::write(&file, wasm::moody(1)).unwrap();
        let (url, key) = (hub.url(), owner.key.clone().unwrap());
        let watched = ["watch", file.to_str().unwrap(), "--activate", "chat", "--config", r#"{"a": 1}"#];
        let watching = Following::start(&url, &key, &watched);
        let read = |mut watching: Following| async {
            tokio::task::spawn_blocking(move || ([watching.next(), watching.next()], watching)).await.unwrap()
        };
        let (printed, watching) = read(watching).await;
        assert_eq!(printed, ["moody version 1 is READY", "chat: moody 1"]);
        // An invalid module is skipped.
        std::fs::write(&file, wasm::wasi()).unwrap();
        std::fs::write(&file, wasm::moody(2)).unwrap();
        let (printed, _) = read(watching).await;
        assert_eq!(printed, ["moody version 2 is READY", "chat: moody 2"]);
        assert_eq!(point(&owner, "chat").await["modules"][0]["config"], json!({"a": 1}));
    }
}

/// A hub that ends its streams: lines that are sent again are printed once.
#[test]
fn following_reconnects() {
    let hub = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", hub.local_addr().unwrap());
    let line = |call: u32| json!({"at": 1, "point": "chat", "version": 1, "callId": call, "level": "INFO", "message": call.to_string()});
    let streams = [vec![1, 1, 2], vec![1, 1, 2, 3], vec![2, 3, 4]];
    let serving = std::thread::spawn(move || {
        let mut asked = vec![];
        for stream in streams {
            let (mut connection, _) = hub.accept().unwrap();
            let mut request = [0; 4096];
            let length = connection.read(&mut request).unwrap();
            asked.push(String::from_utf8_lossy(&request[..length]).lines().next().unwrap().to_owned());
            let event = |call| format!("event: LOG\r\ndata: {}\r\n\r\n", line(call));
            let events = stream.into_iter().map(event).collect::<Vec<_>>().concat();
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: keep-alive\n\n";
            connection.write_all(format!("{head}{events}").as_bytes()).unwrap();
        }
        // The key is revoked.
        let (mut connection, _) = hub.accept().unwrap();
        let _ = connection.read(&mut [0; 4096]).unwrap();
        let body = r#"{"error": "no such key"}"#;
        let head = format!("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        connection.write_all(format!("{head}{body}").as_bytes()).unwrap();
        asked
    });
    let mut following = Following::start(&url, "key", &["logs", "m", "--limit", "5", "--json", "--follow"]);
    let received: Vec<Value> =
        following.lines.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let calls: Vec<_> = received.iter().map(|line| line["callId"].as_u64().unwrap()).collect();
    assert_eq!(calls, [1, 1, 2, 3, 4]);
    assert_eq!(following.child.wait().unwrap().code(), Some(1));
    let asked = serving.join().unwrap();
    assert!(asked[0].contains("/modules/m/logs?limit=5 "), "{asked:?}");
    assert!(asked[1].contains("limit=200 "), "{asked:?}");
}
