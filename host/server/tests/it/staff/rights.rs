//! Rights of the people who work for a network.

use reqwest::Method;
use serde_json::{Value, json};

use super::punish;
use crate::people::{member, send};
use crate::servers::uuid;
use crate::support::on_both;

on_both! {
    async fn moderators_do_the_work_of_staff_and_admins_the_rest(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({"issuerName": "Kim"})).await;
        let report = json!({"reporterUuid": uuid(2), "playerUuid": uuid(1), "reason": "Insults"});
        owner.post("/api/plugin/reports", report).await.expect(201);
        let code = format!("/api/public/appeals/{}", ban["appealCode"].as_str().unwrap());
        hub.anonymous().post(&code, json!({"text": "Sorry."})).await.expect(201);
        let appeal = owner.get("/api/manage/appeals").await.expect(200)["items"][0]["appealId"].as_str().unwrap().to_owned();
        let (moderator, admin) = (["MODERATOR", "ADMIN"], ["ADMIN", "ADMIN"]);
        let routes = [
            (Method::GET, "/api/manage/punishments".to_owned(), Value::Null, moderator),
            (Method::GET, "/api/manage/punishments/1".to_owned(), Value::Null, moderator),
            (Method::PATCH, "/api/manage/punishments/1".to_owned(), json!({"evidence": []}), moderator),
            (Method::POST, "/api/manage/punishments/revoke".to_owned(), json!({"issuerName": "Nobody", "dryRun": true}), admin),
            (Method::GET, format!("/api/manage/players/{}/notes", uuid(1)), Value::Null, moderator),
            (Method::GET, "/api/manage/reports?state=OPEN".to_owned(), Value::Null, moderator),
            (Method::PATCH, "/api/manage/reports/1".to_owned(), json!({"resolution": "Seen"}), moderator),
            (Method::GET, "/api/manage/appeals".to_owned(), Value::Null, moderator),
            (Method::GET, "/api/manage/chat".to_owned(), Value::Null, moderator),
            (Method::GET, "/api/manage/network".to_owned(), Value::Null, admin),
            (Method::PATCH, "/api/manage/network".to_owned(), json!({"chatHistoryDays": 3}), admin),
            (Method::PUT, "/api/manage/roles/r".to_owned(), json!({"scopes": []}), admin),
        ];
        for role in ["VIEWER", "MODERATOR", "ADMIN"] {
            let person = member(&hub, &owner, &format!("{}@example.org", role.to_lowercase()), role).await;
            for (method, path, body, allowed) in &routes {
                let answer = send(&hub, &person.token, method.clone(), path, body.clone()).await;
                let status = if allowed.contains(&role) { 200 } else { 403 };
                assert_eq!(answer.status, status, "{role} {method} {path}: {}", answer.body);
            }
            if role == "MODERATOR" {
                let decide = format!("/api/manage/appeals/{appeal}/decide");
                let decided = send(&hub, &person.token, Method::POST, &decide, json!({"decision": "REJECT"})).await;
                assert_eq!(decided.expect(200)["decidedBy"]["id"], person.id);
            }
        }
    }

    async fn a_thousand_punishments_are_revoked_with_one_call(hub: Hub) {
        let owner = hub.network().await;
        let mute = json!({"issuerName": "Alex", "issuerUuid": uuid(90)});
        punish(&owner, 1, "MUTE", mute).await;
        let copies = "INSERT INTO punishments (network_id, id, player_uuid, player_name, name_folded, kind, ip_based, issuer_uuid,
                 issuer_name, issued_at, state, issuer_folded)
             WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
             SELECT network_id, id + n, player_uuid, player_name, name_folded, kind, ip_based, issuer_uuid, issuer_name,
                 issued_at, state, issuer_folded
             FROM punishments, numbers WHERE network_id = $1 AND id = 1";
        hub.app.db.write(copies).bind(owner.network.unwrap()).execute().await.unwrap();
        let body = json!({"issuerUuid": uuid(90), "reason": "stolen account"});
        for (revoked, more) in [(1_000, true), (201, false), (0, false)] {
            let answer = owner.post("/api/manage/punishments/revoke", body.clone()).await.expect(200).clone();
            assert_eq!(answer["punishments"].as_array().unwrap().len(), revoked);
            assert_eq!(answer["more"], more);
        }
        assert_eq!(owner.get("/api/manage/punishments?active=true").await.expect(200)["total"], 0);
    }
}
