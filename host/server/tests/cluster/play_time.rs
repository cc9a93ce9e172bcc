//! Visits go on while their network moves from node to node.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::fleet::{Fleet, uuid};

const KILLS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visit_goes_on_while_nodes_are_killed() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("play-time");
    owner.register("lobby-1", json!({})).await;
    let join = json!({"serverId": "lobby-1", "playerUuid": uuid(1), "playerName": "p1"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
    let joined = Instant::now();
    let beat = json!({"serverId": "lobby-1", "players": [{"uuid": uuid(1)}]});
    for kill in 0..KILLS {
        fleet.kill(kill);
        let again = Instant::now() + Duration::from_secs(4);
        while Instant::now() < again {
            owner.post("/api/plugin/servers/heartbeat", beat.clone()).await.expect(204);
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        fleet.start_node(kill);
        fleet.wait_until_ready().await;
        owner.post("/api/plugin/servers/heartbeat", beat.clone()).await.expect(204);
    }
    let path = format!("/api/manage/players/{}", uuid(1));
    let play_time = owner.get(&format!("{path}/playtime")).await.expect(200).clone();
    let (counted, passed) = (play_time["totalMs"].as_i64().unwrap(), joined.elapsed().as_millis() as i64);
    assert!((counted - passed).abs() <= 5_000, "{counted} of {passed}: {play_time}");
    assert_eq!(play_time["visits"], 1, "{play_time}");
    let visits = owner.get(&format!("{path}/visits")).await.expect(200).clone();
    assert_eq!((&visits["total"], &visits["items"][0]["to"]), (&json!(1), &json!(null)), "{visits}");
    let today = owner.get("/api/manage/analytics/players").await.expect(200)["items"][0].clone();
    assert_eq!((&today["unique"], &today["peakOnline"]), (&json!(1), &json!(1)), "{today}");
}
