//! The rotation of the signing secret.

use std::process::Command;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::servers::{join, register, server, uuid};
use crate::support::{Client, Events, NOW, on_both};
use crate::transfers::run_java;

const ROTATE: &str = "/api/manage/signing-secret/rotate";

async fn registered_secret(client: &Client) -> String {
    let answer = client.post("/api/plugin/servers/register", server("verifier", json!({}))).await;
    answer.expect(201)["signingSecret"].as_str().unwrap().to_owned()
}

async fn stream(client: &Client, query: &str) -> Events {
    Events::open(client.request(Method::GET, &format!("/api/plugin/events?{query}"))).await
}

/// Command by which player 1 is sent from `a` to `b`.
async fn command(client: &Client, stream: &mut Events) -> Value {
    let body = json!({"playerUuid": uuid(1), "targetServerId": "b"});
    assert_eq!(client.post("/api/plugin/transfers", body).await.expect(200)["result"], "SUCCESS");
    stream.next_named("TRANSFER").await.data
}

fn signatures(command: &Value) -> Vec<&str> {
    command["signature"].as_str().unwrap().split(' ').collect()
}

const OK: &str = "None";
const WRONG: &str = "the signature is wrong";

/// Verdict of a receiver on a command, which knew `secret` first and then received rotations.
fn verdict(command: &Value, secret: &str, rotations: &[&Value], now: i64) -> String {
    let script = "import json, sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])
from verify_transfer import TransferVerifier
verifier = TransferVerifier(sys.argv[2])
for event in json.loads(sys.argv[3]):
    verifier.rotated(event)
print(verifier.refusal(json.loads(sys.argv[4]), int(sys.argv[5])))";
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors/samples");
    let rotations = json!(rotations).to_string();
    let output = Command::new("python3")
        .args(["-c", script, samples, secret, &rotations, &command.to_string(), &now.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

on_both! {
    async fn both_secrets_are_good_during_the_overlap(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({"maxPlayers": 5})).await;
        join(&client, "a", 1).await;
        let mut events = stream(&client, "serverId=a&types=TRANSFER,SIGNING_SECRET_ROTATED").await;
        let old = registered_secret(&client).await;
        let before = command(&client, &mut events).await;
        assert_eq!(signatures(&before).len(), 1);

        let rotated = client.post(ROTATE, json!({"overlapMs": 60_000})).await.expect(201).clone();
        let new = rotated["signingSecret"].as_str().unwrap().to_owned();
        assert_eq!(rotated, json!({"signingSecret": new, "validUntil": NOW + 60_000}));
        assert_ne!(old, new);
        let told = events.next_named("SIGNING_SECRET_ROTATED").await.data;
        assert_eq!(told, json!({"type": "SIGNING_SECRET_ROTATED", "at": NOW, "signingSecret": new,
            "validUntil": NOW + 60_000}));
        assert_eq!(registered_secret(&client).await, new);

        // In flight: signed before, received after.
        assert_eq!(verdict(&before, &old, &[&told], NOW), OK);
        assert_eq!(verdict(&before, &new, &[], NOW), WRONG);
        let during = command(&client, &mut events).await;
        assert_eq!(signatures(&during).len(), 2);
        assert!(signatures(&during).iter().all(|one| one.starts_with("v1,")));
        for secret in [&old, &new] {
            assert_eq!(verdict(&during, secret, &[], NOW), OK);
            match run_java(&during, secret, NOW) {
                Some(said) => assert_eq!(said, "ok"),
                None => eprintln!("SKIPPED: the Java sample, because there is no `java` on this machine"),
            }
        }
        let mut forged = during.clone();
        forged["host"] = json!("10.6.6.6");
        assert_eq!(verdict(&forged, &old, &[&told], NOW), WRONG);
        assert_eq!(verdict(&during, "another", &[], NOW), WRONG);
        // The player arrives, regardless of the signing key.
        join(&client, "b", 1).await;
        let path = format!("/api/manage/transfers/{}", during["transferId"].as_str().unwrap());
        assert_eq!(client.get(&path).await.expect(200)["result"], "SUCCESS");

        hub.advance_ms(59_999);
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({"maxPlayers": 5})).await;
        join(&client, "a", 1).await;
        let mut last = command(&client, &mut events).await;
        assert_eq!(signatures(&last).len(), 2);
        last["signature"] = json!(signatures(&last)[1]);
        assert_eq!(verdict(&last, &old, &[&told], NOW + 59_999), OK);
        // The old secret expires, to the millisecond.
        assert_eq!(verdict(&last, &old, &[&told], NOW + 60_000), WRONG);
        hub.advance_ms(1);
        let after = command(&client, &mut events).await;
        assert_eq!(signatures(&after).len(), 1);
        assert_eq!(verdict(&after, &old, &[], NOW + 60_000), WRONG);
        assert_eq!(verdict(&after, &old, &[&told], NOW + 60_000), OK);
    }

    async fn a_rotation_lasts_and_only_the_secret_before_is_kept(hub: Hub) {
        let client = hub.network().await;
        let first = registered_secret(&client).await;
        let second = client.post(ROTATE, json!({"overlapMs": 600_000})).await.expect(201)["signingSecret"].clone();
        let key = client.key.clone().unwrap();
        let hub = hub.restart(Duration::ZERO).await;
        let client = hub.with_key(&key);
        assert_eq!(registered_secret(&client).await, second.as_str().unwrap());
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({"maxPlayers": 5})).await;
        join(&client, "a", 1).await;
        let mut events = stream(&client, "serverId=a").await;
        let during = command(&client, &mut events).await;
        assert_eq!((signatures(&during).len(), verdict(&during, &first, &[], NOW).as_str()), (2, OK));
        // A leaked secret expires at once, and earlier ones, too.
        let third = client.post(ROTATE, json!({})).await.expect(201).clone();
        assert_eq!(third["validUntil"], NOW);
        let after = command(&client, &mut events).await;
        assert_eq!(signatures(&after).len(), 1);
        for old in [&first, second.as_str().unwrap()] {
            assert_eq!(verdict(&after, old, &[], NOW), WRONG);
        }
        assert_eq!(verdict(&after, third["signingSecret"].as_str().unwrap(), &[], NOW), OK);
    }

    async fn only_the_owner_rotates_and_only_their_own(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let secret = registered_secret(&theirs).await;
        let mut events = stream(&theirs, "types=SIGNING_SECRET_ROTATED,LOCALIZATION_UPDATED").await;
        for wrong in [json!({"overlapMs": -1}), json!({"overlapMs": i64::MAX}), json!({"overlapMs": "1"}), json!([])] {
            ours.post(ROTATE, wrong).await.expect_error(400, "invalid_request");
        }
        ours.key_with(&["plugin"]).await.post(ROTATE, json!({})).await.expect_error(403, "forbidden_scope");
        ours.post(ROTATE, json!({"overlapMs": 2_592_000_000_i64})).await.expect(201);
        assert_eq!(registered_secret(&theirs).await, secret);
        let defaults = json!({"namespace": "n", "locale": "en", "entries": {"a": "b"}});
        theirs.post("/api/plugin/localization/defaults", defaults).await.expect(200);
        assert_eq!(events.next().await.unwrap().name, "LOCALIZATION_UPDATED");
    }

    async fn the_new_secret_is_sent_to_subscribed_streams(hub: Hub) {
        let client = hub.network().await;
        let mut usual = stream(&client, "serverId=a").await;
        let mut narrow = stream(&client, "serverId=b&types=LOCALIZATION_UPDATED,PING").await;
        client.post(ROTATE, json!({"overlapMs": 1})).await.expect(201);
        let chat = json!({"playerUuid": uuid(1), "playerName": "p", "message": "hi", "serverId": "a"});
        client.post("/api/plugin/chat", chat).await.expect(204);
        let defaults = json!({"namespace": "n", "locale": "en", "entries": {"a": "b"}});
        client.post("/api/plugin/localization/defaults", defaults).await.expect(200);
        assert_eq!(usual.next().await.unwrap().name, "CHAT");
        assert_eq!(narrow.next().await.unwrap().name, "LOCALIZATION_UPDATED");
        for unknown in ["NONSENSE", "CHAT,NONSENSE", "chat", "CHAT,"] {
            client.expect_no_stream(&format!("types={unknown}"), 400, "invalid_request").await;
        }
        // A key with no other right than listening does not get the secret of transfers.
        let listener = client.key_with(&["events:read"]).await;
        listener.expect_no_stream("types=CHAT,SIGNING_SECRET_ROTATED", 403, "forbidden_scope").await;
        let mut heard = stream(&listener, "types=CHAT").await;
        let chat = json!({"playerUuid": uuid(1), "playerName": "p", "message": "again", "serverId": "a"});
        client.post("/api/plugin/chat", chat).await.expect(204);
        assert_eq!(heard.next().await.unwrap().data["message"], "again");
    }

    /// Events that a stream does not carry must not make it too old to be resumed.
    async fn a_stream_of_rare_events_can_be_resumed(hub: Hub) {
        let client = hub.network().await;
        let mut events = stream(&client, "types=SIGNING_SECRET_ROTATED").await;
        let defaults = |key: &str| json!({"namespace": "n", "locale": "en", "entries": {key: "b"}});
        client.post("/api/plugin/localization/defaults", defaults("a")).await.expect(200);
        // Read by the stream before the ping.
        client.post(ROTATE, json!({"overlapMs": 1})).await.expect(201);
        let first = events.next().await.unwrap();
        client.post("/api/plugin/localization/defaults", defaults("b")).await.expect(200);
        hub.advance_ms(15_000);
        let mut id = first.id.clone();
        crate::support::Hub::eventually("the ping brings a later id", async || {
            hub.advance_ms(15_000);
            id = events.next_id().await;
            id.is_some() && id != first.id
        })
        .await;
        let resumed = client.request(Method::GET, "/api/plugin/events").header("Last-Event-ID", id.unwrap());
        let mut resumed = Events::open(resumed).await;
        client.post("/api/plugin/localization/defaults", defaults("c")).await.expect(200);
        assert_eq!(resumed.next().await.unwrap().data["version"], 3);
    }
}
