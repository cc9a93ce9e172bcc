//! The chat history.

use reqwest::Method;
use serde_json::{Value, json};

use super::stream;
use crate::modules::starters::install;
use crate::people::{member, send};
use crate::servers::uuid;
use crate::support::{Answer, Client, Hub, NOW, on_both};

const PATH: &str = "/api/manage/chat";
const DAY: u64 = 24 * 60 * 60 * 1_000;

async fn say(client: &Client, player: u64, message: &str, server: &str) -> Answer {
    let line = json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "message": message,
        "serverId": server});
    client.post("/api/plugin/chat", line).await
}

async fn lines(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("{PATH}{query}")).await.expect(200).clone();
    page["items"].as_array().unwrap().clone()
}

async fn texts(client: &Client, query: &str) -> Vec<String> {
    lines(client, query).await.iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
}

async fn keep(owner: &Client, days: i64) -> Answer {
    owner.patch("/api/manage/network", json!({"chatHistoryDays": days})).await
}

async fn limit_to(hub: &Hub, owner: &Client, limits: Value) {
    let operator = hub.operator().await;
    operator.post("/api/admin/plans", json!({"name": "small", "limits": limits})).await.expect(201);
    let network = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.patch(&network, json!({"plan": "small"})).await.expect(200);
}

on_both! {
    async fn staff_reads_what_was_said(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        for (player, message, server) in [
            (1, "Hello", "lobby"), (2, "100% sure_", "lobby"), (1, "ÄPFEL", "arena"), (1, "bye", "lobby"), (2, "hello you", "arena"),
        ] {
            say(&owner, player, message, server).await.expect(204);
            hub.advance_ms(10);
        }
        let all = lines(&owner, "").await;
        let newest = json!({"id": all[0]["id"], "at": NOW + 40, "playerUuid": uuid(2), "playerName": "p2",
            "message": "hello you", "serverId": "arena", "serverType": null, "world": null, "rank": null,
            "rankColor": null, "rankBold": null, "colorNameAlso": null, "verdict": "SENT", "original": null,
            "module": null, "version": null, "callId": null});
        assert_eq!(all[0], newest);
        assert_eq!(texts(&owner, "").await, ["hello you", "bye", "ÄPFEL", "100% sure_", "Hello"]);
        assert_eq!(texts(&owner, &format!("?playerUuid={}", uuid(1))).await, ["bye", "ÄPFEL", "Hello"]);
        assert_eq!(texts(&owner, &format!("?playerUuid={}&serverId=lobby", uuid(1))).await, ["bye", "Hello"]);
        assert_eq!(texts(&owner, "?serverId=arena").await, ["hello you", "ÄPFEL"]);
        assert_eq!(texts(&owner, "?search=HELLO").await, ["hello you", "Hello"]);
        assert_eq!(texts(&owner, &format!("?search=hello&playerUuid={}&serverId=lobby", uuid(1))).await, ["Hello"]);
        assert_eq!(texts(&owner, "?search=%C3%A4pfel&serverId=arena").await, ["ÄPFEL"]);
        // Literally: neither is a wildcard.
        assert_eq!(texts(&owner, "?search=0%25").await, ["100% sure_"]);
        assert_eq!(texts(&owner, "?search=h_llo").await, [""; 0]);
        let id = |at: usize| all[at]["id"].as_str().unwrap();
        assert_eq!(texts(&owner, &format!("?before={}", id(1))).await, ["ÄPFEL", "100% sure_", "Hello"]);
        assert_eq!(texts(&owner, &format!("?around={}&limit=3", id(2))).await, ["bye", "ÄPFEL", "100% sure_"]);
        assert_eq!(texts(&owner, &format!("?around={}&limit=2", id(0))).await, ["hello you", "bye"]);
        let page = owner.get(&format!("{PATH}?limit=2&page=1")).await.expect(200).clone();
        assert_eq!((&page["total"], &page["items"][0]["message"]), (&json!(5), &json!("ÄPFEL")));
        for wrong in [
            "?before=x".to_owned(), "?around=-1".to_owned(), format!("?around={}&page=1", id(1)),
            format!("?around={0}&before={0}", id(1)), "?playerUuid=Steve".to_owned(),
        ] {
            owner.get(&format!("{PATH}{wrong}")).await.expect_error(400, "invalid_request");
        }
        assert!(texts(&other, "").await.is_empty());
        let reader = owner.key_with(&["chat:read"]).await;
        assert_eq!(texts(&reader, "?limit=1").await, ["hello you"]);
        owner.key_with(&["plugin"]).await.get(PATH).await.expect_error(403, "forbidden_scope");
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        send(&hub, &alex.token, Method::GET, PATH, Value::Null).await.expect(200);
        let kim = member(&hub, &owner, "kim@example.org", "VIEWER").await;
        send(&hub, &kim.token, Method::GET, PATH, Value::Null).await.expect_error(403, "forbidden_scope");
    }

    async fn lines_are_kept_as_long_as_network_and_plan_say(hub: Hub) {
        let owner = hub.network().await;
        assert_eq!(owner.get("/api/manage/network").await.expect(200)["chatHistoryDays"], 7);
        say(&owner, 1, "old", "lobby").await.expect(204);
        hub.advance_ms(2 * DAY);
        say(&owner, 1, "new", "lobby").await.expect(204);
        assert_eq!(texts(&owner, "").await, ["new", "old"]);
        keep(&owner, 1).await.expect(200);
        assert_eq!(texts(&owner, "").await, ["new"]);
        // Lines that are no longer read are deleted.
        let stored = "SELECT COUNT(*) FROM chat_lines WHERE network_id = $1";
        // Hours, and never a day in all: the new line would go, too.
        let mut hours = 1..20;
        Hub::eventually("the old line is deleted", async || {
            if hours.next().is_some() {
                hub.advance_ms(3_600_000);
            }
            hub.app.db.query(stored).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0 == 1
        })
        .await;
        for wrong in [-1, 31] {
            keep(&owner, wrong).await.expect_error(400, "invalid_request");
        }
        keep(&owner, 30).await.expect(200);
        let operator = hub.operator().await;
        let wrong = json!({"name": "wrong", "limits": {"chatHistoryDays": 31}});
        operator.post("/api/admin/plans", wrong).await.expect_error(400, "invalid_request");
        limit_to(&hub, &owner, json!({"chatHistoryDays": 1})).await;
        hub.advance_ms(1_000);
        assert_eq!(owner.get("/api/manage/network").await.expect(200)["chatHistoryDays"], 1);
        keep(&owner, 2).await.expect_error(400, "invalid_request");
        keep(&owner, 0).await.expect(200);
        say(&owner, 1, "unkept", "lobby").await.expect(204);
        assert!(texts(&owner, "").await.is_empty());
    }

    async fn no_line_is_kept_for_zero_days(hub: Hub) {
        let owner = hub.network().await;
        say(&owner, 1, "kept", "lobby").await.expect(204);
        assert_eq!(texts(&owner, "").await, ["kept"]);
        let mut events = stream(&owner, "CHAT,CHAT_VERDICT").await;
        let network = format!("/api/admin/networks/{}", owner.network.unwrap());
        limit_to(&hub, &owner, json!({"chatHistoryDays": 0})).await;
        hub.advance_ms(1_000);
        assert_eq!(owner.get("/api/manage/network").await.expect(200)["chatHistoryDays"], 0);
        keep(&owner, 1).await.expect_error(400, "invalid_request");
        assert!(texts(&owner, "").await.is_empty());
        // Servers get it as ever, and it is told that nothing is kept.
        say(&owner, 1, "unkept", "lobby").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "unkept");
        let told = events.next_named("CHAT_VERDICT").await.data;
        assert_eq!((&told["id"], &told["message"]), (&Value::Null, &json!("unkept")));
        let body = json!({"reporterUuid": uuid(2), "playerUuid": uuid(1), "reason": "Insults"});
        assert_eq!(owner.post("/api/plugin/reports", body).await.expect(201)["chat"], json!([]));
        // Earlier lines go: a plan with more days does not bring them back.
        let stored = "SELECT COUNT(*) FROM chat_lines WHERE network_id = $1";
        Hub::eventually("the lines are deleted", async || {
            hub.advance_ms(3_600_000);
            hub.app.db.query(stored).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0 == 0
        })
        .await;
        hub.operator().await.patch(&network, json!({"plan": "default"})).await.expect(200);
        hub.advance_ms(1_000);
        assert_eq!(owner.get("/api/manage/network").await.expect(200)["chatHistoryDays"], 7);
        assert!(texts(&owner, "").await.is_empty());
        say(&owner, 1, "kept again", "lobby").await.expect(204);
        assert_eq!(texts(&owner, "").await, ["kept again"]);
    }

    async fn networks_from_before_keep_no_lines(hub: Hub) {
        let owner = hub.network().await;
        // A migration leaves them without the setting.
        let (id, row) = (owner.network.unwrap(), "SELECT name, plan FROM networks WHERE network_id = $1");
        let (name, plan): (String, String) = hub.app.db.query(row).bind(id).one().await.unwrap();
        let gone = "DELETE FROM networks WHERE network_id = $1";
        hub.app.db.write(gone).bind(id).execute().await.unwrap();
        let older = "INSERT INTO networks (network_id, name, plan, suspended, signing_secret, created_at)
             VALUES ($1, $2, $3, FALSE, '', $4)";
        hub.app.db.write(older).bind(id).bind(&name).bind(&plan).bind(NOW).execute().await.unwrap();
        let hub = hub.restart(std::time::Duration::from_secs(1)).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap());
        assert_eq!(owner.get("/api/manage/network").await.expect(200)["chatHistoryDays"], 0);
        say(&owner, 1, "unkept", "lobby").await.expect(204);
        assert!(texts(&owner, "").await.is_empty());
        keep(&owner, 30).await.expect(200);
        say(&owner, 1, "kept", "lobby").await.expect(204);
        assert_eq!(texts(&owner, "").await, ["kept"]);
    }

    async fn verdicts_are_told_and_kept(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, "chat-guard", "chat", json!({"words": ["heck"]})).await;
        let mut events = stream(&owner, "CHAT_VERDICT").await;
        say(&owner, 1, "fine", "lobby").await.expect(204);
        let told = events.next_named("CHAT_VERDICT").await.data;
        assert_eq!((&told["verdict"], &told["message"]), (&json!("SENT"), &json!("fine")));
        assert_eq!(lines(&owner, "").await[0]["id"], told["id"]);
        let answer = say(&owner, 1, "what the heck", "lobby").await;
        let told = events.next_named("CHAT_VERDICT").await.data;
        let kept = lines(&owner, "").await[0].clone();
        assert_eq!((&kept["verdict"], &kept["module"], &kept["version"]), (&told["verdict"], &json!("chat-guard"), &json!(1)));
        if answer.status == 204 {
            assert_eq!((&kept["verdict"], &kept["original"]), (&json!("REWRITTEN"), &json!("what the heck")));
        } else {
            assert_eq!((&kept["verdict"], &kept["message"]), (&json!("REFUSED"), &json!("what the heck")));
        }
        assert_eq!(texts(&owner, "?search=HECK").await.len(), 1);
        keep(&owner, 0).await.expect(200);
        say(&owner, 1, "unkept", "lobby").await.expect(204);
        assert_eq!(events.next_named("CHAT_VERDICT").await.data["id"], Value::Null);
        owner.key_with(&["events:read"]).await.expect_no_stream("types=CHAT_VERDICT", 403, "forbidden_scope").await;
        owner.key_with(&["plugin"]).await.expect_no_stream("types=CHAT_VERDICT", 403, "forbidden_scope").await;
        let hook = json!({"url": "https://hook.invalid/x", "events": ["CHAT_VERDICT"]});
        owner.key_with(&["network:manage", "events:read"]).await.post("/api/manage/webhooks", hook.clone()).await.expect(201);
        owner.key_with(&["network:manage"]).await.post("/api/manage/webhooks", hook).await.expect_error(403, "forbidden_scope");
    }

    async fn a_mute_by_a_filter_names_its_line_and_call(hub: Hub) {
        let owner = hub.network().await;
        let mute = json!({"afterFloods": 1, "durationMs": 60_000, "reason": "Flooding"});
        install(&owner, "chat-guard", "chat", json!({"flood": {"messages": 1, "perMs": 60_000, "mute": mute}})).await;
        say(&owner, 1, "first", "lobby").await.expect(204);
        assert!(say(&owner, 1, "second", "lobby").await.status.is_client_error());
        let mute = owner.get("/api/manage/punishments").await.expect(200)["items"][0].clone();
        let refused = lines(&owner, "?limit=1").await.remove(0);
        assert_eq!((&refused["verdict"], &refused["message"]), (&json!("REFUSED"), &json!("second")));
        assert_eq!((&mute["type"], &mute["playerUuid"], &mute["reason"]), (&json!("MUTE"), &json!(uuid(1)), &json!("Flooding")));
        let origin = json!({"module": "chat-guard", "version": 1, "callId": refused["callId"], "chatId": refused["id"],
            "reportId": null});
        assert_eq!(mute["origin"], origin, "{mute}");
        assert!(refused["callId"].is_string() && refused["id"].is_string(), "{refused}");
    }

    async fn a_report_keeps_the_lines_before_it(hub: Hub) {
        let owner = hub.network().await;
        for at in 0..55 {
            say(&owner, 2, &format!("line {at}"), "lobby").await.expect(204);
        }
        say(&owner, 1, "of another", "lobby").await.expect(204);
        let body = json!({"reporterUuid": uuid(1), "playerUuid": uuid(2), "reason": "Insults"});
        let made = owner.post("/api/plugin/reports", body).await.expect(201).clone();
        let chat = made["chat"].as_array().unwrap();
        assert_eq!((chat.len(), &chat[0]["message"], &chat[49]["message"]), (50, &json!("line 54"), &json!("line 5")));
        let path = "/api/manage/reports/1";
        keep(&owner, 0).await.expect(200);
        assert!(texts(&owner, "").await.is_empty());
        assert_eq!(owner.get(path).await.expect(200)["chat"], made["chat"]);
        assert_eq!(owner.get("/api/manage/reports").await.expect(200)["items"][0]["chat"], made["chat"]);
        let closed = owner.patch(path, json!({"state": "CLOSED"})).await.expect(200).clone();
        assert_eq!(closed["chat"], made["chat"]);
        hub.advance_ms(89 * DAY);
        assert_eq!(owner.get(path).await.expect(200)["chat"], made["chat"]);
        hub.advance_ms(2 * DAY);
        Hub::eventually("the lines are deleted", async || owner.get(path).await.expect(200)["chat"] == json!([])).await;
    }

    async fn an_erased_player_takes_their_lines_along(hub: Hub) {
        let owner = hub.network().await;
        say(&owner, 1, "mine", "lobby").await.expect(204);
        say(&owner, 2, "theirs", "lobby").await.expect(204);
        assert_eq!(texts(&owner, "").await, ["theirs", "mine"]);
        // One that is stored, and one that is not yet.
        say(&owner, 1, "mine too", "lobby").await.expect(204);
        let body = json!({"reporterUuid": uuid(2), "playerUuid": uuid(1), "reason": "Insults"});
        assert_eq!(owner.post("/api/plugin/reports", body).await.expect(201)["chat"].as_array().unwrap().len(), 2);
        say(&owner, 1, "mine again", "lobby").await.expect(204);
        owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        assert_eq!(texts(&owner, "").await, ["theirs"]);
        assert_eq!(owner.get("/api/manage/reports").await.expect(200)["total"], 0);
    }
}
