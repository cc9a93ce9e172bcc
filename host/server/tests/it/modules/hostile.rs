//! The sandbox's hostile set, uploaded and dry-run through the API.

use serde_json::{Value, json};

use super::upload;
use crate::support::{Backend, Hub};

#[path = "../../../../sandbox/tests/it/hostile_set.rs"]
#[allow(dead_code)]
mod hostile_set;
#[path = "../../../../sandbox/tests/it/wat.rs"]
#[allow(dead_code)]
pub(super) mod wat;

use hostile_set::{Hostile, LINE, hostile_set};

/// A dry run in which the module misbehaves.
fn dry_run(hostile: &Hostile) -> Value {
    let servers = json!([{"serverId": "a"}, {"serverId": "b"}, {"serverId": "c"}]);
    let input = match hostile.point.name() {
        "chat" => json!({
            "player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"},
            "message": LINE, "serverId": "a", "serverType": "lobby",
        }),
        _ => json!({"playerName": "Notch", "serverType": "lobby", "servers": servers}),
    };
    json!({"point": hostile.point.name(), "input": input, "config": {}})
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_hostile_set_ends_in_its_stated_failure() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    for (number, hostile) in hostile_set().into_iter().enumerate() {
        let name = format!("hostile-{number}");
        upload(&owner, &name, hostile.upload.clone()).await.expect(201);
        let path = format!("/api/manage/modules/{name}/1/dry-run");
        let report = owner.post(&path, dry_run(&hostile)).await.expect(200).clone();
        let code = report["failure"]["code"].as_str();
        // An endless module is stopped by time or by fuel, whichever is sooner on this machine.
        let code = if code == Some("out_of_fuel") { Some("timed_out") } else { code };
        assert_eq!(code, hostile.failure, "{}: {report}", hostile.name);
        assert!(report["logs"].as_array().is_some_and(|logs| logs.len() <= 64), "{}", hostile.name);
    }
    // The hub continues.
    upload(&owner, "after", wat::allowing("after")).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_that_misbehaves_before_its_call_is_refused() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    for (more, hint) in [
        ("(func $trap (unreachable)) (start $trap)", "the module trapped"),
        ("(func $spin (loop $again (br $again))) (start $spin)", "used up its fuel"),
        (r#"(data (i32.const 65530) "longer than there is room for")"#, "out of bounds memory access"),
        ("(table 2000000 funcref)", "table"),
    ] {
        let answer = upload(&owner, "hostile", wat::chat_module("", more)).await;
        answer.expect_error(400, "invalid_module");
        let error = answer.body["error"].as_str().unwrap();
        assert!(error.contains(hint), "{error}");
    }
}
