//! Node agents: polls, commands, results, what `control` shows.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};

use super::{answer, begin, control, poll, until_waiting};
use crate::servers::register;
use crate::support::{NOW, on_both};
use hub::control::Control;

on_both! {
    async fn the_caller_gets_the_agents_reply(hub: Hub) {
        let client = hub.network().await;
        let agent = client.key_with(&["agent"]).await;
        let owner = client.key_with(&["servers:control"]).await;
        register(&client, "lobby-1", json!({})).await;
        assert!(poll(&agent, "lobby-1", "?nodeId=n1").await.is_empty());
        for (path, body, action) in [
            ("start", Value::Null, json!({"action": "START"})),
            ("stop", Value::Null, json!({"action": "STOP"})),
            ("restart", Value::Null, json!({"action": "RESTART"})),
            ("kill", json!({}), json!({"action": "KILL"})),
            ("console", json!({"line": "say \"hi\" ü\n"}), json!({"action": "CONSOLE", "line": "say \"hi\" ü"})),
        ] {
            let call = begin(&owner, &format!("lobby-1/{path}"), body);
            let commands = poll(&agent, "lobby-1", "?nodeId=n1&waitMs=30000").await;
            assert_eq!(commands.len(), 1, "{path}");
            let mut command = commands[0].clone();
            let id = command.as_object_mut().unwrap().remove("commandId").unwrap();
            assert!(id.as_str().unwrap().parse::<uuid::Uuid>().is_ok());
            assert_eq!(command.as_object_mut().unwrap().remove("issuedAt"), Some(json!(NOW)));
            assert_eq!(command, action);
            answer(&agent, "lobby-1", &commands[0], json!({"status": "OK", "result": {"pid": 7}})).await;
            let done = call.await.unwrap();
            assert_eq!(done.expect(200), &json!({"ok": true, "error": null, "data": {"pid": 7}}), "{path}");
        }
        let call = begin(&owner, "lobby-1/console", json!({"line": "say hi"}));
        let commands = poll(&agent, "lobby-1", "?nodeId=n1&waitMs=30000").await;
        answer(&agent, "lobby-1", &commands[0], json!({"status": "ERROR", "error": "it is down"})).await;
        assert_eq!(call.await.unwrap().expect(200), &json!({"ok": false, "error": "it is down", "data": null}));
    }

    async fn the_output_comes_from_the_agent(hub: Hub) {
        let client = hub.network().await;
        poll(&client, "lobby-1", "").await;
        for (query, lines, result, status) in [
            ("", 200, json!({"status": "OK", "result": {"content": "a\nb"}}), 200),
            ("?lines=7", 7, json!({"status": "OK", "result": {"content": ""}}), 200),
            ("?lines=999999999999999999999", 5000, json!({"status": "ERROR", "error": "no"}), 503),
            ("?lines=5001", 5000, json!({"status": "OK", "result": 5}), 503),
        ] {
            let (caller, path) = (client.clone(), format!("/api/manage/servers/lobby-1/logs{query}"));
            let call = tokio::spawn(async move { caller.get(&path).await });
            let commands = poll(&client, "lobby-1", "?waitMs=30000").await;
            assert_eq!((&commands[0]["action"], &commands[0]["lines"]), (&json!("LOGS"), &json!(lines)));
            answer(&client, "lobby-1", &commands[0], result.clone()).await;
            let output = call.await.unwrap();
            if status == 200 {
                assert_eq!(output.expect(200), &json!({"serverId": "lobby-1", "content": result["result"]["content"]}));
            } else {
                output.expect_error(503, "no_output");
            }
        }
        for wrong in ["0", "-1", "x", "1.5", ""] {
            let path = format!("/api/manage/servers/lobby-1/logs?lines={wrong}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
    }

    async fn a_server_without_an_agent_is_404(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        for path in ["start", "stop", "restart", "kill", "console"] {
            let body = json!({"line": "list"});
            client.post(&format!("/api/manage/servers/nowhere/{path}"), body.clone()).await.expect_error(404, "unknown_server");
            client.post(&format!("/api/manage/servers/lobby-1/{path}"), body).await.expect_error(404, "no_node");
        }
        client.get("/api/manage/servers/nowhere/logs").await.expect_error(404, "unknown_server");
        client.get("/api/manage/servers/lobby-1/logs").await.expect_error(404, "no_node");
        // An invalid request is refused first.
        for body in [json!({}), json!({"line": null}), json!({"line": 5}), json!({"line": " "}), json!({"line": "a\nb"})] {
            client.post("/api/manage/servers/nowhere/console", body).await.expect_error(400, "invalid_request");
        }
        client.post("/api/manage/servers/%20/kill", json!({})).await.expect_error(400, "invalid_request");
        // An agent that was there, and is not any more.
        poll(&client, "lobby-1", "").await;
        hub.advance_ms(30_000);
        client.post("/api/manage/servers/lobby-1/kill", json!({})).await.expect_error(404, "no_node");
    }

    async fn control_shows_the_last_report_for_thirty_seconds(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        assert_eq!(control(&client, "lobby-1").await, Value::Null);
        let said = "?nodeId=node-7&containerState=EXITED&containerStatus=Exited%20(137)&exitCode=137&outOfMemory=true\
                    &capabilities=start,%20stop,,console";
        poll(&client, "lobby-1", said).await;
        let shown = json!({"nodeId": "node-7", "capabilities": ["start", "stop", "console"], "containerState": "EXITED",
            "containerStatus": "Exited (137)", "exitCode": 137, "outOfMemory": true});
        assert_eq!(control(&client, "lobby-1").await, shown);
        for list in ["/api/manage/servers", "/api/plugin/servers"] {
            assert_eq!(client.get(list).await.expect(200)["items"][0]["control"], shown, "{list}");
        }
        hub.advance_ms(29_999);
        assert_eq!(control(&client, "lobby-1").await, shown);
        hub.advance_ms(1);
        assert_eq!(control(&client, "lobby-1").await, Value::Null);
        poll(&client, "lobby-1", "?exitCode=&outOfMemory=&containerState=").await;
        assert_eq!(control(&client, "lobby-1").await, json!({"nodeId": "lobby-1", "capabilities": [],
            "containerState": null, "containerStatus": null, "exitCode": null, "outOfMemory": null}));
    }

    async fn a_restart_does_not_disconnect_an_agent(hub: Hub) {
        let client = hub.network().await;
        for server in ["lobby-1", "lobby-2"] {
            register(&client, server, json!({})).await;
        }
        let gone = hub.network().await;
        poll(&gone, "lobby-1", "").await;
        hub.advance_ms(10_000);
        poll(&client, "lobby-1", "?nodeId=node-7&capabilities=start&exitCode=3").await;
        let shown = control(&client, "lobby-1").await;
        let hub = hub.restart(Duration::from_millis(29_999)).await;
        let client = hub.with_key(client.key.as_ref().unwrap());
        assert_eq!(control(&client, "lobby-1").await, shown);
        assert_eq!(shown["nodeId"], "node-7");
        assert_eq!(control(&client, "lobby-2").await, Value::Null);
        let asked = begin(&client, "lobby-1/console", json!({"line": "a"}));
        until_waiting(&hub, 1).await;
        let command = poll(&client, "lobby-1", "?nodeId=node-8").await.remove(0);
        assert_eq!(control(&client, "lobby-1").await["nodeId"], "node-8");
        answer(&client, "lobby-1", &command, json!({"status": "OK"})).await;
        asked.await.unwrap().expect(200);
        let hub = hub.restart(Duration::from_secs(30)).await;
        assert_eq!(control(&hub.with_key(client.key.as_ref().unwrap()), "lobby-1").await, Value::Null);
    }

    async fn malformed_agent_requests_are_400(hub: Hub) {
        let client = hub.network().await;
        let long = "x".repeat(65);
        for query in ["waitMs=-1", "waitMs=x", "waitMs=1.5", "exitCode=x", "outOfMemory=maybe", "nodeId=a%0Ab",
            &format!("containerState={long}"), &format!("capabilities={}", "a,".repeat(65))] {
            let path = format!("/api/plugin/servers/lobby-1/commands?{query}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
        client.get("/api/plugin/servers/%20/commands").await.expect_error(400, "invalid_request");
        let path = "/api/plugin/servers/lobby-1/commands/5/result";
        for body in [json!({}), json!({"status": "DONE"}), json!({"status": 1}), json!({"status": "OK", "error": 5}), json!([])] {
            client.post(path, body).await.expect_error(400, "invalid_request");
        }
        // No caller waits for it.
        client.post(path, json!({"status": "OK"})).await.expect(201);
        let unknown = "/api/plugin/servers/lobby-1/commands/0b0e2c52-9f5c-4a36-8f0c-2f1f5f3c1f6e/result";
        client.post(unknown, json!({"status": "ERROR", "error": "x", "result": [1]})).await.expect(201);
    }

    async fn a_poll_waits_for_its_time(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        let agent = client.clone();
        let waiting = tokio::spawn(async move { poll(&agent, "lobby-1", "?waitMs=99999").await });
        while control(&client, "lobby-1").await.is_null() {}
        hub.advance_ms(29_999);
        // Still under way: so is the agent, however long ago its poll began.
        assert!(!control(&client, "lobby-1").await.is_null() && !waiting.is_finished());
        hub.advance_ms(1);
        assert!(waiting.await.unwrap().is_empty());
        hub.advance_ms(29_999);
        assert!(!control(&client, "lobby-1").await.is_null());
        hub.advance_ms(1);
        assert!(control(&client, "lobby-1").await.is_null());
    }

    async fn a_command_that_is_not_fetched_in_time_expires(hub: Hub) {
        let client = hub.network().await;
        poll(&client, "lobby-1", "").await;
        let call = begin(&client, "lobby-1/kill", json!({}));
        until_waiting(&hub, 1).await;
        hub.advance_ms(10_000);
        call.await.unwrap().expect_error(503, "no_answer");
        assert!(poll(&client, "lobby-1", "").await.is_empty());
        for action in ["start", "restart", "console"] {
            let call = begin(&client, &format!("lobby-1/{action}"), json!({"line": "list"}));
            until_waiting(&hub, 1).await;
            hub.advance_ms(10_000);
            call.await.unwrap().expect_error(503, "no_answer");
        }
        assert!(poll(&client, "lobby-1", "").await.is_empty());
        // Fetched in time, answered too late.
        let call = begin(&client, "lobby-1/stop", json!({}));
        until_waiting(&hub, 1).await;
        hub.advance_ms(9_999);
        let commands = poll(&client, "lobby-1", "").await;
        assert_eq!(commands.len(), 1);
        hub.advance_ms(1);
        call.await.unwrap().expect_error(503, "no_answer");
        answer(&client, "lobby-1", &commands[0], json!({"status": "OK"})).await;
        // Commands of a caller who hung up are dropped.
        let call = begin(&client, "lobby-1/kill", json!({}));
        until_waiting(&hub, 1).await;
        call.abort();
        until_waiting(&hub, 0).await;
        assert!(poll(&client, "lobby-1", "").await.is_empty());
    }

    async fn a_command_is_handed_out_once_and_its_caller_gets_the_reply(hub: Hub) {
        let client = hub.network().await;
        poll(&client, "lobby-1", "?nodeId=n1").await;
        let seen = Arc::new(Mutex::new(vec![]));
        let pollers: Vec<_> = (0..4).map(|_| {
            let (agent, seen) = (client.clone(), Arc::clone(&seen));
            tokio::spawn(async move {
                loop {
                    for command in poll(&agent, "lobby-1", "?nodeId=n1&waitMs=30000").await {
                        seen.lock().push(command["commandId"].as_str().unwrap().to_owned());
                        let result = json!({"status": "OK", "result": {"heard": command["line"]}});
                        answer(&agent, "lobby-1", &command, result).await;
                    }
                    tokio::task::yield_now().await;
                }
            })
        }).collect();
        let calls: Vec<_> = (0..40).map(|number| {
            begin(&client, "lobby-1/console", json!({"line": format!("line {number}")}))
        }).collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap().expect(200)["data"]["heard"], format!("line {number}"));
        }
        pollers.iter().for_each(tokio::task::JoinHandle::abort);
        let seen = seen.lock();
        assert_eq!((seen.len(), seen.iter().collect::<HashSet<_>>().len()), (40, 40));
    }

    async fn the_latest_poll_gets_the_commands(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        let agent = client.clone();
        let first = tokio::spawn(async move { poll(&agent, "lobby-1", "?nodeId=n1&waitMs=30000").await });
        while control(&client, "lobby-1").await.is_null() {}
        // Another node: the first continues to wait, for nothing.
        poll(&client, "lobby-1", "?nodeId=n2").await;
        assert_eq!(control(&client, "lobby-1").await["nodeId"], "n2");
        let call = begin(&client, "lobby-1/kill", json!({}));
        until_waiting(&hub, 1).await;
        let commands = poll(&client, "lobby-1", "?nodeId=n2").await;
        assert_eq!(commands.len(), 1);
        answer(&client, "lobby-1", &commands[0], json!({"status": "OK"})).await;
        call.await.unwrap().expect(200);
        assert!(!first.is_finished());
        // The same node again: the first is over at once.
        poll(&client, "lobby-1", "?nodeId=n1").await;
        assert!(first.await.unwrap().is_empty());
    }

    async fn a_head_request_takes_no_command(hub: Hub) {
        let client = hub.network().await;
        poll(&client, "lobby-1", "").await;
        let call = begin(&client, "lobby-1/kill", json!({}));
        until_waiting(&hub, 1).await;
        let head = client.request(Method::HEAD, "/api/plugin/servers/lobby-1/commands").send().await.unwrap();
        assert_eq!(head.status(), 200);
        let commands = poll(&client, "lobby-1", "").await;
        answer(&client, "lobby-1", &commands[0], json!({"status": "OK"})).await;
        call.await.unwrap().expect(200);
    }

    async fn another_network_and_another_server_change_nothing(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        poll(&ours, "lobby-1", "").await;
        theirs.post("/api/manage/servers/lobby-1/kill", json!({})).await.expect_error(404, "unknown_server");
        let call = begin(&ours, "lobby-1/kill", json!({}));
        until_waiting(&hub, 1).await;
        assert!(poll(&theirs, "lobby-1", "").await.is_empty());
        assert!(poll(&ours, "lobby-2", "").await.is_empty());
        let commands = poll(&ours, "lobby-1", "").await;
        answer(&theirs, "lobby-1", &commands[0], json!({"status": "ERROR", "error": "not theirs"})).await;
        answer(&ours, "lobby-2", &commands[0], json!({"status": "ERROR", "error": "not its"})).await;
        assert_eq!(hub.app.state::<Control>().waiting(), 1);
        answer(&ours, "lobby-1", &commands[0], json!({"status": "OK"})).await;
        assert_eq!(call.await.unwrap().expect(200)["ok"], true);
        assert!(poll(&ours, "lobby-1", "").await.is_empty());
    }

    async fn waiting_requests_end_when_the_hub_stops(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-2", json!({})).await;
        poll(&client, "lobby-1", "").await;
        let call = begin(&client, "lobby-1/kill", json!({}));
        let agent = client.clone();
        let waiting = tokio::spawn(async move { poll(&agent, "lobby-2", "?waitMs=30000").await });
        while control(&client, "lobby-2").await.is_null() {}
        until_waiting(&hub, 1).await;
        hub.app.begin_stop();
        assert!(waiting.await.unwrap().is_empty());
        call.await.unwrap().expect_error(503, "stopping");
    }
}
