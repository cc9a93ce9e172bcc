//! Saves of sessions: all or none, and their repetition.

use serde_json::{Value, json};

use super::{data, open, save, state};
use crate::deliveries;
use crate::servers::{join, register, uuid};
use crate::support::{Client, on_both};

async fn namespaces(client: &Client, player: u64) -> Vec<(String, Value, Value)> {
    let profile = client.get(&format!("/api/plugin/players/{}", uuid(player))).await.expect(200).clone();
    let rows = profile["namespaces"].as_array().unwrap().iter();
    rows.map(|row| (row["namespace"].as_str().unwrap().to_owned(), row["data"].clone(), row["version"].clone()))
        .collect()
}

fn entries(count: usize, text: &str) -> Value {
    let entry = |number| json!({"namespace": format!("n{number}"), "data": text});
    (0..count).map(entry).collect::<Vec<_>>().into()
}

on_both! {
    async fn a_save_is_made_whole_or_not_at_all(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let fence = open(&client, 1, "a").await;
        let large = json!("x".repeat(256 * 1024 - 2)).to_string();
        let invalid = "invalid_request";
        for (body, status, code) in [
            (json!({"data": entries(33, "1")}), 400, invalid),
            (json!({"data": [{"namespace": "n", "data": "1"}, {"gameMode": "global", "namespace": "n", "data": "2"}]}), 400, invalid),
            (json!({"data": [{"namespace": "n", "data": "1"}, {"namespace": "a b", "data": "2"}]}), 400, invalid),
            (json!({"data": [{"namespace": "n", "data": "1"}, {"namespace": "m", "data": "{"}]}), 400, invalid),
            (json!({"data": [{"namespace": "n", "data": "1"}, {"namespace": "m"}]}), 400, invalid),
            (json!({"data": {"n": "1"}}), 400, invalid),
            (json!({"close": "yes"}), 400, invalid),
            (json!({"complete": vec!["c"; 33]}), 400, invalid),
            (json!({"data": [{"namespace": "n", "data": "1"}, {"namespace": "m", "data": format!("{large} ")}]}), 413, "body_too_large"),
            (json!({"data": entries(5, &large)}), 413, "body_too_large"),
        ] {
            save(&client, 1, fence, body).await.expect_error(status, code);
        }
        assert_eq!(namespaces(&client, 1).await, []);
        // Over the limit of one profile, only with the last one.
        let profile = json!({"data": entries(4, &large)});
        save(&client, 1, fence, profile).await.expect(200);
        let more = json!({"data": [{"namespace": "m", "data": "1"}, {"namespace": "n9", "data": large}]});
        save(&client, 1, fence, more).await.expect_quota("profileBytes", 1_152 * 1_024);
        assert_eq!(namespaces(&client, 1).await.len(), 4);
        assert_eq!(state(&client, 1).await, "OPEN");
        // Other game modes are other places; an empty save is none.
        let modes = json!({"data": [{"gameMode": "x", "namespace": "n", "data": "1"}, {"gameMode": "y", "namespace": "n", "data": "2"}]});
        let saved = save(&client, 1, fence, modes).await.expect(200).clone();
        assert_eq!((&saved["versions"][0]["gameMode"], &saved["versions"][1]["gameMode"]), (&json!("x"), &json!("y")));
        assert_eq!(save(&client, 1, fence, json!({})).await.expect(200), &json!({"versions": [], "closed": false}));
    }

    async fn a_body_may_be_twice_as_large_as_its_data(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let fence = open(&client, 1, "a").await;
        // Most of it takes two bytes, being JSON in JSON.
        let data = json!(vec![""; 87_000]).to_string();
        let body = json!({"data": entries(4, &data)});
        let size = body.to_string().len();
        assert!(4 * data.len() < 1024 * 1024 && (1_700_000..2 * 1024 * 1024).contains(&size), "{size}");
        save(&client, 1, fence, body).await.expect(200);
        assert_eq!(namespaces(&client, 1).await.iter().filter(|(_, stored, _)| *stored == data).count(), 4);
        let padded = json!({"data": entries(1, "1"), "unknown": "x".repeat(2 * 1024 * 1024)});
        save(&client, 1, fence, padded).await.expect_error(413, "body_too_large");
        assert_eq!(namespaces(&client, 1).await.len(), 4);
    }

    async fn the_same_save_again_has_no_second_effect(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let fence = open(&client, 1, "a").await;
        let body = json!({"data": data("n", &json!(1))});
        let first = save(&client, 1, fence, body.clone()).await.expect(200).clone();
        let explicit = json!({"data": [{"gameMode": "global", "namespace": "n", "data": "1"}], "close": false, "complete": []});
        assert_eq!(save(&client, 1, fence, explicit).await.expect(200), &first);
        save(&client, 1, fence, json!({"data": data("n", &json!(2))})).await.expect(200);
        assert_eq!(save(&client, 1, fence, body).await.expect(200)["versions"][0]["version"], 3, "another came between");
        let last = json!({"data": data("n", &json!(4)), "close": true});
        let closed = save(&client, 1, fence, last.clone()).await.expect(200).clone();
        assert_eq!((&closed["closed"], &closed["versions"][0]["version"]), (&json!(true), &json!(4)));
        assert_eq!(save(&client, 1, fence, last.clone()).await.expect(200), &closed);
        assert_eq!(namespaces(&client, 1).await, [("n".to_owned(), json!("4"), json!(4))]);
        open(&client, 1, "b").await;
        save(&client, 1, fence, last).await.expect_error(409, "stale_session");

        // A save like the last one does not revive a lost session.
        let fence = open(&client, 2, "a").await;
        let body = json!({"data": data("n", &json!(1))});
        save(&client, 2, fence, body.clone()).await.expect(200);
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        save(&client, 2, fence, body).await.expect_error(409, "stale_session");
    }

    async fn a_save_that_comes_late_undoes_no_later_one(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let fence = open(&client, 1, "a").await;
        let numbered = |number: i64, value: i64| json!({"data": data("n", &json!(value)), "number": number});
        save(&client, 1, fence, numbered(1, 10)).await.expect(200);
        save(&client, 1, fence, numbered(2, 20)).await.expect(200);
        save(&client, 1, fence, numbered(2, 20)).await.expect(200);
        save(&client, 1, fence, numbered(1, 10)).await.expect_error(409, "stale_save");
        save(&client, 1, fence, numbered(2, 21)).await.expect_error(409, "stale_save");
        save(&client, 1, fence, json!({"data": data("n", &json!(30))})).await.expect(200);
        save(&client, 1, fence, numbered(2, 20)).await.expect_error(409, "stale_save");
        assert_eq!(namespaces(&client, 1).await, [("n".to_owned(), json!("30"), json!(3))]);
        save(&client, 1, fence, numbered(7, 40)).await.expect(200);
        // Numbers begin with each session.
        let next = open(&client, 1, "a").await;
        save(&client, 1, next, numbered(1, 50)).await.expect(200);
    }

    async fn an_item_and_the_delivery_that_brought_it_are_one_save(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        join(&client, "a", 1).await;
        join(&client, "b", 2).await;
        let fence = open(&client, 1, "a").await;
        let claimed = async |player: u64, server: &str| {
            let id = deliveries::create(&client, player, json!({"kind": format!("of {player}")})).await;
            let claim = deliveries::claim(&client, id, server).await.expect(200)["claim"].as_str().unwrap().to_owned();
            (id, claim)
        };
        let state_of = async |id: i64| {
            let list = client.get("/api/manage/deliveries").await.expect(200).clone();
            list["items"].as_array().unwrap().iter().find(|it| it["deliveryId"] == id).unwrap()["state"].clone()
        };
        let (id, claim) = claimed(1, "a").await;
        let (other, others) = claimed(2, "b").await;
        let with = |claims: &[&str]| json!({"data": data("n", &json!("kit")), "complete": claims});
        for bad in [with(&[&claim, "42.wrong"]), with(&[&claim, &others]), with(&["nonsense"])] {
            save(&client, 1, fence, bad).await.expect_error(409, "stale_claim");
        }
        save(&client, 1, fence + 1, with(&[&claim])).await.expect_error(409, "stale_session");
        let scoped = client.key_with(&["players:write"]).await;
        save(&scoped, 1, fence, with(&[&claim])).await.expect_error(403, "forbidden_scope");
        assert_eq!(namespaces(&client, 1).await, []);
        assert_eq!((state_of(id).await, state_of(other).await), (json!("CLAIMED"), json!("CLAIMED")));
        let scoped = client.key_with(&["players:write", "deliveries:write"]).await;
        let first = save(&scoped, 1, fence, with(&[&claim])).await.expect(200).clone();
        assert_eq!(state_of(id).await, "DELIVERED");
        assert_eq!(save(&client, 1, fence, with(&[&claim])).await.expect(200), &first);
        assert_eq!(namespaces(&client, 1).await, [("n".to_owned(), json!("\"kit\""), json!(1))]);
        let opened = client.post(&super::path(2), json!({"serverId": "b", "include": ["deliveries"]})).await;
        assert_eq!(opened.expect(200)["profile"]["deliveries"], json!([]));
    }
}
