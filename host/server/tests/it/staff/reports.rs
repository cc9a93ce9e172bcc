//! Reports by players.

use reqwest::Method;
use serde_json::{Value, json};

use super::stream;
use crate::people::{member, send};
use crate::servers::uuid;
use crate::support::{Answer, Client, NOW, on_both};

async fn report(client: &Client, reporter: u64, player: u64) -> Answer {
    let body =
        json!({"reporterUuid": uuid(reporter), "playerUuid": uuid(player), "reason": "Insults", "serverId": "lobby"});
    client.post("/api/plugin/reports", body).await
}

on_both! {
    async fn staff_handles_a_report(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let mut events = stream(&owner, "REPORT_CREATED").await;
        let made = report(&owner, 1, 2).await.expect(201).clone();
        assert_eq!(made, json!({"reportId": 1, "reporterUuid": uuid(1), "playerUuid": uuid(2), "reason": "Insults",
            "serverId": "lobby", "state": "OPEN", "resolution": null, "takenBy": null, "at": NOW, "chat": []}));
        let event = events.next_named("REPORT_CREATED").await.data;
        assert_eq!((&event["report"]["reportId"], event["report"].get("chat")), (&json!(1), None));
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let path = "/api/manage/reports/1";
        let change = async |body: Value| send(&hub, &alex.token, Method::PATCH, path, body).await.expect(200).clone();
        let taken = change(json!({"state": "TAKEN"})).await;
        assert_eq!((&taken["state"], &taken["takenBy"]["id"]), (&json!("TAKEN"), &json!(alex.id)));
        let answered = change(json!({"resolution": "Muted"})).await;
        assert_eq!((&answered["state"], &answered["resolution"]), (&json!("TAKEN"), &json!("Muted")));
        let closed = change(json!({"state": "CLOSED"})).await;
        assert_eq!((&closed["state"], &closed["resolution"], &closed["takenBy"]["id"]), (&json!("CLOSED"), &json!("Muted"), &json!(alex.id)));
        assert_eq!(owner.get(path).await.expect(200), &closed);
        report(&owner, 3, 2).await.expect(201);
        let ids = async |client: &Client, query: &str| {
            let list = client.get(&format!("/api/manage/reports{query}")).await.expect(200).clone();
            list["items"].as_array().unwrap().iter().map(|it| it["reportId"].as_i64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&owner, "").await, [2, 1]);
        assert_eq!(ids(&owner, "?state=CLOSED").await, [1]);
        assert_eq!(ids(&owner, "?state=OPEN").await, [2]);
        assert_eq!(ids(&other, "").await, [0; 0]);
        other.get(path).await.expect_error(404, "unknown_report");
        other.patch(path, json!({"state": "TAKEN"})).await.expect_error(404, "unknown_report");
        owner.get("/api/manage/reports?state=GONE").await.expect_error(400, "invalid_request");
        owner.patch(path, json!({"resolution": "x".repeat(501)})).await.expect_error(400, "invalid_request");
        for wrong in [json!({}), json!({"reporterUuid": uuid(1), "playerUuid": uuid(2), "reason": "x".repeat(501)})] {
            owner.post("/api/plugin/reports", wrong).await.expect_error(400, "invalid_request");
        }
        let log = owner.get("/api/manage/audit?action=report.changed").await.expect(200).clone();
        assert_eq!(log["total"], 3);
    }

    async fn a_player_has_five_open_reports(hub: Hub) {
        let owner = hub.network().await;
        let answers = futures_util::future::join_all((0..8).map(|at| report(&owner, 1, 10 + at))).await;
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!(made, 5);
        answers.iter().filter(|answer| answer.status != 201).for_each(|answer| {
            answer.expect_quota("openReportsPerReporter", 5);
        });
        report(&owner, 2, 10).await.expect(201);
        let id = owner.get("/api/manage/reports?state=OPEN&limit=1&page=5").await.expect(200)["items"][0]["reportId"].clone();
        owner.patch(&format!("/api/manage/reports/{id}"), json!({"state": "TAKEN"})).await.expect(200);
        report(&owner, 1, 10).await.expect(201);
    }

    async fn a_plan_limits_open_reports(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        operator.put("/api/admin/plans/small", json!({"limits": {"reports": 2}})).await;
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"reports": 2}})).await;
        let network = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.patch(&network, json!({"plan": "small"})).await.expect(200);
        hub.advance_ms(2_000);
        report(&owner, 1, 2).await.expect(201);
        report(&owner, 3, 2).await.expect(201);
        report(&owner, 4, 2).await.expect_quota("reports", 2);
        owner.patch("/api/manage/reports/1", json!({"state": "CLOSED"})).await.expect(200);
        report(&owner, 4, 2).await.expect(201);
        // One that is opened again is one more.
        owner.patch("/api/manage/reports/1", json!({"state": "OPEN"})).await.expect_quota("reports", 2);
        owner.patch("/api/manage/reports/2", json!({"state": "CLOSED"})).await.expect(200);
        owner.patch("/api/manage/reports/1", json!({"state": "OPEN"})).await.expect(200);
    }

    async fn an_erased_reporter_leaves_the_report(hub: Hub) {
        let owner = hub.network().await;
        report(&owner, 1, 2).await.expect(201);
        report(&owner, 2, 1).await.expect(201);
        owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        let list = owner.get("/api/manage/reports").await.expect(200).clone();
        assert_eq!((&list["total"], &list["items"][0]["reportId"]), (&json!(1), &json!(1)));
        assert_eq!((&list["items"][0]["reporterUuid"], &list["items"][0]["playerUuid"]), (&Value::Null, &json!(uuid(2))));
    }

    async fn a_report_is_made_once(hub: Hub) {
        let owner = hub.network().await;
        let body = json!({"reporterUuid": uuid(1), "playerUuid": uuid(2), "reason": "Insults"});
        let post = async || {
            let request = owner.request(Method::POST, "/api/plugin/reports").header("Idempotency-Key", "r-1");
            owner.send(request.json(&body)).await.expect(201).clone()
        };
        assert_eq!(post().await, post().await);
        assert_eq!(owner.get("/api/manage/reports").await.expect(200)["total"], 1);
        let settings = owner.key_with(&["network:manage"]).await;
        settings.post("/api/plugin/reports", body).await.expect_error(403, "forbidden_scope");
    }
}
