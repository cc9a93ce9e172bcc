//! Shipped output of servers, read by pages and followed live.

use reqwest::Method;
use serde_json::{Value, json};

use super::{lines, poll};
use crate::servers::register;
use crate::support::{Client, Events, NOW, on_both};

async fn ship(agent: &Client, texts: &[&str]) {
    let body = lines(texts.iter().map(|text| (*text).to_owned()));
    let answer = agent.post("/api/plugin/servers/lobby-1/logs", body).await;
    assert_eq!(answer.expect(200), &json!({"accepted": texts.len()}));
}

async fn follow(client: &Client, query: &str, last: Option<&str>) -> Events {
    let path = format!("/api/manage/servers/lobby-1/logs/recent{query}");
    let mut request = client.request(Method::GET, &path).header("Accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    Events::open(request).await
}

/// The numbers of the next lines.
async fn seqs(events: &mut Events, count: usize) -> Vec<i64> {
    let mut seqs = vec![];
    for _ in 0..count {
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "LOG");
        assert_eq!(event.id.unwrap(), event.data["seq"].to_string());
        seqs.push(event.data["seq"].as_i64().unwrap());
    }
    seqs
}

on_both! {
    async fn lines_are_found_by_number_level_and_text(hub: Hub) {
        let client = hub.network().await;
        let agent = client.key_with(&["agent"]).await;
        register(&client, "lobby-1", json!({})).await;
        let body = json!({"lines": [
            {"at": NOW, "stream": "stdout", "text": "[12:00:00 INFO]: Done, no error"},
            {"at": NOW, "stream": "stdout", "text": "[12:00:01 WARN]: Can't keep up! 100%"},
            {"at": NOW, "stream": "stdout", "text": "[12:00:02 ERROR]: Could not load plugin"},
            {"at": NOW, "stream": "stderr", "text": "java.lang.Exception"},
            {"at": NOW, "stream": "stdout", "text": "[12:00:03] [Server thread/INFO]: Steve joined"},
        ]});
        agent.post("/api/plugin/servers/lobby-1/logs", body).await.expect(200);
        let found = async |query: &str| {
            let page = client.get(&format!("/api/manage/servers/lobby-1/logs/recent?{query}")).await.expect(200).clone();
            let seqs: Vec<_> = page["items"].as_array().unwrap().iter().map(|line| line["seq"].as_i64().unwrap()).collect();
            (seqs, page["total"].as_i64().unwrap())
        };
        assert_eq!(found("after=3").await, (vec![5, 4], 2));
        assert_eq!(found("before=3").await, (vec![2, 1], 2));
        assert_eq!(found("after=1&before=4&limit=1").await, (vec![3], 2));
        assert_eq!(found("level=INFO").await.1, 5);
        assert_eq!(found("level=WARN").await.0, [4, 3, 2]);
        // The beginning of a line says its level, and not what it is about.
        assert_eq!(found("level=ERROR&after=1").await.0, [4, 3]);
        assert_eq!(found("q=STEVE").await.0, [5]);
        assert_eq!(found("q=100%25").await.0, [2]);
        assert_eq!(found("q=1_0").await.0, [0; 0]);
        assert_eq!(found("q=load&level=ERROR").await.0, [3]);
        assert_eq!(found("limit=2&page=1").await, (vec![3, 2], 5));
        let path = "/api/manage/servers/lobby-1/logs/recent?level=LOUD";
        client.get(path).await.expect_error(400, "invalid_request");
    }

    async fn lines_are_read_newest_first(hub: Hub) {
        let client = hub.network().await;
        let agent = client.key_with(&["agent"]).await;
        let reader = client.key_with(&["servers:read"]).await;
        let path = "/api/manage/servers/lobby-1/logs/recent";
        reader.get(path).await.expect_error(404, "unknown_server");
        register(&client, "lobby-1", json!({})).await;
        assert_eq!(reader.get(path).await.expect(200), &json!({"items": [], "page": 0, "limit": 50, "total": 0}));
        let body = json!({"lines": [{"at": NOW, "stream": "stdout", "text": "one"},
            {"at": NOW + 1, "stream": "stderr", "text": "two\té\u{1b}[0m"}]});
        let answer = agent.post("/api/plugin/servers/lobby-1/logs", body).await;
        assert_eq!(answer.expect(200), &json!({"accepted": 2}));
        ship(&agent, &[]).await;
        ship(&agent, &["three", ""]).await;
        let first = reader.get(&format!("{path}?limit=3")).await;
        assert_eq!(first.expect(200)["total"], 4);
        let shown: Vec<_> = first.body["items"].as_array().unwrap().iter().map(|line| &line["text"]).collect();
        assert_eq!(shown, ["", "three", "two\té\u{1b}[0m"]);
        let second = reader.get(&format!("{path}?limit=3&page=1")).await;
        assert_eq!(second.expect(200), &json!({"page": 1, "limit": 3, "total": 4,
            "items": [{"seq": 1, "at": NOW, "stream": "stdout", "text": "one"}]}));
        for page in [2, i64::MAX] {
            let beyond = reader.get(&format!("{path}?limit=3&page={page}")).await;
            assert_eq!((&beyond.expect(200)["items"], &beyond.body["total"]), (&json!([]), &json!(4)));
        }
        client.get(&format!("{path}?limit=0")).await.expect_error(400, "invalid_request");
        client.key_with(&["servers:control"]).await.get(path).await.expect_error(403, "forbidden_scope");
        hub.network().await.get(path).await.expect_error(404, "unknown_server");
        // A server that never registered, but has an agent.
        poll(&agent, "lobby-9", "").await;
        reader.get("/api/manage/servers/lobby-9/logs/recent").await.expect(200);
    }

    async fn the_newest_five_thousand_are_kept(hub: Hub) {
        let client = hub.network().await;
        let path = "/api/plugin/servers/lobby-1/logs";
        let many = client.post(path, lines((1..=6_100).map(|number| format!("line {number}")))).await;
        assert_eq!(many.expect(200)["accepted"], 6_100);
        let page = |page| format!("/api/manage/servers/lobby-1/logs/recent?limit=200&page={page}");
        for (newest, added) in [(6_100, 0), (6_850, 750), (7_600, 750), (8_350, 750)] {
            if added > 0 {
                client.post(path, lines((newest - added + 1..=newest).map(|number| format!("line {number}")))).await.expect(200);
            }
            let first = client.get(&page(0)).await;
            assert_eq!(first.expect(200)["total"], 5_000);
            assert_eq!(first.body["items"][0]["text"], format!("line {newest}"));
            let last = client.get(&page(24)).await;
            let items = last.expect(200)["items"].as_array().unwrap();
            assert_eq!((items.len(), &items[199]["text"]), (200, &json!(format!("line {}", newest - 4_999))));
            assert_eq!(client.get(&page(25)).await.expect(200)["items"], json!([]));
        }
    }

    async fn a_long_line_is_cut_and_malformed_ones_are_400(hub: Hub) {
        let client = hub.network().await;
        ship(&client, &[&"é".repeat(5_000)]).await;
        let shown = client.get("/api/manage/servers/lobby-1/logs/recent").await;
        assert_eq!(shown.expect(200)["items"][0]["text"].as_str().unwrap().len(), 8_192);
        let path = "/api/plugin/servers/lobby-1/logs";
        for body in [json!({}), json!({"lines": 5}), json!({"lines": [{}]}), json!({"lines": ["a"]}),
            json!({"lines": [{"at": "now", "stream": "stdout", "text": "a"}]}),
            json!({"lines": [{"at": 1, "stream": "console", "text": "a"}]}),
            json!({"lines": [{"at": 1, "stream": "stdout", "text": null}]}),
            json!({"lines": [{"at": 1, "stream": "stdout", "text": "a\0"}]})] {
            client.post(path, body).await.expect_error(400, "invalid_request");
        }
        let large = client.post(path, lines([("x").repeat(1_100_000)])).await;
        large.expect_error(413, "body_too_large");
        client.key_with(&["servers:read"]).await.post(path, json!({})).await.expect_error(403, "forbidden_scope");
    }

    async fn a_follower_gets_stored_and_new_lines(hub: Hub) {
        let client = hub.network().await;
        ship(&client, &["1", "2", "3"]).await;
        let mut events = follow(&client, "?limit=2", None).await;
        let first = events.next().await.unwrap();
        assert_eq!((first.name.as_str(), first.id.as_deref()), ("LOG", Some("2")));
        assert_eq!(first.data, json!({"seq": 2, "at": 5, "stream": "stdout", "text": "2"}));
        assert_eq!(seqs(&mut events, 1).await, [3]);
        ship(&client, &["4"]).await;
        assert_eq!(seqs(&mut events, 1).await, [4]);
        drop(events);
        ship(&client, &["5"]).await;
        let mut events = follow(&client, "", Some("3")).await;
        assert_eq!(seqs(&mut events, 2).await, [4, 5]);
        // Another network's lines under the same name are not these.
        let other = hub.network().await;
        ship(&other, &["theirs"]).await;
        ship(&client, &["6"]).await;
        assert_eq!(events.next().await.unwrap().data["text"], "6");
    }

    async fn a_follower_gets_each_line_once_and_in_order(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        let mut events = follow(&client, "", None).await;
        let shippers: Vec<_> = (0..20).map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..5 {
                    ship(&client, &["a", "b", "c"]).await;
                }
            })
        }).collect();
        assert_eq!(seqs(&mut events, 300).await, (1..=300).collect::<Vec<_>>());
        for shipper in shippers {
            shipper.await.unwrap();
        }
    }

    async fn a_follower_is_cut_off_with_its_key(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        let made = client.post("/api/manage/keys", json!({"name": "console", "scopes": ["servers:read"]})).await;
        let made: Value = made.expect(201).clone();
        let reader = client.with_key(made["apiKey"].as_str().unwrap());
        let mut withdrawn = follow(&reader, "", None).await;
        let mut good = follow(&client, "", None).await;
        client.delete(&format!("/api/manage/keys/{}", made["keyId"].as_str().unwrap())).await.expect(204);
        hub.advance_ms(500);
        assert!(withdrawn.next().await.is_none());
        ship(&client, &["still here"]).await;
        assert_eq!(seqs(&mut good, 1).await, [1]);
        hub.app.begin_stop();
        assert!(good.next().await.is_none());
    }
}
