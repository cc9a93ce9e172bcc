//! Appeals of punished players.

use serde_json::{Value, json};

use super::{punish, stream};
use crate::servers::uuid;
use crate::support::{Answer, Client, Hub, NOW, on_both};

const DAY: u64 = 24 * 60 * 60 * 1000;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn public(punishment: &Value) -> String {
    format!("/api/public/appeals/{}", punishment["appealCode"].as_str().unwrap())
}

async fn appeal(hub: &Hub, punishment: &Value) -> Answer {
    let body = json!({"text": "It was my brother.", "contact": "steve@example.org"});
    hub.anonymous().post(&public(punishment), body).await
}

async fn decide(client: &Client, id: &Value, body: Value) -> Answer {
    client.post(&format!("/api/manage/appeals/{}/decide", id.as_str().unwrap()), body).await
}

/// Id of the newest appeal.
async fn newest(client: &Client) -> Value {
    client.get("/api/manage/appeals").await.expect(200)["items"][0]["appealId"].clone()
}

on_both! {
    async fn bans_and_mutes_in_force_have_a_code(hub: Hub) {
        let owner = hub.network().await;
        let mut events = stream(&owner, "PUNISHMENT").await;
        let ban = punish(&owner, 1, "BAN", json!({"durationMs": 60_000})).await;
        let code = ban["appealCode"].as_str().unwrap();
        let fits = |byte: u8| byte.is_ascii_uppercase() && byte != b'I' && byte != b'O' || (b'2'..=b'9').contains(&byte);
        assert!(code.len() == 12 && code.bytes().all(fits), "{code}");
        assert_eq!(events.next_named("PUNISHMENT").await.data["punishment"]["appealCode"], code);
        assert!(punish(&owner, 1, "MUTE", json!({})).await["appealCode"].is_string());
        for kind in ["WARN", "KICK"] {
            assert_eq!(punish(&owner, 1, kind, json!({})).await["appealCode"], Value::Null);
        }
        let loaded = owner.post(&format!("/api/plugin/players/{}/load?include=punishments", uuid(1)), json!({})).await;
        let codes = loaded.expect(200)["punishments"].as_array().unwrap().clone();
        assert!(codes.iter().any(|it| it["appealCode"] == code), "{codes:?}");
        let list = owner.get("/api/manage/punishments?type=BAN").await.expect(200).clone();
        assert_eq!(list["items"][0]["appealCode"], code);
        hub.advance_ms(60_000);
        assert_eq!(owner.get("/api/manage/punishments/1").await.expect(200)["appealCode"], Value::Null);
    }

    async fn a_code_leads_to_one_network_alone(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        punish(&other, 1, "BAN", json!({})).await;
        // A file of another hub may say so.
        let code = hub::secrets::macs(&hub.app, "punishments", ban["appealCode"].as_str().unwrap()).remove(0);
        let taken = "UPDATE punishments SET appeal_mac = $2 WHERE network_id = $1";
        let taken = hub.app.db.write(taken).bind(other.network.unwrap()).bind(code).execute().await;
        assert!(taken.unwrap_err().is_unique_violation());
    }

    async fn an_appeal_is_decided_once(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let ban = punish(&owner, 1, "BAN", json!({"reason": "Griefing", "durationMs": DAY_MS})).await;
        let mut events = stream(&owner, "APPEAL_CREATED,PUNISHMENT").await;
        let shown = hub.anonymous().get(&public(&ban)).await.expect(200).clone();
        assert_eq!(shown, json!({"type": "BAN", "reason": "Griefing", "expiresAt": NOW + DAY_MS, "appeals": []}));
        let made = appeal(&hub, &ban).await.expect(201).clone();
        assert_eq!(made, json!({"at": NOW, "state": "OPEN", "answer": null}));
        let event = events.next_named("APPEAL_CREATED").await.data;
        assert_eq!((&event["appeal"]["punishmentId"], &event["appeal"]["contact"]), (&json!(1), &json!("steve@example.org")));
        appeal(&hub, &ban).await.expect_error(409, "appeal_open");
        let list = owner.get("/api/manage/appeals?state=OPEN").await.expect(200).clone();
        let first = &list["items"][0];
        assert_eq!((&list["total"], &first["text"], &first["decision"]), (&json!(1), &json!("It was my brother."), &Value::Null));
        assert_eq!(other.get("/api/manage/appeals").await.expect(200)["total"], 0);
        let id = &first["appealId"];
        decide(&other, id, json!({"decision": "ACCEPT"})).await.expect_error(404, "unknown_appeal");
        decide(&owner, id, json!({"decision": "REDUCE"})).await.expect_error(400, "invalid_request");
        decide(&owner, id, json!({"decision": "MAYBE"})).await.expect_error(400, "invalid_request");
        let decided = decide(&owner, id, json!({"decision": "REJECT", "answer": "No."})).await.expect(200).clone();
        assert_eq!((&decided["state"], &decided["decision"], &decided["decidedAt"]), (&json!("REJECTED"), &json!("REJECT"), &json!(NOW)));
        assert_eq!(decided["decidedBy"]["type"], "KEY");
        decide(&owner, id, json!({"decision": "ACCEPT"})).await.expect_error(409, "appeal_decided");
        let shown = hub.anonymous().get(&public(&ban)).await.expect(200).clone();
        assert_eq!(shown["appeals"], json!([{"at": NOW, "state": "REJECTED", "answer": "No."}]));
        // Reduced.
        appeal(&hub, &ban).await.expect(201);
        hub.advance_ms(1);
        let id = owner.get("/api/manage/appeals?state=OPEN").await.body["items"][0]["appealId"].clone();
        let before = owner.get("/api/manage/punishments/1").await.expect(200)["durationMs"].as_i64();
        if let Some(before) = before {
            for longer in [before, before + 1] {
                let longer = json!({"decision": "REDUCE", "durationMs": longer});
                decide(&owner, &id, longer).await.expect_error(400, "invalid_request");
            }
        }
        let reduce = json!({"decision": "REDUCE", "durationMs": 7_200_000});
        let reduced = decide(&owner, &id, reduce).await;
        assert_eq!((&reduced.expect(200)["state"], &reduced.body["decision"]), (&json!("ACCEPTED"), &json!("REDUCE")));
        assert_eq!(events.next_named("PUNISHMENT").await.data["action"], "UPDATED");
        assert_eq!(owner.get("/api/manage/punishments/1").await.expect(200)["expiresAt"], NOW + 7_200_000);
        // Accepted.
        appeal(&hub, &ban).await.expect(201);
        let id = owner.get("/api/manage/appeals?state=OPEN").await.body["items"][0]["appealId"].clone();
        decide(&owner, &id, json!({"decision": "ACCEPT", "answer": "Welcome back."})).await.expect(200);
        assert_eq!(events.next_named("PUNISHMENT").await.data["action"], "REVOKED");
        assert_eq!(owner.get("/api/manage/punishments/1").await.expect(200)["active"], false);
        appeal(&hub, &ban).await.expect_error(409, "not_active");
        let log = owner.get("/api/manage/audit?action=appeal.decided").await.expect(200).clone();
        assert!(log["total"] == 3 && !log.to_string().contains("brother"), "{log}");
    }

    async fn a_punishment_is_appealed_three_times(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        for _ in 0..3 {
            hub.advance_ms(10_000);
            appeal(&hub, &ban).await.expect(201);
            decide(&owner, &newest(&owner).await, json!({"decision": "REJECT"})).await.expect(200);
        }
        appeal(&hub, &ban).await.expect_error(409, "appeals_used");
    }

    async fn simultaneous_appeals_make_one(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        let answers = futures_util::future::join_all((0..6).map(|_| appeal(&hub, &ban))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        answers.iter().filter(|it| it.status != 201).for_each(|it| { it.expect_error(409, "appeal_open"); });
    }

    async fn a_code_is_known_until_30_days_after_the_end(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({"durationMs": 1_000})).await;
        hub.advance_ms(1_000 + 30 * DAY - 1);
        hub.anonymous().get(&public(&ban)).await.expect(200);
        appeal(&hub, &ban).await.expect_error(409, "not_active");
        hub.advance_ms(1);
        hub.anonymous().get(&public(&ban)).await.expect_error(404, "unknown_appeal_code");
        appeal(&hub, &ban).await.expect_error(404, "unknown_appeal_code");
        let mute = punish(&owner, 1, "MUTE", json!({})).await;
        owner.post("/api/plugin/punishments/remove", json!({"punishmentId": mute["id"]})).await.expect(200);
        hub.anonymous().get(&public(&mute)).await.expect(200);
        hub.advance_ms(30 * DAY);
        hub.anonymous().get(&public(&mute)).await.expect_error(404, "unknown_appeal_code");
        hub.anonymous().get("/api/public/appeals/NONE").await.expect_error(404, "unknown_appeal_code");
    }

    async fn an_address_has_20_requests_a_minute(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        for _ in 0..20 {
            hub.anonymous().get("/api/public/appeals/GUESS").await.expect_error(404, "unknown_appeal_code");
        }
        let refused = hub.anonymous().get(&public(&ban)).await;
        refused.expect_error(429, "rate_limited");
        assert!(refused.headers.contains_key("retry-after"));
        hub.anonymous().post(&public(&ban), json!([])).await.expect_error(429, "rate_limited");
        hub.advance_ms(3_000);
        hub.anonymous().get(&public(&ban)).await.expect(200);
        hub.advance_ms(60_000);
        for wrong in [json!({}), json!({"text": ""}), json!({"text": "x".repeat(2_001)}), json!({"text": "x", "contact": "x".repeat(201)})] {
            hub.anonymous().post(&public(&ban), wrong).await.expect_error(400, "invalid_request");
        }
    }

    async fn an_appeal_is_erased_with_its_player(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        let by_name = json!({"playerName": "p1", "type": "MUTE"});
        let named = owner.post("/api/plugin/punishments/create-by-name", by_name).await.expect(200).clone();
        let kept = punish(&owner, 2, "BAN", json!({})).await;
        for punishment in [&ban, &named, &kept] {
            appeal(&hub, punishment).await.expect(201);
        }
        owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        let list = owner.get("/api/manage/appeals").await.expect(200).clone();
        assert_eq!((&list["total"], &list["items"][0]["punishmentId"]), (&json!(1), &kept["id"]));
    }
}
