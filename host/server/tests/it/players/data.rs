//! Namespaces' data, and rules for overwriting it.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::STEVE;
use crate::servers::uuid;
use crate::support::{Answer, Client, on_both};

fn path(player: &str, place: &str) -> String {
    format!("/api/plugin/players/{player}/data/{place}")
}

async fn put(client: &Client, player: &str, data: &str, version: Option<i64>) -> Answer {
    client.put(&path(player, "global/x"), json!({"data": data, "version": version})).await
}

/// A write.
#[derive(Clone, Debug)]
enum Step {
    /// Overwrites any version.
    Put,
    /// Writes on top of the version that many writes ago.
    PutOn(i64),
    Delete,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![2 => Just(Step::Put), 5 => (-1_i64..3).prop_map(Step::PutOn), 1 => Just(Step::Delete)];
    prop::collection::vec(step, 1..25)
}

on_both! {
    async fn data_is_written_read_and_deleted(hub: Hub) {
        let client = hub.network().await;
        let place = path("069A79F444E94726A5BEFCA90E38AAF5", "Bed.wars_1:x-y/inv");
        client.get(&place).await.expect_error(404, "unknown_namespace");
        client.delete(&place).await.expect_error(404, "unknown_namespace");
        let data = " {\"b\" : 1.10, \"a\":[ ],\"b\":1e3, \"nul\":\"\\u0000\", \"ü\":\"\\ud83d\\ude00\"}\n";
        let entry = json!({"gameMode": "Bed.wars_1:x-y", "namespace": "inv", "data": data, "version": 1});
        assert_eq!(client.put(&place, json!({"data": data, "extra": 1})).await.expect(200), &entry);
        assert_eq!(client.get(&path(STEVE, "Bed.wars_1:x-y/inv")).await.expect(200), &entry);
        // Writing the same data is a write, too.
        assert_eq!(client.put(&place, json!({"data": data})).await.expect(200)["version"], 2);
        assert_eq!(client.put(&place, json!({"data": "null", "version": 2})).await.expect(200)["version"], 3);
        client.delete(&place).await.expect(204);
        client.get(&place).await.expect_error(404, "unknown_namespace");
        // A version of absent data is ignored.
        assert_eq!(client.put(&place, json!({"data": "1", "version": 77})).await.expect(200)["version"], 1);
    }

    async fn a_stale_version_changes_nothing(hub: Hub) {
        let client = hub.network().await;
        put(&client, STEVE, "1", None).await.expect(200);
        put(&client, STEVE, "2", Some(1)).await.expect(200);
        for stale in [0, 1, 3, -1, i64::MIN, i64::MAX] {
            put(&client, STEVE, "3", Some(stale)).await.expect_error(409, "version_conflict");
        }
        let entry = client.get(&path(STEVE, "global/x")).await.expect(200).clone();
        assert_eq!((&entry["data"], &entry["version"]), (&json!("2"), &json!(2)));
    }

    async fn invalid_data_is_400_and_too_large_data_413(hub: Hub) {
        let client = hub.network().await;
        let place = path(STEVE, "global/x");
        for (body, hint) in [
            (json!({}), "data"),
            (json!({"data": null}), "data"),
            (json!({"data": {"a": 1}}), "`data`"),
            (json!({"data": 5}), "`data`"),
            (json!({"data": ""}), "`data`"),
            (json!({"data": "{"}), "`data`"),
            (json!({"data": "{} {}"}), "`data`"),
            (json!({"data": "undefined"}), "`data`"),
            (json!({"data": "{'a': 1}"}), "`data`"),
            (json!({"data": "\u{0}"}), "NUL"),
            (json!({"data": "1", "version": "1"}), "`version`"),
            (json!({"data": "1", "version": 1.5}), "`version`"),
            (json!({"data": "1", "version": u64::MAX}), "`version`"),
            (json!([{"data": "1"}]), "body"),
        ] {
            let answer = client.put(&place, body.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{body}: {}", answer.body);
        }
        let text = |bytes: usize| json!("x".repeat(bytes - 2)).to_string();
        client.put(&place, json!({"data": text(256 * 1024)})).await.expect(200);
        client.put(&place, json!({"data": text(256 * 1024 + 1)})).await.expect_error(413, "body_too_large");
        client.put(&place, json!({"data": text(2 * 1024 * 1024)})).await.expect_error(413, "body_too_large");
        assert_eq!(client.get(&place).await.expect(200)["version"], 1);
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        assert_eq!(client.put(&place, json!({"data": deep})).await.expect(200)["version"], 2);
        let long = "x".repeat(65);
        for place in ["a b/x", "global/%C3%BC", &format!("{long}/x"), &format!("global/{long}"), "global/a%2Fb"] {
            client.put(&path(STEVE, place), json!({"data": "1"})).await.expect_error(400, "invalid_request");
            client.get(&path(STEVE, place)).await.expect_error(400, "invalid_request");
            client.delete(&path(STEVE, place)).await.expect_error(400, "invalid_request");
        }
        client.get(&path("Steve", "global/x")).await.expect_error(400, "invalid_request");
    }

    async fn of_concurrent_writes_on_one_version_one_wins(hub: Hub) {
        let client = hub.network().await;
        for round in 0..5 {
            let writers = (0..8).map(|writer| {
                let client = client.clone();
                let version = (round > 0).then_some(round);
                tokio::spawn(async move { put(&client, STEVE, &writer.to_string(), version).await })
            });
            let mut won = vec![];
            for (writer, done) in writers.collect::<Vec<_>>().into_iter().enumerate() {
                let answer = done.await.unwrap();
                match answer.status.as_u16() {
                    200 => won.push((writer, answer.body["version"].as_i64().unwrap())),
                    status => assert_eq!(status, 409),
                }
            }
            let entry = client.get(&path(STEVE, "global/x")).await.expect(200).clone();
            if round == 0 {
                // Without a version all are written, one after the other.
                let mut versions: Vec<_> = won.iter().map(|(_, version)| *version).collect();
                versions.sort_unstable();
                assert_eq!(versions, [1, 2, 3, 4, 5, 6, 7, 8]);
                client.delete(&path(STEVE, "global/x")).await.expect(204);
                put(&client, STEVE, "0", None).await.expect(200);
            } else {
                let [(writer, version)] = won[..] else { panic!("{won:?} won") };
                assert_eq!((&entry["data"], &entry["version"]), (&json!(writer.to_string()), &json!(version)));
                assert_eq!(version, round + 1);
            }
        }
    }

    async fn counting_by_compare_and_set_loses_nothing(hub: Hub) {
        let client = hub.network().await;
        put(&client, STEVE, "0", None).await.expect(200);
        let counters = (0..6).map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..5 {
                    loop {
                        let entry = client.get(&path(STEVE, "global/x")).await.expect(200).clone();
                        let next = entry["data"].as_str().unwrap().parse::<i64>().unwrap() + 1;
                        if put(&client, STEVE, &next.to_string(), entry["version"].as_i64()).await.status == 200 {
                            break;
                        }
                    }
                }
            })
        });
        for counter in counters.collect::<Vec<_>>() {
            counter.await.unwrap();
        }
        let entry = client.get(&path(STEVE, "global/x")).await.expect(200).clone();
        assert_eq!((&entry["data"], &entry["version"]), (&json!("30"), &json!(31)));
    }

    async fn any_sequence_of_writes_agrees_with_a_model(hub: Hub) {
        let client = hub.network().await;
        let mut runner = TestRunner::deterministic();
        for case in 0..25 {
            let player = uuid(case);
            let mut stored: Option<(i64, String)> = None;
            for (number, step) in (0..).zip(steps().new_tree(&mut runner).unwrap().current()) {
                let data = number.to_string();
                let expected = match step {
                    Step::Delete => {
                        let status = client.delete(&path(&player, "global/x")).await.status.as_u16();
                        assert_eq!(status, if stored.take().is_some() { 204 } else { 404 });
                        continue;
                    }
                    Step::Put => None,
                    Step::PutOn(ago) => Some(stored.as_ref().map_or(5, |(version, _)| version - ago)),
                };
                let answer = put(&client, &player, &data, expected).await;
                let current = stored.as_ref().map(|(version, _)| *version);
                if current.is_none() || expected.is_none() || expected == current {
                    let version = current.unwrap_or(0) + 1;
                    assert_eq!(answer.expect(200)["version"], version);
                    stored = Some((version, data));
                } else {
                    answer.expect_error(409, "version_conflict");
                }
                let entry = client.get(&path(&player, "global/x")).await.expect(200).clone();
                let (version, data) = stored.as_ref().unwrap();
                assert_eq!((&entry["version"], &entry["data"]), (&json!(version), &Value::from(data.clone())));
            }
        }
    }
}
