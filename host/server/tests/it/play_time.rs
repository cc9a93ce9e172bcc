//! Play time, visits and the numbers of days.

mod simulation;

use std::time::Duration;

use hub::config::Settings;
use hub::{play_time, presence};
use reqwest::Method;
use serde_json::{Value, json};

use crate::people::{member, send};
use crate::servers::{beat, join, register, uuid};
use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

const HOUR: u64 = 3_600_000;

/// Servers stay online for hours, so that tests need few heartbeats.
async fn patient(backend: Backend) -> Hub {
    Hub::start_with(backend, |settings: &mut Settings| settings.offline_after = 6 * HOUR).await
}

async fn play_time_of(client: &Client, player: u64) -> Value {
    client.get(&format!("/api/manage/players/{}/playtime", uuid(player))).await.expect(200).clone()
}

/// Visits of a player as (server, from, to) from the start of the test, newest first.
async fn visits_of(client: &Client, player: u64) -> Vec<(String, i64, Option<i64>)> {
    let page = client.get(&format!("/api/manage/players/{}/visits", uuid(player))).await.expect(200).clone();
    let rows = page["items"].as_array().unwrap().iter();
    let row = |row: &Value| {
        let at = |field: &str| row[field].as_i64().map(|at| at - NOW);
        (row["serverId"].as_str().unwrap().to_owned(), at("from").unwrap(), at("to"))
    };
    rows.map(row).collect()
}

async fn days(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/manage/analytics/players?{query}")).await.expect(200).clone();
    page["items"].as_array().unwrap().clone()
}

async fn leave(client: &Client, player: u64) {
    client.delete(&format!("/api/plugin/servers/players/{}", uuid(player))).await.expect(204);
}

on_each! {
    a_player_has_visits_and_time(super::patient)
    a_visit_is_split_at_midnight_in_utc(super::patient)
    a_visit_is_listed_for_thirty_days(super::patient)
    an_erasure_keeps_the_numbers_of_days(super::patient)
    passes_at_once_count_a_visit_once(super::patient)
    a_thousand_players_join_with_one_heartbeat(super::patient)
    new_players_who_come_back_are_counted(super::patient)
}

async fn a_player_has_visits_and_time(hub: Hub) {
    let client = hub.network().await;
    register(&client, "lobby-1", json!({})).await;
    register(&client, "bw-1", json!({"serverType": "bedwars"})).await;
    join(&client, "lobby-1", 1).await;
    hub.advance_ms(10_000);
    let running = play_time_of(&client, 1).await;
    let day = json!([{"day": "2027-03-10", "ms": 10_000}]);
    assert_eq!((&running["totalMs"], &running["days"], &running["visits"]), (&json!(10_000), &day, &json!(1)));
    assert_eq!(visits_of(&client, 1).await, [("lobby-1".to_owned(), 0, None)]);
    // A switch and a gap under a minute are no new visit.
    join(&client, "bw-1", 1).await;
    hub.advance_ms(5_000);
    leave(&client, 1).await;
    hub.advance_ms(59_999);
    join(&client, "bw-1", 1).await;
    hub.advance_ms(1_000);
    assert_eq!(play_time_of(&client, 1).await["visits"], 1);
    leave(&client, 1).await;
    hub.advance_ms(60_000);
    beat(&client, "bw-1", json!({})).await;
    join(&client, "bw-1", 1).await;
    hub.advance_ms(2_000);
    let expected = json!({
        "totalMs": 18_000, "byServerType": {"lobby": 10_000, "bedwars": 8_000}, "visits": 2, "firstSeen": NOW,
        "days": [{"day": "2027-03-10", "ms": 18_000}], "lastSeen": NOW + 137_999,
    });
    assert_eq!(play_time_of(&client, 1).await, expected);
    let bedwars = |from, to| ("bw-1".to_owned(), from, to);
    let visits = [bedwars(135_999, None), bedwars(74_999, Some(75_999)), bedwars(10_000, Some(15_000))];
    assert_eq!(visits_of(&client, 1).await[..3], visits);
    let today = &days(&client, "").await[0];
    assert_eq!((&today["unique"], &today["new"], &today["peakOnline"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(today["playtimeMs"], 18_000);

    let other = hub.network().await;
    for path in ["playtime", "visits"] {
        let path = format!("/api/manage/players/{}/{path}", uuid(1));
        other.get(&path).await.expect_error(404, "unknown_player");
    }
    assert_eq!(days(&other, "").await[0]["unique"], 0);
    for query in ["from=2027-03-11&to=2027-03-10", "from=2026-02-03&to=2027-03-10", "from=yesterday", "to=1"] {
        client.get(&format!("/api/manage/analytics/players?{query}")).await.expect_error(400, "invalid_request");
    }
    assert_eq!(days(&client, "from=2026-02-04&to=2027-03-10&limit=200&page=1").await.len(), 200);
    assert_eq!(days(&client, "").await.len(), 30);
    assert_eq!(days(&client, "from=2027-03-10&to=2027-03-20").await.len(), 1);
}

async fn a_visit_is_split_at_midnight_in_utc(hub: Hub) {
    let client = hub.network().await;
    register(&client, "lobby-1", json!({})).await;
    hub.advance_ms(11 * HOUR);
    register(&client, "lobby-1", json!({})).await;
    join(&client, "lobby-1", 1).await;
    hub.advance_ms(2 * HOUR);
    beat(&client, "lobby-1", json!({})).await;
    let split = json!([{"day": "2027-03-11", "ms": HOUR}, {"day": "2027-03-10", "ms": HOUR}]);
    assert_eq!(play_time_of(&client, 1).await["days"], split);
    presence::service::save_all(&hub.app).await.unwrap();
    let rows = days(&client, "").await;
    let numbers = |row: &Value| (row["unique"].as_i64(), row["new"].as_i64(), row["peakOnline"].as_i64());
    assert_eq!(numbers(&rows[0]), (Some(1), Some(0), Some(1)), "{rows:?}");
    assert_eq!(numbers(&rows[1]), (Some(1), Some(1), Some(1)));
    assert_eq!((&rows[0]["playtimeMs"], &rows[1]["playtimeMs"]), (&json!(HOUR), &json!(HOUR)));
    assert_eq!((&rows[0]["averageOnline"], &rows[1]["averageOnline"]), (&json!(1.0), &json!(0.04)));
    leave(&client, 1).await;
    assert_eq!(play_time_of(&client, 1).await["days"], split);
    assert_eq!(days(&client, "").await[0]["playtimeMs"], json!(HOUR));
}

async fn a_visit_is_listed_for_thirty_days(hub: Hub) {
    let client = hub.network().await;
    for day in 0..32 {
        register(&client, "lobby-1", json!({})).await;
        join(&client, "lobby-1", 1).await;
        hub.advance_ms(day + 1);
        leave(&client, 1).await;
        hub.advance_ms(24 * HOUR - day - 1);
    }
    // 32 days later those of the first two days are too old; the one that ended 30 days ago but for a moment is not.
    let visits = visits_of(&client, 1).await;
    assert_eq!((visits.len(), visits.last().unwrap().1), (30, 2 * 24 * HOUR as i64), "{visits:?}");
    let play_time = play_time_of(&client, 1).await;
    let days = play_time["days"].as_array().unwrap();
    assert_eq!((&play_time["visits"], &play_time["totalMs"]), (&json!(32), &json!(32 * 33 / 2)));
    let (newest, oldest) = (&days[0], &days[29]);
    assert_eq!(days.len(), 30);
    assert_eq!((newest, oldest), (&json!({"day": "2027-04-10", "ms": 32}), &json!({"day": "2027-03-12", "ms": 3})));
}

async fn an_erasure_keeps_the_numbers_of_days(hub: Hub) {
    let client = hub.network().await;
    register(&client, "lobby-1", json!({})).await;
    join(&client, "lobby-1", 1).await;
    join(&client, "lobby-1", 2).await;
    hub.advance_ms(HOUR);
    beat(&client, "lobby-1", json!({})).await;
    leave(&client, 2).await;
    client.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
    client.delete(&format!("/api/manage/players/{}", uuid(2))).await.expect(204);
    for player in [1, 2] {
        let path = format!("/api/manage/players/{}/playtime", uuid(player));
        client.get(&path).await.expect_error(404, "unknown_player");
    }
    let today = &days(&client, "").await[0];
    assert_eq!((&today["unique"], &today["new"], &today["peakOnline"]), (&json!(2), &json!(2), &json!(2)));
    assert_eq!(today["playtimeMs"], json!(2 * HOUR));
}

async fn passes_at_once_count_a_visit_once(hub: Hub) {
    let client = hub.network().await;
    let network = client.network.unwrap();
    register(&client, "lobby-1", json!({"maxPlayers": 0})).await;
    for round in 0..5 {
        let players: Vec<_> = (0..100).map(|player| json!({"uuid": uuid(player)})).collect();
        beat(&client, "lobby-1", json!({"players": players})).await;
        presence::service::save_all(&hub.app).await.unwrap();
        hub.advance_ms(100_000);
        beat(&client, "lobby-1", json!({"players": []})).await;
        presence::service::save_all(&hub.app).await.unwrap();
        let passes = (0..6).map(|_| play_time::service::count(&hub.app, network));
        for pass in futures_util::future::join_all(passes).await {
            pass.unwrap();
        }
        hub.advance_ms(100_000);
        let today = &days(&client, "").await[0];
        assert_eq!((&today["unique"], &today["new"]), (&json!(100), &json!(100)));
        assert_eq!(today["playtimeMs"], json!(100 * 100_000 * (round + 1)));
        let one = play_time_of(&client, 7).await;
        assert_eq!((&one["totalMs"], &one["visits"]), (&json!(100_000 * (round + 1)), &json!(round + 1)));
    }
}

async fn a_thousand_players_join_with_one_heartbeat(hub: Hub) {
    let client = hub.network().await;
    for server in ["lobby-1", "lobby-2"] {
        register(&client, server, json!({"maxPlayers": 0})).await;
    }
    let players: Vec<_> = (0..1_000).map(|player| json!({"uuid": uuid(player)})).collect();
    for server in ["lobby-1", "lobby-2"] {
        beat(&client, server, json!({"players": players})).await;
        presence::service::save_all(&hub.app).await.unwrap();
        // Few statements for all of them, on the busiest machine.
        let answer = tokio::time::timeout(Duration::from_secs(20), days(&client, "")).await.expect("an answer in time");
        assert_eq!(answer[0]["unique"], 1_000);
        hub.advance_ms(60_000);
    }
    let today = &days(&client, "").await[0];
    assert_eq!((&today["peakOnline"], &today["playtimeMs"]), (&json!(1_000), &json!(1_000 * 75_000)));
}

async fn new_players_who_come_back_are_counted(hub: Hub) {
    let client = hub.network().await;
    register(&client, "lobby-1", json!({})).await;
    // Players 1 and 2 are new; one of them is back after a day, the other after a week.
    for back in [vec![1, 2], vec![1], vec![2, 3]] {
        for player in &back {
            join(&client, "lobby-1", *player).await;
            hub.advance_ms(1_000);
            leave(&client, *player).await;
        }
        let on = if back.len() == 1 { 6 * 24 } else { 24 };
        hub.advance_ms(on * HOUR);
        register(&client, "lobby-1", json!({})).await;
    }
    let rows = days(&client, "from=2027-03-10").await;
    let first = rows.last().unwrap();
    assert_eq!((&first["day"], &first["new"]), (&json!("2027-03-10"), &json!(2)));
    assert_eq!(first["retention"], json!({"d1": 0.5, "d7": 0.5, "d30": null}));
    let seventh = &rows[1];
    assert_eq!((&seventh["day"], &seventh["new"], &seventh["unique"]), (&json!("2027-03-17"), &json!(1), &json!(2)));
    assert_eq!(seventh["retention"], json!({"d1": null, "d7": null, "d30": null}));
}

on_both! {
    async fn viewers_read_how_long_players_stay(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby", json!({})).await;
        join(&owner, "lobby", 1).await;
        let kim = member(&hub, &owner, "kim@example.org", "VIEWER").await;
        let player = format!("/api/manage/players/{}", uuid(1));
        for path in [format!("{player}/playtime"), format!("{player}/visits"), "/api/manage/analytics/players".to_owned()] {
            send(&hub, &kim.token, Method::GET, &path, Value::Null).await.expect(200);
            owner.key_with(&["servers:read"]).await.get(&path).await.expect_error(403, "forbidden_scope");
        }
        let notes = format!("{player}/notes");
        send(&hub, &kim.token, Method::GET, &notes, Value::Null).await.expect_error(403, "forbidden_scope");
    }

    async fn a_server_that_died_ends_its_visits_at_its_last_heartbeat(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        join(&client, "lobby-1", 1).await;
        hub.advance_ms(20_000);
        beat(&client, "lobby-1", json!({})).await;
        hub.advance_ms(40_000);
        presence::service::save_all(&hub.app).await.unwrap();
        assert_eq!(visits_of(&client, 1).await, [("lobby-1".to_owned(), 0, Some(20_000))]);
        assert_eq!(play_time_of(&client, 1).await["totalMs"], 20_000);
    }

    async fn a_visit_goes_on_over_a_restart_and_over_a_kill(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        join(&client, "lobby-1", 1).await;
        hub.advance_ms(4_000);
        beat(&client, "lobby-1", json!({})).await;
        let hub = hub.restart(Duration::from_secs(10)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        beat(&client, "lobby-1", json!({"players": [{"uuid": uuid(1)}]})).await;
        assert_eq!(play_time_of(&client, 1).await["totalMs"], 14_000);
        // The hub is away for longer than the servers may be silent: their visits end at their last heartbeats.
        let hub = hub.restart(Duration::from_secs(100)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        presence::service::save_all(&hub.app).await.unwrap();
        let first = ("lobby-1".to_owned(), 0, Some(14_000));
        assert_eq!(visits_of(&client, 1).await, std::slice::from_ref(&first));
        register(&client, "lobby-1", json!({})).await;
        join(&client, "lobby-1", 1).await;
        let hub = hub.abandon(Duration::from_secs(10)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        beat(&client, "lobby-1", json!({"players": [{"uuid": uuid(1)}]})).await;
        assert_eq!(play_time_of(&client, 1).await["totalMs"], 24_000);
        assert_eq!(visits_of(&client, 1).await, [("lobby-1".to_owned(), 114_000, None), first]);
    }
}
