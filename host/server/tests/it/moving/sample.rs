//! A network with something in every table.

use reqwest::Method;
use serde_json::{Value, json};

use crate::deliveries;
use crate::imports::import;
use crate::modules::handlers::schedules;
use crate::modules::wasm::padded;
use crate::servers::{join, register, uuid};
use crate::support::{Answer, Client, Hub, NOW};

/// Paths whose answers must not change.
pub const PATHS: &[&str] = &[
    "/api/manage/modules",
    "/api/manage/modules/chat-guard",
    "/api/manage/players/069a79f4-44e9-4726-a5be-000000000001/playtime",
    "/api/manage/players/069a79f4-44e9-4726-a5be-000000000001/visits",
    "/api/manage/analytics/players",
    "/api/plugin/punishments/player/069a79f4-44e9-4726-a5be-000000000001/history",
    "/api/manage/punishments",
    "/api/manage/players/069a79f4-44e9-4726-a5be-000000000001/notes",
    "/api/manage/reports",
    "/api/manage/chat",
    "/api/manage/appeals",
    "/api/manage/roles",
    "/api/plugin/players?search=lexan",
    "/api/plugin/players/069a79f4-44e9-4726-a5be-000000000001/ips",
    "/api/plugin/players/069a79f4-44e9-4726-a5be-000000000001/data/global/inventory",
    "/api/plugin/players/069a79f4-44e9-4726-a5be-000000000001/session",
    "/api/manage/players/069a79f4-44e9-4726-a5be-000000000001/data/global/inventory/snapshots",
    "/api/plugin/permissions/groups",
    "/api/plugin/permissions/users/069a79f4-44e9-4726-a5be-000000000001/effective",
    "/api/plugin/localization/catalog",
    "/api/plugin/localization/players/069a79f4-44e9-4726-a5be-000000000001/locale",
    "/api/plugin/config/lobby/board",
    "/api/plugin/collections/guilds/page/level",
    "/api/plugin/collections/guilds/%C3%A9",
    "/api/plugin/economy/player/069a79f4-44e9-4726-a5be-000000000001/currencies",
    "/api/manage/economy/player/069a79f4-44e9-4726-a5be-000000000001/ledger",
    "/api/plugin/economy/player/069a79f4-44e9-4726-a5be-000000000001/statistics",
    "/api/manage/servers/lobby-1/logs/recent",
    "/api/manage/provisioning/bundles",
    "/api/manage/provisioning/servers",
    "/api/plugin/provisioning/agent/bedwars",
    "/api/manage/artifacts",
    "/api/manage/webhooks",
    "/api/manage/deliveries",
    "/api/manage/matchmaking/lines",
];

/// Expected answers of the network after it has moved.
pub struct Expected {
    /// The answer under an idempotency key.
    paid: Value,
    pub transfer: String,
}

pub async fn answers(owner: &Client) -> Vec<(String, Value)> {
    let mut answers = vec![];
    for path in PATHS {
        let answer = owner.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answers.push(((*path).to_owned(), answer.body));
    }
    answers
}

async fn pay(owner: &Client) -> Answer {
    let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
    let request = owner.request(Method::POST, &path).header("Idempotency-Key", "pay-1");
    owner.send(request.body(r#"{"currency": "coins", "amount": 899999999999999.9999}"#)).await
}

async fn chat(owner: &Client, message: &str) -> Answer {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1"});
    owner.post("/api/plugin/chat", line).await
}

/// Fills every table with values that are easily changed on the way.
pub async fn fill(hub: &Hub, owner: &Client) -> Expected {
    let transfer = people(hub, owner).await;
    things(owner).await;
    world(hub, owner).await;
    owner.delete(&format!("/api/manage/players/{}", uuid(9))).await.expect(204);
    let paid = pay(owner).await.expect(200).clone();
    let waiting = "SELECT (SELECT COUNT(*) FROM outbox WHERE network_id = $1)
                        + (SELECT COUNT(*) FROM handler_queue WHERE network_id = $1)";
    crate::support::Hub::eventually("all events are handled", async || {
        hub.app.db.query(waiting).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap() == (0,)
    })
    .await;
    Expected { paid, transfer }
}

async fn people(hub: &Hub, owner: &Client) -> String {
    register(owner, "lobby-1", json!({"displayName": "Lobby \u{1f3f0} \"1\""})).await;
    register(owner, "lobby-2", json!({})).await;
    join(owner, "lobby-1", 1).await;
    join(owner, "lobby-1", 2).await;
    // Counts their visits.
    owner.get(&format!("/api/manage/players/{}/playtime", uuid(1))).await.expect(200);
    // She has left.
    owner.post(&format!("/api/plugin/players/{}/load?username=Alexandra", uuid(4)), Value::Null).await.expect(200);
    let seen = json!({"playerUuid": uuid(1), "playerName": "p1", "ipAddress": "203.0.113.7"});
    owner.post("/api/plugin/punishments/ip", seen).await.expect(204);
    let warn =
        json!({"playerUuid": uuid(1), "playerName": "p1", "type": "WARN", "reason": "line one\nline \u{2028} two"});
    owner.post("/api/plugin/punishments/create", warn).await.expect(200);
    staff(hub, owner).await;
    let data = " {\"b\" : 1.10, \"a\":[ ],\"b\":1e3, \"nul\":\"\\u0000\", \"ü\":\"\\ud83d\\ude00\"}\n";
    let place = format!("/api/plugin/players/{}/data/global/inventory", uuid(1));
    owner.put(&place, json!({"data": data})).await.expect(200);
    let session = format!("/api/plugin/players/{}/session", uuid(1));
    let opened = owner.post(&session, json!({"serverId": "lobby-1"})).await.expect(200).clone();
    owner.put(&format!("{session}/{}", opened["fence"]), json!({"close": true, "number": 7})).await.expect(200);
    owner.put("/api/plugin/permissions/groups/vip", json!({"permissions": [{"node": "fly"}]})).await.expect(204);
    let nodes = format!("/api/plugin/permissions/users/{}/permissions", uuid(1));
    for node in [json!({"node": "group.vip"}), json!({"node": "kit", "value": false, "expiresAt": NOW + 1_000_000})] {
        owner.post(&nodes, node).await.expect(204);
    }
    owner.put("/api/manage/localization/locales/de", json!({"displayName": "Deutsch"})).await.expect(200);
    let defaults = json!({"namespace": "lobby", "locale": "en", "entries": {"bye": "Bye \"you\" \\ é\n", "a.b c": ""}});
    owner.post("/api/plugin/localization/defaults", defaults).await.expect(200);
    let speaks = format!("/api/plugin/localization/players/{}/locale?username=p1", uuid(1));
    owner.put(&speaks, json!({"locale": "de", "source": "PLAYER"})).await.expect(200);
    owner.put("/api/manage/matchmaking/lines/type:bed%252Fwars", json!({"maxWaiting": 5})).await.expect(200);
    let bounds = json!({"minimum": -5, "startingBalance": 0.0001});
    owner.put("/api/manage/economy/currencies/gems", bounds).await.expect(200);
    for (name, amount) in [("kills", 0.1), ("kills", 0.2), ("deaths", 1e300), ("distance", -5e-324)] {
        let path = format!("/api/plugin/economy/player/{}/statistics/increment", uuid(1));
        owner.post(&path, json!({"name": name, "amount": amount})).await.expect(200);
    }
    let purchase = json!({"payload": {"é": 1.10}, "reference": "order 1", "notBefore": NOW + 1_000_000_000});
    deliveries::create(owner, 1, purchase).await;
    let claimed = deliveries::create(owner, 1, json!({"onLost": "RETRY", "serverId": "lobby-1"})).await;
    let claim = deliveries::claim(owner, claimed, "lobby-1").await.expect(200)["claim"].clone();
    owner.post(&format!("{}/{claimed}/complete", deliveries::PATH), json!({"claim": claim})).await.expect(200);
    let by_name = json!({"playerName": "Nobody", "kind": "vote", "expiresAt": NOW + 2_000_000_000});
    owner.post(deliveries::PATH, by_name).await.expect(201);
    let transfer = json!({"playerUuid": uuid(2), "targetServerId": "lobby-2"});
    let sent = owner.post("/api/plugin/transfers", transfer).await.expect(200).clone();
    sent["transferId"].as_str().unwrap().to_owned()
}

/// A ban that was changed and appealed, a note, a report and a role.
async fn staff(hub: &Hub, owner: &Client) {
    let ban = json!({"playerUuid": uuid(4), "playerName": "Alexandra", "type": "BAN", "issuerName": "Kim"});
    let ban = owner.post("/api/plugin/punishments/create", ban).await.expect(200).clone();
    let change = json!({"reason": "é \"1\"", "evidence": ["https://example.org/1"]});
    owner.patch(&format!("/api/manage/punishments/{}", ban["id"]), change).await.expect(200);
    let code = format!("/api/public/appeals/{}", ban["appealCode"].as_str().unwrap());
    hub.anonymous().post(&code, json!({"text": "line one\nline two", "contact": "a@example.org"})).await.expect(201);
    let note = json!({"text": "\u{1f3f0} \"1\"", "pinned": true});
    owner.post(&format!("/api/manage/players/{}/notes", uuid(1)), note).await.expect(201);
    let report = json!({"reporterUuid": uuid(2), "playerUuid": uuid(1), "reason": "é"});
    let report = owner.post("/api/plugin/reports", report).await.expect(201).clone();
    owner.patch(&format!("/api/manage/reports/{}", report["reportId"]), json!({"state": "TAKEN"})).await.expect(200);
    owner.put("/api/manage/roles/helper", json!({"scopes": ["reports:manage", "audit:read"]})).await.expect(200);
}

async fn things(owner: &Client) {
    let balances = format!("uuid,balance\n{},12.5\n", uuid(5));
    assert_eq!(import(owner, "kind=balances&currency=coins", balances).await["state"], "DONE");
    let doc = json!({"group": "lobby", "namespace": "board", "doc": {"z": 1, "a": 9_007_199_254_740_993_i64}});
    owner.post("/api/plugin/config/publish", doc).await.expect(200);
    // Some locales would sort them differently.
    for namespace in ["b", "B", "a", "_", "Z-z", "zz", "é"] {
        let doc = json!({"group": "orders", "namespace": namespace, "doc": null});
        owner.post("/api/plugin/config/publish", doc).await.expect(200);
    }
    let guilds =
        json!({"collections": [{"name": "guilds", "key": "id", "indexes": [{"field": "level", "type": "number"}]}]});
    owner.post("/api/plugin/collections/register", guilds).await.expect(200);
    for (id, level) in [("b", 5.5), ("B", 1e-3), ("a", -2.0), ("%C3%A9", 70.0), ("_", 8.0), ("Z-z", 9.0), ("zz", 10.0)]
    {
        let path = format!("/api/plugin/collections/guilds/{id}");
        owner
            .send(owner.request(Method::PUT, &path).body(format!(r#"{{"z": 1.10, "level": {level}, "a": 1e2}}"#)))
            .await
            .expect(200);
    }
    // One is disabled, and the other has no events, so that neither hub sends anything.
    let idle = json!({"url": "https://webhook.invalid/", "events": ["SERVER_OFFLINE"]});
    owner.post("/api/manage/webhooks", idle).await.expect(201);
    let hook = json!({"url": "https://webhook.invalid/", "events": ["CHAT"]});
    let hook = owner.post("/api/manage/webhooks", hook).await.expect(201)["webhookId"].as_str().unwrap().to_owned();
    owner.post(&format!("/api/manage/webhooks/{hook}/test"), json!({})).await.expect(201);
    owner.patch(&format!("/api/manage/webhooks/{hook}"), json!({"enabled": false})).await.expect(200);
    let lines = json!({"lines": [{"at": NOW, "stream": "stdout", "text": "two\té\u{1b}[0m"}]});
    owner.post("/api/plugin/servers/lobby-1/logs", lines).await.expect(200);
    let bundle = owner.request(Method::PUT, "/api/manage/provisioning/bundles/bedwars").body("mods");
    owner.send(bundle).await.expect(200);
    let request = json!({"serverType": "bedwars", "provider": "hetzner"});
    owner.put("/api/manage/provisioning/servers/bedwars-9", request).await.expect(200);
    let archive: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=my-plugin&version=1.4.0").body(archive);
    owner.send(upload).await.expect(201);

    let wasm = format!("{}/../../plugins/chat-guard/chat-guard.wasm", env!("CARGO_MANIFEST_DIR"));
    let upload = owner.request(Method::POST, "/api/manage/modules?name=chat-guard");
    let wasm = std::fs::read(wasm).unwrap();
    owner.send(upload.header("Content-Type", "application/wasm").body(wasm.clone())).await.expect(201);
    // One that is a blob.
    let large = owner.request(Method::POST, "/api/manage/modules?name=large-guard").body(padded(wasm, 600_000));
    owner.send(large).await.expect(201);
    let flood = json!({"words": ["heck"], "flood": {"messages": 2, "perMs": 5000}});
    let chain = json!({"modules": [{"name": "chat-guard", "version": 1, "config": flood, "onFailure": "REFUSE"}]});
    let activation = json!({"version": 1, "points": {"chat": {"onFailure": "REFUSE"}}});
    owner.put("/api/manage/modules/chat-guard/activation", activation).await.expect(200);
    owner.put("/api/manage/extension-points/chat", chain).await.expect(200);
    crate::modules::handlers::activate(owner, "PLAYER").await;
    crate::modules::handlers::vote(owner, "a").await;
    crate::support::Hub::eventually("the handler has a state", async || {
        owner.get("/api/manage/extension-points/events").await.expect(200)["modules"][0]["delivered"] == 1
    })
    .await;
    crate::modules::endpoints::install(owner, serde_json::json!({})).await;
    crate::modules::endpoints::vote(owner, r#"{"id": "8812", "player": "Notch"}"#).await.expect(200);
    schedules::activate(owner, 1, &[("Set", "0 0 1 1 *", "ONCE")]).await;
    schedules::run(owner, "Set").await;
    crate::support::Hub::eventually("the timer is set", async || {
        owner.get(schedules::TIMERS).await.expect(200)["total"] == 1
    })
    .await;
    chat(owner, "one").await.expect(204);
    chat(owner, "two").await.expect(204);
    // Lines are stored before they are read.
    owner.get("/api/manage/chat").await.expect(200);
}

async fn world(hub: &Hub, owner: &Client) {
    register(owner, "islands-1", json!({"serverType": "islands"})).await;
    let id = open(owner).await;
    let by = json!({"nodeServerId": "islands-1", "fence": 1});
    owner.post(&format!("/api/plugin/worlds/{id}/ready"), by.clone()).await.expect(200);
    let upload = owner.post(&format!("/api/plugin/worlds/{id}/upload-url"), Value::Null).await.expect(200).clone();
    let path = upload["url"].as_str().unwrap().strip_prefix(&hub.url()).unwrap().to_owned();
    let client = hub.anonymous();
    client.send(client.request(Method::PUT, &path).body("an island")).await.expect(200);
    let mut unloaded = by;
    unloaded["blobKey"] = upload["blobKey"].clone();
    owner.post(&format!("/api/plugin/worlds/{id}/unloaded"), unloaded).await.expect(200);
}

async fn open(owner: &Client) -> String {
    let request = json!({"ownerScope": "party", "ownerId": "p", "gameId": "islands"});
    let opened = owner.post("/api/plugin/worlds/open", request).await.expect(200).clone();
    opened["worldInstanceId"].as_str().unwrap().to_owned()
}

/// The network continues at another hub from the same state.
pub async fn check_continues(hub: &Hub, owner: &Client, expected: &Expected) {
    assert_eq!(pay(owner).await.expect(200), &expected.paid, "paid twice");
    let transfer = owner.get(&format!("/api/manage/transfers/{}", expected.transfer)).await;
    assert_eq!(
        transfer.expect(200)["toServerId"].as_str().or(transfer.body["targetServerId"].as_str()),
        Some("lobby-2")
    );
    // The module runs with the counts it stored.
    let flood = chat(owner, "three").await;
    flood.expect_error(400, "chat_rejected");
    let line = json!({"player": {"uuid": uuid(4), "name": "p4"}, "message": "hi", "serverId": "a", "serverType": "b"});
    let run = json!({"point": "chat", "input": line, "config": {}});
    let run = owner.post("/api/manage/modules/large-guard/1/dry-run", run).await;
    assert_eq!(run.expect(200)["output"]["decision"], "allow");
    let mute = json!({"playerUuid": uuid(3), "type": "MUTE"});
    assert_eq!(owner.post("/api/plugin/punishments/create", mute).await.expect(200)["id"], 3);
    let purchase = json!({"playerUuid": uuid(1), "kind": "kit", "payload": {"é": 1.1}, "reference": "order 1",
        "notBefore": NOW + 1_000_000_000});
    assert_eq!(owner.post(deliveries::PATH, purchase).await.expect(200)["deliveryId"], 1);
    // No server is online until it registers; then a world boots from its snapshot.
    let online = owner.get("/api/manage/servers?online=true").await;
    assert_eq!(online.expect(200)["total"], 0);
    register(owner, "islands-1", json!({"serverType": "islands"})).await;
    let mut stream = owner.events(Some("islands-1"), None).await;
    open(owner).await;
    let event = stream.next_named("WORLD_OPEN").await.data;
    assert_eq!(event["fence"], 2);
    let path = event["snapshotUrl"].as_str().unwrap().strip_prefix(&hub.url()).unwrap().to_owned();
    assert_eq!(hub.anonymous().get(&path).await.expect(200), "an island");
    // Its artifact can be installed.
    register(owner, "lobby-1", json!({})).await;
    let artifacts = owner.get("/api/manage/artifacts").await.expect(200).clone();
    let id = artifacts["items"][0]["artifactId"].as_str().unwrap().to_owned();
    let link = owner.post(&format!("/api/manage/artifacts/{id}/install"), json!({"serverId": "lobby-1"})).await;
    let url = link.body["url"].as_str().unwrap_or_else(|| panic!("{}", link.body)).to_owned();
    let request = hub.anonymous().request(Method::GET, url.strip_prefix(&hub.url()).unwrap());
    let bytes = request.send().await.unwrap().bytes().await.unwrap();
    assert!(bytes.iter().copied().eq((0..=255).cycle().take(3_000_000)), "the artifact has other bytes");
}
