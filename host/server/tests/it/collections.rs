//! Collections: documents by id and by index, stable pages, indexes that are built during writes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hub::ids::Ids;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Hub, on_all};

fn path(rest: &str) -> String {
    format!("/api/plugin/collections/{rest}")
}

async fn register(client: &Client, name: &str, indexes: &[(&str, &str)]) -> Answer {
    let indexes: Vec<_> = indexes.iter().map(|(field, kind)| json!({"field": field, "type": kind})).collect();
    let body = json!({"collections": [{"name": name, "key": "id", "indexes": indexes}]});
    client.post(&path("register"), body).await
}

async fn put(client: &Client, rest: &str, doc: Value) {
    assert_eq!(client.put(&path(rest), doc.clone()).await.expect(200), &doc);
}

async fn get(client: &Client, rest: &str) -> Value {
    client.get(&path(rest)).await.expect(200).clone()
}

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// The ids of a list, joined.
async fn found(client: &Client, rest: &str) -> String {
    ids(&get(client, rest).await).join(" ")
}

async fn guilds(client: &Client) {
    register(client, "guilds", &[("level", "number"), ("owner.name", "string"), ("open", "bool")]).await.expect(200);
    for (id, level, owner, open) in [
        ("a", json!(5), "Zoe", true),
        ("b", json!(-2.5), "Alex", false),
        ("c", json!(5.0), "Alex", true),
        ("d", json!(1e3), "é", true),
    ] {
        put(client, &format!("guilds/{id}"), json!({"level": level, "owner": {"name": owner}, "open": open})).await;
    }
    // Not in all of the indexes.
    put(client, "guilds/e", json!({"level": "5", "owner": "Alex"})).await;
    put(client, "guilds/f", json!(null)).await;
}

on_all! {
    async fn a_document_is_put_read_replaced_and_deleted(hub: Hub) {
        let client = hub.network().await;
        for answer in [
            client.get(&path("guilds/a")).await, client.put(&path("guilds/a"), json!(1)).await,
            client.delete(&path("guilds/a")).await, client.get(&path("guilds/top/level")).await,
            client.post(&path("guilds/mget"), json!({"ids": []})).await,
            client.get(&path("guilds/by/level?value=1")).await, client.get(&path("guilds/page/level")).await,
            client.get(&path("guilds/range/level?min=1")).await,
        ] {
            answer.expect_error(404, "unknown_collection");
        }
        register(&client, "guilds", &[]).await.expect(200);
        client.get(&path("guilds/a")).await.expect_error(404, "unknown_document");
        for doc in [json!({"id": "a", "n": [1, {"x": null}]}), json!("text"), json!(null), json!([])] {
            put(&client, "guilds/a", doc.clone()).await;
            assert_eq!(get(&client, "guilds/a").await, doc);
        }
        put(&client, "guilds/a%2Fb%20%C3%A9", json!(1)).await;
        assert_eq!(get(&client, "guilds/a%2Fb%20%C3%A9").await, json!(1));
        assert_eq!(client.delete(&path("guilds/a")).await.expect(200), &json!({"deleted": true}));
        assert_eq!(client.delete(&path("guilds/a")).await.expect(200), &json!({"deleted": false}));
        client.get(&path("guilds/a")).await.expect_error(404, "unknown_document");
        let exact = r#"{ "n": 1.10, "big": 12345678901234567890123 }"#;
        let sent = client.request(Method::PUT, &path("guilds/x")).body(exact).send().await.unwrap();
        assert_eq!(sent.text().await.unwrap(), r#"{"n":1.10,"big":12345678901234567890123}"#);
    }

    async fn several_documents_come_in_the_order_asked(hub: Hub) {
        let client = hub.network().await;
        guilds(&client).await;
        let answer = client.post(&path("guilds/mget"), json!({"ids": ["c", "nothing", "a", "c"]})).await;
        assert_eq!(ids(answer.expect(200)), ["c", "a"]);
        assert_eq!(answer.body["items"][1]["doc"]["owner"]["name"], "Zoe");
        assert_eq!(client.post(&path("guilds/mget"), json!({"ids": []})).await.expect(200), &json!({"items": []}));
        for wrong in [json!({}), json!({"ids": "a"}), json!({"ids": [" "]}), json!({"ids": vec!["a"; 201]})] {
            client.post(&path("guilds/mget"), wrong).await.expect_error(400, "invalid_request");
        }
    }

    async fn documents_are_found_by_their_indexed_fields(hub: Hub) {
        let client = hub.network().await;
        guilds(&client).await;
        for (rest, expected) in [
            ("by/level?value=5", "a c"), ("by/level?value=5.00", "a c"), ("by/level?value=-2.5", "b"),
            ("by/level?value=7", ""), ("by/level?value=5&limit=1", "a"), ("by/owner.name?value=Alex", "b c"),
            ("by/owner.name?value=alex", ""), ("by/owner.name?value=%C3%A9", "d"), ("by/owner.name?value=", ""),
            ("by/open?value=true", "a c d"), ("by/open?value=false", "b"),
            ("top/level", "d c a b"), ("top/level?order=asc", "b a c d"), ("top/level?limit=2", "d c"),
            ("top/open?order=asc&limit=1", "b"), ("top/owner.name", "d a c b"),
            ("range/level", "b a c d"), ("range/level?min=-2.5&max=5", "b a c"), ("range/level?min=5&max=5", "a c"),
            ("range/level?min=5.1", "d"), ("range/level?max=-2.5", "b"), ("range/level?min=6&max=4", ""),
            ("range/level?min=-3&max=5&order=desc&limit=2", "c a"), ("range/level?min=&max=1e2&order=", "b a c"),
            ("page/level", "b a c d"), ("page/level?order=desc", "d c a b"), ("page/owner.name", "b c a d"),
        ] {
            assert_eq!(found(&client, &format!("guilds/{rest}")).await, expected, "{rest}");
        }
        assert_eq!(get(&client, "guilds/page/level").await["nextCursor"], json!(null));
        assert_eq!(get(&client, "guilds/by/level?value=-2.5").await, json!({"items": [
            {"id": "b", "doc": {"level": -2.5, "owner": {"name": "Alex"}, "open": false}},
        ]}));
        // The index follows changes and deletions.
        put(&client, "guilds/a", json!({"level": 9})).await;
        client.delete(&path("guilds/c")).await.expect(200);
        assert_eq!(found(&client, "guilds/top/level").await, "d a b");
        assert_eq!(found(&client, "guilds/by/owner.name?value=Zoe").await, "");
        for (rest, code) in [
            ("by/level", "invalid_request"), ("by/level?value=x", "invalid_request"), ("by/open?value=1", "invalid_request"),
            ("by/name?value=x", "field_not_indexed"), ("top/name", "field_not_indexed"), ("page/name", "field_not_indexed"),
            ("range/name", "field_not_indexed"), ("range/open", "wrong_index_type"), ("range/level?min=x", "invalid_request"),
            ("range/level?max=inf", "invalid_request"), ("top/level?order=up", "invalid_request"),
            ("top/level?limit=0", "invalid_request"), ("page/level?cursor=x", "invalid_cursor"),
            ("by/a..b?value=1", "invalid_request"),
        ] {
            client.get(&path(&format!("guilds/{rest}"))).await.expect_error(400, code);
        }
    }

    async fn a_cursor_belongs_to_its_list(hub: Hub) {
        let client = hub.network().await;
        guilds(&client).await;
        let first = get(&client, "guilds/page/level?limit=2").await;
        assert_eq!(ids(&first), ["b", "a"]);
        let cursor = first["nextCursor"].as_str().unwrap();
        let second = get(&client, &format!("guilds/page/level?limit=2&cursor={cursor}")).await;
        assert_eq!((ids(&second), &second["nextCursor"]), (vec!["c".to_owned(), "d".to_owned()], &json!(null)));
        for rest in ["page/level?order=desc&", "page/open?"] {
            client.get(&path(&format!("guilds/{rest}cursor={cursor}"))).await.expect_error(400, "invalid_cursor");
        }
    }

    async fn invalid_documents_are_refused(hub: Hub) {
        let client = hub.network().await;
        guilds(&client).await;
        for (id, doc, code) in [
            ("a", json!({"id": "b"}), "key_mismatch"), ("a", json!({"id": {}}), "key_mismatch"),
            ("a", json!({"owner": {"name": "x".repeat(1_025)}}), "index_value_too_long"),
            ("%20", json!({}), "invalid_request"), (&"x".repeat(129), json!({}), "invalid_request"),
            ("a%00", json!({}), "invalid_request"), ("a", json!("a\u{0}"), "invalid_request"),
        ] {
            client.put(&path(&format!("guilds/{id}")), doc).await.expect_error(400, code);
        }
        for body in ["", "{", "1 2", r#"{"n": 1e999}"#, &("[".repeat(101) + &"]".repeat(101))] {
            let request = client.request(Method::PUT, &path("guilds/a")).body(body.to_owned());
            client.send(request).await.expect_error(400, "invalid_request");
        }
        let text = |bytes: usize| json!("x".repeat(bytes - 2));
        client.put(&path("guilds/big"), text(256 * 1024 + 1)).await.expect_error(413, "body_too_large");
        client.put(&path("guilds/big"), text(256 * 1024)).await.expect(200);
        assert_eq!(get(&client, "guilds/a").await["level"], 5, "as it was");
        put(&client, "guilds/5", json!({"id": 5})).await;
        put(&client, &format!("guilds/{}", "é".repeat(128)), json!({"owner": {"name": "x".repeat(1_024)}})).await;
    }

    async fn definitions_only_grow(hub: Hub) {
        let client = hub.network().await;
        let first = register(&client, "guilds", &[("level", "number")]).await;
        let level = json!({"field": "level", "type": "number", "state": "READY"});
        let definition = json!({"name": "guilds", "key": "id", "indexes": [level]});
        assert_eq!(first.expect(200), &json!({"collections": [definition]}));
        assert_eq!(register(&client, "guilds", &[]).await.expect(200), &first.body);
        for at in 0..250 {
            client.put(&path(&format!("guilds/g{at:03}")), json!({"level": at, "name": format!("n{at}")})).await.expect(200);
        }
        client.get(&path("guilds/top/name")).await.expect_error(400, "field_not_indexed");
        // Built over the stored documents, and kept when it is not named.
        let more = json!({"collections": [
            {"name": "new", "key": null}, {"name": "guilds", "indexes": [{"field": "name", "type": "string"}]},
        ]});
        let answer = client.post(&path("register"), more).await;
        assert_eq!(answer.expect(200), &json!({"collections": [
            {"name": "new", "key": null, "indexes": []},
            {"name": "guilds", "key": "id", "indexes": [level, {"field": "name", "type": "string", "state": "READY"}]},
        ]}));
        assert_eq!(found(&client, "guilds/by/name?value=n249").await, "g249");
        assert_eq!(get(&client, "guilds/page/name?limit=200").await["items"].as_array().unwrap().len(), 200);
        register(&client, "guilds", &[("other", "bool"), ("level", "string")]).await.expect_error(400, "index_type_changed");
        client.get(&path("guilds/top/other")).await.expect_error(400, "field_not_indexed");
        let keyed = json!({"collections": [{"name": "fresh"}, {"name": "guilds", "key": "other"}]});
        client.post(&path("register"), keyed).await.expect_error(400, "key_changed");
        client.get(&path("fresh/a")).await.expect_error(404, "unknown_collection");
        put(&client, "guilds/long", json!({"text": "x".repeat(2_000)})).await;
        put(&client, "guilds/short", json!({"text": "x"})).await;
        // Stored values that are too long are left out.
        register(&client, "guilds", &[("text", "string")]).await.expect(200);
        assert_eq!(found(&client, "guilds/top/text").await, "short");
        let again = client.put(&path("guilds/long"), json!({"text": "x".repeat(2_000)})).await;
        again.expect_error(400, "index_value_too_long");
        let many: Vec<_> = (0..17).map(|at| (format!("f{at}"), "bool")).collect();
        let many: Vec<_> = many.iter().map(|(field, kind)| (field.as_str(), *kind)).collect();
        register(&client, "many", &many).await.expect_quota("indexesPerCollection", 16);
        for (wrong, hint) in [
            (json!({}), "collections"), (json!({"collections": {}}), "collections"),
            (json!({"collections": [{"name": "a b"}]}), "`collections[0].name`"),
            (json!({"collections": [{"name": "a", "indexes": [{"field": "x"}]}]}), "type"),
            (json!({"collections": [{"name": "a", "indexes": [{"field": "x", "type": "date"}]}]}), "type"),
            (json!({"collections": [{"name": "a", "indexes": [{"field": ".x", "type": "bool"}]}]}), "field"),
            (json!({"collections": vec![json!({"name": "a"}); 101]}), "100"),
        ] {
            let answer = client.post(&path("register"), wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
    }

    async fn pages_are_stable_while_documents_come_and_go(hub: Hub) {
        let client = hub.network().await;
        for seed in 0..6 {
            let random = Ids::seeded(seed);
            let pick = |below: u64| random.seed() % below;
            let name = format!("walk{seed}");
            register(&client, &name, &[("n", "number")]).await.expect(200);
            let mut stored = BTreeMap::new();
            let mut next_id = 0;
            let insert = async |stored: &mut BTreeMap<String, i64>, next_id: &mut u64| {
                let (id, n) = (format!("d{:02}-{next_id}", pick(100)), pick(8) as i64 - 4);
                *next_id += 1;
                client.put(&path(&format!("{name}/{id}")), json!({"n": n})).await.expect(200);
                stored.insert(id, n);
            };
            for _ in 0..30 {
                insert(&mut stored, &mut next_id).await;
            }
            let mut throughout: BTreeSet<String> = stored.keys().cloned().collect();
            let order = if pick(2) == 0 { "asc" } else { "desc" };
            let mut seen: Vec<(i64, String)> = vec![];
            let mut cursor = String::new();
            loop {
                let query = format!("page/n?order={order}&limit={}&cursor={cursor}", 1 + pick(6));
                let page = get(&client, &format!("{name}/{query}")).await;
                for item in page["items"].as_array().unwrap() {
                    let (id, n) = (item["id"].as_str().unwrap().to_owned(), item["doc"]["n"].as_i64().unwrap());
                    assert_eq!(stored.get(&id), Some(&n), "seed {seed}: {id} is shown as it is");
                    seen.push((n, id));
                }
                for _ in 0..pick(5) {
                    let victim = stored.keys().nth(pick(stored.len() as u64) as usize).unwrap().clone();
                    match pick(3) {
                        0 => insert(&mut stored, &mut next_id).await,
                        1 => {
                            client.delete(&path(&format!("{name}/{victim}"))).await.expect(200);
                            stored.remove(&victim);
                            throughout.remove(&victim);
                        }
                        // The same value again rewrites the entry.
                        _ => {
                            let doc = json!({"n": stored[&victim], "again": true});
                            client.put(&path(&format!("{name}/{victim}")), doc).await.expect(200);
                        }
                    }
                }
                match page["nextCursor"].as_str() {
                    Some(next) => next.clone_into(&mut cursor),
                    None => break,
                }
            }
            let mut sorted = seen.clone();
            sorted.sort();
            sorted.dedup();
            if order == "desc" {
                sorted.reverse();
            }
            assert_eq!(seen, sorted, "seed {seed}: in order, and nothing twice");
            let seen: BTreeSet<String> = seen.into_iter().map(|(_, id)| id).collect();
            assert!(throughout.is_subset(&seen), "seed {seed}: skipped {:?}", throughout.difference(&seen));
        }
    }

    async fn an_index_built_during_writes_misses_no_document(hub: Hub) {
        let client = hub.network().await;
        register(&client, "guilds", &[]).await.expect(200);
        let writers: Vec<_> = (0..6)
            .map(|writer| {
                let client = client.clone();
                tokio::spawn(async move {
                    for at in 0..12 {
                        put(&client, &format!("guilds/{writer}-{at}"), json!({"n": at, "m": writer})).await;
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            let (n, m) = tokio::join!(
                register(&client, "guilds", &[("n", "number")]),
                register(&client, "guilds", &[("m", "number")]),
            );
            n.expect(200);
            m.expect(200);
        }
        for writer in writers {
            writer.await.unwrap();
        }
        for field in ["n", "m"] {
            let all: BTreeSet<_> = ids(&get(&client, &format!("guilds/top/{field}?limit=200")).await).into_iter().collect();
            assert_eq!(all.len(), 72, "{field}");
        }
    }

    async fn an_index_is_used_once_it_is_complete(hub: Hub) {
        let client = hub.network().await;
        let network = client.network.unwrap();
        register(&client, "guilds", &[("name", "string")]).await.expect(200);
        for at in 0..300 {
            put(&client, &format!("guilds/g{at:03}"), json!({"level": at, "name": "n"})).await;
        }
        // State after a hub was killed at the first half of the documents.
        let db = &hub.app.db;
        register(&client, "guilds", &[("level", "number")]).await.expect(200);
        let jobs = async || db.query("SELECT COUNT(*) FROM jobs WHERE kind = 'index-build'").one::<(i64,)>().await;
        Hub::eventually("its job is done", async || jobs().await.unwrap().0 == 0).await;
        for sql in [
            "DELETE FROM collection_entries WHERE network_id = $1 AND field = 'level' AND id > 'g149'",
            "INSERT INTO collection_index_builds (network_id, collection, fields, after_id)
             VALUES ($1, 'guilds', '[\"level\"]', 'g149')",
            "INSERT INTO jobs (network_id, kind, job_key, payload, created_at, due_at, attempts, kills, again)
             VALUES ($1, 'index-build', 'guilds', 'null', 0, 1804680001000, 0, 0, FALSE)",
        ] {
            db.write(sql).bind(network.0).execute().await.unwrap();
        }
        for rest in ["by/level?value=1", "top/level", "range/level?min=1", "page/level"] {
            let building = client.get(&path(&format!("guilds/{rest}"))).await;
            building.expect_error(503, "index_building");
            assert_eq!(building.headers["retry-after"], "1");
        }
        let states = register(&client, "guilds", &[]).await.expect(200)["collections"][0]["indexes"].clone();
        assert_eq!((&states[0]["state"], &states[1]["state"]), (&json!("READY"), &json!("BUILDING")));
        assert_eq!(ids(&get(&client, "guilds/top/name?limit=200").await).len(), 200);
        // Writes keep the index on both sides of the builder's position.
        put(&client, "guilds/g000", json!({"level": 1000})).await;
        put(&client, "guilds/g299", json!({"level": 2000})).await;
        client.delete(&path("guilds/g298")).await.expect(200);
        put(&client, "guilds/g297", json!({"name": "without"})).await;
        let hub = hub.abandon(Duration::from_secs(1)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        Hub::eventually("complete", async || client.get(&path("guilds/top/level")).await.status == 200).await;
        assert_eq!(found(&client, "guilds/top/level?limit=3").await, "g299 g000 g296");
        let (mut all, mut cursor) = (vec![], String::new());
        loop {
            let page = get(&client, &format!("guilds/page/level?limit=200&cursor={cursor}")).await;
            all.extend(ids(&page));
            let Some(next) = page["nextCursor"].as_str() else { break };
            next.clone_into(&mut cursor);
        }
        assert_eq!(all.len(), 298);
    }

    async fn indexes_that_are_added_with_a_key_are_built_afterwards(hub: Hub) {
        let client = hub.network().await;
        register(&client, "guilds", &[]).await.expect(200);
        for at in 0..50 {
            put(&client, &format!("guilds/g{at}"), json!({"a": at, "b": at, "c": "x"})).await;
        }
        let body = json!({"collections": [{"name": "guilds", "indexes": [
            {"field": "a", "type": "number"}, {"field": "b", "type": "number"}, {"field": "c", "type": "string"},
        ]}]});
        let request = client.request(Method::POST, &path("register")).header("Idempotency-Key", "k").json(&body);
        let answer = client.send(request).await;
        assert_eq!(answer.expect(200)["collections"][0]["indexes"][0]["state"], "BUILDING");
        for field in ["a", "b", "c"] {
            let list = path(&format!("guilds/top/{field}?limit=200"));
            Hub::eventually("complete", async || client.get(&list).await.status == 200).await;
            assert_eq!(ids(client.get(&list).await.expect(200)).len(), 50);
        }
    }

    async fn concurrent_writes_keep_documents_and_entries_consistent(hub: Hub) {
        let client = hub.network().await;
        register(&client, "guilds", &[("n", "number")]).await.expect(200);
        for _ in 0..5 {
            let calls: Vec<_> = (0..12)
                .map(|at| {
                    let client = client.clone();
                    tokio::spawn(async move {
                        if at % 3 == 0 {
                            client.delete(&path("guilds/a")).await.expect(200);
                        } else {
                            put(&client, "guilds/a", json!({"n": at})).await;
                        }
                    })
                })
                .collect();
            for call in calls {
                call.await.unwrap();
            }
            let stored = client.get(&path("guilds/a")).await;
            let listed = get(&client, "guilds/top/n").await;
            if stored.status == 404 {
                assert_eq!(listed, json!({"items": []}));
            } else {
                assert_eq!(listed, json!({"items": [{"id": "a", "doc": stored.body}]}));
                let value = &stored.body["n"];
                assert_eq!(found(&client, &format!("guilds/by/n?value={value}")).await, "a");
            }
        }
    }

    async fn another_network_has_its_own_collections(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        guilds(&theirs).await;
        ours.get(&path("guilds/a")).await.expect_error(404, "unknown_collection");
        register(&ours, "guilds", &[("level", "string")]).await.expect(200);
        ours.get(&path("guilds/a")).await.expect_error(404, "unknown_document");
        assert_eq!(ours.delete(&path("guilds/a")).await.expect(200), &json!({"deleted": false}));
        assert_eq!(found(&ours, "guilds/top/level").await, "");
        assert_eq!(ours.post(&path("guilds/mget"), json!({"ids": ["a"]})).await.expect(200), &json!({"items": []}));
        assert_eq!(found(&theirs, "guilds/top/level").await, "d c a b");
    }
}
