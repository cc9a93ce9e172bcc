//! No answer has more than 4 MiB: lists of large items are cut and have a cursor, and whole answers are bounded. Each
//! list is filled until the hub refuses more, or up to the page limit.

use std::collections::BTreeSet;

use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{player, register_collection};
use crate::support::{Answer, Client, on_both};

const ANSWER_BYTES: i64 = 4 * 1_024 * 1_024;
/// Punishments in one answer.
const PUNISHMENTS: i64 = 400;

/// Size of an answer in bytes, checked against the maximum.
async fn get(client: &Client, path: &str) -> (Answer, usize) {
    let response = client.request(Method::GET, path).send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.unwrap();
    assert!(bytes.len() as i64 <= ANSWER_BYTES, "{path}: {} bytes", bytes.len());
    (Answer { status, headers, body: serde_json::from_slice(&bytes).unwrap() }, bytes.len())
}

/// Checks that an answer is large, so that the list is filled, and not too large.
async fn is_full(client: &Client, path: &str, at_least: usize) -> Value {
    let (answer, bytes) = get(client, path).await;
    assert!(bytes >= at_least, "{path}: only {bytes} bytes");
    answer.expect(200).clone()
}

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// A text of the maximum length of an `Identifier`, in bytes.
fn long(number: usize) -> String {
    format!("{number:05}{}", "\u{10000}".repeat(250))
}

on_both! {
    async fn lists_of_large_documents_are_cut_and_go_on(hub: Hub) {
        let client = hub.network().await;
        register_collection(&client, "guilds", &["n", "all"]).await.expect(200);
        let all: Vec<_> = (0..40).map(|n| format!("g{n:02}")).collect();
        for (n, id) in all.iter().enumerate() {
            // Large ones and small ones.
            let text = "x".repeat(if n % 2 == 0 { 250_000 } else { 10 });
            let doc = json!({"n": n, "all": 1, "text": text});
            client.put(&format!("/api/plugin/collections/guilds/{id}"), doc).await.expect(200);
        }
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        for (list, expected) in [
            ("by/all?value=1&", &all), ("range/n?min=0&max=100&", &all), ("range/n?order=desc&", &reversed),
            ("top/n?", &reversed), ("top/n?order=asc&", &all), ("page/n?", &all), ("page/n?order=desc&", &reversed),
        ] {
            let (mut seen, mut cursor, mut answers) = (vec![], String::new(), 0);
            loop {
                let path = format!("/api/plugin/collections/guilds/{list}limit=200&cursor={cursor}");
                let (answer, _) = get(&client, &path).await;
                seen.extend(ids(answer.expect(200)));
                answers += 1;
                match answer.body["nextCursor"].as_str() {
                    Some(next) => next.clone_into(&mut cursor),
                    None => break,
                }
            }
            assert_eq!((&seen, answers), (expected, 2), "{list}");
        }
        // A limit cuts, too; at the end there is no cursor.
        let (first, _) = get(&client, "/api/plugin/collections/guilds/by/all?value=1&limit=1").await;
        assert!(first.expect(200)["nextCursor"].is_string());
        let (only, _) = get(&client, "/api/plugin/collections/guilds/range/n?min=3&max=3").await;
        assert!(only.expect(200).get("nextCursor").is_none());
        let wrong = client.get("/api/plugin/collections/guilds/top/n?cursor=x").await;
        wrong.expect_error(400, "invalid_cursor");
        several_documents_are_answered_once(&client, &all).await;
    }

    async fn the_lists_of_servers_are_bounded(hub: Hub) {
        let client = hub.network().await;
        let bound = Limit::ServerBytes.bound() as usize;
        for number in 0..200 {
            let id = format!("server-{number:03}");
            let name = "\u{1}".repeat(255);
            // The maximum number of worlds of one server, with such names.
            let mut worlds: Vec<_> = (0..12)
                .map(|at| json!({"worldId": format!("w{at}"), "displayName": name, "worldType": "duel", "gameState": "WAITING"}))
                .collect();
            loop {
                let body = json!({"serverId": id, "serverType": "lobby", "host": "10.0.0.7", "port": 25565,
                    "worlds": worlds});
                let answer = client.post("/api/plugin/servers/register", body).await;
                if answer.status == 201 {
                    break;
                }
                answer.expect_quota("serverBytes", bound as i64);
                worlds.pop();
            }
            let status = "x".repeat(1_000);
            let poll = format!("/api/plugin/servers/{id}/commands?nodeId=n&containerStatus={status}&capabilities={status}");
            assert!([200, 403].contains(&client.get(&poll).await.status.as_u16()));
        }
        for path in ["/api/plugin/servers?limit=200", "/api/manage/servers?limit=200"] {
            let list = is_full(&client, path, 2_000_000).await;
            assert_eq!(list["items"].as_array().unwrap().len(), 200);
        }
        let explained = client.post("/api/plugin/matchmaking/find?explain=true",
            json!({"serverType": "lobby", "worldMatchmaking": true})).await;
        // Of so many only the best are explained.
        assert_eq!(explained.expect(200)["explanation"]["candidates"].as_array().unwrap().len(), 1_000);
    }

    async fn the_players_online_go_on_behind_a_cursor(hub: Hub) {
        let client = hub.network().await;
        let servers = 4;
        for server in 0..servers {
            let id = long(server);
            crate::servers::register(&client, &id, json!({})).await;
            let players: Vec<_> = (0..1_000)
                .map(|at| json!({"uuid": player(server * 1_000 + at), "name": "\u{10000}".repeat(200)}))
                .collect();
            client.post("/api/plugin/servers/heartbeat", json!({"serverId": id, "players": players})).await.expect(204);
        }
        let (mut seen, mut cursor) = (BTreeSet::new(), String::new());
        loop {
            let (answer, _) = get(&client, &format!("/api/plugin/servers/players?cursor={cursor}")).await;
            for row in answer.expect(200).as_array().unwrap() {
                assert!(seen.insert(row["playerUuid"].as_str().unwrap().to_owned()));
            }
            match answer.headers.get("next-cursor") {
                Some(next) => next.to_str().unwrap().clone_into(&mut cursor),
                None => break,
            }
        }
        assert_eq!(seen.len(), servers * 1_000);
        assert!(!cursor.is_empty(), "one answer held them all");
        client.get("/api/plugin/servers/players?cursor=x").await.expect_error(400, "invalid_cursor");
    }

    async fn groups_and_effective_permissions_are_bounded(hub: Hub) {
        let client = hub.network().await;
        let nodes = |group: usize| -> Value {
            (0..700).map(|at| json!({"node": format!("{group}.{at}.{}", "\u{10000}".repeat(240))})).collect()
        };
        let mut groups = 0;
        loop {
            let id = format!("g{groups:02}");
            let body = json!({"permissions": nodes(groups)});
            let answer = client.put(&format!("/api/plugin/permissions/groups/{id}"), body).await;
            if answer.status == 403 {
                answer.expect_quota("groupBytes", Limit::GroupBytes.bound());
                break;
            }
            answer.expect(204);
            groups += 1;
        }
        is_full(&client, "/api/plugin/permissions/groups", 2_000_000).await;
        let user = format!("/api/plugin/permissions/users/{}", player(1));
        for group in 0..groups {
            client.post(&format!("{user}/permissions"), json!({"node": format!("group.g{group:02}")})).await.expect(204);
        }
        is_full(&client, &format!("{user}/effective"), 1_500_000).await;
        client.get(&format!("{user}/effective?explain=true")).await.expect_error(400, "answer_too_large");
        get(&client, &format!("{user}/effective?explain=true&node=0.1.x")).await.0.expect(200);
    }

    async fn the_catalog_and_its_messages_are_bounded(hub: Hub) {
        let client = hub.network().await;
        let mut refused = 0;
        for call in 0..6 {
            let text = format!("\"{}", "\u{1}".repeat(990));
            let entries: serde_json::Map<_, _> =
                (0..140).map(|at| (format!("{call}-{at}"), json!(text.as_str()))).collect();
            let body = json!({"namespace": "lobby", "locale": "en", "entries": entries});
            let answer = client.post("/api/plugin/localization/defaults", body).await;
            if answer.status == 403 {
                answer.expect_quota("catalogBytes", Limit::CatalogBytes.bound());
                refused += 1;
            }
        }
        assert!(refused > 0);
        for number in 0..Limit::Locales.bound() {
            let path = format!("/api/manage/localization/locales/l{number}");
            client.put(&path, json!({"displayName": "\u{1}".repeat(255)})).await;
        }
        is_full(&client, "/api/plugin/localization/catalog", 3_000_000).await;
        is_full(&client, "/api/manage/localization/messages?limit=200", 2_000_000).await;
    }

    async fn a_catalog_that_many_fill_at_once_is_bounded(hub: Hub) {
        let client = hub.network().await;
        let mut filling = tokio::task::JoinSet::new();
        for number in 0..24 {
            let client = client.clone();
            filling.spawn(async move {
                let entries: Map<_, _> =
                    (0..900).map(|key| (format!("m.{number}.{key}"), "x".repeat(200).into())).collect();
                let body = json!({"namespace": format!("p{number}"), "locale": "en", "entries": entries});
                client.post("/api/plugin/localization/defaults", body).await.status.as_u16()
            });
        }
        let answers = filling.join_all().await;
        assert!(answers.contains(&200) && answers.contains(&403), "{answers:?}");
        is_full(&client, "/api/plugin/localization/catalog", 3_000_000).await;
    }

    async fn a_profile_is_bounded(hub: Hub) {
        let client = hub.network().await;
        let path = format!("/api/plugin/players/{}", player(1));
        client.post(&format!("{path}/load"), json!(null)).await.expect(200);
        // Quotes take two bytes in a text in JSON.
        let data = |bytes: usize| json!({"data": format!("[{}1]", "\"\",".repeat(bytes / 3))});
        for number in 0..70 {
            let answer = client.put(&format!("{path}/data/global/n{number}"), data(8_000)).await;
            assert_eq!(answer.status == 200, number < Limit::NamespacesPerPlayer.bound(), "{number}");
        }
        let mut refused = 0;
        for number in 0..6 {
            let answer = client.put(&format!("{path}/data/global/n{number}"), data(250_000)).await;
            refused += usize::from(answer.status == 403);
        }
        assert!((1..6).contains(&refused), "{refused}");
        for number in 0..60 {
            let body = json!({"currency": long(number), "amount": 1});
            client.post(&format!("/api/plugin/economy/player/{}/currencies/modify", player(1)), body).await.expect(200);
        }
        is_full(&client, &path, 1_500_000).await;
    }

    async fn punishments_of_one_answer_are_bounded_and_bans_come_first(hub: Hub) {
        let client = hub.network().await;
        let create = async |kind: &str| {
            let body = json!({"playerUuid": player(1), "type": kind, "reason": "\u{1}".repeat(1_024),
                "playerName": "\u{10000}".repeat(255)});
            client.post("/api/plugin/punishments/create", body).await.expect(200);
        };
        create("BAN").await;
        for _ in 0..PUNISHMENTS {
            create("MUTE").await;
        }
        let list = is_full(&client, &format!("/api/plugin/punishments/player/{}", player(1)), 2_000_000).await;
        let list = list.as_array().unwrap();
        assert_eq!(list.len() as i64, PUNISHMENTS);
        assert_eq!(list.last().unwrap()["type"], "BAN", "the oldest of them, and there");
        get(&client, &format!("/api/plugin/punishments/player/{}/history?limit=200", player(1))).await;
    }

    async fn a_page_of_keys_is_bounded(hub: Hub) {
        let client = hub.network().await;
        let bound = Limit::KeyBytes.bound();
        let make = async |servers: usize| {
            let servers: Vec<_> = (0..servers).map(long).collect();
            client.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"], "servers": servers})).await
        };
        make(16).await.expect_quota("keyBytes", bound);
        for _ in 0..200 {
            make(15).await.expect(201);
        }
        is_full(&client, "/api/manage/keys?limit=200", 2_000_000).await;
    }

    async fn a_page_of_a_log_is_bounded(hub: Hub) {
        let client = hub.network().await;
        crate::servers::register(&client, "a", json!({})).await;
        for _ in 0..20 {
            let text = "\u{1}".repeat(8_192);
            let lines: Vec<_> = (0..10).map(|_| json!({"at": 1, "stream": "stdout", "text": text})).collect();
            client.post("/api/plugin/servers/a/logs", json!({"lines": lines})).await.expect(200);
        }
        is_full(&client, "/api/manage/servers/a/logs/recent?limit=200", 2_000_000).await;
    }
}

async fn several_documents_are_answered_once(client: &Client, all: &[String]) {
    let mget = "/api/plugin/collections/guilds/mget";
    let mut asked: Vec<_> = all.iter().chain(all).chain(all).cloned().collect();
    asked.push("nothing".to_owned());
    let mut seen = vec![];
    let mut answers = 0;
    while !asked.is_empty() {
        let request = client.request(Method::POST, mget).json(&json!({"ids": asked}));
        let bytes = request.send().await.unwrap().bytes().await.unwrap();
        assert!(bytes.len() as i64 <= ANSWER_BYTES);
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        seen.extend(ids(&body));
        let rest = body["rest"].as_array().cloned().unwrap_or_default();
        asked = rest.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        answers += 1;
    }
    assert_eq!((seen.as_slice(), answers), (all, 2));
    client.post(mget, json!({"ids": vec!["a"; 201]})).await.expect_error(400, "invalid_request");
}
