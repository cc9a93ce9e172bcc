//! Rights that end where no transaction makes anything: commands, exports, messages, one's own account.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::people::{accept, member, send};
use crate::servers::{register, uuid};
use crate::support::{Client, Hub, on_both};

/// A key of its own, with its id.
async fn key(owner: &Client, scopes: &[&str]) -> (Client, String) {
    let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": scopes})).await.expect(201).clone();
    (owner.with_key(made["apiKey"].as_str().unwrap()), made["keyId"].as_str().unwrap().to_owned())
}

/// Ends a key as another node does: this one still has it in memory.
async fn revoke_elsewhere(hub: &Hub, id: &str) {
    let revoke = "UPDATE api_keys SET revoked_at = 1 WHERE key_id = $1";
    hub.app.db.write(revoke).bind(id).execute().await.unwrap();
}

/// Waits until the hub has looked at all open answers since this was called.
async fn until_looked_at(hub: &Hub, owner: &Client) {
    // The second look begins after the first has ended.
    for _ in 0..2 {
        let (client, id) = key(owner, &["events:read"]).await;
        let mut events = client.events(None, None).await;
        owner.delete(&format!("/api/manage/keys/{id}")).await.expect(204);
        hub.advance_ms(500);
        events.until_end().await;
    }
}

/// True if an answer was cut off.
async fn is_cut_off(mut answer: Response) -> bool {
    loop {
        match answer.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

on_both! {
    async fn exports_are_cut_off_when_the_right_ends(hub: Hub) {
        let owner = hub.network().await;
        let network = owner.network.unwrap();
        // More than the buffers between the hub and a caller that does not read.
        let entries =
            "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target, value_after)
             WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000)
             SELECT $1, 'x' || CAST(x AS TEXT), 1, 'SYSTEM', 's', 's', 'a', 't', $2 FROM n";
        let value = json!("x".repeat(4_000)).to_string();
        hub.app.db.write(entries).bind(network).bind(&value).execute().await.unwrap();
        let notes = "INSERT INTO staff_notes (network_id, player_uuid, note_id, text, pinned, at, actor)
             WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000)
             SELECT $1, $2, 'x' || CAST(x AS TEXT), $3, FALSE, 1, '{}' FROM n";
        let player: uuid::Uuid = uuid(1).parse().unwrap();
        hub.app.db.write(notes).bind(network).bind(player).bind(&value).execute().await.unwrap();
        let paths = ["/api/manage/audit/export".to_owned(), format!("/api/manage/players/{}/export", uuid(1))];
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let (reader, id) = key(&owner, &["network:manage"]).await;
        let mut open = vec![];
        for path in &paths {
            open.push(reader.request(Method::GET, path).send().await.unwrap());
            open.push(hub.anonymous().request(Method::GET, path).bearer_auth(&alex.token).send().await.unwrap());
        }
        let kept = owner.request(Method::GET, &paths[0]).send().await.unwrap();
        owner.delete(&format!("/api/manage/keys/{id}")).await.expect(204);
        owner.delete(&format!("/api/manage/people/{}", alex.id)).await.expect(204);
        until_looked_at(&hub, &owner).await;
        for answer in open {
            assert_eq!(answer.status(), 200);
            let url = answer.url().clone();
            assert!(is_cut_off(answer).await, "{url} goes on");
        }
        assert!(!is_cut_off(kept).await);
    }

    async fn a_command_is_recorded_before_an_agent_gets_it(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        let poll = {
            let agent = owner.clone();
            async move { agent.get("/api/plugin/servers/lobby-1/commands?waitMs=30000").await }
        };
        let polling = tokio::spawn(poll);
        let (control, id) = key(&owner, &["servers:control", "servers:read"]).await;
        // Known once the agent polls.
        Hub::eventually("the agent polls", async || {
            let server = control.get("/api/manage/servers/lobby-1").await.expect(200).clone();
            !server["control"].is_null()
        })
        .await;
        revoke_elsewhere(&hub, &id).await;
        control.post("/api/manage/servers/lobby-1/kill", json!({})).await.expect_error(401, "unauthenticated");
        let stopping = tokio::spawn({
            let owner = owner.clone();
            async move { owner.post("/api/manage/servers/lobby-1/stop", json!({})).await }
        });
        let commands = polling.await.unwrap().expect(200)["commands"].as_array().unwrap().clone();
        assert!(commands.len() == 1 && commands[0].as_str().unwrap().contains("STOP"), "{commands:?}");
        stopping.abort();
        let log = owner.get("/api/manage/audit").await.expect(200).to_string();
        assert!(log.contains("server.stopped") && !log.contains("server.killed"), "{log}");
    }

    async fn a_person_who_is_no_member_any_more_says_and_writes_nothing(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let mut events = owner.events(Some("lobby-1"), None).await;
        let line = |text: &str| {
            json!({"playerUuid": uuid(1), "playerName": "p", "serverId": "lobby-1", "message": text, "content": text})
        };
        send(&hub, &alex.token, Method::GET, "/api/manage/keys", Value::Null).await.expect(200);
        hub.app.db.write("DELETE FROM network_members WHERE network_id = $1").bind(owner.network.unwrap())
            .execute().await.unwrap();
        let say = send(&hub, &alex.token, Method::POST, "/api/plugin/chat", line("from nobody")).await;
        say.expect_error(403, "not_a_member");
        let note = format!("/api/manage/players/{}/notes", uuid(1));
        let written = send(&hub, &alex.token, Method::POST, &note, json!({"text": "x"})).await;
        written.expect_error(403, "not_a_member");
        let path = "/api/plugin/permissions/groups/vip";
        let put = send(&hub, &alex.token, Method::PUT, path, json!({"displayName": "VIP"})).await;
        put.expect_error(403, "not_a_member");
        owner.post("/api/plugin/chat", line("from the owner")).await;
        let event = events.next_named("CHAT").await.data.to_string();
        assert!(event.contains("from the owner"), "{event}");
        assert_eq!(owner.get(&note).await.expect(200)["total"], 0);
        owner.get(path).await.expect_error(404, "unknown_group");
    }

    async fn operators_may_delete_their_own_account(hub: Hub) {
        let operator = hub.operator().await;
        operator.post("/api/admin/people", json!({"email": "root@example.org"})).await.expect(201);
        let root = accept(&hub, "root@example.org").await;
        let path = format!("/api/admin/people/{}", root.id);
        let gone = send(&hub, &root.token, Method::DELETE, &path, Value::Null).await;
        assert!(gone.status.is_success(), "{}", gone.body);
        send(&hub, &root.token, Method::GET, "/api/admin/networks", Value::Null).await.expect_error(401, "unauthenticated");
    }
}
