//! Requests over a limit are refused, existing data can be changed, and deletions make room.

use hub::control::Control;
use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};

use super::{hub_with, player, register_collection, send_with_key};
use crate::servers::{beat, join, register};
use crate::support::{Answer, Backend, Client, Hub, on_each};

on_each! {
    collections permissions localization players economy punishments servers heartbeats agents provisioning
    worlds_and_transfers files
    keys_and_requests deletions_make_room streams
}

async fn put_document(client: &Client, id: &str) -> Answer {
    client.put(&format!("/api/plugin/collections/guilds/{id}"), json!({"n": 1})).await
}

async fn collections(backend: Backend) {
    let bounds = [(Limit::Collections, 2), (Limit::IndexesPerCollection, 1), (Limit::Documents, 2)];
    let hub = hub_with(backend, &bounds).await;
    let (client, other) = (hub.network().await, hub.network().await);
    register_collection(&client, "guilds", &["n"]).await.expect(200);
    register_collection(&client, "guilds", &["n", "m"]).await.expect_quota("indexesPerCollection", 1);
    register_collection(&client, "clans", &[]).await.expect(200);
    register_collection(&client, "teams", &[]).await.expect_quota("collections", 2);
    register_collection(&client, "guilds", &["n"]).await.expect(200);
    for id in ["a", "b", "a", "b", "a"] {
        put_document(&client, id).await.expect(200);
    }
    let refused = put_document(&client, "c").await;
    refused.expect_quota("documents", 2);
    assert_eq!(refused.body["used"], 2);
    put_document(&client, "b").await.expect(200);
    client.delete("/api/plugin/collections/guilds/a").await.expect(200);
    put_document(&client, "c").await.expect(200);
    put_document(&client, "d").await.expect_quota("documents", 2);
    // Another network has its own.
    register_collection(&other, "guilds", &[]).await.expect(200);
    put_document(&other, "a").await.expect(200);
}

async fn permissions(backend: Backend) {
    let bounds = [
        (Limit::Groups, 1),
        (Limit::NodesPerGroup, 2),
        (Limit::GroupBytes, 1_000),
        (Limit::NodesPerPlayer, 2),
        (Limit::NodeBytesPerPlayer, 400),
        (Limit::PlayerNodes, 3),
        (Limit::PlayersWithNodes, 3),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let group = async |id: &str, nodes: Value| {
        client.put(&format!("/api/plugin/permissions/groups/{id}"), json!({"permissions": nodes})).await
    };
    let node = |name: &str| json!({"node": name});
    group("vip", json!([node("a"), node("b"), node("c")])).await.expect_quota("nodesPerGroup", 2);
    group("vip", json!([node(&"x".repeat(250)), node(&"y".repeat(250))])).await.expect(204);
    group("vip", json!([node(&"x".repeat(255)), node(&"ä".repeat(255))])).await.expect_quota("groupBytes", 1_000);
    group("mvp", json!([])).await.expect_quota("groups", 1);
    group("vip", json!([node("a")])).await.expect(204);
    let give = async |number: usize, name: &str| {
        let path = format!("/api/plugin/permissions/users/{}/permissions", player(number));
        client.post(&path, node(name)).await
    };
    for name in ["a", "b", "a"] {
        give(1, name).await.expect(204);
    }
    give(1, "c").await.expect_quota("nodesPerPlayer", 2);
    give(2, &"ä".repeat(200)).await.expect_quota("nodeBytesPerPlayer", 400);
    give(2, "a").await.expect(204);
    give(3, "a").await.expect_quota("playerNodes", 3);
    give(1, "a").await.expect(204);
    // A player without nodes still counts: the revision of their permissions stays.
    let take = async |number: usize| {
        let path = format!("/api/plugin/permissions/users/{}/permissions/remove", player(number));
        client.post(&path, node("a")).await.expect(204);
    };
    take(2).await;
    give(3, "a").await.expect(204);
    take(3).await;
    give(4, "a").await.expect_quota("playersWithNodes", 3);
    give(2, "a").await.expect(204);
}

async fn localization(backend: Backend) {
    let bounds = [
        (Limit::Locales, 2),
        (Limit::Messages, 3),
        (Limit::MessageBytes, 100),
        (Limit::CatalogBytes, 300),
        (Limit::PlayerLanguages, 1),
        (Limit::ConfigDocuments, 1),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let defaults = async |locale: &str, entries: Value| {
        let body = json!({"namespace": "lobby", "locale": locale, "entries": entries});
        client.post("/api/plugin/localization/defaults", body).await
    };
    let put = async |key: &str, text: &str| {
        client.put(&format!("/api/manage/localization/messages/en/lobby/{key}"), json!({"value": text})).await
    };
    defaults("en", json!({"a": "x".repeat(99)})).await.expect_quota("messageBytes", 100);
    defaults("en", json!({"a": "\u{1}".repeat(20)})).await.expect_quota("messageBytes", 100);
    defaults("en", json!({"a": "x".repeat(98), "b": "x".repeat(98)})).await.expect(200);
    defaults("en", json!({"c": "x".repeat(98)})).await.expect_quota("catalogBytes", 300);
    // A text may be made shorter in a full catalog, and an existing one is no new message.
    put("a", &"y".repeat(60)).await.expect(200);
    put("a", &"y".repeat(90)).await.expect_quota("catalogBytes", 300);
    put("a", "y").await.expect(200);
    defaults("de", json!({"a": "z"})).await.expect(200);
    defaults("de", json!({"b": "z"})).await.expect_quota("messages", 3);
    client.delete("/api/manage/localization/messages/en/lobby/a").await.expect(204);
    client.put("/api/manage/localization/locales/fr", json!({})).await.expect_quota("locales", 2);
    client.put("/api/manage/localization/locales/de", json!({"displayName": "Deutsch"})).await.expect(200);
    let language = async |number: usize| {
        let path = format!("/api/plugin/localization/players/{}/locale", player(number));
        client.put(&path, json!({"locale": "en"})).await
    };
    language(1).await.expect(200);
    language(1).await.expect(200);
    language(2).await.expect_quota("playerLanguages", 1);
    let config = async |what: &str, group: &str| {
        let body = json!({"group": group, "namespace": "n", "doc": 1, "defaultDoc": 1});
        client.post(&format!("/api/plugin/config/{what}"), body).await
    };
    config("publish", "a").await.expect(200);
    config("publish", "b").await.expect_quota("configDocuments", 1);
    config("register", "b").await.expect_quota("configDocuments", 1);
    config("register", "a").await.expect(200);
    config("publish", "a").await.expect(200);
}

async fn players(backend: Backend) {
    let bounds = [
        (Limit::KnownPlayers, 2),
        (Limit::NamespacesPerPlayer, 2),
        (Limit::ProfileBytes, 20_000),
        (Limit::DataEntries, 4),
        (Limit::StatisticsPerOwner, 2),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let load =
        async |number: usize| client.post(&format!("/api/plugin/players/{}/load", player(number)), Value::Null).await;
    for number in [1, 2, 1] {
        load(number).await.expect(200);
    }
    load(3).await.expect_quota("knownPlayers", 2);
    let put = async |mode: &str, namespace: &str, bytes: usize, version: Option<i64>| {
        let path = format!("/api/plugin/players/{}/data/{mode}/{namespace}", player(1));
        let body = json!({"data": format!("\"{}\"", "x".repeat(bytes - 2)), "version": version});
        client.put(&path, body).await
    };
    put("global", "a", 100, None).await.expect(200);
    put("global", "a", 15_000, Some(1)).await.expect(200);
    put("global", "b", 5_001, None).await.expect_quota("profileBytes", 20_000);
    put("global", "b", 5_000, None).await.expect(200);
    put("global", "c", 2, None).await.expect_quota("namespacesPerPlayer", 2);
    put("global", "a", 19_000, Some(1)).await.expect_error(409, "version_conflict");
    put("global", "a", 19_000, Some(2)).await.expect_quota("profileBytes", 20_000);
    put("global", "a", 15_000, Some(2)).await.expect(200);
    for namespace in ["a", "b", "a"] {
        put("skyblock", namespace, 2, None).await.expect(200);
    }
    put("bedwars", "a", 2, None).await.expect_quota("dataEntries", 4);
    client.delete(&format!("/api/plugin/players/{}/data/global/b", player(1))).await.expect(204);
    put("bedwars", "a", 2, None).await.expect(200);
    let add = async |name: &str| {
        let path = format!("/api/plugin/players/{}/statistics/increment", player(1));
        client.post(&path, json!({"name": name, "amount": 1})).await
    };
    for name in ["kills", "wins", "kills"] {
        add(name).await.expect(200);
    }
    add("deaths").await.expect_quota("statisticsPerOwner", 2);
    // A new day's row of an existing statistic.
    hub.advance_ms(24 * 60 * 60 * 1_000);
    assert_eq!(add("kills").await.expect(200)["newValues"]["LIFETIME"], 3.0);
}

async fn economy(backend: Backend) {
    let bounds = [(Limit::Currencies, 2), (Limit::Balances, 2), (Limit::StatisticValues, 8)];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let count = async |owner: usize, name: &str| {
        let path = format!("/api/plugin/players/{}/statistics/increment", player(owner));
        client.post(&path, json!({"name": name, "amount": 1})).await
    };
    for (owner, name) in [(1, "kills"), (2, "kills"), (1, "kills")] {
        count(owner, name).await.expect(200);
    }
    count(3, "kills").await.expect_quota("statisticValues", 8);
    count(1, "wins").await.expect_quota("statisticValues", 8);
    // Those that exist go on, with a new day.
    hub.advance_ms(24 * 60 * 60 * 1_000);
    count(2, "kills").await.expect(200);
    let modify = async |number: usize, currency: &str| {
        let path = format!("/api/plugin/economy/player/{}/currencies/modify", player(number));
        client.post(&path, json!({"currency": currency, "amount": 1})).await
    };
    client.put("/api/manage/economy/currencies/coins", json!({})).await.expect(200);
    for currency in ["coins", "gems", "coins"] {
        modify(1, currency).await.expect(200);
    }
    modify(2, "coins").await.expect_quota("balances", 2);
    modify(1, "coins").await.expect(200);
    client.put("/api/manage/economy/currencies/dust", json!({})).await.expect_quota("currencies", 2);
    client.put("/api/manage/economy/currencies/gems", json!({"minimum": 0})).await.expect(200);
}

async fn punishments(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::Punishments, 5), (Limit::PunishmentsPerPlayer, 2)]).await;
    let client = hub.network().await;
    let ban = async |number: usize| {
        client.post("/api/plugin/punishments/create", json!({"playerUuid": player(number), "type": "WARN"})).await
    };
    let by_name = json!({"playerName": "Alex", "type": "BAN"});
    for _ in 0..2 {
        ban(1).await.expect(200);
        client.post("/api/plugin/punishments/create-by-name", by_name.clone()).await.expect(200);
    }
    ban(1).await.expect_quota("punishmentsPerPlayer", 2);
    client.post("/api/plugin/punishments/create-by-name", by_name).await.expect_quota("punishmentsPerPlayer", 2);
    ban(2).await.expect(200);
    ban(2).await.expect_quota("punishments", 5);
}

fn worlds(count: usize, name: &str) -> Value {
    (0..count).map(|at| json!({"worldId": format!("w{at}"), "displayName": name})).collect()
}

async fn servers(backend: Backend) {
    let bounds = [
        (Limit::Servers, 2),
        (Limit::WorldsPerServer, 3),
        (Limit::ServerBytes, 3_000),
        (Limit::PluginsPerServer, 1),
        (Limit::Players, 2),
        (Limit::Reservations, 1),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let try_register = async |id: &str, more: Value| {
        let mut body = json!({"serverId": id, "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.post("/api/plugin/servers/register", body).await
    };
    try_register("a", json!({"worlds": worlds(4, "x")})).await.expect_quota("worldsPerServer", 3);
    try_register("a", json!({"worlds": worlds(3, &"\u{1}".repeat(200))})).await.expect_quota("serverBytes", 3_000);
    let plugin = json!({"name": "p"});
    try_register("a", json!({"plugins": [plugin, plugin]})).await.expect_quota("pluginsPerServer", 1);
    for id in ["a", "b", "a"] {
        try_register(id, json!({"worlds": worlds(3, "x")})).await.expect(201);
    }
    try_register("c", json!({})).await.expect_quota("servers", 2);
    client.post("/api/plugin/servers/unregister?serverId=b", Value::Null).await.expect(204);
    try_register("c", json!({})).await.expect(201);
    for number in [1, 2, 1] {
        join(&client, "a", number).await;
    }
    let third = json!({"serverId": "a", "playerUuid": player(3)});
    client.post("/api/plugin/servers/players", third).await.expect_quota("players", 2);
    join(&client, "c", 1).await;
    let find = async |number: usize| {
        client.post("/api/plugin/matchmaking/find", json!({"playerUuid": player(number), "serverType": "lobby"})).await
    };
    assert_eq!(find(5).await.expect(200)["success"], true);
    find(6).await.expect_quota("reservations", 1);
    hub.advance_ms(15_000);
    beat(&client, "a", json!({})).await;
    find(6).await.expect(200);
}

async fn heartbeats(backend: Backend) {
    let bounds = [(Limit::WorldsPerServer, 1), (Limit::PlayersPerServer, 2), (Limit::Players, 3)];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    for id in ["a", "b"] {
        register(&client, id, json!({})).await;
    }
    let try_beat = async |id: &str, more: Value| {
        let mut body = json!({"serverId": id});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.post("/api/plugin/servers/heartbeat", body).await
    };
    let list = |numbers: &[usize]| numbers.iter().map(|number| json!({"uuid": player(*number)})).collect::<Value>();
    try_beat("a", json!({"players": list(&[1, 2])})).await.expect(204);
    try_beat("a", json!({"players": list(&[1, 2, 3])})).await.expect_quota("playersPerServer", 2);
    try_beat("b", json!({"players": list(&[3, 4])})).await.expect_quota("players", 3);
    try_beat("b", json!({"players": list(&[3])})).await.expect(204);
    // Equal numbers come and go.
    try_beat("a", json!({"players": list(&[1, 4])})).await.expect(204);
    // A refused heartbeat is a sign of life, and changes nothing else.
    for _ in 0..3 {
        hub.advance_ms(20_000);
        try_beat("a", json!({"gameState": "PLAYING", "worlds": worlds(2, "x")}))
            .await
            .expect_quota("worldsPerServer", 1);
    }
    let a = client.get("/api/manage/servers/a").await.expect(200).clone();
    assert_eq!((&a["online"], &a["live"]["worlds"], &a["live"]["gameState"]), (&json!(true), &json!([]), &json!(null)));
    assert_eq!(a["live"]["currentPlayers"], 2);
    let b = client.get("/api/manage/servers/b").await.expect(200).clone();
    assert_eq!(b["online"], false);
}

async fn agents(backend: Backend) {
    let bounds = [(Limit::Agents, 1), (Limit::AgentReportBytes, 300), (Limit::PendingCommands, 1)];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let poll =
        async |server: &str, query: &str| client.get(&format!("/api/plugin/servers/{server}/commands?{query}")).await;
    poll("a", &format!("containerStatus={}", "x".repeat(300))).await.expect_quota("agentReportBytes", 300);
    poll("a", "nodeId=n").await.expect(200);
    poll("b", "").await.expect_quota("agents", 1);
    poll("a", "nodeId=n").await.expect(200);
    let owner = client.clone();
    let waiting = tokio::spawn(async move { owner.post("/api/manage/servers/a/stop", Value::Null).await });
    Hub::eventually("a command waits", async || hub.app.state::<Control>().waiting() == 1).await;
    client.post("/api/manage/servers/a/start", Value::Null).await.expect_quota("pendingCommands", 1);
    hub.advance_ms(10_000);
    waiting.await.unwrap().expect_error(503, "no_answer");
}

async fn provisioning(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::ProvisionedServers, 1)]).await;
    let client = hub.network().await;
    let put = async |id: &str| client.put(&format!("/api/manage/provisioning/servers/{id}"), json!({})).await;
    let code = async |id: &str| {
        let body = json!({"serverId": id, "verifyUrl": "https://x.example", "userCode": "AB"});
        client.post("/api/plugin/provisioning/auth-code", body).await
    };
    put("a").await.expect(200);
    put("a").await.expect(200);
    code("a").await.expect(201);
    put("b").await.expect_quota("provisionedServers", 1);
    code("b").await.expect_quota("provisionedServers", 1);
    client.delete("/api/manage/provisioning/servers/a").await.expect(204);
    code("b").await.expect(201);
}

async fn worlds_of(client: &Client, owner: &str) -> Answer {
    let body = json!({"ownerScope": "party", "ownerId": owner, "gameId": "islands"});
    client.post("/api/plugin/worlds/open", body).await
}

async fn worlds_and_transfers(backend: Backend) {
    let bounds = [(Limit::Worlds, 2), (Limit::WorldLeases, 1), (Limit::SnapshotUploads, 1), (Limit::Transfers, 1)];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    register(&client, "n1", json!({"serverType": "islands"})).await;
    register(&client, "n2", json!({})).await;
    let first = worlds_of(&client, "red").await.expect(200).clone();
    worlds_of(&client, "red").await.expect(200);
    worlds_of(&client, "blue").await.expect_quota("worldLeases", 1);
    let id = first["worldInstanceId"].as_str().unwrap();
    let upload = format!("/api/plugin/worlds/{id}/upload-url");
    client.post(&upload, Value::Null).await.expect(200);
    client.post(&upload, Value::Null).await.expect_quota("snapshotUploads", 1);
    let body = json!({"nodeServerId": "n1"});
    client.post("/api/plugin/worlds/release-all", body).await.expect(200);
    worlds_of(&client, "blue").await.expect(200);
    client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
    worlds_of(&client, "green").await.expect_quota("worlds", 2);
    worlds_of(&client, "red").await.expect(200);
    let transfer = json!({"playerUuid": player(1), "targetServerId": "n2"});
    client.post("/api/plugin/transfers", transfer.clone()).await.expect(200);
    client.post("/api/plugin/transfers", transfer).await.expect_quota("transfers", 1);
}

async fn files(backend: Backend) {
    let bounds = [
        (Limit::Artifacts, 1),
        (Limit::Bundles, 1),
        (Limit::FileBytes, 1_000),
        (Limit::Uploads, 1),
        (Limit::Modules, 0),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let send = async |method: Method, path: &str, bytes: usize| {
        client.send(client.request(method, path).body(vec![7; bytes])).await
    };
    let artifact = async |version: &str, bytes: usize| {
        send(Method::POST, &format!("/api/manage/artifacts?name=p&version={version}"), bytes).await
    };
    let bundle = async |kind: &str, bytes: usize| {
        send(Method::PUT, &format!("/api/manage/provisioning/bundles/{kind}"), bytes).await
    };
    artifact("1", 1_001).await.expect_quota("fileBytes", 1_000);
    let first = artifact("1", 600).await.expect(201).clone();
    artifact("2", 100).await.expect_quota("artifacts", 1);
    bundle("lobby", 401).await.expect_quota("fileBytes", 1_000);
    bundle("lobby", 100).await.expect(200);
    bundle("arena", 100).await.expect_quota("bundles", 1);
    bundle("lobby", 200).await.expect(200);
    client.delete(&format!("/api/manage/artifacts/{}", first["artifactId"].as_str().unwrap())).await.expect(204);
    artifact("2", 700).await.expect(201);
    send(Method::POST, "/api/manage/modules?name=m", 100).await.expect_quota("modules", 0);
    // One upload under way keeps others out, but only while it takes.
    let begin = || {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<bytes::Bytes, std::io::Error>>(1);
        sender.try_send(Ok(bytes::Bytes::from_static(b"x"))).unwrap();
        let pieces =
            futures_util::stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        let body = reqwest::Body::wrap_stream(pieces);
        let request = client.request(Method::PUT, "/api/manage/provisioning/bundles/lobby").body(body);
        let client = client.clone();
        (sender, tokio::spawn(async move { client.send(request).await }))
    };
    let (mut sender, mut slow) = begin();
    Hub::eventually("the upload is under way", async || {
        // The probing upload may have kept it out.
        if slow.is_finished() {
            (sender, slow) = begin();
        }
        bundle("lobby", 1).await.status == 403 && !slow.is_finished()
    })
    .await;
    bundle("lobby", 1).await.expect_quota("uploads", 1);
    drop(sender);
    slow.await.unwrap().expect(200);
    bundle("lobby", 1).await.expect(200);
}

async fn keys_and_requests(backend: Backend) {
    let bounds = [
        (Limit::Keys, 2),
        (Limit::EndedKeys, 2),
        (Limit::KeyBytes, 300),
        (Limit::IdempotencyKeys, 2),
        (Limit::WaitlistEntries, 1),
    ];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    let create = async || client.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await;
    let revoke = async |key: Value| {
        client.delete(&format!("/api/manage/keys/{}", key.as_str().unwrap())).await.expect(204);
    };
    let key = create().await.expect(201)["keyId"].clone();
    create().await.expect_quota("keys", 2);
    let stored = async || {
        let (keys,): (i64,) = hub
            .app
            .db
            .query("SELECT COUNT(*) FROM api_keys WHERE network_id = $1")
            .bind(client.network.unwrap())
            .one()
            .await
            .unwrap();
        keys
    };
    revoke(key).await;
    for _ in 0..4 {
        revoke(create().await.expect(201)["keyId"].clone()).await;
    }
    let large = json!({"name": "k", "scopes": ["plugin"], "servers": ["x".repeat(200), "y".repeat(200)]});
    client.post("/api/manage/keys", large).await.expect_quota("keyBytes", 300);
    create().await.expect(201);
    assert_eq!(stored().await, 4, "two that are good, and the last two of those that are not");
    let warn = json!({"playerUuid": player(1), "type": "WARN"});
    let path = "/api/plugin/punishments/create";
    for key in ["a", "b", "a"] {
        send_with_key(&client, key, path, &warn).await.expect(200);
    }
    send_with_key(&client, "c", path, &warn).await.expect_quota("idempotencyKeys", 2);
    send_with_key(&client, "b", path, &warn).await.expect(200);
    client.post(path, warn).await.expect(200);
    // Membership of the waitlist can't be inferred from its answers, not even from those of a full list.
    let anonymous = hub.anonymous();
    for email in ["a@example.org", "b@example.org", "a@example.org"] {
        anonymous.post("/api/public/waitlist", json!({"email": email})).await.expect(200);
    }
    assert_eq!(hub.operator().await.get("/api/admin/waitlist").await.expect(200)["total"], 1);
}

async fn deletions_make_room(backend: Backend) {
    let bounds =
        [(Limit::KnownServers, 2), (Limit::NamesPerPlayer, 2), (Limit::AddressesPerPlayer, 2), (Limit::ServerLogs, 1)];
    let hub = hub_with(backend, &bounds).await;
    let client = hub.network().await;
    for id in ["a", "b", "c"] {
        register(&client, id, json!({})).await;
        client.post(&format!("/api/plugin/servers/unregister?serverId={id}"), Value::Null).await.expect(204);
        hub.advance_ms(1_000);
    }
    let list = client.get("/api/manage/servers").await.expect(200).clone();
    let known: Vec<_> = list["items"].as_array().unwrap().iter().map(|it| it["serverId"].as_str().unwrap()).collect();
    assert_eq!(known, ["c"], "those that are offline are forgotten many at once");
    let path = format!("/api/plugin/players/{}", player(1));
    for (name, address) in [("Alex", "192.0.2.1"), ("Steve", "192.0.2.2"), ("Zoe", "192.0.2.3"), ("Zoe", "192.0.2.2")] {
        let body = json!({"playerUuid": player(1), "playerName": name, "ipAddress": address});
        client.post("/api/plugin/punishments/ip", body).await.expect(204);
        client.post(&format!("{path}/load?username={name}"), Value::Null).await.expect(200);
        hub.advance_ms(1_000);
    }
    let addresses = client.get(&format!("{path}/ips")).await.expect(200).clone();
    let addresses: Vec<_> = addresses.as_array().unwrap().iter().map(|it| it["ipAddress"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["192.0.2.2", "192.0.2.3"]);
    // A ban of a name that was forgotten does not match the player any more; one of a name that was not does.
    for (name, matches) in [("Alex", 0), ("Steve", 1)] {
        client
            .post("/api/plugin/punishments/create-by-name", json!({"playerName": name, "type": "BAN"}))
            .await
            .expect(200);
        let found = client.get(&format!("/api/plugin/punishments/player/{}", player(1))).await.expect(200).clone();
        assert_eq!(found.as_array().unwrap().len(), matches, "{name}");
    }
    let ship = async |server: &str| {
        let body = json!({"lines": [{"at": 1, "stream": "stdout", "text": server}]});
        client.post(&format!("/api/plugin/servers/{server}/logs"), body).await.expect(200);
    };
    register(&client, "d", json!({})).await;
    for server in ["c", "c", "d"] {
        ship(server).await;
    }
    for (server, lines) in [("c", 0), ("d", 1)] {
        let log = client.get(&format!("/api/manage/servers/{server}/logs/recent")).await.expect(200).clone();
        assert_eq!(log["total"], lines, "{server}");
    }
}

async fn streams(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::Streams, 2)]).await;
    let client = hub.network().await;
    let first = client.events(Some("a"), None).await;
    let _second = client.events(None, None).await;
    client.get("/api/plugin/events").await.expect_quota("streams", 2);
    client.get("/api/plugin/events?serverId=b").await.expect_quota("streams", 2);
    register(&client, "s", json!({})).await;
    let log = client.request(Method::GET, "/api/manage/servers/s/logs/recent").header("Accept", "text/event-stream");
    client.send(log).await.expect_quota("streams", 2);
    // The same server's stream replaces the first.
    let again = client.events(Some("a"), None).await;
    drop((first, again));
    Hub::eventually("there is room", async || {
        client.request(Method::GET, "/api/plugin/events?serverId=b").send().await.unwrap().status() == 200
    })
    .await;
}
