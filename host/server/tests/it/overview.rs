//! Things that need attention or wait, and a network's plan with its use.

use hub::limits::Limit;
use serde_json::{Value, json};

use crate::deliveries;
use crate::limits::hub_with;
use crate::people::{get, member};
use crate::servers::{beat, join, register, uuid};
use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

const ATTENTION: &str = "/api/manage/attention";
const COUNTS: &str = "/api/manage/counts";
const PLAN: &str = "/api/manage/plan";

async fn attention(client: &Client) -> Vec<Value> {
    client.get(ATTENTION).await.expect(200)["items"].as_array().unwrap().clone()
}

fn kinds(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["kind"].as_str().unwrap()).collect()
}

async fn report(client: &Client, reporter: u64) {
    let report = json!({"reporterUuid": uuid(reporter), "playerUuid": uuid(99), "reason": "x", "serverId": "a"});
    client.post("/api/plugin/reports", report).await.expect(201);
}

async fn used(client: &Client, limit: &str) -> Value {
    let plan = client.get(PLAN).await.expect(200).clone();
    let found = plan["uses"].as_array().unwrap().iter().find(|one| one["limit"] == limit).cloned();
    found.unwrap_or_else(|| panic!("{plan}"))
}

on_both! {
    async fn what_waits_is_counted_for_those_who_may_read_it(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let none = json!({"reports": 0, "appeals": 0, "deliveries": 0, "deadLetters": 0});
        assert_eq!(owner.get(COUNTS).await.expect(200), &none);
        assert_eq!(attention(&owner).await, [Value::Null; 0]);
        report(&owner, 1).await;
        hub.advance_ms(1_000);
        report(&owner, 2).await;
        let ban = json!({"playerUuid": uuid(3), "playerName": "p3", "type": "BAN", "reason": "x"});
        let ban = owner.post("/api/plugin/punishments/create", ban).await.expect(200).clone();
        let code = ban["appealCode"].as_str().unwrap_or_else(|| panic!("{ban}")).to_owned();
        let appeal = json!({"text": "It was my brother."});
        hub.anonymous().post(&format!("/api/public/appeals/{code}"), appeal).await.expect(201);
        let counts = owner.get(COUNTS).await.expect(200).clone();
        assert_eq!(counts, json!({"reports": 2, "appeals": 1, "deliveries": 0, "deadLetters": 0}));
        let items = attention(&owner).await;
        // Of one severity the newest first; a pile is as old as its oldest.
        assert_eq!(kinds(&items), ["APPEALS", "REPORTS"]);
        assert_eq!(items[1], json!({"id": "REPORTS", "kind": "REPORTS", "severity": "WAITING", "since": NOW,
            "subject": null, "name": null, "count": 2}));
        // A closed one is not counted any more, and another network has its own.
        owner.patch("/api/manage/reports/1", json!({"state": "CLOSED"})).await.expect(200);
        assert_eq!(owner.get(COUNTS).await.expect(200)["reports"], 1);
        assert_eq!(other.get(COUNTS).await.expect(200), &none);

        let vera = member(&hub, &owner, "vera@example.org", "VIEWER").await;
        let counts = get(&hub, &vera.token, COUNTS).await.expect(200).clone();
        assert_eq!(counts, json!({"reports": null, "appeals": null, "deliveries": null, "deadLetters": 0}));
        assert_eq!(get(&hub, &vera.token, ATTENTION).await.expect(200)["items"], json!([]));
        get(&hub, &vera.token, PLAN).await.expect_error(403, "forbidden_scope");
        let mo = member(&hub, &owner, "mo@example.org", "MODERATOR").await;
        let counts = get(&hub, &mo.token, COUNTS).await.expect(200).clone();
        assert_eq!(counts, json!({"reports": 1, "appeals": 1, "deliveries": 0, "deadLetters": null}));
    }

    async fn servers_that_went_offline_need_attention_for_a_week(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "a", json!({})).await;
        register(&owner, "b", json!({})).await;
        assert_eq!(attention(&owner).await, [Value::Null; 0]);
        for _ in 0..2 {
            hub.advance_ms(20_000);
            beat(&owner, "b", json!({})).await;
        }
        let items = attention(&owner).await;
        assert_eq!(kinds(&items), ["SERVER_OFFLINE"]);
        assert_eq!((&items[0]["id"], &items[0]["severity"], &items[0]["since"]), (&json!("SERVER_OFFLINE/a"), &json!("SERIOUS"), &json!(NOW)));
        register(&owner, "a", json!({})).await;
        assert_eq!(attention(&owner).await, [Value::Null; 0]);
        hub.advance_ms(8 * 24 * 60 * 60 * 1_000);
        assert_eq!(attention(&owner).await, [Value::Null; 0]);
    }

    async fn servers_that_ended_long_ago_hide_none_that_has_just_gone(hub: Hub) {
        let owner = hub.network().await;
        for number in 0..230 {
            register(&owner, &format!("match-{number}"), json!({})).await;
        }
        hub.advance_ms(8 * 24 * 60 * 60 * 1_000);
        register(&owner, "survival", json!({})).await;
        register(&owner, "there", json!({})).await;
        for _ in 0..2 {
            hub.advance_ms(20_000);
            beat(&owner, "there", json!({})).await;
        }
        let items = attention(&owner).await;
        assert_eq!(kinds(&items), ["SERVER_OFFLINE"]);
        assert_eq!(items[0]["subject"], "survival");
    }

    async fn a_delivery_that_is_held_needs_attention(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "a", json!({})).await;
        join(&owner, "a", 1).await;
        let id = deliveries::create(&owner, 1, json!({"onLost": "HOLD"})).await;
        deliveries::claim(&owner, id, "a").await.expect(200);
        // The claim runs out: it may have happened.
        hub.advance_ms(61_000);
        Hub::eventually("it is held", async || deliveries::read(&owner, id).await["state"] == "HELD").await;
        assert_eq!(owner.get(COUNTS).await.expect(200)["deliveries"], 1);
        assert!(kinds(&attention(&owner).await).contains(&"HELD_DELIVERIES"));
    }

    async fn things_are_found_by_their_names(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        register(&owner, "lobby-1", json!({"displayName": "Main Lobby"})).await;
        register(&owner, "arena-1", json!({})).await;
        let body = json!({"serverId": "arena-1", "playerUuid": uuid(7), "playerName": "Lobbyist"});
        owner.post("/api/plugin/servers/players", body).await.expect(204);
        let group = json!({"displayName": "Lobby staff", "permissions": []});
        owner.put("/api/plugin/permissions/groups/staff", group).await.expect(204);
        let doc = json!({"group": "lobby", "namespace": "menu_50%", "doc": 1});
        owner.post("/api/plugin/config/publish", doc).await.expect(200);
        let search = async |client: &Client, q: &str| {
            let found = client.get(&format!("/api/manage/search?q={q}")).await.expect(200).clone();
            let items = found["items"].as_array().unwrap().iter();
            items.map(|it| format!("{} {}", it["kind"].as_str().unwrap(), it["id"].as_str().unwrap())).collect::<Vec<_>>()
        };
        let player = format!("PLAYER {}", uuid(7));
        // The document's group is the whole beginning, as the names of the others are.
        assert_eq!(search(&owner, "LOBBY").await, ["SERVER lobby-1", &player, "GROUP staff", "DOCUMENT lobby/menu_50%"]);
        assert_eq!(search(&owner, "main").await, ["SERVER lobby-1"]);
        assert_eq!(search(&owner, "lobby-1").await, ["SERVER lobby-1"]);
        assert_eq!(search(&owner, "50%25").await, ["DOCUMENT lobby/menu_50%"]);
        assert_eq!(search(&owner, "u_5").await, ["DOCUMENT lobby/menu_50%"]);
        assert_eq!(search(&owner, &uuid(7)).await, std::slice::from_ref(&player));
        assert_eq!(search(&owner, "nothing").await, [""; 0]);
        assert_eq!(search(&owner, "%20").await, [""; 0]);
        assert_eq!(search(&other, "lobby").await, [""; 0]);
        let one = owner.get("/api/manage/search?q=o&limit=1").await.expect(200).clone();
        assert_eq!(one["items"].as_array().unwrap().len(), 1);
        let found = owner.get("/api/manage/search?q=lobbyist").await.expect(200).clone();
        assert_eq!(found["items"][0], json!({"kind": "PLAYER", "id": uuid(7), "name": "Lobbyist", "online": true}));
        owner.get("/api/manage/search").await.expect_error(400, "invalid_request");
        // Each finds what they may list.
        let vera = member(&hub, &owner, "vera@example.org", "VIEWER").await;
        let found = get(&hub, &vera.token, "/api/manage/search?q=lobby").await.expect(200).clone();
        assert_eq!(found["items"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect::<Vec<_>>(), ["SERVER"]);
    }

    async fn a_network_is_renamed_by_its_owner(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let before = owner.get("/api/manage/network").await.expect(200)["name"].as_str().unwrap().to_owned();
        let named = owner.patch("/api/manage/network", json!({"name": "larkspur"})).await.expect(200).clone();
        assert_eq!((&named["name"], &named["stage"]), (&json!("larkspur"), &json!("LIVE")));
        other.patch("/api/manage/network", json!({"name": "larkspur"})).await.expect_error(400, "name_taken");
        other.patch("/api/manage/network", json!({"name": ""})).await.expect_error(400, "invalid_request");
        other.patch("/api/manage/network", json!({"name": before})).await.expect(200);
        let log = owner.get("/api/manage/audit?limit=1").await.expect(200).clone();
        assert_eq!((&log["items"][0]["action"], &log["items"][0]["after"]["name"]), (&json!("network.changed"), &json!("larkspur")));
    }

    async fn a_network_sees_its_plan_with_its_use(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        let limits = json!({"servers": 2, "documents": 1_000, "requestsPerSecond": 500});
        operator.post("/api/admin/plans", json!({"name": "small", "limits": limits})).await.expect(201);
        let path = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.patch(&path, json!({"plan": "small"})).await.expect(200);
        let plan = owner.get(PLAN).await.expect(200).clone();
        assert_eq!((&plan["name"], &plan["limits"]["requestsPerSecond"]), (&json!("small"), &json!(500)));
        assert_eq!(used(&owner, "servers").await, json!({"limit": "servers", "value": 2, "used": 0}));
        // The hub's own bound holds if the plan says nothing.
        assert_eq!(used(&owner, "reports").await["value"], Limit::Reports.bound());
        register(&owner, "a", json!({})).await;
        join(&owner, "a", 1).await;
        report(&owner, 1).await;
        assert_eq!(used(&owner, "servers").await["used"], 1);
        assert_eq!(used(&owner, "players").await["used"], 1);
        assert_eq!(used(&owner, "reports").await["used"], 1);
        assert_eq!(used(&owner, "keys").await["used"], 1);
        assert!(!kinds(&attention(&owner).await).contains(&"LIMIT_NEARLY_USED"));
        register(&owner, "b", json!({})).await;
        let items = attention(&owner).await;
        let near = items.iter().find(|item| item["kind"] == "LIMIT_NEARLY_USED").unwrap_or_else(|| panic!("{items:?}"));
        assert_eq!((&near["subject"], &near["count"], &near["severity"]), (&json!("servers"), &json!(100), &json!("WARNING")));
    }
}

on_each!(what_is_far_below_its_limit_is_quiet);
async fn what_is_far_below_its_limit_is_quiet(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::Webhooks, 0)]).await;
    let owner = hub.network().await;
    assert_eq!(used(&owner, "webhooks").await, json!({"limit": "webhooks", "value": 0, "used": 0}));
    assert_eq!(attention(&owner).await, [Value::Null; 0]);
}
