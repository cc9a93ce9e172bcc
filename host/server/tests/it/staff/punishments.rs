//! Changed punishments, lists of them, and revocation of many.

use serde_json::{Value, json};

use super::{punish, stream};
use crate::servers::uuid;
use crate::support::{Client, NOW, on_both};

fn path(punishment: &Value) -> String {
    format!("/api/manage/punishments/{}", punishment["id"])
}

/// Ids that a list answers.
async fn ids(client: &Client, query: &str) -> Vec<i64> {
    let list = client.get(&format!("/api/manage/punishments?{query}")).await.expect(200).clone();
    list["items"].as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()).collect()
}

on_both! {
    async fn staff_changes_a_punishment(hub: Hub) {
        let owner = hub.network().await;
        let mut events = stream(&owner, "PUNISHMENT").await;
        let ban = punish(&owner, 1, "BAN", json!({"reason": "Griefing", "durationMs": 3_600_000})).await;
        events.next_named("PUNISHMENT").await;
        let evidence = json!(["https://example.org/replay/1", "http://example.org/2"]);
        let change = json!({"reason": "Griefing at spawn", "durationMs": null, "evidence": evidence});
        let changed = owner.patch(&path(&ban), change.clone()).await.expect(200).clone();
        assert_eq!((&changed["reason"], &changed["durationMs"], &changed["expiresAt"]), (&json!("Griefing at spawn"), &Value::Null, &Value::Null));
        assert_eq!((&changed["evidence"], &changed["origin"], &changed["active"]), (&evidence, &Value::Null, &json!(true)));
        let edits = changed["edits"].as_array().unwrap();
        let fields: Vec<_> = edits.iter().map(|edit| edit["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["durationMs", "reason", "evidence"]);
        assert_eq!((&edits[1]["before"], &edits[1]["after"]), (&json!("Griefing"), &json!("Griefing at spawn")));
        assert!(edits[0]["at"] == NOW && edits[0]["actor"]["type"] == "KEY", "{changed}");
        let event = events.next_named("PUNISHMENT").await.data;
        assert_eq!((&event["action"], &event["punishment"]["reason"]), (&json!("UPDATED"), &json!("Griefing at spawn")));
        // The same again changes nothing, and absent fields stay.
        assert_eq!(owner.patch(&path(&ban), change).await.expect(200), &changed);
        assert_eq!(owner.patch(&path(&ban), json!({})).await.expect(200), &changed);
        assert_eq!(owner.get(&path(&ban)).await.expect(200), &changed);
        let log = owner.get("/api/manage/audit?action=punishment.changed").await.expect(200).clone();
        assert_eq!((&log["total"], &log["items"][0]["before"]["reason"]), (&json!(1), &json!("Griefing")));
        let joined = owner.get(&format!("/api/plugin/punishments/player/{}", uuid(1))).await.expect(200).clone();
        assert_eq!((joined[0]["reason"].clone(), joined[0].get("edits")), (json!("Griefing at spawn"), None));
    }

    async fn a_duration_counts_from_the_issue(hub: Hub) {
        let owner = hub.network().await;
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        hub.advance_ms(60_000);
        let changed = owner.patch(&path(&ban), json!({"durationMs": 90_000})).await.expect(200).clone();
        assert_eq!((&changed["expiresAt"], &changed["active"]), (&json!(NOW + 90_000), &json!(true)));
        let mut events = stream(&owner, "PUNISHMENT").await;
        let ended = owner.patch(&path(&ban), json!({"durationMs": 30_000})).await.expect(200).clone();
        assert_eq!((&ended["expiresAt"], &ended["active"], &ended["appealCode"]), (&json!(NOW + 30_000), &json!(false), &Value::Null));
        for action in ["UPDATED", "EXPIRED"] {
            assert_eq!(events.next_named("PUNISHMENT").await.data["action"], action);
        }
        owner.patch(&path(&ban), json!({"durationMs": null})).await.expect_error(409, "not_active");
        // Other fields of an ended one can be changed.
        assert_eq!(owner.patch(&path(&ban), json!({"reason": null})).await.expect(200)["reason"], Value::Null);
        let kick = punish(&owner, 1, "KICK", json!({})).await;
        owner.patch(&path(&kick), json!({"durationMs": 5})).await.expect_error(409, "not_active");
    }

    async fn wrong_changes_are_refused(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        let nine = vec!["https://example.org/"; 9];
        for wrong in [
            json!({"durationMs": 0}),
            json!({"reason": "x".repeat(1_025)}),
            json!({"evidence": nine}),
            json!({"evidence": ["ftp://example.org/"]}),
            json!({"evidence": ["https://example.org/\u{e9}"]}),
            json!({"evidence": [format!("https://example.org/{}", "x".repeat(2_048))]}),
            json!([]),
        ] {
            owner.patch(&path(&ban), wrong).await.expect_error(400, "invalid_request");
        }
        other.patch(&path(&ban), json!({"reason": "x"})).await.expect_error(404, "unknown_punishment");
        other.get(&path(&ban)).await.expect_error(404, "unknown_punishment");
        let key = owner.key_with(&["punishments:write"]).await;
        key.patch(&path(&ban), json!({"reason": "x"})).await.expect_error(403, "forbidden_scope");
        let staff = owner.key_with(&["punishments:manage"]).await;
        for at in 0..50 {
            staff.patch(&path(&ban), json!({"reason": format!("{at}")})).await.expect(200);
        }
        staff.patch(&path(&ban), json!({"reason": "more"})).await.expect_quota("editsPerPunishment", 50);
    }

    async fn staff_lists_punishments(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let (alex, kim) = (json!({"issuerName": "Alex", "issuerUuid": uuid(90)}), json!({"issuerName": "Kim"}));
        punish(&owner, 1, "BAN", alex.clone()).await;
        hub.advance_ms(1_000);
        punish(&owner, 2, "MUTE", kim).await;
        hub.advance_ms(1_000);
        punish(&owner, 1, "WARN", alex).await;
        punish(&owner, 1, "KICK", json!({})).await;
        owner.post("/api/plugin/punishments/remove", json!({"punishmentId": 1})).await.expect(200);
        assert_eq!(ids(&owner, "").await, [4, 3, 2, 1]);
        assert_eq!(ids(&owner, "type=mute").await, [2]);
        assert_eq!(ids(&owner, "active=true").await, [3, 2]);
        assert_eq!(ids(&owner, "active=false").await, [4, 1]);
        assert_eq!(ids(&owner, "issuer=ALEX").await, [3, 1]);
        assert_eq!(ids(&owner, &format!("issuer={}", uuid(90))).await, [3, 1]);
        assert_eq!(ids(&owner, "issuer=alex&active=true").await, [3]);
        assert_eq!(ids(&owner, "player=P1&type=BAN").await, [1]);
        assert_eq!(ids(&owner, &format!("player={}", uuid(1))).await, [4, 3, 1]);
        assert_eq!(ids(&owner, &format!("player={}&issuer=Alex", uuid(1))).await, [3, 1]);
        assert_eq!(ids(&owner, &format!("player={}&issuer={}", uuid(2), uuid(90))).await, [0; 0]);
        assert_eq!(ids(&owner, &format!("since={}&until={}", NOW + 1_000, NOW + 1_000)).await, [2]);
        assert_eq!(ids(&owner, &format!("until={NOW}")).await, [1]);
        let page = owner.get("/api/manage/punishments?limit=2&page=1").await.expect(200).clone();
        assert_eq!((&page["total"], &page["items"][0]["id"]), (&json!(4), &json!(2)));
        assert_eq!(ids(&other, "").await, [0; 0]);
        for wrong in ["type=HEX", "active=1", "since=yesterday", "limit=0"] {
            owner.get(&format!("/api/manage/punishments?{wrong}")).await.expect_error(400, "invalid_request");
        }
    }

    async fn long_lists_leave_details_out(hub: Hub) {
        let owner = hub.network().await;
        let long: Vec<_> = (0..8).map(|at| format!("https://example.org/{at}/{}", "x".repeat(2_000))).collect();
        let ban = punish(&owner, 1, "BAN", json!({})).await;
        for at in 0..2 {
            owner.patch(&path(&ban), json!({"evidence": &long[at..]})).await.expect(200);
        }
        let list = owner.get("/api/manage/punishments").await.expect(200).clone();
        assert_eq!((&list["items"][0]["detailsOmitted"], &list["items"][0]["edits"]), (&json!(true), &json!([])));
        let one = owner.get(&path(&ban)).await.expect(200).clone();
        assert_eq!((&one["detailsOmitted"], one["edits"].as_array().unwrap().len()), (&json!(false), 2));
    }

    async fn all_punishments_of_one_of_the_staff_are_revoked(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let alex = json!({"issuerName": "Alex", "issuerUuid": uuid(90)});
        for player in 1..=3 {
            punish(&owner, player, "BAN", alex.clone()).await;
            hub.advance_ms(1_000);
        }
        punish(&owner, 4, "BAN", json!({"issuerName": "Kim"})).await;
        punish(&other, 5, "BAN", alex).await;
        let revoke = async |client: &Client, body: Value| client.post("/api/manage/punishments/revoke", body).await;
        let mut body = json!({"issuerName": "ALEX", "since": NOW + 1_000, "reason": "stolen account", "dryRun": true});
        let ids = |answer: &Value| {
            let all = answer["punishments"].as_array().unwrap().iter();
            all.map(|it| it["id"].as_i64().unwrap()).collect::<Vec<_>>()
        };
        let planned = revoke(&owner, body.clone()).await.expect(200).clone();
        assert_eq!((ids(&planned), &planned["dryRun"], &planned["more"]), (vec![3, 2], &json!(true), &json!(false)));
        assert_eq!(planned["punishments"][0]["active"], true);
        let mut events = stream(&owner, "PUNISHMENT").await;
        body["dryRun"] = json!(false);
        let revoked = revoke(&owner, body.clone()).await.expect(200).clone();
        assert_eq!((ids(&revoked), &revoked["punishments"][0]["active"]), (vec![3, 2], &json!(false)));
        for id in [3, 2] {
            let event = events.next_named("PUNISHMENT").await.data;
            assert_eq!((&event["action"], &event["punishment"]["id"]), (&json!("REVOKED"), &json!(id)));
        }
        assert_eq!(ids(revoke(&owner, body).await.expect(200)), [0; 0]);
        assert_eq!(ids(revoke(&owner, json!({"issuerUuid": uuid(90)})).await.expect(200)), [1]);
        assert_eq!(super::punishments::ids(&owner, "active=true").await, [4]);
        assert_eq!(super::punishments::ids(&other, "active=true").await, [1]);
        let log = owner.get("/api/manage/audit?action=punishments.revoked").await.expect(200).clone();
        assert_eq!((&log["total"], &log["items"][1]["after"]["ids"]), (&json!(2), &json!([3, 2])));
        revoke(&owner, json!({})).await.expect_error(400, "invalid_request");
        let staff = owner.key_with(&["punishments:manage"]).await;
        revoke(&staff, json!({"issuerName": "Kim"})).await.expect_error(403, "forbidden_scope");
    }
}
