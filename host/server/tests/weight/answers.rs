//! Answers to one request, each of the largest that its limits allow.

use hub_sandbox::manifest;
use reqwest::Method;
use serde_json::{Value, json};

use crate::scale::Scale;
use crate::support::{Client, Hub, NOW};

const PLAYER: &str = "00000000-0000-4000-8000-000000000001";
/// Largest page of a list.
const PAGE: usize = 200;

fn player(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Text of so many characters that takes six bytes for each in JSON.
fn wide(characters: usize) -> String {
    "\u{1}".repeat(characters)
}

fn post(path: &str, body: Value) -> (Method, String, Value) {
    (Method::POST, path.to_owned(), body)
}

fn put(path: String, body: Value) -> (Method, String, Value) {
    (Method::PUT, path, body)
}

/// Returns the network's owner.
pub async fn weigh(scale: &mut Scale) -> Client {
    let client = scale.hub.network().await;
    texts(scale, &client).await;
    permissions(scale, &client).await;
    servers(scale, &client).await;
    documents(scale, &client).await;
    players(scale, &client).await;
    punishments(scale, &client).await;
    staff(scale, &client).await;
    deliveries(scale, &client).await;
    settings(scale, &client).await;
    modules(scale, &client).await;
    endpoints(scale, &client).await;
    overviews(scale, &client).await;
    operator(scale, &client).await;
    client
}

async fn texts(scale: &mut Scale, client: &Client) {
    let entries = |call: usize| -> Value {
        let entries: serde_json::Map<_, _> = (0..140).map(|at| (format!("{call}-{at}"), wide(990).into())).collect();
        json!({"namespace": "lobby", "locale": "en", "entries": entries})
    };
    let all = (0..6).map(|call| post("/api/plugin/localization/defaults", entries(call)));
    let locales =
        (0..200).map(|at| put(format!("/api/manage/localization/locales/l{at}"), json!({"displayName": wide(255)})));
    let made = scale.fill(client, all.chain(locales)).await;
    scale.check(made > 100, format!("filled with {made}"));
    let size = scale.get(client, "/api/plugin/localization/catalog").await;
    scale.check(size > 3 << 20, format!("only {size} bytes"));
    for path in [
        "/api/manage/localization/messages?limit=200",
        "/api/manage/localization/locales",
        "/api/plugin/localization/locales",
    ] {
        scale.get(client, path).await;
    }
    scale.get(client, &format!("/api/plugin/localization/players/{PLAYER}/locale")).await;
    let doc = json!({"group": "g", "namespace": "n", "doc": wide(40_000)});
    scale.fill(client, [post("/api/plugin/config/publish", doc)]).await;
    scale.get(client, "/api/plugin/config/g/n").await;
}

async fn permissions(scale: &mut Scale, client: &Client) {
    let nodes = |group: usize| -> Value {
        (0..700).map(|at| json!({"node": format!("{group}.{at}.{}", "\u{10000}".repeat(240))})).collect()
    };
    let groups = |at| {
        put(format!("/api/plugin/permissions/groups/g{at}"), json!({"permissions": nodes(at), "chatPrefix": wide(200)}))
    };
    let made = scale.fill(client, (0..8).map(groups)).await;
    let user = format!("/api/plugin/permissions/users/{PLAYER}");
    let given = (0..made).map(|at| post(&format!("{user}/permissions"), json!({"node": format!("group.g{at}")})));
    let made = scale.fill(client, given).await;
    scale.check(made > 2, format!("filled with {made}"));
    let size = scale.get(client, "/api/plugin/permissions/groups").await;
    scale.check(size > 2 << 20, format!("only {size} bytes"));
    for path in ["/effective", "/effective?explain=true", "/permissions"] {
        scale.get(client, &format!("{user}{path}")).await;
    }
    scale.get(client, "/api/plugin/permissions/groups/g0").await;
}

async fn servers(scale: &mut Scale, client: &Client) {
    let world = |at: usize| json!({"worldId": format!("w{at}"), "displayName": wide(255), "worldType": "duel", "gameState": "WAITING"});
    let server = |at: usize, worlds: usize| {
        let worlds: Vec<_> = (0..worlds).map(world).collect();
        json!({"serverId": format!("s{at}"), "serverType": "lobby", "host": "10.0.0.7", "port": 25565,
            "maxPlayers": 100, "worlds": worlds})
    };
    // The most worlds that a server has room for.
    let mut worlds = 12;
    while scale.fill(client, [post("/api/plugin/servers/register", server(0, worlds))]).await == 0 {
        worlds -= 1;
    }
    let all = (0..1_000).map(|at| post("/api/plugin/servers/register", server(at, worlds)));
    let made = scale.fill(client, all).await;
    scale.check(made >= PAGE, format!("{made} servers"));
    let online = (0..4).map(|at| {
        let players: Vec<_> =
            (0..1_000).map(|it| json!({"uuid": player(at * 1_000 + it), "name": "\u{10000}".repeat(200)})).collect();
        post("/api/plugin/servers/heartbeat", json!({"serverId": format!("s{at}"), "players": players}))
    });
    scale.fill(client, online).await;
    let line = json!({"at": NOW, "stream": "stdout", "text": wide(8_192)});
    let lines = json!({"lines": vec![line; 10]});
    scale.fill(client, (0..20).map(|_| post("/api/plugin/servers/s1/logs", lines.clone()))).await;
    for path in [
        "/api/plugin/servers?limit=200",
        "/api/manage/servers?limit=200",
        "/api/plugin/servers/players",
        "/api/manage/servers/s1",
        "/api/manage/servers/s1/logs/recent?limit=200",
        "/api/plugin/servers/s1/commands?waitMs=0",
        "/api/plugin/matchmaking/regions",
    ] {
        scale.get(client, path).await;
    }
    let find = json!({"serverType": "lobby", "worldMatchmaking": true});
    scale.request(client, Method::POST, "/api/plugin/matchmaking/find?explain=true", find).await;
    let line =
        |at: usize| json!({"playerUuid": player(at), "playerName": "\u{10000}".repeat(200), "serverType": "full"});
    scale.fill(client, (0..PAGE).map(|at| post("/api/plugin/matchmaking/tickets", line(at)))).await;
    scale.get(client, "/api/manage/matchmaking/lines").await;
    scale.get(client, "/api/manage/matchmaking/lines/type%3Afull/tickets?limit=200").await;
}

async fn documents(scale: &mut Scale, client: &Client) {
    let index = json!([{"field": "n", "type": "number"}, {"field": "all", "type": "number"}]);
    let register = json!({"collections": [{"name": "guilds", "indexes": index}]});
    client.post("/api/plugin/collections/register", register).await.expect(200);
    let document =
        |at: usize| json!({"n": at, "all": 1, "text": "x".repeat(if at.is_multiple_of(2) { 250_000 } else { 10 })});
    scale.fill(client, (0..60).map(|at| put(format!("/api/plugin/collections/guilds/d{at}"), document(at)))).await;
    for list in ["by/all?value=1&", "range/n?min=0&max=100&", "top/n?", "page/n?"] {
        scale.get(client, &format!("/api/plugin/collections/guilds/{list}limit=200")).await;
    }
    scale.get(client, "/api/plugin/collections/guilds/d0").await;
    let ids: Vec<_> = (0..200).map(|at| format!("d{}", at % 60)).collect();
    scale.request(client, Method::POST, "/api/plugin/collections/guilds/mget", json!({"ids": ids})).await;
}

async fn players(scale: &mut Scale, client: &Client) {
    let path = format!("/api/plugin/players/{PLAYER}");
    let load = format!("{path}/load?username=Alex");
    scale
        .fill(
            client,
            (0..PAGE).map(|at| post(&format!("/api/plugin/players/{}/load?username=p{at}", player(at)), Value::Null)),
        )
        .await;
    client.post(&load, Value::Null).await.expect(200);
    let data = |bytes: usize| json!({"data": format!("[{}1]", "\"\",".repeat(bytes / 3))});
    let many = (0..64).map(|at| put(format!("{path}/data/global/n{at}"), data(8_000)));
    let large = (0..6).map(|at| put(format!("{path}/data/global/n{at}"), data(250_000)));
    scale.fill(client, many.chain(large)).await;
    let pay = |at: usize| {
        let body = json!({"currency": format!("{at:05}{}", "\u{10000}".repeat(250)), "amount": 1});
        post(&format!("/api/plugin/economy/player/{PLAYER}/currencies/modify"), body)
    };
    scale.fill(client, (0..500).map(pay)).await;
    let count = |at: usize| {
        let body = json!({"name": format!("{at:05}{}", "\u{10000}".repeat(200)), "amount": 1});
        post(&format!("/api/plugin/economy/player/{PLAYER}/statistics/increment"), body)
    };
    scale.fill(client, (0..PAGE).map(count)).await;
    let size = scale.get(client, &path).await;
    scale.check(size > 1 << 20, format!("only {size} bytes"));
    scale.request(client, Method::POST, &load, Value::Null).await;
    let economy = format!("/api/plugin/economy/player/{PLAYER}");
    for path in [
        format!("{path}/data/global/n1"),
        format!("{path}/ips"),
        format!("{path}/statistics"),
        "/api/plugin/players?search=p&limit=200".to_owned(),
        format!("{economy}/currencies"),
        format!("{economy}/statistics"),
        "/api/plugin/economy/leaderboard?name=none&limit=200".to_owned(),
        "/api/plugin/economy/currencies/leaderboard?currency=none&limit=200".to_owned(),
        "/api/manage/economy/currencies".to_owned(),
        format!("/api/manage/economy/player/{PLAYER}/ledger?limit=200"),
        format!("/api/manage/players/{PLAYER}/data"),
        format!("/api/manage/players/{PLAYER}/playtime"),
        format!("/api/manage/players/{PLAYER}/visits?limit=200"),
        format!("/api/manage/players/{PLAYER}/data/global/n1/snapshots"),
        format!("/api/manage/players/{PLAYER}/export"),
    ] {
        scale.get(client, &path).await;
    }
}

async fn punishments(scale: &mut Scale, client: &Client) {
    let body =
        json!({"playerUuid": PLAYER, "type": "MUTE", "reason": wide(1_024), "playerName": "\u{10000}".repeat(255)});
    scale.fill(client, (0..400).map(|_| post("/api/plugin/punishments/create", body.clone()))).await;
    let ban = json!({"playerUuid": PLAYER, "type": "BAN", "reason": wide(1_024), "playerName": "Alex"});
    let ban = client.post("/api/plugin/punishments/create", ban).await.expect(200).clone();
    let change = json!({"evidence": vec![format!("https://example.org/{}", "x".repeat(900)); 8]});
    client.patch(&format!("/api/manage/punishments/{}", ban["id"]), change).await;
    let own = format!("/api/plugin/punishments/player/{PLAYER}");
    for path in [
        own.clone(),
        format!("{own}/history?limit=200"),
        "/api/plugin/punishments/player-name/Alex".to_owned(),
        "/api/plugin/punishments/player-name/Alex/history?limit=200".to_owned(),
        format!("/api/plugin/punishments/query?playerUuid={PLAYER}"),
        "/api/manage/punishments?limit=200".to_owned(),
        format!("/api/manage/punishments/{}", ban["id"]),
    ] {
        scale.get(client, &path).await;
    }
    let appeal = format!("/api/public/appeals/{}", ban["appealCode"].as_str().unwrap());
    let stranger = client.without_key();
    stranger.post(&appeal, json!({"text": wide(2_000)})).await;
    scale.get(&stranger, &appeal).await;
    scale.get(client, "/api/manage/appeals?limit=200").await;
}

async fn staff(scale: &mut Scale, client: &Client) {
    let notes = format!("/api/manage/players/{PLAYER}/notes");
    scale.fill(client, (0..500).map(|_| post(&notes, json!({"text": wide(2_000)})))).await;
    let report = |at: usize| json!({"reporterUuid": player(at), "playerUuid": PLAYER, "reason": wide(500)});
    scale.fill(client, (0..PAGE).map(|at| post("/api/plugin/reports", report(at)))).await;
    client.patch("/api/manage/network", json!({"chatHistoryDays": 3})).await.expect(200);
    let name = "\u{10000}".repeat(200);
    let line = |at: usize| json!({"playerUuid": player(at), "playerName": name, "message": "\"".repeat(1_000), "serverId": "s1"});
    scale.fill(client, (0..PAGE).map(|at| post("/api/plugin/chat", line(at)))).await;
    // Lines are kept in batches.
    scale.hub.advance_ms(5_000);
    let roles = |at: usize| put(format!("/api/manage/roles/r{at}"), json!({"scopes": ["plugin", "network:manage"]}));
    scale.fill(client, (0..50).map(roles)).await;
    for path in [
        format!("{notes}?limit=200"),
        "/api/manage/reports?limit=200".to_owned(),
        "/api/manage/reports/1".to_owned(),
        "/api/manage/chat?limit=200".to_owned(),
        "/api/manage/roles".to_owned(),
        "/api/manage/roles/r0".to_owned(),
        "/api/manage/people?limit=200".to_owned(),
        "/api/manage/people/invitations?limit=200".to_owned(),
    ] {
        scale.get(client, &path).await;
    }
}

async fn deliveries(scale: &mut Scale, client: &Client) {
    let join = json!({"serverId": "s5", "playerUuid": player(9_999), "playerName": "P"});
    scale.fill(client, [post("/api/plugin/servers/players", join)]).await;
    let delivery =
        |at: usize| json!({"playerUuid": player(9_999), "kind": format!("k{at}"), "payload": {"text": wide(2_600)}});
    scale.fill(client, (0..PAGE).map(|at| post("/api/plugin/deliveries", delivery(at)))).await;
    scale.get(client, "/api/plugin/deliveries?serverId=s5").await;
    scale.get(client, "/api/manage/deliveries?limit=200").await;
}

async fn settings(scale: &mut Scale, client: &Client) {
    let servers: Vec<_> = (0..15).map(|at| format!("{at:05}{}", "\u{10000}".repeat(250))).collect();
    let key = json!({"name": "k", "scopes": ["plugin"], "servers": servers});
    scale.fill(client, (0..PAGE).map(|_| post("/api/manage/keys", key.clone()))).await;
    for at in 0..PAGE {
        let upload = client.request(Method::POST, &format!("/api/manage/artifacts?name=a{at}&version=1")).body("x");
        client.send(upload).await.expect(201);
    }
    let machine =
        |at: usize| put(format!("/api/manage/provisioning/servers/m{at}"), json!({"serverType": "t", "provider": "p"}));
    scale.fill(client, (0..PAGE).map(machine)).await;
    for path in [
        "/api/manage/keys?limit=200",
        "/api/manage/artifacts?limit=200",
        "/api/manage/provisioning/servers?limit=200",
        "/api/manage/provisioning/bundles?limit=200",
        "/api/manage/secrets",
        "/api/manage/network",
        "/api/manage/audit?limit=200",
        "/api/manage/audit/export",
        "/api/manage/imports?limit=200",
        "/api/manage/forgotten-players?limit=200",
    ] {
        scale.get(client, path).await;
    }
}

/// A module with the longest configuration, and as many calls and revisions as a page has.
async fn modules(scale: &mut Scale, client: &Client) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/chat-guard/chat-guard.wasm");
    let upload = client.request(Method::POST, "/api/manage/modules?name=chat-guard");
    let upload = upload.header("Content-Type", "application/wasm").body(std::fs::read(file).unwrap());
    client.send(upload).await.expect(201);
    let version = "/api/manage/modules/chat-guard/1";
    Hub::eventually("it is compiled", async || client.get(version).await.expect(200)["state"] == "READY").await;
    let chain = |at: usize| {
        let words: Vec<_> = (0..600).map(|word| format!("{at}-{word}-{}", "x".repeat(40))).collect();
        let link = json!({"name": "chat-guard", "version": 1, "config": {"words": words, "action": "REFUSE"}});
        put("/api/manage/extension-points/chat".to_owned(), json!({"modules": [link]}))
    };
    for at in 0..20 {
        scale.fill(client, [chain(at)]).await;
    }
    let line = json!({"playerUuid": PLAYER, "playerName": "p", "message": "m".repeat(1_000), "serverId": "s1"});
    scale.fill(client, (0..PAGE).map(|_| post("/api/plugin/chat", line.clone()))).await;
    let point = "/api/manage/extension-points/chat";
    let calls = client.get(&format!("{point}/calls?limit=1")).await.expect(200).clone();
    let revisions = client.get(&format!("{point}/revisions?limit=1")).await.expect(200).clone();
    let (call, revision) = (&calls["items"][0]["callId"], &revisions["items"][0]["revision"]);
    scale.check(call.is_string() && revision.is_number(), format!("no calls or revisions: {calls} {revisions}"));
    let call = call.as_str().unwrap_or_default();
    let module = "/api/manage/modules/chat-guard";
    for path in [
        point.to_owned(),
        format!("{point}/calls?limit=200"),
        format!("{point}/calls/{call}"),
        format!("{point}/revisions?limit=200"),
        format!("{point}/revisions/{revision}"),
        "/api/manage/modules?limit=200".to_owned(),
        module.to_owned(),
        version.to_owned(),
        format!("{module}/activation"),
        format!("{module}/logs"),
        format!("{module}/dead-letters?limit=200"),
        format!("{module}/schedules"),
        format!("{module}/timers?limit=200"),
    ] {
        scale.get(client, &path).await;
    }
}

/// The network's document: as many modules as a chain has, with as many endpoints as a network, whose schemas are of
/// many small parts.
async fn endpoints(scale: &mut Scale, client: &Client) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/votes/votes.wasm");
    let votes = std::fs::read(file).unwrap();
    let manifest = manifest::read(&votes).unwrap().unwrap();
    let end = votes.len() - manifest::embed(vec![], manifest).len();
    let schema = json!({"enum": vec![1; 1_800]});
    let endpoint = |at: usize| {
        let path = format!("e{at}");
        json!({"name": path, "method": "POST", "path": path, "public": true, "request": schema})
    };
    let mut links = vec![];
    for at in 0..16 {
        let (name, endpoints) = (format!("m{at}"), (0..16).map(endpoint).collect::<Vec<_>>());
        let manifest = json!({"manifest": 1, "contract": "1.1.0", "name": name, "endpoints": endpoints}).to_string();
        scale.check(manifest.len() > 56 << 10, format!("a manifest of {} bytes", manifest.len()));
        let module = manifest::embed(votes[..end].to_vec(), manifest.as_bytes());
        let upload = client.request(Method::POST, &format!("/api/manage/modules?name={name}"));
        client.send(upload.header("Content-Type", "application/wasm").body(module)).await.expect(201);
        let version = format!("/api/manage/modules/{name}/1");
        Hub::eventually("it is compiled", async || client.get(&version).await.expect(200)["state"] == "READY").await;
        links.push(json!({"name": name, "version": 1}));
    }
    let chain = put("/api/manage/extension-points/endpoints".to_owned(), json!({"modules": links}));
    let made = scale.fill(client, [chain]).await;
    let size = scale.get(client, "/api/manage/openapi.json").await;
    scale.check(made == 1 && size > 2 << 20, format!("{made} chain, and only {size} bytes"));
}

async fn overviews(scale: &mut Scale, client: &Client) {
    for path in [
        "/api/manage/attention",
        "/api/manage/counts",
        "/api/manage/plan",
        "/api/manage/search?q=a&limit=50",
        "/api/manage/usage?limit=200",
        "/api/manage/analytics/players?from=2026-03-01&to=2027-03-01&limit=200",
    ] {
        scale.get(client, path).await;
    }
}

async fn operator(scale: &mut Scale, client: &Client) {
    let operator = scale.hub.operator().await;
    let network = client.network.unwrap();
    for path in [
        "/api/admin/audit?limit=200",
        "/api/admin/audit/export",
        "/api/admin/forgotten-players?limit=200",
        "/api/admin/networks?limit=200",
        "/api/admin/people?limit=200",
        "/api/admin/people/invitations?limit=200",
        "/api/admin/plans",
        "/api/admin/plans/default",
        "/api/admin/waitlist?limit=200",
    ] {
        scale.get(&operator, path).await;
    }
    for more in ["", "/keys?limit=200", "/people?limit=200", "/people/invitations?limit=200", "/usage?limit=200"] {
        scale.get(&operator, &format!("/api/admin/networks/{network}{more}")).await;
    }
}
