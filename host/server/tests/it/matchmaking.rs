//! Matches, their results and the slots they reserve.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::servers::{beat, geo_file, join, register, uuid};
use crate::support::{Backend, Client, Hub, on_both};

const FIND: &str = "/api/plugin/matchmaking/find";

async fn find(client: &Client, body: Value) -> Value {
    client.post(FIND, body).await.expect(200).clone()
}

/// A match request for this player.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
fn request(player: u64, more: Value) -> Value {
    let mut body = json!({"playerUuid": uuid(player), "playerName": format!("p{player}")});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Id of the matched server, or the result without one.
async fn outcome(client: &Client, body: Value) -> String {
    let found = find(client, body).await;
    let server = found["matchedServer"]["serverId"].as_str();
    assert_eq!(found["success"].as_bool().unwrap(), server.is_some(), "{found}");
    assert_eq!(found["errorMessage"].is_string(), server.is_none(), "{found}");
    assert_eq!(found["transferId"].is_string(), server.is_some(), "{found}");
    server.unwrap_or_else(|| found["result"].as_str().unwrap()).to_owned()
}

async fn lobby(client: &Client, player: u64) -> String {
    outcome(client, request(player, json!({"serverType": "lobby"}))).await
}

on_both! {
    async fn a_match_shows_where_to_go(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"region": "EUROPE", "worlds": [{"worldId": "w", "worldType": "duel"}]})).await;
        let found = find(&client, request(1, json!({"serverType": "lobby"}))).await;
        assert_eq!((&found["success"], &found["result"]), (&json!(true), &json!("SUCCESS")));
        assert_eq!((&found["errorMessage"], &found["matchedWorld"], &found["warm"]), (&Value::Null, &Value::Null, &json!(false)));
        let live = client.get("/api/manage/servers/a").await.expect(200)["live"].clone();
        assert_eq!(found["matchedServer"], live);
        assert_eq!(found["transferId"].as_str().unwrap().len(), 36);
        assert!(found.get("explanation").is_none());
        let found = find(&client, request(1, json!({"serverType": "lobby", "worldType": "duel"}))).await;
        assert_eq!(found["matchedWorld"], live["worlds"][0]);
        assert_eq!(found["matchedServer"], live);
    }

    async fn a_party_stays_together_or_stays_out(hub: Hub) {
        let client = hub.network().await;
        register(&client, "small", json!({"maxPlayers": 3})).await;
        register(&client, "large", json!({"maxPlayers": 6})).await;
        join(&client, "large", 50).await;
        join(&client, "large", 51).await;
        let party = |leader: u64, members: std::ops::RangeInclusive<u64>| {
            let members: Vec<_> = members.map(uuid).collect();
            request(leader, json!({"serverType": "lobby", "party": members}))
        };
        // Four have room on the large one alone, although the small one is emptier; the leader counts, named or not.
        assert_eq!(outcome(&client, party(1, 1..=4)).await, "large");
        // Its slots are all reserved now; a repeated match returns the same ones to the party.
        assert_eq!(outcome(&client, party(1, 2..=4)).await, "large");
        assert_eq!(outcome(&client, party(10, 11..=13)).await, "ALL_SERVERS_FULL");
        assert_eq!(outcome(&client, request(20, json!({"serverId": "large"}))).await, "SERVER_FULL");
        assert_eq!(outcome(&client, party(10, 11..=12)).await, "small");
        assert_eq!(lobby(&client, 30).await, "ALL_SERVERS_FULL");
        // Each join uses up one's own slot.
        for member in 1..=4 {
            join(&client, "large", member).await;
        }
        let live = client.get("/api/manage/servers/large").await.expect(200)["live"].clone();
        assert_eq!(live["currentPlayers"], 6);
        assert_eq!(lobby(&client, 30).await, "ALL_SERVERS_FULL");
        // An unused slot is free after its time.
        hub.advance_ms(15_000);
        for server in ["small", "large"] {
            beat(&client, server, json!({})).await;
        }
        assert_eq!(lobby(&client, 30).await, "small");
        // A member who is already there needs no slot.
        register(&client, "home", json!({"serverType": "home", "maxPlayers": 2})).await;
        join(&client, "home", 40).await;
        let home = request(41, json!({"serverType": "home", "party": [uuid(40)]}));
        assert_eq!(outcome(&client, home.clone()).await, "home");
        let two = request(41, json!({"serverType": "home", "party": [uuid(40), uuid(42)]}));
        assert_eq!(outcome(&client, two).await, "ALL_SERVERS_FULL");

        // On a world, too.
        register(&client, "arena", json!({"serverType": "arena", "maxPlayers": 20, "worlds": [
            {"worldId": "w1", "worldType": "duel", "maxPlayers": 2},
            {"worldId": "w2", "worldType": "duel", "maxPlayers": 4, "currentPlayers": 1},
        ]})).await;
        let duel = |leader: u64, members: Vec<u64>| {
            let members: Vec<_> = members.into_iter().map(uuid).collect();
            request(leader, json!({"serverType": "arena", "worldType": "duel", "party": members}))
        };
        assert_eq!(find(&client, duel(60, vec![61, 62])).await["matchedWorld"]["worldId"], "w2");
        assert_eq!(outcome(&client, duel(70, vec![71, 72])).await, "ALL_WORLDS_FULL");
        assert_eq!(find(&client, duel(70, vec![71])).await["matchedWorld"]["worldId"], "w1");

        let sixteen: Vec<_> = (1..=16).map(uuid).collect();
        client.post(FIND, request(1, json!({"serverType": "x", "party": sixteen}))).await.expect(200);
        for wrong in [
            request(17, json!({"serverType": "x", "party": sixteen})),
            json!({"serverType": "x", "party": (1..=17).map(uuid).collect::<Vec<_>>()}),
            json!({"serverType": "x", "party": ["Steve"]}),
            json!({"serverType": "x", "party": uuid(1)}),
        ] {
            let answer = client.post(FIND, wrong).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains("`party"), "{}", answer.body);
        }
    }

    async fn parties_at_once_get_no_more_slots_than_there_are(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"maxPlayers": 10})).await;
        register(&client, "b", json!({"maxPlayers": 7})).await;
        let finds = (0..12_u64).map(|at| {
            let client = client.clone();
            let members: Vec<_> = (0..3).map(|member| uuid(100 + at * 3 + member)).collect();
            let body = json!({"playerUuid": members[0], "serverType": "lobby", "party": members});
            tokio::spawn(async move { find(&client, body).await["success"] == true })
        });
        let mut found = 0;
        for matched in finds.collect::<Vec<_>>() {
            found += u32::from(matched.await.unwrap());
        }
        assert_eq!(found, 5);
    }

    async fn a_request_without_a_mode_is_400(hub: Hub) {
        let client = hub.network().await;
        for (wrong, hint) in [
            (json!({}), "Missing target"),
            (request(1, json!({})), "Missing target"),
            (request(1, json!({"worldType": "duel"})), "Missing target"),
            (request(1, json!({"worldId": "w", "serverType": "lobby"})), "`serverId`"),
            (request(1, json!({"directJoin": true, "serverType": "lobby"})), "`serverId`"),
            (request(1, json!({"serverType": " "})), "`serverType`"),
            (json!({"serverType": "lobby", "playerUuid": "x"}), "`playerUuid`"),
            (json!({"serverType": "lobby", "region": "!"}), "`region`"),
            (json!({"serverType": "lobby", "directJoin": "yes"}), "`directJoin`"),
        ] {
            let answer = client.post(FIND, wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
    }

    async fn the_results_of_server_matching(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(lobby(&client, 1).await, "NO_SERVERS_AVAILABLE");
        register(&client, "proxy", json!({"role": "PROXY"})).await;
        register(&client, "arena", json!({"serverType": "arena"})).await;
        assert_eq!(lobby(&client, 1).await, "NO_SERVERS_AVAILABLE");
        register(&client, "game", json!({"playersToStart": 2, "gameState": "PLAYING", "maxPlayers": 1})).await;
        join(&client, "game", 9).await;
        // Full, but its game runs, too.
        assert_eq!(lobby(&client, 1).await, "NO_SERVERS_AVAILABLE");
        beat(&client, "game", json!({"gameState": "WAITING"})).await;
        assert_eq!(lobby(&client, 1).await, "ALL_SERVERS_FULL");
        // The only server is the player's current one.
        assert_eq!(lobby(&client, 9).await, "NO_SERVERS_AVAILABLE");
        register(&client, "free", json!({})).await;
        assert_eq!(lobby(&client, 1).await, "free");
        hub.advance_ms(30_000);
        assert_eq!(lobby(&client, 1).await, "NO_SERVERS_AVAILABLE");
    }

    async fn the_results_of_world_matching(hub: Hub) {
        let client = hub.network().await;
        let duel = |player: u64| request(player, json!({"serverType": "lobby", "worldType": "duel"}));
        assert_eq!(outcome(&client, duel(1)).await, "NO_WORLDS_AVAILABLE");
        register(&client, "a", json!({"maxPlayers": 4, "worlds": [
            {"worldId": "other"},
            {"worldId": "busy", "worldType": "duel", "playersToStart": 2, "gameState": "PLAYING"},
        ]})).await;
        assert_eq!(outcome(&client, duel(1)).await, "NO_WORLDS_AVAILABLE");
        let full = json!({"worldId": "w", "worldType": "duel", "maxPlayers": 2, "currentPlayers": 2});
        beat(&client, "a", json!({"worlds": [full]})).await;
        assert_eq!(outcome(&client, duel(1)).await, "ALL_WORLDS_FULL");
        let free = json!({"worldId": "w", "worldType": "duel", "maxPlayers": 2, "currentPlayers": 1});
        beat(&client, "a", json!({"worlds": [free, {"worldId": "v"}]})).await;
        assert_eq!(outcome(&client, duel(1)).await, "a");
        // Its one slot is kept for the first.
        assert_eq!(outcome(&client, duel(2)).await, "ALL_WORLDS_FULL");
        // Any world will do.
        let any = find(&client, request(2, json!({"serverType": "lobby", "worldMatchmaking": true}))).await;
        assert_eq!(any["matchedWorld"]["worldId"], "v");
        // A server without room has none in its worlds.
        for player in 5..8 {
            join(&client, "a", player).await;
        }
        let any = |player: u64| request(player, json!({"serverType": "lobby", "worldMatchmaking": true}));
        assert_eq!(outcome(&client, any(3)).await, "ALL_WORLDS_FULL");
        assert_eq!(outcome(&client, any(5)).await, "NO_WORLDS_AVAILABLE");
    }

    async fn the_results_of_a_direct_join(hub: Hub) {
        let client = hub.network().await;
        register(&client, "gone", json!({})).await;
        client.post("/api/plugin/servers/unregister?serverId=gone", Value::Null).await.expect(204);
        register(&client, "proxy", json!({"role": "PROXY"})).await;
        register(&client, "game", json!({"playersToStart": 2, "gameState": "PLAYING"})).await;
        register(&client, "small", json!({"maxPlayers": 1})).await;
        join(&client, "small", 9).await;
        register(&client, "a", json!({"worlds": [
            {"worldId": "w", "maxPlayers": 1},
            {"worldId": "full", "maxPlayers": 1, "currentPlayers": 1},
            {"worldId": "runs", "playersToStart": 1, "gameState": "PLAYING"},
        ]})).await;
        let to = |player: u64, server: &str, world: Option<&str>| request(player, json!({"serverId": server, "worldId": world}));
        for (server, world, expected) in [
            ("nowhere", None, "SERVER_NOT_FOUND"),
            ("gone", None, "SERVER_OFFLINE"),
            ("proxy", None, "SERVER_NOT_JOINABLE"),
            ("game", None, "SERVER_NOT_JOINABLE"),
            ("small", None, "SERVER_FULL"),
            ("a", Some("nothing"), "WORLD_NOT_FOUND"),
            ("a", Some("full"), "WORLD_FULL"),
            ("a", Some("runs"), "WORLD_NOT_JOINABLE"),
            ("a", None, "a"),
            ("a", Some("w"), "a"),
        ] {
            assert_eq!(outcome(&client, to(1, server, world)).await, expected, "{server} {world:?}");
        }
        assert_eq!(outcome(&client, to(9, "small", None)).await, "ALREADY_ON_SERVER");
        // The last match reserves the world's one slot.
        assert_eq!(outcome(&client, to(2, "a", Some("w"))).await, "WORLD_FULL");
        let both = request(3, json!({"serverId": "a", "serverType": "nothing", "directJoin": true}));
        assert_eq!(outcome(&client, both).await, "a");
    }

    async fn lobbies_spread_and_minigames_fill(hub: Hub) {
        let client = hub.network().await;
        for id in ["a", "b", "c"] {
            register(&client, id, json!({})).await;
        }
        join(&client, "a", 100).await;
        // The emptiest, then the id; those on their way count.
        assert_eq!(lobby(&client, 1).await, "b");
        assert_eq!(lobby(&client, 2).await, "c");
        assert_eq!(lobby(&client, 3).await, "a");
        // A repeated match returns the player's slot first.
        assert_eq!(lobby(&client, 1).await, "b");

        let game = |to_start: u64| json!({"serverType": "game", "gameState": "WAITING", "playersToStart": to_start});
        register(&client, "g1", game(4)).await;
        register(&client, "g2", game(4)).await;
        register(&client, "g3", game(2)).await;
        join(&client, "g2", 101).await;
        let play = async |player: u64| outcome(&client, request(player, json!({"serverType": "game"}))).await;
        // g3 lacks two, g2 three, g1 four.
        assert_eq!(play(11).await, "g3");
        assert_eq!(play(12).await, "g3");
        // Started ones need no players: the fullest comes first.
        assert_eq!(play(13).await, "g3");
    }

    async fn the_players_region_comes_first(hub: Hub) {
        let client = hub.network().await;
        register(&client, "asia", json!({"region": "ASIA"})).await;
        register(&client, "eu-1", json!({"region": "EUROPE", "maxPlayers": 2})).await;
        register(&client, "eu-2", json!({"region": "EU", "maxPlayers": 2})).await;
        let from = async |player: u64, region: &str| {
            outcome(&client, request(player, json!({"serverType": "lobby", "region": region}))).await
        };
        assert_eq!(from(1, "EU").await, "eu-1");
        assert_eq!(from(2, "europe").await, "eu-2");
        assert_eq!(from(3, "EU").await, "eu-1");
        assert_eq!(from(4, "EU").await, "eu-2");
        assert_eq!(from(5, "EU").await, "asia");
        assert_eq!(from(6, "").await, "asia");
    }

    async fn a_reservation_expires_after_15_seconds(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"maxPlayers": 1})).await;
        assert_eq!(lobby(&client, 1).await, "a");
        assert_eq!(lobby(&client, 2).await, "ALL_SERVERS_FULL");
        assert_eq!(lobby(&client, 1).await, "a");
        let nobody = json!({"serverType": "lobby"});
        assert_eq!(outcome(&client, nobody.clone()).await, "ALL_SERVERS_FULL");
        hub.advance_ms(14_999);
        assert_eq!(lobby(&client, 2).await, "ALL_SERVERS_FULL");
        hub.advance_ms(1);
        assert_eq!(outcome(&client, nobody.clone()).await, "a");
        assert_eq!(outcome(&client, nobody).await, "ALL_SERVERS_FULL");
    }

    async fn a_join_uses_the_reservation(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"maxPlayers": 2})).await;
        assert_eq!(lobby(&client, 1).await, "a");
        join(&client, "a", 1).await;
        assert_eq!(lobby(&client, 2).await, "a");
        // Presence in a heartbeat counts like a join.
        beat(&client, "a", json!({"players": [{"uuid": uuid(1)}, {"uuid": uuid(2)}]})).await;
        assert_eq!(lobby(&client, 3).await, "ALL_SERVERS_FULL");
        client.delete(&format!("/api/plugin/servers/players/{}?serverId=a", uuid(1))).await.expect(204);
        assert_eq!(lobby(&client, 3).await, "a");
        assert_eq!(lobby(&client, 4).await, "ALL_SERVERS_FULL");
    }

    async fn a_worlds_slots_count_until_its_server_reports_them(hub: Hub) {
        let client = hub.network().await;
        let world = |players: u64| json!([{"worldId": "w", "worldType": "duel", "maxPlayers": 2, "currentPlayers": players}]);
        register(&client, "a", json!({"worlds": world(0)})).await;
        let duel = async |player: u64| outcome(&client, request(player, json!({"serverType": "lobby", "worldType": "duel"}))).await;
        for player in 1..=2 {
            assert_eq!(duel(player).await, "a");
            join(&client, "a", player).await;
        }
        assert_eq!(duel(3).await, "ALL_WORLDS_FULL");
        beat(&client, "a", json!({"worlds": world(1)})).await;
        assert_eq!(duel(3).await, "a");
        assert_eq!(duel(4).await, "ALL_WORLDS_FULL");
    }

    async fn three_hundred_at_once_get_twenty_slots(hub: Hub) {
        let client = hub.network().await;
        for (id, size) in [("a", 6), ("b", 6), ("c", 8)] {
            register(&client, id, json!({"maxPlayers": size})).await;
        }
        let finds: Vec<_> = (0..300).map(|player| {
            let client = client.clone();
            tokio::spawn(async move {
                let outcome = lobby(&client, player).await;
                if outcome.len() == 1 {
                    join(&client, &outcome, player).await;
                }
                (player, outcome)
            })
        }).collect();
        let mut placed: HashSet<(u64, String)> = HashSet::new();
        for found in finds {
            let (player, outcome) = found.await.unwrap();
            if outcome == "ALL_SERVERS_FULL" {
                continue;
            }
            placed.insert((player, outcome));
        }
        assert_eq!(placed.len(), 20);
        for (id, size) in [("a", 6), ("b", 6), ("c", 8)] {
            assert_eq!(placed.iter().filter(|(_, at)| at == id).count(), size);
            let live = client.get(&format!("/api/manage/servers/{id}")).await.expect(200)["live"].clone();
            assert_eq!((&live["currentPlayers"], &live["full"]), (&json!(size), &json!(true)));
        }
        hub.advance_ms(20_000);
        assert_eq!(lobby(&client, 999).await, "ALL_SERVERS_FULL");
    }

    /// More than are evaluated under one lock.
    async fn the_best_of_many_worlds_is_found(hub: Hub) {
        let client = hub.network().await;
        let worlds = |count: usize, max: u32| -> Vec<_> {
            (0..count)
                .map(|at| json!({"worldId": format!("w{at:03}"), "worldType": "duel", "currentPlayers": 1, "maxPlayers": max}))
                .collect()
        };
        for server in 0..30 {
            let server = format!("s{server:02}");
            register(&client, &server, json!({"maxPlayers": 1000, "worlds": worlds(40, 1)})).await;
        }
        let duel = |player| request(player, json!({"serverType": "lobby", "worldType": "duel"}));
        assert_eq!(outcome(&client, duel(1)).await, "ALL_WORLDS_FULL");
        let none = request(1, json!({"serverType": "lobby", "worldType": "arena"}));
        assert_eq!(outcome(&client, none).await, "NO_WORLDS_AVAILABLE");
        // Two slots, in the last worlds of the last servers.
        for server in ["s28", "s29"] {
            let mut worlds = worlds(40, 1);
            worlds[39]["maxPlayers"] = json!(2);
            beat(&client, server, json!({"worlds": worlds})).await;
        }
        let explained = client.post(&format!("{FIND}?explain=true"), duel(1)).await.expect(200).clone();
        let candidates = explained["explanation"]["candidates"].as_array().unwrap().clone();
        assert_eq!(candidates.len(), 2);
        assert_eq!((&candidates[0]["serverId"], &candidates[0]["rank"]), (&json!("s28"), &json!(1)));
        let finds = (1..=30).map(|player| find(&client, duel(player)));
        let found = futures_util::future::join_all(finds).await;
        let mut matched: Vec<_> = found
            .iter()
            .filter(|found| found["success"] == json!(true))
            .map(|found| (found["matchedServer"]["serverId"].clone(), found["matchedWorld"]["worldId"].clone()))
            .collect();
        matched.sort_by_key(|(server, _)| server.to_string());
        assert_eq!(matched, [(json!("s28"), json!("w039")), (json!("s29"), json!("w039"))]);
        assert!(found.iter().all(|found| found["success"] == json!(true) || found["result"] == json!("ALL_WORLDS_FULL")));
    }

    async fn regions_are_counted(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(client.get("/api/plugin/matchmaking/regions").await.expect(200), &json!([]));
        register(&client, "a", json!({"region": "ASIA"})).await;
        register(&client, "b", json!({"region": "EU"})).await;
        register(&client, "c", json!({"region": "EU", "serverType": "arena"})).await;
        register(&client, "d", json!({})).await;
        register(&client, "p", json!({"region": "AFRICA", "role": "PROXY"})).await;
        for player in 1..=2 {
            join(&client, "a", player).await;
        }
        join(&client, "c", 3).await;
        let regions = client.get("/api/plugin/matchmaking/regions").await.expect(200).clone();
        assert_eq!(regions, json!([
            {"region": "ASIA", "servers": 1, "players": 2},
            {"region": "EUROPE", "servers": 2, "players": 1},
            {"region": "UNKNOWN", "servers": 1, "players": 0},
        ]));
        let regions = client.get("/api/plugin/matchmaking/regions?serverType=arena").await.expect(200).clone();
        assert_eq!(regions, json!([{"region": "EUROPE", "servers": 1, "players": 1}]));
    }

    async fn explain_answers_why_and_reserves_nothing(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "a", json!({"maxPlayers": 1, "region": "ASIA"})).await;
        register(&owner, "b", json!({"region": "EUROPE", "playersToStart": 2, "gameState": "PLAYING"})).await;
        register(&owner, "c", json!({"region": "EUROPE", "maxPlayers": 1})).await;
        join(&owner, "c", 9).await;
        let explain = format!("{FIND}?explain=true");
        let body = request(1, json!({"serverType": "lobby", "region": "EU"}));
        for _ in 0..2 {
            let found = owner.post(&explain, body.clone()).await.expect(200).clone();
            assert_eq!((&found["result"], &found["transferId"]), (&json!("SUCCESS"), &Value::Null));
            assert_eq!(found["matchedServer"]["serverId"], "a");
            let explanation = &found["explanation"];
            assert_eq!((&explanation["decidedBy"], &explanation["playerRegion"]), (&json!("BUILT_IN"), &json!("EUROPE")));
            let rows = explanation["candidates"].as_array().unwrap();
            let row = |id: &str| rows.iter().find(|row| row["serverId"] == id).unwrap();
            assert_eq!((rows.len(), &rows[0]["serverId"], &row("a")["rank"]), (3, &json!("a"), &json!(1)));
            assert_eq!(row("a")["against"], json!(["It is in ASIA; the player is in EUROPE."]));
            assert_eq!(row("c")["for"], json!(["It is in the player's region, EUROPE."]));
            assert_eq!(row("c")["against"], json!(["The server is full, counting players on their way."]));
            assert!(row("b")["against"].to_string().contains("cannot be joined in its current state"));
            assert_eq!((&row("a")["reserved"], &row("b")["rank"]), (&json!(0), &Value::Null));
        }
        let direct = owner.post(&explain, request(1, json!({"serverId": "b"}))).await.expect(200).clone();
        assert_eq!((&direct["result"], &direct["explanation"]["candidates"][0]["serverId"]), (&json!("SERVER_NOT_JOINABLE"), &json!("b")));
        let direct = owner.post(&explain, request(1, json!({"serverId": "a"}))).await.expect(200).clone();
        assert_eq!((&direct["success"], &direct["explanation"]["candidates"][0]["rank"]), (&json!(true), &json!(1)));
        let nowhere = owner.post(&explain, request(1, json!({"serverId": "nowhere"}))).await.expect(200).clone();
        assert_eq!((&nowhere["result"], &nowhere["explanation"]["candidates"]), (&json!("SERVER_NOT_FOUND"), &json!([])));
        let none = owner.post(&explain, request(1, json!({"serverType": "nothing"}))).await.expect(200).clone();
        assert_eq!(none["result"], "NO_SERVERS_AVAILABLE");

        let plugin = owner.key_with(&["plugin"]).await;
        plugin.post(&explain, body.clone()).await.expect_error(403, "forbidden_scope");
        plugin.post(&format!("{FIND}?explain=false"), body.clone()).await.expect(200);
        plugin.post(&format!("{FIND}?explain=maybe"), body.clone()).await.expect_error(400, "invalid_request");
        let manager = owner.key_with(&["network:manage"]).await;
        manager.post(&explain, body.clone()).await.expect(200);
        manager.post(FIND, body).await.expect_error(403, "forbidden_scope");
    }

    async fn another_networks_servers_do_not_exist(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        register(&ours, "a", json!({"maxPlayers": 1, "worlds": [{"worldId": "w", "worldType": "duel"}]})).await;
        assert_eq!(lobby(&theirs, 1).await, "NO_SERVERS_AVAILABLE");
        assert_eq!(outcome(&theirs, request(1, json!({"serverType": "lobby", "worldType": "duel"}))).await, "NO_WORLDS_AVAILABLE");
        assert_eq!(outcome(&theirs, request(1, json!({"serverId": "a"}))).await, "SERVER_NOT_FOUND");
        assert_eq!(theirs.get("/api/plugin/matchmaking/regions").await.expect(200), &json!([]));
        // Nor do they take slots there.
        assert_eq!(lobby(&ours, 1).await, "a");
        register(&theirs, "a", json!({"maxPlayers": 1})).await;
        assert_eq!(lobby(&theirs, 1).await, "a");
        assert_eq!(lobby(&ours, 1).await, "a");
    }
}

#[tokio::test]
async fn without_geo_routing_regions_count_for_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = geo_file(folder.path());
    let hub = Hub::start_with(Backend::sqlite(), |settings| {
        settings.geoip = Some(file);
        settings.geo_routing = hub::config::Switch::Off;
    })
    .await;
    let client = hub.network().await;
    register(&client, "a", json!({"region": "ASIA"})).await;
    register(&client, "b", json!({"publicIp": "81.2.69.142"})).await;
    assert_eq!(client.get("/api/manage/servers/b").await.expect(200)["geoRegion"], "EUROPE");
    assert_eq!(client.get("/api/plugin/matchmaking/regions").await.expect(200), &json!([]));
    assert_eq!(outcome(&client, request(1, json!({"serverType": "lobby", "region": "EUROPE"}))).await, "a");
}
