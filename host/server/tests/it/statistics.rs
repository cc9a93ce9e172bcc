//! Statistics over their four periods.

use serde_json::{Value, json};

use crate::servers::uuid;
use crate::support::{Client, NOW, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const DAY: u64 = 24 * 60 * 60 * 1_000;

async fn add(client: &Client, owner: &str, name: &str, amount: Value) -> Value {
    let body = json!({"name": name, "amount": amount});
    client.post(&format!("/api/plugin/economy/{owner}/statistics/increment"), body).await.expect(200).clone()
}

/// The values of an owner, as `name period start value`.
async fn values(client: &Client, owner: &str, query: &str) -> Vec<String> {
    let read = client.get(&format!("/api/plugin/economy/{owner}/statistics?{query}")).await.expect(200).clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |it: &Value| {
        let (name, period, start) = (text(&it["statisticName"]), text(&it["periodType"]), text(&it["periodStart"]));
        format!("{name} {period} {start} {}", it["value"])
    };
    read["statistics"].as_array().unwrap().iter().map(of).collect()
}

/// The ranks of a leaderboard, as `rank owner value`.
async fn top(client: &Client, query: &str) -> Vec<String> {
    let board = client.get(&format!("/api/plugin/economy/leaderboard?{query}")).await.expect(200).clone();
    let entries = board["entries"].as_array().unwrap().iter();
    entries.map(|it| format!("{} {} {}", it["rank"], it["ownerKey"].as_str().unwrap(), it["value"])).collect()
}

on_both! {
    async fn one_write_changes_four_periods(hub: Hub) {
        let client = hub.network().await;
        let body = json!({"name": "kills", "gameMode": "bedwars", "amount": 3});
        let path = "/api/plugin/players/069A79F444E94726A5BEFCA90E38AAF5/statistics/increment";
        assert_eq!(client.post(path, body).await.expect(200), &json!({
            "statisticName": "kills", "gameMode": "bedwars",
            "newValues": {"DAILY": 3, "WEEKLY": 3, "MONTHLY": 3, "LIFETIME": 3},
        }));
        hub.advance_ms(5);
        let body = json!({"name": "kills", "gameMode": "bedwars", "amount": -0.5});
        let path = format!("/api/plugin/economy/player/{STEVE}/statistics/increment");
        assert_eq!(client.post(&path, body).await.expect(200)["newValues"], json!({
            "DAILY": 2.5, "WEEKLY": 2.5, "MONTHLY": 2.5, "LIFETIME": 2.5,
        }));
        let value = |period: &str, start: &str| json!({
            "statisticName": "kills", "gameMode": "bedwars", "periodType": period, "periodStart": start, "value": 2.5,
            "updatedAt": NOW + 5,
        });
        let statistics = json!([
            value("DAILY", "2027-03-10"), value("WEEKLY", "2027-03-08"), value("MONTHLY", "2027-03-01"),
            value("LIFETIME", "1970-01-01"),
        ]);
        // Two views of the same rows.
        let path = format!("/api/plugin/players/{STEVE}/statistics?gameMode=bedwars");
        assert_eq!(client.get(&path).await.expect(200), &json!({
            "playerUuid": STEVE, "gameMode": "bedwars", "statistics": statistics,
        }));
        let path = "/api/plugin/economy/player/069A79F444E94726A5BEFCA90E38AAF5/statistics?gameMode=bedwars";
        assert_eq!(client.get(path).await.expect(200), &json!({
            "ownerType": "player", "ownerKey": STEVE, "gameMode": "bedwars", "statistics": statistics,
        }));
        // Without a game mode it is `global`, which has no counts yet.
        let path = format!("/api/plugin/players/{STEVE}/statistics");
        assert_eq!(client.get(&path).await.expect(200), &json!({
            "playerUuid": STEVE, "gameMode": "global", "statistics": [],
        }));
        assert_eq!(add(&client, &format!("player/{STEVE}"), "kills", json!(1)).await["gameMode"], "global");
        // None of it makes a player known.
        client.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
    }

    async fn periods_start_by_the_clock_alone(hub: Hub) {
        let client = hub.network().await;
        // Wednesday 2027-03-10 12:00.
        add(&client, "guild/1", "crops", json!(1)).await;
        hub.advance_ms(DAY / 2 - 1);
        assert_eq!(add(&client, "guild/1", "crops", json!(1)).await["newValues"]["DAILY"], 2);
        hub.advance_ms(1);
        assert_eq!(values(&client, "guild/1", "").await, [
            "crops WEEKLY 2027-03-08 2", "crops MONTHLY 2027-03-01 2", "crops LIFETIME 1970-01-01 2",
        ]);
        let new = add(&client, "guild/1", "crops", json!(5)).await["newValues"].clone();
        assert_eq!(new, json!({"DAILY": 5, "WEEKLY": 7, "MONTHLY": 7, "LIFETIME": 7}));
        // Monday, then April.
        hub.advance_ms(4 * DAY);
        assert_eq!(add(&client, "guild/1", "crops", json!(1)).await["newValues"],
            json!({"DAILY": 1, "WEEKLY": 1, "MONTHLY": 8, "LIFETIME": 8}));
        hub.advance_ms(17 * DAY);
        assert_eq!(add(&client, "guild/1", "crops", json!(1)).await["newValues"],
            json!({"DAILY": 1, "WEEKLY": 1, "MONTHLY": 1, "LIFETIME": 9}));

        // Earlier periods stay readable, by any of their days.
        assert_eq!(values(&client, "guild/1", "").await, [
            "crops DAILY 2027-04-01 1", "crops WEEKLY 2027-03-29 1", "crops MONTHLY 2027-04-01 1",
            "crops LIFETIME 1970-01-01 9",
        ]);
        assert_eq!(values(&client, "guild/1", "periodStart=2027-03-11").await, [
            "crops DAILY 2027-03-11 5", "crops WEEKLY 2027-03-08 7", "crops MONTHLY 2027-03-01 8",
            "crops LIFETIME 1970-01-01 9",
        ]);
        assert_eq!(values(&client, "guild/1", "periodStart=2027-03-12").await[0], "crops WEEKLY 2027-03-08 7");
        assert_eq!(values(&client, "guild/1", "history=true").await, [
            "crops DAILY 2027-04-01 1", "crops MONTHLY 2027-04-01 1", "crops WEEKLY 2027-03-29 1",
            "crops DAILY 2027-03-15 1", "crops WEEKLY 2027-03-15 1", "crops DAILY 2027-03-11 5",
            "crops DAILY 2027-03-10 2", "crops WEEKLY 2027-03-08 7", "crops MONTHLY 2027-03-01 8",
            "crops LIFETIME 1970-01-01 9",
        ]);
        assert_eq!(top(&client, "name=crops&ownerType=guild&period=WEEKLY").await, ["1 1 1"]);
        assert_eq!(top(&client, "name=crops&ownerType=guild&period=weekly&periodStart=2027-03-14").await, ["1 1 7"]);
        assert_eq!(top(&client, "name=crops&ownerType=guild&period=MONTHLY&periodStart=2027-03-31").await, ["1 1 8"]);
        assert_eq!(top(&client, "name=crops&ownerType=guild&period=DAILY&periodStart=2030-01-01").await, [""; 0]);
        for wrong in ["periodStart=yesterday", "periodStart=2027-02-29", "periodStart=2027-03-01&history=true", "history=2"] {
            let path = format!("/api/plugin/economy/guild/1/statistics?{wrong}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
    }

    async fn equal_values_rank_in_the_order_they_were_reached(hub: Hub) {
        let client = hub.network().await;
        for (owner, amount) in [("c", 5.0), ("a", 7.0), ("b", 5.0), ("d", -1.5), ("a", -2.0), ("e", 6.25), ("c", 0.0)] {
            add(&client, &format!("guild/{owner}"), "crops", json!(amount)).await;
        }
        let places = ["1 e 6.25", "2 c 5", "3 b 5", "4 a 5", "5 d -1.5"];
        for period in ["", "&period=DAILY", "&period=WEEKLY", "&period=MONTHLY", "&period=LIFETIME"] {
            assert_eq!(top(&client, &format!("name=crops&ownerType=guild{period}")).await, places, "{period}");
        }
        assert_eq!(top(&client, "name=crops&ownerType=guild&limit=2").await, places[..2]);
        assert_eq!(top(&client, "name=crops&ownerType=guild&gameMode=other").await, [""; 0]);
        for player in 1..=12 {
            let body = json!({"name": "kills", "amount": player});
            let path = format!("/api/plugin/players/{}/statistics/increment", uuid(player));
            client.post(&path, body).await.expect(200);
        }
        let board = client.get("/api/plugin/economy/leaderboard?name=kills").await.expect(200).clone();
        assert_eq!(board["entries"].as_array().unwrap().len(), 10);
        assert_eq!(board["entries"][0], json!({"rank": 1, "ownerKey": uuid(12), "value": 12}));
        for (field, value) in
            [("ownerType", "player"), ("statisticName", "kills"), ("gameMode", "global"), ("period", "LIFETIME")]
        {
            assert_eq!(board[field], value);
        }
        for wrong in ["", "name=", "name=kills&period=YEARLY", "name=kills&limit=0", "name=kills&gameMode=a%20b",
            "name=kills&periodStart=1"] {
            let path = format!("/api/plugin/economy/leaderboard?{wrong}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
    }

    async fn an_invalid_increment_is_400(hub: Hub) {
        let client = hub.network().await;
        let paths = [
            format!("/api/plugin/players/{STEVE}/statistics/increment"),
            "/api/plugin/economy/guild/1/statistics/increment".to_owned(),
        ];
        for (body, hint) in [
            (r#"{"amount": 1}"#, "name"),
            (r#"{"name": "", "amount": 1}"#, "`name`"),
            (r#"{"name": "kills"}"#, "amount"),
            (r#"{"name": "kills", "amount": null}"#, "amount"),
            (r#"{"name": "kills", "amount": "1"}"#, "`amount`"),
            (r#"{"name": "kills", "amount": 1e301}"#, "`amount`"),
            (r#"{"name": "kills", "amount": 1e400}"#, "amount"),
            (r#"{"name": "kills", "gameMode": "a b", "amount": 1}"#, "`gameMode`"),
            (r#"{"name": "kills", "gameMode": 1, "amount": 1}"#, "`gameMode`"),
        ] {
            for path in &paths {
                let answer = client.send(client.request(reqwest::Method::POST, path).body(body)).await;
                answer.expect_error(400, "invalid_request");
                assert!(answer.body["error"].as_str().unwrap().contains(hint), "{body}: {}", answer.body);
            }
        }
        client.get("/api/plugin/economy/player/Steve/statistics").await.expect_error(400, "invalid_request");
        client.get("/api/plugin/players/Steve/statistics").await.expect_error(400, "invalid_request");
        assert_eq!(values(&client, "guild/1", "").await, [""; 0]);
    }

    async fn a_sum_stays_finite(hub: Hub) {
        let client = hub.network().await;
        let most = json!(1e300);
        assert_eq!(add(&client, "guild/1", "crops", most.clone()).await["newValues"]["DAILY"], most);
        hub.advance_ms(DAY);
        let body = json!({"name": "crops", "amount": 1e299});
        let path = "/api/plugin/economy/guild/1/statistics/increment";
        let refused = client.post(path, body.clone()).await;
        refused.expect_error(400, "invalid_request");
        assert!(refused.body["error"].as_str().unwrap().contains("`amount`"));
        // No period changed, not even the new day.
        assert_eq!(values(&client, "guild/1", "").await, [
            "crops WEEKLY 2027-03-08 1e+300", "crops MONTHLY 2027-03-01 1e+300", "crops LIFETIME 1970-01-01 1e+300",
        ]);
        // The same inside the transaction of an idempotency key.
        for _ in 0..2 {
            let request = client.request(reqwest::Method::POST, path).header("Idempotency-Key", "harvest-1");
            assert_eq!(client.send(request.json(&body)).await.status, 400);
        }
        assert_eq!(values(&client, "guild/1", "").await.len(), 3);
        add(&client, "guild/1", "crops", json!(-1e300)).await;
        client.post(path, body).await.expect(200);
    }

    async fn concurrent_increments_lose_nothing(hub: Hub) {
        let client = hub.network().await;
        let adds = (0..40).map(|_| {
            let client = client.clone();
            tokio::spawn(async move { add(&client, "guild/1", "crops", json!(1)).await["newValues"].clone() })
        });
        let mut seen = vec![];
        for done in adds.collect::<Vec<_>>() {
            let new = done.await.unwrap();
            let lifetime = new["LIFETIME"].as_i64().unwrap();
            assert_eq!(new, json!({"DAILY": lifetime, "WEEKLY": lifetime, "MONTHLY": lifetime, "LIFETIME": lifetime}));
            seen.push(lifetime);
        }
        seen.sort_unstable();
        assert_eq!(seen, (1..=40).collect::<Vec<_>>());
    }

    async fn another_network_has_its_own_statistics(hub: Hub) {
        let ours = hub.network().await;
        let theirs = hub.network().await;
        add(&theirs, "guild/1", "crops", json!(9)).await;
        assert_eq!(values(&ours, "guild/1", "history=true").await, [""; 0]);
        assert_eq!(top(&ours, "name=crops&ownerType=guild").await, [""; 0]);
        assert_eq!(add(&ours, "guild/1", "crops", json!(1)).await["newValues"]["LIFETIME"], 1);
    }
}
