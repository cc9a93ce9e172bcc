//! The audit log: every change by a management route is in it, and stays in it.

mod by_people;
mod walk;

use std::time::Duration;

use hub::limits::{Bounds, Limit};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

const AUDIT: &str = "/api/manage/audit";

/// All entries, newest first.
async fn entries(client: &Client) -> Vec<Value> {
    client.get(&format!("{AUDIT}?limit=200")).await.expect(200)["items"].as_array().unwrap().clone()
}

async fn put_currency(owner: &Client, name: &str, maximum: i64) {
    let path = format!("/api/manage/economy/currencies/{name}");
    owner.put(&path, json!({"maximum": maximum})).await.expect(200);
}

on_both! {
    async fn an_entry_has_its_actor_action_and_address(hub: Hub) {
        let owner = hub.network().await;
        put_currency(&owner, "coins", 5).await;
        hub.advance_ms(1_000);
        let request = owner.request(Method::PUT, "/api/manage/economy/currencies/coins");
        let answer = owner.send(request.header("X-Request-Id", "mine-7").json(&json!({"maximum": 7}))).await;
        answer.expect(200);
        let entry = entries(&owner).await.remove(0);
        let key = owner.key.as_ref().unwrap()[4..16].to_owned();
        assert_eq!(entry["actor"], json!({"type": "KEY", "id": key, "name": "owner"}));
        assert_eq!((&entry["action"], &entry["target"]), (&json!("currency.put"), &json!("coins")));
        let shown = |maximum: i64| json!({"minimum": null, "maximum": maximum, "startingBalance": null});
        assert_eq!((&entry["before"], &entry["after"]), (&shown(5), &shown(7)));
        assert_eq!((&entry["at"], &entry["requestId"]), (&json!(NOW + 1_000), &json!("mine-7")));
        assert_eq!(entry["address"], "127.0.0.1");
    }

    async fn a_change_is_undone_by_its_entry(hub: Hub) {
        let owner = hub.network().await;
        let currency = "/api/manage/economy/currencies/coins";
        let put = async |body: Value| owner.put(currency, body).await.expect(200).clone();
        put(json!({"minimum": 0, "maximum": 50})).await;
        put(json!({"minimum": 5, "maximum": 50})).await;
        put(json!({"minimum": 5, "maximum": 90})).await;
        let entry = entries(&owner).await.remove(1);
        let path = format!("{AUDIT}/{}", entry["id"].as_str().unwrap());
        assert_eq!(owner.get(&path).await.expect(200), &entry);
        assert_eq!(entry["undoable"], true);
        let made = entries(&owner).await.remove(2);
        assert_eq!(made["undoable"], false, "nothing deletes a currency");
        let made = format!("{AUDIT}/{}/undo", made["id"].as_str().unwrap());
        owner.post(&made, json!({})).await.expect_error(400, "not_undoable");
        // Others' rights: to read the log is not to undo what it has.
        let body = json!({"name": "reader", "scopes": ["audit:read"]});
        let reader = owner.post("/api/manage/keys", body).await.expect(201)["apiKey"].clone();
        let reader = owner.with_key(reader.as_str().unwrap());
        let undo = format!("{path}/undo");
        reader.post(&undo, json!({})).await.expect_error(403, "forbidden_scope");
        let stranger = hub.network().await;
        stranger.post(&undo, json!({})).await.expect_error(404, "unknown_entry");
        stranger.get(&path).await.expect_error(404, "unknown_entry");
        // A look, and the change: another field, changed since, stays.
        let expected = json!({"method": "PUT", "path": currency,
            "body": {"minimum": 0, "maximum": 90, "startingBalance": null},
            "changes": [{"field": "minimum", "now": 5, "then": 0}]});
        assert_eq!(owner.post(&format!("{undo}?dryRun=true"), json!({})).await.expect(200), &expected);
        let now = async || {
            let page = owner.get("/api/manage/economy/currencies").await.expect(200).clone();
            (page["items"][0]["minimum"].clone(), page["items"][0]["maximum"].clone())
        };
        assert_eq!(now().await, (json!(5), json!(90)));
        let request = owner.request(Method::POST, &undo).header("X-Request-Id", "mine-9");
        assert_eq!(owner.send(request).await.expect(200), &expected);
        assert_eq!(now().await, (json!(0), json!(90)));
        let last = entries(&owner).await.remove(0);
        assert_eq!((&last["action"], &last["requestId"]), (&json!("currency.put"), &json!("mine-9")));
        assert_eq!(last["actor"], entry["actor"]);
        // Once more there is nothing to do.
        assert_eq!(owner.post(&undo, json!({})).await.expect(200)["changes"], json!([]));
        assert_eq!(entries(&owner).await[0], last);
        // The same field, changed since, is overwritten only on purpose.
        put(json!({"minimum": 7, "maximum": 90})).await;
        let refused = owner.post(&undo, json!({})).await.expect(409).clone();
        assert_eq!((&refused["code"], &refused["changed"]["now"]["minimum"]), (&json!("revision_changed"), &json!(7)));
        assert_eq!(now().await.0, json!(7));
        owner.post(&format!("{undo}?force=true"), json!({})).await.expect(200);
        assert_eq!(now().await.0, json!(0));
    }

    async fn what_was_made_or_deleted_is_undone(hub: Hub) {
        let owner = hub.network().await;
        let text = "/api/manage/localization/messages/en/lobby/welcome.first";
        owner.put(text, json!({"value": "Hello"})).await.expect(200);
        let undo_last = async |client: &Client, log: &str| {
            let last = client.get(&format!("{log}?limit=1")).await.expect(200)["items"][0].clone();
            client.post(&format!("{log}/{}/undo", last["id"].as_str().unwrap()), json!({})).await
        };
        let words = async || {
            let page = owner.get("/api/manage/localization/messages?locale=en&namespace=lobby").await.expect(200).clone();
            page["items"].as_array().unwrap().iter().map(|item| item["override"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(undo_last(&owner, AUDIT).await.expect(200)["method"], "DELETE");
        assert_eq!(words().await, [json!(null); 0]);
        assert_eq!(undo_last(&owner, AUDIT).await.expect(200)["body"], json!({"value": "Hello"}));
        assert_eq!(words().await, ["Hello"]);
        // The operator's, by the operator alone.
        let operator = hub.operator().await;
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"servers": 5}})).await.expect(201);
        let plan = json!({"name": "small", "limits": {"servers": 6}, "moduleLimits": {}});
        operator.put("/api/admin/plans/small", plan).await.expect(200);
        undo_last(&operator, "/api/admin/audit").await.expect(200);
        assert_eq!(operator.get("/api/admin/plans/small").await.expect(200)["limits"]["servers"], 5);
        let last = operator.get("/api/admin/audit?limit=1").await.expect(200)["items"][0]["id"].clone();
        let undo = format!("/api/admin/audit/{}/undo", last.as_str().unwrap());
        owner.post(&undo, json!({})).await.expect_error(403, "forbidden_scope");
    }

    async fn no_entry_holds_a_secret(hub: Hub) {
        let owner = hub.network().await;
        let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let path = format!("/api/manage/keys/{}/roll", made["keyId"].as_str().unwrap());
        let rolled = owner.post(&path, json!({})).await.expect(201)["apiKey"].clone();
        let rotated = owner.post("/api/manage/signing-secret/rotate", json!({})).await.expect(201).clone();
        let log = json!(entries(&owner).await).to_string();
        assert!(log.contains("key.rolled") && log.contains("signing_secret.rotated"), "{log}");
        for secret in [&made["apiKey"], &rolled, &rotated["signingSecret"]] {
            let secret = secret.as_str().unwrap();
            let part = secret.rsplit('_').next().unwrap();
            assert!(!log.contains(part), "{part} is in {log}");
        }
    }

    async fn a_change_that_fails_leaves_no_entry(hub: Hub) {
        let owner = hub.network().await;
        let before = entries(&owner).await.len();
        let bounds = json!({"minimum": 5, "maximum": 4});
        owner.put("/api/manage/economy/currencies/coins", bounds).await.expect_error(400, "invalid_request");
        owner.delete("/api/manage/keys/none").await.expect_error(404, "unknown_key");
        assert_eq!(entries(&owner).await.len(), before);
        // Refused by the database, after all checks of the request succeeded.
        let (operator, other) = (hub.operator().await, hub.network().await);
        let path = |network: &Client| format!("/api/admin/networks/{}", network.network.unwrap());
        let name = operator.get(&path(&other)).await.expect(200)["name"].clone();
        let log = operator.get("/api/admin/audit").await.expect(200)["total"].clone();
        operator.patch(&path(&owner), json!({"name": name})).await.expect_error(400, "name_taken");
        assert_eq!(entries(&owner).await.len(), before);
        assert_eq!(operator.get("/api/admin/audit").await.expect(200)["total"], log);
    }

    async fn an_idempotent_repeat_is_one_entry(hub: Hub) {
        let owner = hub.network().await;
        let before = entries(&owner).await.len();
        for _ in 0..2 {
            let request = owner.request(Method::POST, "/api/manage/keys").header("Idempotency-Key", "k-1");
            let body = json!({"name": "k", "scopes": ["plugin"]});
            owner.send(request.json(&body)).await.expect(201);
        }
        assert_eq!(entries(&owner).await.len(), before + 1);
    }

    async fn each_entry_shows_what_its_change_replaced(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        owner.put("/api/manage/economy/currencies/coins", json!({"minimum": 0})).await.expect(200);
        operator.post("/api/admin/plans", json!({"name": "p"})).await.expect(201);
        let machine = "/api/manage/provisioning/servers/s-1";
        owner.put(machine, json!({"provider": "0"})).await.expect(200);
        let changes = (1..=10).map(|at| {
            let (owner, operator) = (owner.clone(), operator.clone());
            async move {
                owner.put("/api/manage/economy/currencies/coins", json!({"minimum": at})).await.expect(200);
                operator.put("/api/admin/plans/p", json!({"limits": {"keys": at}})).await.expect(200);
                owner.put(machine, json!({"provider": at.to_string()})).await.expect(200);
            }
        });
        futures_util::future::join_all(changes).await;
        for (client, path, action) in [
            (&owner, AUDIT, "currency.put"),
            (&operator, "/api/admin/audit", "plan.changed"),
            (&owner, AUDIT, "provisioned_server.put"),
        ] {
            let log = client.get(&format!("{path}?action={action}&limit=200")).await.expect(200).clone();
            let entries = log["items"].as_array().unwrap();
            assert!(entries.len() >= 10, "{log}");
            let mut replaced: Vec<_> = entries.iter().map(|it| it["before"].to_string()).collect();
            replaced.sort();
            replaced.dedup();
            assert_eq!(replaced.len(), entries.len(), "two entries of {action} replaced the same: {log}");
        }
    }

    async fn pages_are_filtered_and_go_on_behind_an_entry(hub: Hub) {
        let owner = hub.network().await;
        let other = owner.key_with(&["network:manage"]).await;
        for at in 0..5 {
            put_currency(if at % 2 == 0 { &owner } else { &other }, &format!("c{at}"), 1).await;
        }
        let targets = |page: &Value| -> Vec<String> {
            let items = page["items"].as_array().unwrap().iter();
            items.map(|entry| entry["target"].as_str().unwrap().to_owned()).collect()
        };
        let page = owner.get(&format!("{AUDIT}?action=currency.put&limit=2")).await.expect(200).clone();
        assert_eq!((targets(&page), &page["total"]), (vec!["c4".to_owned(), "c3".to_owned()], &json!(5)));
        let last = page["items"][1]["id"].as_str().unwrap();
        // Entries added in between shift nothing.
        put_currency(&owner, "c5", 1).await;
        let page = owner.get(&format!("{AUDIT}?action=currency.put&limit=2&before={last}")).await.expect(200).clone();
        assert_eq!(targets(&page), ["c2", "c1"]);
        let id = &other.key.as_ref().unwrap()[4..16];
        let page = owner.get(&format!("{AUDIT}?actor={id}")).await.expect(200).clone();
        assert_eq!((targets(&page), &page["total"]), (vec!["c3".to_owned(), "c1".to_owned()], &json!(2)));
        let page = owner.get(&format!("{AUDIT}?actor={id}&action=key.created")).await.expect(200).clone();
        assert_eq!(page["total"], 0);
        // No entries of other networks.
        assert_eq!(hub.network().await.get(&format!("{AUDIT}?actor={id}")).await.expect(200)["total"], 0);
    }

    async fn an_export_has_every_entry_once_and_goes_on(hub: Hub) {
        let owner = hub.network().await;
        // More than one page of reads.
        for at in 0..210 {
            put_currency(&owner, "coins", at).await;
        }
        let lines = |answer: &Value| -> Vec<Value> {
            answer.as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let all = lines(&owner.get(&format!("{AUDIT}/export")).await.body);
        // The network, and the currency.
        assert_eq!(all.len(), 211);
        assert_eq!((&all[0]["action"], &all[210]["after"]["maximum"]), (&json!("network.created"), &json!(209)));
        let ids: Vec<_> = all.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
        assert!(ids.is_sorted_by(|one, next| one < next));
        put_currency(&owner, "gems", 1).await;
        let last = owner.get(&format!("{AUDIT}/export?after={}", ids[210])).await;
        assert_eq!(last.headers["content-type"], "application/x-ndjson");
        assert_eq!(serde_json::from_str::<Value>(last.body.to_string().as_str()).unwrap()["target"], "gems");
        owner.key_with(&["plugin"]).await.get(&format!("{AUDIT}/export")).await.expect_error(403, "forbidden_scope");
    }

    async fn actions_of_the_operator_are_in_both_logs_and_outlive_the_network(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let path = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.patch(&path, json!({"name": "renamed"})).await.expect(200);
        let entry = entries(&owner).await.remove(0);
        assert_eq!((&entry["actor"]["type"], &entry["action"]), (&json!("OPERATOR"), &json!("network.changed")));
        assert_eq!(entry["after"]["name"], "renamed");
        operator.delete(&format!("{path}?now=true")).await.expect(204);
        hub.advance_ms(2_000);
        let log = async || operator.get("/api/admin/audit").await.expect(200)["items"].as_array().unwrap().clone();
        Hub::eventually("the network is deleted", async || log().await[0]["action"] == "network.deleted").await;
        let log = log().await;
        assert_eq!((&log[0]["actor"]["type"], &log[0]["target"]), (&json!("SYSTEM"), &json!(owner.network.unwrap())));
        let actions: Vec<_> = log.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
        assert!(actions.contains(&"network.changed") && actions.contains(&"network.deletion_scheduled"), "{actions:?}");
    }

    async fn a_plan_that_changes_is_in_the_logs_of_its_networks(hub: Hub) {
        let (operator, one, two, other) = (hub.operator().await, hub.network().await, hub.network().await, hub.network().await);
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"servers": 3}})).await.expect(201);
        for network in [&one, &two] {
            let path = format!("/api/admin/networks/{}", network.network.unwrap());
            operator.patch(&path, json!({"plan": "small"})).await.expect(200);
        }
        let before = entries(&other).await;
        operator.put("/api/admin/plans/small", json!({"limits": {"servers": 2}})).await.expect(200);
        let own = operator.get("/api/admin/audit").await.expect(200)["items"][0].clone();
        assert_eq!((&own["action"], &own["target"]), (&json!("plan.changed"), &json!("small")));
        for network in [&one, &two] {
            let mut entry = entries(network).await.remove(0);
            // The operator's to undo.
            assert_eq!((entry["undoable"].take(), &own["undoable"]), (json!(false), &json!(true)));
            entry["undoable"] = json!(true);
            assert_eq!(entry, own);
            let servers = |of: &str| entry[of]["limits"]["servers"].clone();
            assert_eq!((servers("before"), servers("after"), &entry["actor"]["type"]), (json!(3), json!(2), &json!("OPERATOR")));
        }
        assert_eq!(entries(&other).await, before);
        operator.put("/api/admin/plans/none", json!({"limits": {}})).await.expect_error(404, "unknown_plan");
        assert_eq!(operator.get("/api/admin/audit").await.expect(200)["items"][0], own);
    }

    async fn nothing_changes_an_entry(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let paths = document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.contains("/audit"));
        // Undoing a change makes another entry.
        let paths = paths.filter(|(path, _)| !path.ends_with("/undo"));
        let methods: Vec<_> = paths.flat_map(|(_, item)| item.as_object().unwrap().keys().cloned()).collect();
        assert_eq!(methods, ["get"; 6]);
    }

    async fn large_values_are_left_out(hub: Hub) {
        let owner = hub.network().await;
        let text = "x".repeat(5_000);
        owner.put("/api/manage/localization/messages/en/lobby/welcome", json!({"value": text})).await.expect(200);
        assert_eq!(entries(&owner).await[0]["after"], json!({"omittedBytes": 5_002}));
    }
}

/// Entries are deleted after the plan's retention, and no sooner.
async fn entries_stay_for_the_plans_retention(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (operator, owner, other) = (hub.operator().await, hub.network().await, hub.network().await);
    let plan = json!({"name": "short", "limits": {"auditDays": 10}});
    operator.post("/api/admin/plans", plan).await.expect(201);
    let path = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.patch(&path, json!({"plan": "short"})).await.expect(200);
    let days = |days: u64| hub.clock.advance(Duration::from_hours(24 * days));
    days(9);
    put_currency(&owner, "coins", 1).await;
    put_currency(&other, "coins", 1).await;
    assert_eq!(entries(&owner).await.len(), 3);
    days(2);
    Hub::eventually("old entries go", async || entries(&owner).await.len() == 1).await;
    assert_eq!(entries(&owner).await[0]["target"], "coins");
    assert_eq!(entries(&other).await.len(), 2);
    days(364);
    Hub::eventually("the others go after a year", async || entries(&other).await.is_empty()).await;
    let refused = json!({"name": "long", "limits": {"auditDays": 3651}});
    operator.post("/api/admin/plans", refused).await.expect_error(400, "invalid_request");
}

/// The oldest of too many are deleted. An export counts until it is completely sent.
async fn concurrent_exports_of_a_network_are_limited(backend: Backend) {
    let bounds = Bounds::default().with(Limit::Exports, 1);
    let hub = Hub::start_with(backend, |settings| settings.limits = bounds).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    // More than the buffers between the hub and a caller that does not read.
    let entries =
        "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target, value_after)
         WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000)
         SELECT $1, 'x' || CAST(x AS TEXT), 1, 'SYSTEM', 's', 's', 'a', 't', $2 FROM n";
    let value = json!("x".repeat(4_000)).to_string();
    hub.app.db.write(entries).bind(owner.network.unwrap()).bind(value).execute().await.unwrap();
    let export = format!("{AUDIT}/export");
    let unread = owner.request(Method::GET, &export).send().await.unwrap();
    assert_eq!(unread.status(), 200);
    let player = "/api/manage/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/export";
    for path in [export.as_str(), player] {
        owner.get(path).await.expect_quota("exports", 1);
        other.get(path).await.expect(200);
    }
    drop(unread);
    Hub::eventually("the export has ended", async || owner.get(player).await.status == 200).await;
}

async fn a_log_does_not_grow_without_bound(backend: Backend) {
    let bounds = Bounds::default().with(Limit::AuditEntries, 3);
    let hub = Hub::start_with(backend, |settings| settings.limits = bounds).await;
    let owner = hub.network().await;
    for at in 0..6 {
        put_currency(&owner, "coins", at).await;
    }
    hub.advance_ms(60 * 60 * 1_000);
    Hub::eventually("the oldest go", async || entries(&owner).await.len() == 3).await;
    assert_eq!(entries(&owner).await[2]["after"]["maximum"], 3);
}

on_each! { entries_stay_for_the_plans_retention a_log_does_not_grow_without_bound concurrent_exports_of_a_network_are_limited }
