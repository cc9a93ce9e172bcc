//! Snapshots of what sessions leave behind, and their restoration.

use reqwest::Method;
use serde_json::{Value, json};

use super::{data, open, save, state, stream};
use crate::people::{self, member};
use crate::servers::{register, uuid};
use crate::support::{Client, NOW, on_both};

fn path(player: u64) -> String {
    format!("/api/manage/players/{}/data/global/n/snapshots", uuid(player))
}

async fn play(client: &Client, value: &Value) -> i64 {
    let fence = open(client, 1, "a").await;
    save(client, 1, fence, json!({"data": data("n", value), "close": true})).await.expect(200);
    fence
}

on_both! {
    async fn the_end_of_a_session_leaves_a_snapshot_where_data_changed(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let first = play(&client, &json!("one")).await;
        play(&client, &json!("one")).await;
        let third = play(&client, &json!("three")).await;
        let page = client.get(&path(1)).await.expect(200).clone();
        let row = |fence: i64, version: i64, size: i64| json!({
            "snapshotId": fence, "at": NOW, "version": version, "sizeBytes": size, "serverId": "a", "fence": fence,
        });
        let expected = json!({"items": [row(third, 3, 7), row(first, 1, 5)], "page": 0, "limit": 50, "total": 2});
        assert_eq!(page, expected);
        let mut whole = row(first, 1, 5);
        whole["data"] = json!("\"one\"");
        assert_eq!(client.get(&format!("{}/{first}", path(1))).await.expect(200), &whole);
        client.get(&format!("{}/{}", path(1), first + 1)).await.expect_error(404, "unknown_snapshot");
        // However it ends.
        let fence = open(&client, 1, "a").await;
        save(&client, 1, fence, json!({"data": data("n", &json!("four"))})).await.expect(200);
        open(&client, 1, "b").await;
        assert_eq!(client.get(&path(1)).await.expect(200)["items"][0]["fence"], fence);
        let fence = open(&client, 1, "b").await;
        save(&client, 1, fence, json!({"data": data("n", &json!("five"))})).await.expect(200);
        client.post("/api/plugin/servers/unregister?serverId=b", Value::Null).await.expect(204);
        assert_eq!(state(&client, 1).await, "LOST");
        assert_eq!(client.get(&path(1)).await.expect(200)["items"][0]["fence"], fence);
        assert_eq!(hub.network().await.get(&path(1)).await.expect(200)["total"], 0);
    }

    async fn what_is_stored_about_a_player_is_listed(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let stored = format!("/api/plugin/players/{}/data", uuid(1));
        for (key, data) in [("bedwars/stats", "{}"), ("bedwars/kits", "[1,2]"), ("arena/kits", r#""é""#)] {
            client.put(&format!("{stored}/{key}"), json!({"data": data})).await.expect(200);
        }
        hub.advance_ms(5);
        client.put(&format!("{stored}/arena/kits"), json!({"data": r#""é1""#})).await.expect(200);
        let list = format!("/api/manage/players/{}/data", uuid(1));
        let row = |mode: &str, namespace: &str, version: i64, size: i64, at: i64| json!({
            "gameMode": mode, "namespace": namespace, "version": version, "sizeBytes": size, "updatedAt": NOW + at,
        });
        let all = [row("arena", "kits", 2, 5, 5), row("bedwars", "kits", 1, 5, 0), row("bedwars", "stats", 1, 2, 0)];
        let page = json!({"items": all, "page": 0, "limit": 50, "total": 3});
        assert_eq!(client.get(&list).await.expect(200), &page);
        let second = client.get(&format!("{list}?limit=2&page=1")).await.expect(200).clone();
        assert_eq!(second["items"], json!([all[2]]));
        assert_eq!(hub.network().await.get(&list).await.expect(200)["total"], 0);
    }

    async fn the_newest_snapshots_are_kept_and_count_as_storage(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let used = async || {
            let sql = "SELECT CAST(SUM(storage_bytes) AS BIGINT) FROM network_usage WHERE network_id = $1";
            hub.app.db.query(sql).bind(client.network.unwrap()).one::<(i64,)>().await.unwrap().0
        };
        let first = play(&client, &json!(10)).await;
        let one = 64 + 6 + 1 + 2;
        assert_eq!(used().await, 2 * one);
        for value in 11..27 {
            play(&client, &json!(value)).await;
        }
        let page = client.get(&format!("{}?limit=5&page=3", path(1))).await.expect(200).clone();
        assert_eq!((&page["total"], page["items"].as_array().unwrap().len()), (&json!(16), 1));
        assert!(page["items"][0]["fence"].as_i64().unwrap() > first);
        assert_eq!(used().await, 17 * one);
    }

    async fn a_snapshot_is_restored_unless_a_session_is_open(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let mut events = stream(&client, "a").await;
        let first = play(&client, &json!("one")).await;
        play(&client, &json!("two")).await;
        let restore = format!("{}/{first}/restore", path(1));
        let restored = client.post(&restore, Value::Null).await.expect(200).clone();
        assert_eq!(restored, json!({"gameMode": "global", "namespace": "n", "data": "\"one\"", "version": 3}));
        let missing = format!("{}/{}/restore", path(1), first + 1_000);
        client.post(&missing, Value::Null).await.expect_error(404, "unknown_snapshot");

        let fence = open(&client, 1, "a").await;
        save(&client, 1, fence, json!({"data": data("n", &json!("three"))})).await.expect(200);
        client.post(&restore, Value::Null).await.expect_error(409, "session_open");
        client.post(&format!("{restore}?force=false"), Value::Null).await.expect_error(409, "session_open");
        save(&client, 1, fence, json!({})).await.expect(200);
        assert_eq!(client.post(&format!("{restore}?force=true"), Value::Null).await.expect(200)["version"], 5);
        let ended = events.next_named("SESSION_ENDED").await.data;
        assert_eq!((&ended["playerUuid"], &ended["fence"]), (&json!(uuid(1)), &json!(fence)));
        assert_eq!(state(&client, 1).await, "TAKEN_OVER");
        save(&client, 1, fence, json!({"data": data("n", &json!("late"))})).await.expect_error(409, "stale_session");
        // The content that the ended session had is not lost.
        assert_eq!(client.get(&path(1)).await.expect(200)["items"][0]["fence"], fence);
        let audit = client.get("/api/manage/audit?action=player_data.restored").await.expect(200).clone();
        assert_eq!((&audit["total"], &audit["items"][0]["target"]), (&json!(2), &json!(uuid(1))));
        let next = super::try_open(&client, 1, "a", 0).await.expect(200).clone();
        assert_eq!((&next["takenOver"], &next["previousState"]), (&json!(true), &json!("TAKEN_OVER")));
        assert_eq!(next["profile"]["namespaces"][0]["data"], "\"one\"");
    }

    async fn moderators_read_snapshots_and_admins_restore_them(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "a", json!({})).await;
        let first = play(&owner, &json!("one")).await;
        let one = format!("{}/{first}", path(1));
        let reader = owner.key_with(&["players:read"]).await;
        reader.get(&one).await.expect(200);
        reader.get(&super::path(1)).await.expect(200);
        reader.post(&format!("{one}/restore"), Value::Null).await.expect_error(403, "forbidden_scope");
        owner.key_with(&["players:write"]).await.get(&one).await.expect_error(403, "forbidden_scope");
        for (role, reads, restores) in [("VIEWER", 403, 403), ("MODERATOR", 200, 403), ("ADMIN", 200, 200)] {
            let person = member(&hub, &owner, &format!("{}@example.org", role.to_lowercase()), role).await;
            let call = async |method, path: &str| {
                people::send(&hub, &person.token, method, path, Value::Null).await.status.as_u16()
            };
            assert_eq!(call(Method::GET, &path(1)).await, reads, "{role}");
            assert_eq!(call(Method::GET, &one).await, reads, "{role}");
            assert_eq!(call(Method::POST, &format!("{one}/restore")).await, restores, "{role}");
        }
    }
}
