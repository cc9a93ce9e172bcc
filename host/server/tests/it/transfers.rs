//! Transfers: allowed players and targets, the signed command, and the end of each.

use std::process::Command;

use serde_json::{Value, json};

use crate::servers::{beat, join, register, uuid};
use crate::support::{Answer, Client, Events, Hub, NOW, on_both};

const TRANSFERS: &str = "/api/plugin/transfers";

async fn send(client: &Client, player: u64, server: &str) -> Value {
    let body = json!({"playerUuid": uuid(player), "targetServerId": server});
    client.post(TRANSFERS, body).await.expect(200).clone()
}

async fn report(client: &Client, transfer: &Value, player: u64, result: &str) -> Answer {
    let body = json!({"transferId": transfer["transferId"], "playerUuid": uuid(player), "result": result,
        "errorMessage": "as told"});
    client.post("/api/plugin/transfers/result", body).await
}

async fn read(client: &Client, transfer: &Value) -> Value {
    let id = transfer["transferId"].as_str().unwrap();
    client.get(&format!("/api/manage/transfers/{id}")).await.expect(200).clone()
}

async fn state(client: &Client, transfer: &Value) -> String {
    read(client, transfer).await["result"].as_str().unwrap().to_owned()
}

/// Player 1 is on `a`, whose stream is open; `b` has room for `slots`.
async fn two_servers(hub: &Hub, slots: u32) -> (Client, Events) {
    let client = hub.network().await;
    register(&client, "a", json!({})).await;
    register(&client, "b", json!({"maxPlayers": slots, "host": "10.9.8.7", "port": 1234})).await;
    join(&client, "a", 1).await;
    let stream = client.events(Some("a"), None).await;
    (client, stream)
}

async fn online(client: &Client) -> Vec<String> {
    let list = client.get("/api/plugin/servers/players").await.expect(200).clone();
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| format!("{}/{}", row["serverId"].as_str().unwrap(), row["playerName"].as_str().unwrap())).collect()
}

async fn leave(client: &Client, player: u64, server: Option<&str>) {
    let query = server.map(|id| format!("?serverId={id}")).unwrap_or_default();
    client.delete(&format!("/api/plugin/servers/players/{}{query}", uuid(player))).await.expect(204);
}

async fn secret(client: &Client) -> String {
    let body = json!({"serverId": "verifier", "serverType": "x", "host": "h", "port": 1});
    let answer = client.post("/api/plugin/servers/register", body).await.expect(201).clone();
    answer["signingSecret"].as_str().unwrap().to_owned()
}

on_both! {
    async fn a_transfer_pushes_a_signed_command_to_the_owning_server(hub: Hub) {
        let (client, mut stream) = two_servers(&hub, 5).await;
        let mut other = client.events(Some("b"), None).await;
        let sent = send(&client, 1, "b").await;
        let id = sent["transferId"].clone();
        assert_eq!(sent, json!({"transferId": id, "playerUuid": uuid(1), "result": "SUCCESS", "errorMessage": null,
            "success": true}));
        let command = stream.next_named("TRANSFER").await.data;
        assert_eq!(command, json!({"type": "TRANSFER", "at": NOW, "transferId": id, "playerUuid": uuid(1),
            "targetServerId": "b", "targetWorldId": null, "host": "10.9.8.7", "port": 1234, "issuedAt": NOW,
            "expiresAt": NOW + 30_000, "signature": command["signature"]}));
        let shown = read(&client, &sent).await;
        assert_eq!(shown, json!({"transferId": id, "playerUuid": uuid(1), "result": "PENDING", "errorMessage": null,
            "success": false, "fromServerId": "a", "targetServerId": "b", "targetWorldId": null, "createdAt": NOW,
            "expiresAt": NOW + 30_000, "endedAt": null}));
        // Others do not get it.
        client.post("/api/plugin/chat", json!({"playerUuid": uuid(1), "playerName": "p", "message": "hi",
            "serverId": "a", "serverType": "lobby"})).await.expect(204);
        assert_eq!(other.next().await.unwrap().name, "CHAT");
    }

    async fn the_samples_verify_the_hubs_signatures(hub: Hub) {
        let (client, mut stream) = two_servers(&hub, 5).await;
        beat(&client, "b", json!({"worlds": [{"worldId": "arena-3"}]})).await;
        let body = json!({"playerUuid": uuid(1), "targetServerId": "b", "targetWorldId": "arena-3"});
        client.post(TRANSFERS, body).await.expect(200);
        let command = stream.next_named("TRANSFER").await.data;
        send(&client, 1, "b").await;
        let without_world = stream.next_named("TRANSFER").await.data;
        let secret = secret(&client).await;
        let mut forged = command.clone();
        forged["host"] = json!("10.6.6.6");
        for (event, secret, at, verdict) in [
            (&command, secret.as_str(), NOW, "ok"),
            (&without_world, secret.as_str(), NOW + 29_999, "ok"),
            (&command, secret.as_str(), NOW + 30_000, "the command has expired"),
            (&forged, secret.as_str(), NOW, "the signature is wrong"),
            (&command, "another", NOW, "the signature is wrong"),
        ] {
            assert_eq!(run_python(event, secret, at), verdict);
            if secret == "another" {
                continue;
            }
            match run_java(event, secret, at) {
                Some(said) => assert_eq!(said, verdict),
                None => eprintln!("SKIPPED: the Java sample, because there is no `java` on this machine"),
            }
        }
        assert_eq!(replay_in_python(&command, &secret), "None / the command was used already / None");
    }

    async fn an_impossible_transfer_is_answered_and_recorded(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 1).await;
        register(&client, "proxy", json!({"role": "PROXY"})).await;
        register(&client, "gone", json!({})).await;
        client.post("/api/plugin/servers/unregister?serverId=gone", Value::Null).await.expect(204);
        register(&client, "deaf", json!({})).await;
        join(&client, "deaf", 2).await;
        register(&client, "full", json!({"maxPlayers": 1})).await;
        join(&client, "full", 3).await;
        register(&client, "w", json!({"worlds": [{"worldId": "small", "maxPlayers": 1, "currentPlayers": 1}]})).await;
        for (player, server, world, result) in [
            (9, "b", None, "PLAYER_OFFLINE"),
            (1, "nowhere", None, "SERVER_NOT_FOUND"),
            (1, "gone", None, "SERVER_OFFLINE"),
            (1, "a", None, "ALREADY_ON_SERVER"),
            (1, "proxy", None, "FAILED"),
            (1, "b", Some("nowhere"), "WORLD_NOT_FOUND"),
            (1, "w", Some("small"), "SERVER_FULL"),
            (1, "full", None, "SERVER_FULL"),
            (2, "b", None, "NOT_CONNECTED"),
        ] {
            let body = json!({"playerUuid": uuid(player), "targetServerId": server, "targetWorldId": world});
            let answer = client.post(TRANSFERS, body).await.expect(200).clone();
            assert_eq!((&answer["result"], &answer["success"]), (&json!(result), &json!(false)), "{answer}");
            assert!(answer["errorMessage"].as_str().is_some_and(|text| text.len() > 10), "{answer}");
            let kept = read(&client, &answer).await;
            assert_eq!((&kept["result"], &kept["endedAt"]), (&json!(result), &json!(NOW)), "{kept}");
            assert_eq!(kept["errorMessage"], answer["errorMessage"]);
        }
        // None of them took the slot.
        assert_eq!(send(&client, 1, "b").await["result"], "SUCCESS");
    }

    async fn bad_requests_name_the_field(hub: Hub) {
        let client = hub.network().await;
        let id = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e";
        for (path, wrong, hint) in [
            ("", json!({"targetServerId": "b"}), "playerUuid"),
            ("", json!({"playerUuid": "x", "targetServerId": "b"}), "`playerUuid`"),
            ("", json!({"playerUuid": uuid(1)}), "targetServerId"),
            ("", json!({"playerUuid": uuid(1), "targetServerId": " "}), "`targetServerId`"),
            ("", json!({"playerUuid": uuid(1), "targetServerId": "b", "targetWorldId": 3}), "`targetWorldId`"),
            ("/result", json!({"playerUuid": uuid(1), "result": "SUCCESS"}), "transferId"),
            ("/result", json!({"transferId": "x", "playerUuid": uuid(1), "result": "SUCCESS"}), "`transferId`"),
            ("/result", json!({"transferId": id, "result": "SUCCESS"}), "playerUuid"),
            ("/result", json!({"transferId": id, "playerUuid": uuid(1)}), "result"),
            ("/result", json!({"transferId": id, "playerUuid": uuid(1), "result": "so so"}), "`result`"),
            ("/result", json!({"transferId": id, "playerUuid": uuid(1), "result": "PENDING"}), "`result`"),
        ] {
            let answer = client.post(&format!("{TRANSFERS}{path}"), wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
        client.get("/api/manage/transfers/x").await.expect_error(400, "invalid_request");
        client.get(&format!("/api/manage/transfers/{id}")).await.expect_error(404, "unknown_transfer");
        report(&client, &json!({"transferId": id}), 1, "SUCCESS").await.expect_error(400, "unknown_transfer");
        // Blank is absent.
        let body = json!({"playerUuid": uuid(1), "targetServerId": "b", "targetWorldId": " "});
        client.post(TRANSFERS, body).await.expect(200);
    }

    async fn a_report_ends_it_and_the_first_outcome_stands(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 1).await;
        let sent = send(&client, 1, "b").await;
        report(&client, &sent, 2, "SUCCESS").await.expect_error(400, "unknown_transfer");
        let anonymous = hub.network().await;
        report(&anonymous, &sent, 1, "SUCCESS").await.expect_error(400, "unknown_transfer");
        let path = format!("/api/manage/transfers/{}", sent["transferId"].as_str().unwrap());
        anonymous.get(&path).await.expect_error(404, "unknown_transfer");
        assert_eq!(state(&client, &sent).await, "PENDING");
        hub.advance_ms(1_000);
        report(&client, &sent, 1, "KICKED_2").await.expect(204);
        report(&client, &sent, 1, "SUCCESS").await.expect(204);
        let shown = read(&client, &sent).await;
        assert_eq!((&shown["result"], &shown["success"]), (&json!("KICKED_2"), &json!(false)));
        assert_eq!((&shown["errorMessage"], &shown["endedAt"]), (&json!("as told"), &json!(NOW + 1_000)));
        // Its slot is free again.
        join(&client, "a", 2).await;
        assert_eq!(send(&client, 2, "b").await["result"], "SUCCESS");
        assert_eq!(send(&client, 1, "b").await["result"], "SERVER_FULL");
    }

    async fn a_join_at_the_target_is_a_success(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 2).await;
        register(&client, "c", json!({})).await;
        let sent = send(&client, 1, "b").await;
        join(&client, "c", 1).await;
        assert_eq!(state(&client, &sent).await, "PENDING");
        join(&client, "b", 1).await;
        assert_eq!(state(&client, &sent).await, "SUCCESS");
        report(&client, &sent, 1, "FAILED").await.expect(204);
        assert_eq!(state(&client, &sent).await, "SUCCESS");
        assert_eq!(online(&client).await, ["b/p1"]);
    }

    async fn a_leave_of_the_source_is_part_of_the_switch(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 2).await;
        send(&client, 1, "b").await;
        leave(&client, 1, Some("a")).await;
        assert_eq!(online(&client).await, ["a/p1"]);
        // The old server's next heartbeat no longer lists them.
        beat(&client, "a", json!({"players": []})).await;
        assert_eq!(online(&client).await, ["a/p1"]);
        join(&client, "b", 1).await;
        assert_eq!(online(&client).await, ["b/p1"]);
        leave(&client, 1, Some("a")).await;
        assert_eq!(online(&client).await, ["b/p1"]);
        leave(&client, 1, Some("b")).await;
        assert_eq!(online(&client).await, [] as [&str; 0]);
    }

    async fn a_player_who_leaves_and_does_not_arrive_is_offline(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 2).await;
        send(&client, 1, "b").await;
        leave(&client, 1, None).await;
        hub.advance_ms(29_000);
        beat(&client, "a", json!({"players": []})).await;
        assert_eq!(online(&client).await, ["a/p1"]);
        hub.advance_ms(1_000);
        assert_eq!(online(&client).await, [] as [&str; 0]);
        // Without a transfer under way a leave is a leave.
        beat(&client, "a", json!({"players": [{"uuid": uuid(1), "name": "p1"}]})).await;
        assert_eq!(online(&client).await, ["a/p1"]);
        leave(&client, 1, Some("a")).await;
        assert_eq!(online(&client).await, [] as [&str; 0]);
    }

    async fn a_transfer_without_an_outcome_times_out_after_30_seconds(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 2).await;
        let sent = send(&client, 1, "b").await;
        hub.advance_ms(29_999);
        assert_eq!(state(&client, &sent).await, "PENDING");
        hub.advance_ms(1);
        let shown = read(&client, &sent).await;
        assert_eq!((&shown["result"], &shown["endedAt"]), (&json!("TIMEOUT"), &json!(NOW + 30_000)));
        assert!(shown["errorMessage"].is_string());
        report(&client, &sent, 1, "SUCCESS").await.expect(204);
        assert_eq!(state(&client, &sent).await, "TIMEOUT");
        hub.advance_ms(60_000);
        assert_eq!(read(&client, &sent).await, shown);
    }

    async fn a_new_transfer_replaces_the_one_before(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 1).await;
        register(&client, "c", json!({})).await;
        let first = send(&client, 1, "b").await;
        let second = send(&client, 1, "c").await;
        assert_eq!(read(&client, &first).await["result"], "FAILED");
        assert_eq!(state(&client, &second).await, "PENDING");
        // The slot of the first was released.
        join(&client, "a", 2).await;
        assert_eq!(send(&client, 2, "b").await["result"], "SUCCESS");
    }

    async fn a_transfer_uses_the_slot_of_a_match(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 1).await;
        join(&client, "a", 2).await;
        let request = json!({"playerUuid": uuid(1), "serverId": "b"});
        let found = client.post("/api/plugin/matchmaking/find", request).await.expect(200).clone();
        assert_eq!(send(&client, 2, "b").await["result"], "SERVER_FULL");
        let sent = send(&client, 1, "b").await;
        assert_eq!((&sent["result"], &sent["transferId"]), (&json!("SUCCESS"), &found["transferId"]));
        // The id is used up, the slot is not taken twice, and kept while the command is valid.
        let again = send(&client, 1, "b").await;
        assert_eq!(again["result"], "SUCCESS");
        assert_ne!(again["transferId"], found["transferId"]);
        hub.advance_ms(29_000);
        assert_eq!(send(&client, 2, "b").await["result"], "SERVER_FULL");
        hub.advance_ms(1_000);
        register(&client, "b", json!({"maxPlayers": 1})).await;
        register(&client, "a", json!({})).await;
        join(&client, "a", 2).await;
        assert_eq!(send(&client, 2, "b").await["result"], "SUCCESS");
    }

    async fn concurrent_transfers_never_exceed_the_slots(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 5).await;
        let mut sends = tokio::task::JoinSet::new();
        for player in 2..14 {
            join(&client, "a", player).await;
        }
        for player in 2..14 {
            let client = client.clone();
            sends.spawn(async move { send(&client, player, "b").await["result"].clone() });
        }
        let results = sends.join_all().await;
        assert_eq!(results.iter().filter(|result| **result == "SUCCESS").count(), 5, "{results:?}");
        assert_eq!(results.iter().filter(|result| **result == "SERVER_FULL").count(), 7, "{results:?}");
    }

    async fn transfers_are_deleted_after_a_day(hub: Hub) {
        let (client, _stream) = two_servers(&hub, 5).await;
        let sent = send(&client, 1, "b").await;
        hub.advance_ms(23 * 3_600_000);
        assert_eq!(state(&client, &sent).await, "TIMEOUT");
        hub.advance_ms(3_600_001);
        let path = format!("/api/manage/transfers/{}", sent["transferId"].as_str().unwrap());
        for _ in 0..200 {
            if client.get(&path).await.status == 404 {
                return;
            }
            // The deletion has its own time.
            hub.advance_ms(1_000);
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("it is still there");
    }

    async fn a_transfer_outlives_a_restart(hub: Hub) {
        let (client, stream) = two_servers(&hub, 5).await;
        let sent = send(&client, 1, "b").await;
        drop(stream);
        let key = client.key.clone().unwrap();
        let hub = hub.restart(std::time::Duration::from_secs(5)).await;
        let client = hub.with_key(&key);
        assert_eq!(state(&client, &sent).await, "PENDING");
        join(&client, "b", 1).await;
        assert_eq!(state(&client, &sent).await, "SUCCESS");
    }
}

fn run_python(event: &Value, secret: &str, now: i64) -> String {
    use std::io::Write as _;
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors/samples/verify_transfer.py");
    let mut child = Command::new("python3")
        .args([sample, &now.to_string()])
        .env("HUB_SIGNING_SECRET", secret)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    said(&child.wait_with_output().unwrap())
}

/// The same command twice, and again after it expired: results of the verifier, which remembers in between.
fn replay_in_python(event: &Value, secret: &str) -> String {
    let script = format!(
        "import json, sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])
from verify_transfer import TransferVerifier
verifier, event = TransferVerifier(sys.argv[2]), json.loads(sys.argv[3])
said = [verifier.refusal(event, {NOW}), verifier.refusal(event, {NOW})]
verifier.refusal(event, {NOW} + 60_000)
fresh = TransferVerifier(sys.argv[2])
print(' / '.join(str(it) for it in said + [fresh.refusal(event, {NOW})]))"
    );
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors/samples");
    said(&Command::new("python3").args(["-c", &script, samples, secret, &event.to_string()]).output().unwrap())
}

/// `None` without Java.
pub fn run_java(event: &Value, secret: &str, now: i64) -> Option<String> {
    Command::new("java").arg("-version").output().ok()?;
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors/samples/VerifyTransfer.java");
    let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
    let number = |field: &str| event[field].as_i64().unwrap().to_string();
    let output = Command::new("java")
        .args([sample, secret, &now.to_string(), &text("transferId"), &text("playerUuid"), &text("targetServerId")])
        .args([text("targetWorldId"), text("host"), number("port"), number("expiresAt"), text("signature")])
        .output()
        .unwrap();
    Some(said(&output))
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned()
}
