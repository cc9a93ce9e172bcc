//! The operator's networks, their keys and plans.

mod grace;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor as _;

use crate::postgres::until_one_waits;
use crate::support::{Answer, Backend, Client, Hub, NOW, on_both};

async fn patch(operator: &Client, path: &str, body: Value) -> Answer {
    operator.send(operator.request(Method::PATCH, path).json(&body)).await
}

fn path(network: &Value) -> String {
    format!("/api/admin/networks/{}", network["networkId"].as_str().unwrap())
}

const UNKNOWN: &str = "/api/admin/networks/069a79f4-44e9-4726-a5be-fca90e38aaf5";
const OPERATORS: &str = "/api/admin/networks/00000000-0000-0000-0000-000000000000";

on_both! {
    async fn a_network_is_created_listed_and_changed(hub: Hub) {
        let operator = hub.operator().await;
        let created = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
        let owner = hub.with_key(created["apiKey"].as_str().unwrap());
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["items"][0]["keyId"], created["keyId"]);
        let mut shown = created.clone();
        for secret in ["apiKey", "keyId"] {
            shown.as_object_mut().unwrap().remove(secret);
        }
        let expected = json!({
            "networkId": created["networkId"], "name": "one", "plan": "default", "suspended": false,
            "createdAt": NOW, "deleteAt": null,
        });
        assert_eq!(shown, expected);
        assert_eq!(*operator.get(&path(&created)).await.expect(200), expected);

        hub.advance_ms(1);
        operator.post("/api/admin/networks", json!({"name": "two"})).await.expect(201);
        let list = operator.get("/api/admin/networks?limit=1").await.expect(200).clone();
        assert_eq!(list, json!({"items": [expected], "page": 0, "limit": 1, "total": 2}));
        let second = operator.get("/api/admin/networks?limit=1&page=1").await.expect(200).clone();
        assert_eq!(second["items"][0]["name"], "two");

        operator.post("/api/admin/plans", json!({"name": "small"})).await.expect(201);
        let changed = patch(&operator, &path(&created), json!({"name": "three", "plan": "small"})).await;
        assert_eq!((&changed.expect(200)["name"], &changed.body["plan"]), (&json!("three"), &json!("small")));
        assert_eq!(*operator.get(&path(&created)).await.expect(200), changed.body);
        assert_eq!(patch(&operator, &path(&created), json!({})).await.expect(200), &changed.body);
        let on_plan = operator.post("/api/admin/networks", json!({"name": "four", "plan": "small"})).await;
        assert_eq!(on_plan.expect(201)["plan"], "small");
    }

    async fn wrong_requests_about_networks_are_refused(hub: Hub) {
        let operator = hub.operator().await;
        let network = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
        operator.post("/api/admin/networks", json!({"name": "two"})).await.expect(201);
        operator.post("/api/admin/networks", json!({"name": "one"})).await.expect_error(400, "name_taken");
        operator.post("/api/admin/networks", json!({"name": " "})).await.expect_error(400, "invalid_request");
        operator.post("/api/admin/networks", json!({})).await.expect_error(400, "invalid_request");
        let no_plan = json!({"name": "three", "plan": "none"});
        operator.post("/api/admin/networks", no_plan.clone()).await.expect_error(404, "unknown_plan");
        patch(&operator, &path(&network), no_plan).await.expect_error(404, "unknown_plan");
        patch(&operator, &path(&network), json!({"name": "two"})).await.expect_error(400, "name_taken");
        patch(&operator, &path(&network), json!({"suspended": 1})).await.expect_error(400, "invalid_request");
        assert_eq!(operator.get(&path(&network)).await.expect(200)["name"], "one");
        for unknown in [UNKNOWN, OPERATORS] {
            operator.get(unknown).await.expect_error(404, "unknown_network");
            patch(&operator, unknown, json!({"suspended": true})).await.expect_error(404, "unknown_network");
            operator.delete(unknown).await.expect_error(404, "unknown_network");
            operator.get(&format!("{unknown}/keys")).await.expect_error(404, "unknown_network");
            let key = json!({"name": "k", "scopes": ["plugin"]});
            operator.post(&format!("{unknown}/keys"), key).await.expect_error(404, "unknown_network");
            operator.delete(&format!("{unknown}/keys/k")).await.expect_error(404, "unknown_network");
        }
        operator.get("/api/admin/networks/one").await.expect_error(400, "invalid_request");
        operator.get("/api/admin/networks?limit=0").await.expect_error(400, "invalid_request");
        operator.delete(&format!("{}?now=maybe", path(&network))).await.expect_error(400, "invalid_request");
        let owner = hub.with_key(network["apiKey"].as_str().unwrap());
        for admin in ["/api/admin/networks", "/api/admin/plans", &path(&network)] {
            owner.get(admin).await.expect_error(403, "forbidden_scope");
        }
    }

    async fn a_suspended_networks_keys_and_streams_are_refused(hub: Hub) {
        let operator = hub.operator().await;
        let network = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
        let owner = hub.with_key(network["apiKey"].as_str().unwrap());
        let mut stream = owner.events(None, None).await;
        owner.get("/api/manage/keys").await.expect(200);
        assert_eq!(patch(&operator, &path(&network), json!({"suspended": true})).await.expect(200)["suspended"], true);
        owner.get("/api/manage/keys").await.expect_error(403, "network_suspended");
        hub.advance_ms(1_000);
        while stream.next().await.is_some() {}
        patch(&operator, &path(&network), json!({"suspended": false})).await.expect(200);
        owner.get("/api/manage/keys").await.expect(200);
    }

    async fn the_operator_manages_a_networks_keys(hub: Hub) {
        let operator = hub.operator().await;
        let network = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
        let keys = format!("{}/keys", path(&network));
        hub.advance_ms(1);
        let new = json!({"name": "lobby", "scopes": ["plugin"], "expiresAt": NOW + 5_000});
        let created = operator.post(&keys, new).await.expect(201).clone();
        assert_eq!((&created["scopes"], &created["expiresAt"]), (&json!(["plugin"]), &json!(NOW + 5_000)));
        let lobby = hub.with_key(created["apiKey"].as_str().unwrap());
        lobby.get("/api/plugin/players").await.expect(200);
        let list = operator.get(&format!("{keys}?limit=1&page=1")).await.expect(200).clone();
        assert_eq!((&list["total"], &list["items"][0]["keyId"]), (&json!(2), &created["keyId"]));
        assert!(!list.to_string().contains(created["apiKey"].as_str().unwrap()));
        for (scopes, code) in [(json!([]), "invalid_request"), (json!(["operator"]), "operator_scope")] {
            operator.post(&keys, json!({"name": "k", "scopes": scopes})).await.expect_error(400, code);
        }
        let path = format!("{keys}/{}", created["keyId"].as_str().unwrap());
        operator.delete(&path).await.expect(204);
        lobby.get("/api/plugin/players").await.expect_error(401, "unauthenticated");
        operator.delete(&path).await.expect_error(404, "unknown_key");
        // A key of another network is not this one's.
        let other = hub.network().await;
        let id = other.get("/api/manage/keys").await.expect(200)["items"][0]["keyId"].as_str().unwrap().to_owned();
        operator.delete(&format!("{keys}/{id}")).await.expect_error(404, "unknown_key");
        other.get("/api/manage/keys").await.expect(200);
    }

    async fn a_repeated_creation_makes_one_network(hub: Hub) {
        let operator = hub.operator().await;
        let create = || {
            let request = operator.request(Method::POST, "/api/admin/networks").header("Idempotency-Key", "once");
            operator.send(request.json(&json!({"name": "one"})))
        };
        let (first, again) = (create().await, create().await);
        assert_eq!(first.expect(201), again.expect(201));
        assert_eq!(operator.get("/api/admin/networks").await.expect(200)["total"], 1);
    }
}

/// A network that one operator resumes while another deletes it is not both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_resumed_meanwhile_is_not_deleted() {
    let hub = Hub::start(Backend::postgres().await).await;
    let operator = hub.operator().await;
    let network = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
    let id = network["networkId"].as_str().unwrap();
    let mut database = hub.database().await;
    let deletion = format!(
        "BEGIN; UPDATE networks SET suspended = TRUE WHERE network_id = '{id}';
         INSERT INTO network_deletions (network_id, name, delete_at, begun) VALUES ('{id}', 'one', {NOW}, FALSE)"
    );
    database.execute(sqlx::AssertSqlSafe(deletion)).await.unwrap();
    let path = path(&network);
    let mut resuming = std::pin::pin!(patch(&operator, &path, json!({"suspended": false})));
    tokio::select! {
        early = &mut resuming => panic!("it does not wait for the deletion: {early:?}"),
        () = until_one_waits(&mut database) => {}
    }
    database.execute("COMMIT").await.unwrap();
    let resumed = resuming.await.expect(200).clone();
    assert_eq!((&resumed["suspended"], &resumed["deleteAt"]), (&json!(false), &Value::Null), "{resumed}");
    let left: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM network_deletions").fetch_one(&mut database).await.unwrap();
    assert_eq!(left, 0);
}
