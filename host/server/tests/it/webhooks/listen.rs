//! `hub webhook listen`: events for a machine that the hub cannot reach.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::receiver::Reply;
use super::{publish, receiver};
use crate::support::on_both;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

on_both! {
    async fn events_are_forwarded_as_a_webhook_sends_them(hub: Hub) {
        let (owner, receiver) = (hub.network().await, receiver().await);
        receiver.will([Reply::Status(500)]);
        let listener = owner.key_with(&["events:read"]).await;
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.args(["webhook", "listen", "--forward", &receiver.url(), "--events", "CONFIG_UPDATED", "--json"]);
        command.env("HUB_URL", hub.url()).env("HUB_KEY", listener.key.as_deref().unwrap()).env("HUB_WEBHOOK_SECRET", SECRET);
        let mut listening = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(listening.stdout.take().unwrap()).lines();
        // The stream may open after the first of them.
        let first = tokio::select! {
            () = async { for number in 0.. { publish(&owner, &format!("n{number}")).await } } => unreachable!(),
            line = lines.next_line() => line.unwrap().unwrap(),
        };
        let mut printed: Vec<Value> = vec![serde_json::from_str(&first).unwrap()];
        owner.post("/api/plugin/chat", json!({"playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "playerName": "Notch",
            "serverId": "x", "message": "hello"})).await.expect(204);
        publish(&owner, "last").await;
        while printed.last().unwrap()["data"]["namespace"] != "last" {
            printed.push(serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap());
        }
        assert!(printed.iter().all(|event| event["type"] == "CONFIG_UPDATED"), "{printed:?}");
        // A failure is told, and the events after it come all the same.
        assert_eq!((&printed[0]["status"], &printed.last().unwrap()["status"]), (&json!(500), &json!(204)));
        let received = receiver.received();
        assert!(received.len() >= printed.len());
        for (request, event) in received.iter().zip(&printed) {
            assert_eq!(request.signatures_of(SECRET), 1);
            assert_eq!((&request.body["type"], &request.body["data"]), (&event["type"], &event["data"]));
        }
        let mut ids: Vec<_> = received.iter().map(|request| request.header("webhook-id").to_owned()).collect();
        ids.dedup();
        assert_eq!(ids.len(), received.len());
    }
}

#[tokio::test]
async fn wrong_options_of_a_listener_are_named() {
    for (arguments, expected) in [
        (&["--events", "CONFIG"][..], "--events: `CONFIG` is not an event"),
        (&["--forward", "ftp://host"], "--forward: must be a URL"),
        (&["--forward", "http://127.0.0.1:9", "--secret", "whsec_"], "--secret: must be a secret"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        let output = command.args(["webhook", "listen", "--key", "k"]).args(arguments).output().await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains(expected), "{told}");
    }
}
