//! The catalog: defaults, the owner's changes, locales, and players' languages.

use serde_json::{Value, json};

use crate::support::{Client, Events, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const MESSAGES: &str = "/api/manage/localization/messages";
const LOCALES: &str = "/api/manage/localization/locales";

async fn defaults(client: &Client, namespace: &str, locale: &str, entries: Value) -> i64 {
    let body = json!({"namespace": namespace, "locale": locale, "entries": entries});
    let answer = client.post("/api/plugin/localization/defaults", body).await;
    answer.expect(200)["inserted"].as_i64().unwrap()
}

async fn catalog(client: &Client, query: &str) -> Value {
    client.get(&format!("/api/plugin/localization/catalog{query}")).await.expect(200).clone()
}

async fn version(client: &Client) -> i64 {
    catalog(client, "").await["version"].as_i64().unwrap()
}

async fn change(client: &Client, message: &str, value: &str) -> Value {
    client.put(&format!("{MESSAGES}/{message}"), json!({"value": value})).await.expect(200).clone()
}

/// A managed thing, and its revision.
fn without_revision(mut thing: Value) -> (Value, i64) {
    let revision = thing.as_object_mut().unwrap().remove("revision").unwrap();
    (thing, revision.as_i64().unwrap())
}

async fn expect_update(events: &mut Events, version: i64) {
    let event = events.next_named("LOCALIZATION_UPDATED").await;
    assert_eq!((&event.data["version"], &event.data["type"]), (&json!(version), &json!("LOCALIZATION_UPDATED")));
}

fn locale(code: &str, is_default: bool) -> Value {
    json!({"locale": code, "displayName": code, "isDefault": is_default, "enabled": true})
}

on_both! {
    async fn an_empty_catalog_is_in_english(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(catalog(&client, "").await, json!({
            "version": 0, "defaultLocale": "en", "locales": [locale("en", true)], "messages": {},
        }));
        let locales = client.get("/api/plugin/localization/locales").await;
        assert_eq!(locales.expect(200), &json!([locale("en", true)]));
    }

    async fn defaults_are_inserted_only_where_they_are_missing(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let entries = json!({"welcome": "Welcome!", "bye": "Bye \"you\" \\ é\n", "a.b c": ""});
        assert_eq!(defaults(&client, "lobby", "en", entries.clone()).await, 3);
        expect_update(&mut events, 1).await;
        assert_eq!(defaults(&client, "lobby", "en", entries.clone()).await, 0);
        assert_eq!(defaults(&client, "lobby", "en", json!({})).await, 0);
        assert_eq!(defaults(&client, "lobby", "EN", json!({"welcome": "Other", "new": "New"})).await, 1);
        expect_update(&mut events, 2).await;
        assert_eq!(defaults(&client, "lobby", "de-DE", json!({"welcome": "Willkommen!"})).await, 1);
        expect_update(&mut events, 3).await;
        assert_eq!(catalog(&client, "").await, json!({
            "version": 3, "defaultLocale": "en", "locales": [locale("en", true), locale("de-DE", false)],
            "messages": {
                "en": {"welcome": "Welcome!", "bye": "Bye \"you\" \\ é\n", "a.b c": "", "new": "New"},
                "de-DE": {"welcome": "Willkommen!"},
            },
        }));
    }

    async fn the_owner_overrides_messages_and_restores_them(hub: Hub) {
        let client = hub.network().await;
        defaults(&client, "lobby", "en", json!({"welcome": "Welcome!"})).await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let changed = change(&client, "EN/lobby/welcome", "Hello!").await;
        let (changed, revision) = without_revision(changed);
        assert!(revision > 0);
        assert_eq!(changed, json!({
            "namespace": "lobby", "locale": "en", "key": "welcome", "default": "Welcome!", "override": "Hello!",
            "effective": "Hello!",
        }));
        expect_update(&mut events, 2).await;
        // The same again is no change.
        change(&client, "en/lobby/welcome", "Hello!").await;
        assert_eq!(version(&client).await, 2);
        // A key without a default; one that comes later changes nothing.
        change(&client, "fr/lobby/late%2Fkey", "Tard").await;
        expect_update(&mut events, 3).await;
        assert_eq!(defaults(&client, "lobby", "fr", json!({"late/key": "Late"})).await, 1);
        assert_eq!(version(&client).await, 3);
        assert_eq!(catalog(&client, "").await["messages"]["fr"], json!({"late/key": "Tard"}));
        client.delete(&format!("{MESSAGES}/fr/lobby/late%2Fkey")).await.expect(204);
        expect_update(&mut events, 4).await;
        assert_eq!(catalog(&client, "").await["messages"]["fr"], json!({"late/key": "Late"}));
        // An override with the default's text is no change, nor is its deletion.
        change(&client, "fr/lobby/late%2Fkey", "Late").await;
        client.delete(&format!("{MESSAGES}/fr/lobby/late%2Fkey")).await.expect(204);
        assert_eq!(version(&client).await, 4);
        client.delete(&format!("{MESSAGES}/fr/lobby/late%2Fkey")).await.expect_error(404, "unknown_override");
        client.delete(&format!("{MESSAGES}/fr/lobby/nothing")).await.expect_error(404, "unknown_override");
        // A message without a default is deleted.
        change(&client, "en/lobby/mine", "Mine").await;
        client.delete(&format!("{MESSAGES}/en/lobby/mine")).await.expect(204);
        assert_eq!(catalog(&client, "").await["messages"]["en"], json!({"welcome": "Hello!"}));
        assert_eq!(version(&client).await, 6);
    }

    async fn namespaces_are_merged_in_the_order_named(hub: Hub) {
        let client = hub.network().await;
        for namespace in ["zoo", "alpha", "mid"] {
            let own = format!("only-{namespace}");
            defaults(&client, namespace, "en", json!({"shared": namespace, own: namespace})).await;
        }
        let shared = |catalog: &Value| catalog["messages"]["en"]["shared"].clone();
        assert_eq!(shared(&catalog(&client, "").await), "alpha");
        assert_eq!(shared(&catalog(&client, "?namespace=").await), "alpha");
        assert_eq!(shared(&catalog(&client, "?namespace=mid,zoo").await), "mid");
        assert_eq!(shared(&catalog(&client, "?namespace=%20zoo%20,alpha,zoo").await), "zoo");
        let some = catalog(&client, "?namespace=zoo,nothing").await;
        assert_eq!(some["messages"], json!({"en": {"shared": "zoo", "only-zoo": "zoo"}}));
        assert_eq!(catalog(&client, "?namespace=nothing").await["messages"], json!({}));
        client.get("/api/plugin/localization/catalog?namespace=a%20b").await.expect_error(400, "invalid_request");
    }

    async fn there_is_exactly_one_default_locale(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let put = |code: &str, body: Value| {
            let (client, path) = (client.clone(), format!("{LOCALES}/{code}"));
            async move { client.put(&path, body).await }
        };
        let german = put("de", json!({"displayName": "Deutsch", "isDefault": true})).await;
        let (german, _) = without_revision(german.expect(200).clone());
        assert_eq!(german, json!({"locale": "de", "displayName": "Deutsch", "isDefault": true, "enabled": true}));
        expect_update(&mut events, 1).await;
        let list = client.get("/api/plugin/localization/locales").await.expect(200).clone();
        assert_eq!(list, json!([german]), "en was never stored");
        put("fr", json!({"enabled": false})).await.expect(200);
        expect_update(&mut events, 2).await;
        let same = put("FR", json!({"enabled": false})).await;
        assert_eq!(same.expect(200)["locale"], "fr");
        assert_eq!(version(&client).await, 2);
        put("de", json!({"isDefault": false})).await.expect_error(400, "default_locale_needed");
        put("de", json!({"enabled": false})).await.expect_error(400, "default_locale_disabled");
        put("fr", json!({"isDefault": true})).await.expect_error(400, "default_locale_disabled");
        put("fr", json!({"isDefault": true, "enabled": true})).await.expect(200);
        expect_update(&mut events, 3).await;
        let page = client.get(LOCALES).await.expect(200).clone();
        let listed: Vec<_> = page["items"].as_array().unwrap().iter().map(|one| (&one["locale"], &one["isDefault"])).collect();
        assert_eq!(listed, [(&json!("fr"), &json!(true)), (&json!("de"), &json!(false))]);
        assert_eq!((&page["page"], &page["limit"], &page["total"]), (&json!(0), &json!(50), &json!(2)));
        assert_eq!(catalog(&client, "").await["defaultLocale"], "fr");
        put("x".repeat(17).as_str(), json!({})).await.expect_error(400, "invalid_request");
        put("d%20e", json!({})).await.expect_error(400, "invalid_request");
        put("de", json!({"enabled": "no"})).await.expect_error(400, "invalid_request");
    }

    async fn the_owner_finds_messages(hub: Hub) {
        let client = hub.network().await;
        defaults(&client, "lobby", "en", json!({"welcome": "Welcome, 100%!", "bye": "Bye"})).await;
        defaults(&client, "lobby", "de_de", json!({"welcome": "Willkommen"})).await;
        defaults(&client, "arena", "en", json!({"start": "Go_go"})).await;
        change(&client, "en/lobby/bye", "See you").await;
        let find = async |query: &str| {
            let page = client.get(&format!("{MESSAGES}{query}")).await.expect(200).clone();
            let name = |one: &Value| format!("{}/{}", one["locale"].as_str().unwrap(), one["key"].as_str().unwrap());
            let items: Vec<_> = page["items"].as_array().unwrap().iter().map(name).collect();
            (items, page["total"].as_i64().unwrap())
        };
        let all = ["en/start", "de_de/welcome", "en/bye", "en/welcome"];
        assert_eq!(find("").await, (all.map(str::to_owned).to_vec(), 4));
        assert_eq!(find("?limit=1&page=2").await, (vec!["en/bye".to_owned()], 4));
        for (query, expected) in [
            ("?locale=DE-de", "de_de/welcome"), ("?namespace=arena", "en/start"), ("?search=SEE", "en/bye"),
            ("?search=100%25", "en/welcome"), ("?search=o_g", "en/start"), ("?search=tart&locale=en", "en/start"),
        ] {
            assert_eq!(find(query).await, (vec![expected.to_owned()], 1), "{query}");
        }
        assert_eq!(find("?search=Bye").await.1, 1, "by its key; its default is overridden");
        assert_eq!(find("?search=nothing").await.1, 0);
    }

    async fn invalid_messages_are_refused(hub: Hub) {
        let client = hub.network().await;
        let good = json!({"namespace": "lobby", "locale": "en", "entries": {}});
        for (field, value, hint) in [
            ("namespace", json!("a b"), "`namespace`"),
            ("namespace", json!(""), "`namespace`"),
            ("namespace", json!(null), "`namespace`"),
            ("locale", json!("english (british)"), "`locale`"),
            ("locale", json!(""), "`locale`"),
            ("entries", json!({"a": 5}), "entries"),
            ("entries", json!({"a": null}), "entries"),
            ("entries", json!({" ": "x"}), "blank"),
            ("entries", json!({"x".repeat(256): "x"}), "255"),
            ("entries", json!({"a": "x".repeat(16_385)}), "16384"),
            ("entries", json!(["a"]), "entries"),
        ] {
            let mut body = good.clone();
            body[field] = value;
            let answer = client.post("/api/plugin/localization/defaults", body.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{field}: {}", answer.body);
        }
        let put = client.put(&format!("{MESSAGES}/en/lobby/key"), json!({})).await;
        put.expect_error(400, "invalid_request");
        client.put(&format!("{MESSAGES}/en/lo%20bby/key"), json!({"value": "x"})).await.expect_error(400, "invalid_request");
        assert_eq!(version(&client).await, 0);
    }

    async fn a_players_language_is_the_last_one_put(hub: Hub) {
        let client = hub.network().await;
        let path = format!("/api/plugin/localization/players/{STEVE}/locale");
        let unset = json!({"locale": null, "source": null});
        assert_eq!(client.get(&path).await.expect(200), &unset);
        for (body, expected) in [
            (json!({"locale": "en_US", "source": "AUTO"}), json!({"locale": "en_US", "source": "AUTO"})),
            (json!({"locale": "de", "source": "PLAYER"}), json!({"locale": "de", "source": "PLAYER"})),
            (json!({"locale": "fr", "source": "auto"}), json!({"locale": "fr", "source": "AUTO"})),
            (json!({"locale": null, "source": "PLAYER"}), unset.clone()),
            (json!({"locale": "it"}), json!({"locale": "it", "source": "PLAYER"})),
            (json!({}), unset.clone()),
        ] {
            assert_eq!(client.put(&format!("{path}?username=Steve"), body).await.expect(200), &expected);
            assert_eq!(client.get(&path).await.expect(200), &expected);
        }
        for wrong in [json!({"locale": ""}), json!({"locale": 5}), json!({"locale": null, "source": "NOBODY"}), json!([])] {
            client.put(&path, wrong).await.expect_error(400, "invalid_request");
        }
        let nobody = "/api/plugin/localization/players/steve/locale";
        client.get(nobody).await.expect_error(400, "invalid_request");
        // Setting a language makes a player known; known players keep their data.
        let steve = client.get(&format!("/api/plugin/players/{STEVE}")).await.expect(200).clone();
        assert_eq!((&steve["username"], &steve["region"]), (&json!("Steve"), &json!("UNKNOWN")));
        hub.advance_ms(1_000);
        client.put(&format!("{path}?username=Other"), json!({"locale": "de", "source": "AUTO"})).await.expect(200);
        assert_eq!(client.get(&format!("/api/plugin/players/{STEVE}")).await.expect(200), &steve);
        let other = hub.network().await;
        other.get(&format!("/api/plugin/players/{STEVE}")).await.expect_error(404, "unknown_player");
        assert_eq!(other.get(&path).await.expect(200), &unset);
    }

    async fn another_network_has_its_own_catalog(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        defaults(&theirs, "lobby", "en", json!({"welcome": "Theirs"})).await;
        change(&theirs, "en/lobby/welcome", "Changed").await;
        assert_eq!(catalog(&ours, "").await["messages"], json!({}));
        assert_eq!(ours.get(MESSAGES).await.expect(200)["total"], 0);
        ours.delete(&format!("{MESSAGES}/en/lobby/welcome")).await.expect_error(404, "unknown_override");
        assert_eq!(defaults(&ours, "lobby", "en", json!({"welcome": "Ours"})).await, 1);
        assert_eq!(version(&ours).await, 1);
        assert_eq!(catalog(&theirs, "").await["messages"]["en"]["welcome"], "Changed");
    }

    async fn a_fleet_that_starts_at_once_registers_each_message_once(hub: Hub) {
        let client = hub.network().await;
        let entries: Value = (0..3_000).map(|at| (format!("key.{at}"), json!(format!("text {at}")))).collect::<serde_json::Map<_, _>>().into();
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let (client, entries) = (client.clone(), entries.clone());
                tokio::spawn(async move { defaults(&client, "lobby", "en", entries).await })
            })
            .collect();
        let mut inserted = 0;
        for call in calls {
            inserted += call.await.unwrap();
        }
        assert_eq!(inserted, 3_000);
        let catalog = catalog(&client, "").await;
        assert_eq!((&catalog["version"], catalog["messages"]["en"].as_object().unwrap().len()), (&json!(1), 3_000));
    }
}
