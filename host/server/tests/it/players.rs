//! Players: loaded, listed, and their data.

mod data;
mod search;

use serde_json::{Value, json};

use crate::servers::{geo_file, join, register};
use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

pub const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
pub const ALEX: &str = "61699b2e-d327-4a01-9f1e-0ea8c3f06bc6";

pub async fn load(client: &Client, player: &str, query: &str) -> Value {
    client.post(&format!("/api/plugin/players/{player}/load?{query}"), Value::Null).await.expect(200).clone()
}

async fn profile(client: &Client, player: &str) -> Value {
    client.get(&format!("/api/plugin/players/{player}")).await.expect(200).clone()
}

on_both! {
    async fn a_player_is_loaded_and_read(hub: Hub) {
        let client = hub.network().await;
        client.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
        let loaded = load(&client, "069A79F444E94726A5BEFCA90E38AAF5", "username=Steve&gameType=MINECRAFT").await;
        let expected = json!({
            "uuid": STEVE, "username": "Steve", "gameType": "MINECRAFT", "firstSeen": NOW, "lastSeen": NOW,
            "currencies": [], "namespaces": [], "region": "UNKNOWN", "country": null,
        });
        assert_eq!(loaded, expected);
        let mut read = expected;
        read["online"] = json!(false);
        read["connection"] = Value::Null;
        assert_eq!(profile(&client, STEVE).await, read);

        // The engine stays, the name changes; an absent or blank field stays.
        hub.advance_ms(1_000);
        let again = load(&client, STEVE, "username=Steven&gameType=HYTALE").await;
        assert_eq!((&again["username"], &again["gameType"]), (&json!("Steven"), &json!("MINECRAFT")));
        assert_eq!((&again["firstSeen"], &again["lastSeen"]), (&json!(NOW), &json!(NOW + 1_000)));
        let blank = load(&client, STEVE, "username=&gameType=&ip=").await;
        assert_eq!((&blank["username"], &blank["gameType"]), (&json!("Steven"), &json!("MINECRAFT")));

        // An engine is recorded the first time it is sent.
        assert_eq!(load(&client, ALEX, "").await["gameType"], Value::Null);
        assert_eq!(load(&client, ALEX, "").await["username"], Value::Null);
        assert_eq!(load(&client, ALEX, "gameType=HYTALE").await["gameType"], "HYTALE");
    }

    async fn an_invalid_load_is_400(hub: Hub) {
        let client = hub.network().await;
        for (query, hint) in [
            ("gameType=DOOM", "MINECRAFT, HYTALE"),
            ("gameType=minecraft", "MINECRAFT, HYTALE"),
            ("ip=localhost", "`ip`"),
            ("ip=203.0.113.256", "`ip`"),
            ("gameMode=", "`gameMode`"),
            ("gameMode=a%20b", "`gameMode`"),
            ("username=a%0Ab", "`username`"),
            ("username=a%00b", "NUL"),
        ] {
            let answer = client.post(&format!("/api/plugin/players/{STEVE}/load?{query}"), Value::Null).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{query}: {}", answer.body);
        }
        let long = "x".repeat(65);
        for path in ["Steve", "069a79f4", &format!("{STEVE}?gameMode={long}")] {
            client.get(&format!("/api/plugin/players/{path}")).await.expect_error(400, "invalid_request");
        }
        client.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
    }

    async fn joining_and_leaving_set_when_a_player_was_seen(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"serverType": "lobby"})).await;
        let place = json!({"serverId": "a", "playerUuid": STEVE, "playerName": "Steve"});
        client.post("/api/plugin/servers/players", place).await.expect(204);
        let seen = profile(&client, STEVE).await;
        assert_eq!((&seen["username"], &seen["firstSeen"], &seen["online"]), (&json!("Steve"), &json!(NOW), &json!(true)));
        assert_eq!(seen["connection"], json!({"serverId": "a", "serverType": "lobby", "worldId": null}));
        let world = json!({"serverId": "a", "playerUuid": STEVE, "newWorldId": "w"});
        client.post("/api/plugin/servers/players/world", world).await.expect(204);
        assert_eq!(profile(&client, STEVE).await["connection"]["worldId"], "w");

        hub.advance_ms(5_000);
        client.delete(&format!("/api/plugin/servers/players/{STEVE}?serverId=other")).await.expect(204);
        assert_eq!(profile(&client, STEVE).await["lastSeen"], NOW);
        client.delete(&format!("/api/plugin/servers/players/{STEVE}?serverId=a")).await.expect(204);
        let gone = profile(&client, STEVE).await;
        assert_eq!((&gone["lastSeen"], &gone["online"]), (&json!(NOW + 5_000), &json!(false)));
        assert_eq!(gone["connection"], Value::Null);
        // Leaving makes no player known; joining does, also without a name.
        client.delete(&format!("/api/plugin/servers/players/{ALEX}")).await.expect(204);
        client.get(&format!("/api/plugin/players/{ALEX}")).await.expect_error(404, "unknown_player");
        let nameless = json!({"serverId": "a", "playerUuid": ALEX});
        client.post("/api/plugin/servers/players", nameless).await.expect(204);
        assert_eq!(profile(&client, ALEX).await["username"], Value::Null);
    }

    async fn a_load_makes_punishments_by_name_match(hub: Hub) {
        let client = hub.network().await;
        let ban = json!({"playerName": "Steve", "type": "BAN"});
        client.post("/api/plugin/punishments/create-by-name", ban).await.expect(200);
        let path = format!("/api/plugin/punishments/player/{STEVE}");
        assert_eq!(client.get(&path).await.expect(200), &json!([]));
        load(&client, STEVE, "username=STEVE").await;
        assert_eq!(client.get(&path).await.expect(200).as_array().unwrap().len(), 1);
    }

    async fn a_profile_has_the_currencies_and_the_namespaces_of_its_game_mode(hub: Hub) {
        let client = hub.network().await;
        for (path, data) in [("global/settings", "{}"), ("global/friends", "[]"), ("bedwars/kit", "1")] {
            client.put(&format!("/api/plugin/players/{STEVE}/data/{path}"), json!({"data": data})).await.expect(200);
        }
        let change = json!({"currency": "coins", "amount": 12.5});
        client.post(&format!("/api/plugin/economy/player/{STEVE}/currencies/modify"), change).await.expect(200);
        // Neither makes a player known.
        client.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
        let loaded = load(&client, STEVE, "").await;
        assert_eq!(loaded["currencies"], json!([{"currencyName": "coins", "balance": 12.5}]));
        assert_eq!(loaded["namespaces"], json!([
            {"namespace": "friends", "data": "[]", "version": 1}, {"namespace": "settings", "data": "{}", "version": 1},
        ]));
        let bedwars = json!([{"namespace": "kit", "data": "1", "version": 1}]);
        assert_eq!(load(&client, STEVE, "gameMode=bedwars").await["namespaces"], bedwars);
        let read = client.get(&format!("/api/plugin/players/{STEVE}?gameMode=bedwars")).await.expect(200).clone();
        assert_eq!((&read["namespaces"], &read["currencies"]), (&bedwars, &loaded["currencies"]));
        assert_eq!(profile(&client, STEVE).await["namespaces"], loaded["namespaces"]);
    }

    async fn another_network_knows_other_players(hub: Hub) {
        let ours = hub.network().await;
        let theirs = hub.network().await;
        load(&theirs, STEVE, "username=Steve&gameType=MINECRAFT").await;
        theirs.put(&format!("/api/plugin/players/{STEVE}/data/global/x"), json!({"data": "1"})).await.expect(200);
        let ip = json!({"playerUuid": STEVE, "ipAddress": "203.0.113.7"});
        theirs.post("/api/plugin/punishments/ip", ip).await.expect(204);
        ours.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
        ours.get(&format!("/api/plugin/players/{STEVE}/data/global/x")).await.expect_error(404, "unknown_namespace");
        ours.delete(&format!("/api/plugin/players/{STEVE}/data/global/x")).await.expect_error(404, "unknown_namespace");
        assert_eq!(ours.get(&format!("/api/plugin/players/{STEVE}/ips")).await.expect(200), &json!([]));
        assert_eq!(ours.get("/api/plugin/players?search=steve").await.expect(200)["total"], 0);
        // The same UUID is another player here.
        assert_eq!(load(&ours, STEVE, "username=Herobrine").await["gameType"], Value::Null);
        assert_eq!(profile(&theirs, STEVE).await["username"], "Steve");
    }

    async fn concurrent_loads_create_a_player_once(hub: Hub) {
        let client = hub.network().await;
        let loads = (0..20).map(|at| {
            let client = client.clone();
            tokio::spawn(async move { load(&client, STEVE, &format!("username=Steve{at}")).await })
        });
        for done in loads.collect::<Vec<_>>() {
            assert_eq!(done.await.unwrap()["firstSeen"], NOW);
        }
        let page = client.get("/api/plugin/players?search=steve").await.expect(200).clone();
        assert_eq!((&page["total"], page["items"].as_array().unwrap().len()), (&json!(1), 1));
    }
}

async fn regions_come_from_addresses(backend: Backend) {
    let folder = tempfile::TempDir::new().unwrap();
    let file = geo_file(folder.path());
    let hub = Hub::start_with(backend, |settings| settings.geoip = Some(file)).await;
    let client = hub.network().await;
    let place = |player: &Value| (player["region"].clone(), player["country"].clone());
    assert_eq!(place(&load(&client, STEVE, "ip=89.160.20.128").await), (json!("EUROPE"), json!("SE")));
    // An address that can't be located leaves the region unchanged; one that can replaces it.
    assert_eq!(place(&load(&client, STEVE, "ip=203.0.113.1").await), (json!("EUROPE"), json!("SE")));
    assert_eq!(place(&load(&client, STEVE, "").await), (json!("EUROPE"), json!("SE")));
    assert_eq!(place(&load(&client, STEVE, "ip=2001:218::1").await), (json!("ASIA"), json!("JP")));
    // The address itself is not stored.
    assert_eq!(client.get(&format!("/api/plugin/players/{STEVE}/ips")).await.expect(200), &json!([]));
    let of = |region: &'static str| {
        let client = client.clone();
        async move { client.get(&format!("/api/plugin/players?region={region}")).await.expect(200)["total"].clone() }
    };
    load(&client, ALEX, "").await;
    assert_eq!((of("asia").await, of("EU").await, of("UNKNOWN").await), (json!(1), json!(0), json!(1)));

    // Addresses recorded for punishments are listed, newest first.
    for (ip, later) in [("89.160.20.128", 10), ("203.0.113.1", 10), ("2001:0218::1", 10), ("89.160.20.128", 0)] {
        let body = json!({"playerUuid": STEVE, "ipAddress": ip});
        client.post("/api/plugin/punishments/ip", body).await.expect(204);
        hub.advance_ms(later);
    }
    let now = NOW + 30;
    assert_eq!(
        client.get(&format!("/api/plugin/players/{STEVE}/ips")).await.expect(200),
        &json!([
            {"ipAddress": "89.160.20.128", "firstSeen": NOW, "lastSeen": now, "region": "EUROPE", "country": "SE",
             "geoResolvedAt": now},
            {"ipAddress": "2001:218::1", "firstSeen": NOW + 20, "lastSeen": NOW + 20, "region": "ASIA", "country": "JP",
             "geoResolvedAt": now},
            {"ipAddress": "203.0.113.1", "firstSeen": NOW + 10, "lastSeen": NOW + 10, "region": null, "country": null,
             "geoResolvedAt": null},
        ])
    );

    // Matchmaking uses the region of the player if the request names none.
    register(&client, "asia", json!({"region": "ASIA", "maxPlayers": 100})).await;
    register(&client, "europe", json!({"region": "EUROPE", "maxPlayers": 100})).await;
    for player in 1..=5 {
        join(&client, "asia", player).await;
    }
    let found = |client: &Client, body: Value| {
        let client = client.clone();
        async move {
            let found = client.post("/api/plugin/matchmaking/find", body).await.expect(200).clone();
            found["matchedServer"]["serverId"].clone()
        }
    };
    assert_eq!(found(&client, json!({"serverType": "lobby"})).await, "europe");
    assert_eq!(found(&client, json!({"serverType": "lobby", "playerUuid": STEVE})).await, "asia");
    let named = json!({"serverType": "lobby", "playerUuid": STEVE, "region": "EU"});
    assert_eq!(found(&client, named).await, "europe");

    // Also after a restart, for an online player.
    register(&client, "hub", json!({"serverType": "hub"})).await;
    let place = json!({"serverId": "hub", "playerUuid": STEVE});
    client.post("/api/plugin/servers/players", place).await.expect(204);
    let hub = hub.restart(std::time::Duration::ZERO).await;
    let client = hub.with_key(client.key.as_ref().unwrap());
    assert_eq!(found(&client, json!({"serverType": "lobby"})).await, "europe");
    assert_eq!(found(&client, json!({"serverType": "lobby", "playerUuid": STEVE})).await, "asia");
}

on_each! { regions_come_from_addresses }
