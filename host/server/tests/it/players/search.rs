//! The list of players.

use serde_json::{Value, json};

use super::load;
use crate::servers::{join, register, uuid};
use crate::support::{Client, on_both};

async fn names(client: &Client, query: &str) -> Vec<String> {
    let page = client.get(&format!("/api/plugin/players?{query}")).await.expect(200).clone();
    let items = page["items"].as_array().unwrap();
    if !query.contains("page=") {
        assert_eq!(page["total"], items.len(), "{query}");
    }
    items.iter().map(|row| row["username"].as_str().unwrap_or("-").to_owned()).collect()
}

on_both! {
    async fn players_are_listed_most_recently_seen_first(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(client.get("/api/plugin/players").await.expect(200), &json!({
            "items": [], "page": 0, "limit": 50, "total": 0,
        }));
        for player in 1..=5 {
            load(&client, &uuid(player), &format!("username=p{player}&gameType=MINECRAFT")).await;
            hub.advance_ms(10);
        }
        assert_eq!(names(&client, "").await, ["p5", "p4", "p3", "p2", "p1"]);
        load(&client, &uuid(2), "").await;
        register(&client, "a", json!({})).await;
        hub.advance_ms(10);
        join(&client, "a", 1).await;
        assert_eq!(names(&client, "").await, ["p1", "p2", "p5", "p4", "p3"]);
        assert_eq!(names(&client, "limit=2&page=1").await, ["p5", "p4"]);
        assert_eq!(names(&client, "limit=2&page=3").await, [""; 0]);
        let page = client.get("/api/plugin/players?limit=2&page=1").await.expect(200).clone();
        assert_eq!((&page["page"], &page["limit"], &page["total"]), (&json!(1), &json!(2), &json!(5)));
        let page = client.get("/api/plugin/players?limit=1").await.expect(200).clone();
        assert_eq!(page["items"][0], json!({
            "uuid": uuid(1), "username": "p1", "gameType": "MINECRAFT", "firstSeen": crate::support::NOW,
            "lastSeen": crate::support::NOW + 60, "online": true, "region": "UNKNOWN", "country": null,
            "connection": {"serverId": "a", "serverType": "lobby", "worldId": null},
        }));
        let page = client.get("/api/plugin/players?limit=1&page=1").await.expect(200).clone();
        assert_eq!((&page["items"][0]["online"], &page["items"][0]["connection"]), (&json!(false), &Value::Null));
        for wrong in ["limit=0", "page=-1", "limit=x", "region=the%20moon", "search=a%00b"] {
            client.get(&format!("/api/plugin/players?{wrong}")).await.expect_error(400, "invalid_request");
        }
        assert_eq!(client.get("/api/plugin/players?limit=1000").await.expect(200)["limit"], 200);
    }

    async fn names_are_found_by_any_part_in_any_case(hub: Hub) {
        let client = hub.network().await;
        let all = ["Herobrine", "herbert", "BRINEshrimp", "Ünïcödé", "50%_off", "a\"quote", "x\\y", "ab"];
        for (number, name) in (1..).zip(all) {
            let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
            load(&client, &uuid(number), &format!("username={name}")).await;
            hub.advance_ms(1);
        }
        for (search, found) in [
            ("brine", vec!["BRINEshrimp", "Herobrine"]),
            ("BRINE", vec!["BRINEshrimp", "Herobrine"]),
            ("her", vec!["herbert", "Herobrine"]),
            ("herobrine", vec!["Herobrine"]),
            ("herobrines", vec![]),
            ("he", vec!["herbert", "Herobrine"]),
            ("B", vec!["ab", "BRINEshrimp", "herbert", "Herobrine"]),
            ("%C3%9CN%C3%8F", vec!["Ünïcödé"]),
            ("%C3%BC", vec!["Ünïcödé"]),
            ("50%25", vec!["50%_off"]),
            ("%25_", vec!["50%_off"]),
            ("%25_o", vec!["50%_off"]),
            ("a%25q", vec![]),
            ("a%22q", vec!["a\"quote"]),
            ("x%5Cy", vec!["x\\y"]),
            ("%5C", vec!["x\\y"]),
            ("ab", vec!["ab"]),
            ("a%20OR%20b", vec![]),
            ("her*", vec![]),
            ("%20", all.iter().rev().copied().collect()),
        ] {
            assert_eq!(names(&client, &format!("search={search}")).await, found, "{search}");
        }
        assert_eq!(names(&client, &format!("search={}", "x".repeat(300))).await, [""; 0]);
        assert_eq!(names(&client, "username=HEROBRINE").await, ["Herobrine"]);
        assert_eq!(names(&client, "username=herobrin").await, [""; 0]);
        assert_eq!(names(&client, "username=herobrine&search=rob").await, ["Herobrine"]);
        assert_eq!(names(&client, "username=herobrine&search=bert").await, [""; 0]);
        assert_eq!(names(&client, "username=herobrine&region=UNKNOWN").await, ["Herobrine"]);
        assert_eq!(names(&client, "username=herobrine&region=EU").await, [""; 0]);
        assert_eq!(names(&client, "search=brine&region=EU").await, [""; 0]);
        assert_eq!(names(&client, "search=brine&region=unknown").await, ["BRINEshrimp", "Herobrine"]);
        assert_eq!(names(&client, "search=b&region=EU").await, [""; 0]);

        // A new name is found, the old one is not; two players may have the same name.
        load(&client, &uuid(1), "username=herbert").await;
        assert_eq!(names(&client, "search=herobrine").await, [""; 0]);
        assert_eq!(names(&client, "username=Herbert").await, ["herbert", "herbert"]);
        assert_eq!(names(&client, "search=herbert").await, ["herbert", "herbert"]);
        // Another network's names are not found.
        let other = hub.network().await;
        load(&other, &uuid(1), "username=herbert").await;
        assert_eq!(names(&client, "search=herbert").await, ["herbert", "herbert"]);
        assert_eq!(names(&other, "search=herbert").await, ["herbert"]);
    }
}
