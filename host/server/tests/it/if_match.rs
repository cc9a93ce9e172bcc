//! `If-Match`: what people edit is changed only at the revision that they have read.

use reqwest::Method;
use serde_json::{Value, json};

use crate::servers::uuid;
use crate::support::{Answer, Client, on_both};

/// A thing that people edit.
struct Thing {
    method: Method,
    path: String,
    /// List with its revision as a field, and the name of its item; without one reading it answers with an `ETag`.
    listed: Option<(&'static str, (&'static str, &'static str))>,
    bodies: [Value; 3],
}

impl Thing {
    /// Its revision; 0 if it is not there.
    async fn revision(&self, client: &Client) -> i64 {
        let Some((list, (field, name))) = self.listed else {
            let answer = client.get(&self.path).await;
            let tag = answer.headers.get("etag").map_or("\"0\"", |tag| tag.to_str().unwrap());
            return tag.trim_matches('"').parse().unwrap();
        };
        let page = client.get(list).await.expect(200).clone();
        let found = page["items"].as_array().unwrap().iter().find(|item| item[field] == name);
        found.map_or(0, |item| item["revision"].as_i64().unwrap())
    }

    async fn change(&self, client: &Client, body: usize, revision: i64) -> Answer {
        let request = client.request(self.method.clone(), &self.path).header("If-Match", format!("\"{revision}\""));
        client.send(request.json(&self.bodies[body])).await
    }
}

on_both! {
    async fn what_people_edit_is_changed_only_at_its_revision(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        let webhook = json!({"name": "a", "url": "https://hooks.example.invalid/x", "events": ["CHAT"]});
        let webhook = owner.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].as_str().unwrap().to_owned();
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"keys": 5}})).await.expect(201);
        let collections = json!({"collections": [{"name": "guilds", "key": "id", "indexes": [{"field": "level", "type": "number"}]}]});
        owner.post("/api/plugin/collections/register", collections).await.expect(200);
        let ban = json!({"playerUuid": uuid(3), "playerName": "p3", "type": "BAN", "reason": "x"});
        let ban = owner.post("/api/plugin/punishments/create", ban).await.expect(200)["id"].clone();
        let put = |path: &str, listed, bodies| Thing { method: Method::PUT, path: path.to_owned(), listed, bodies };
        let patch = |path: &str, bodies| Thing { method: Method::PATCH, ..put(path, None, bodies) };
        let of = |name: &str, values: [Value; 3]| values.map(|value| json!({name: value}));
        let texts = Some(("/api/manage/localization/messages", ("key", "welcome")));
        let locales = Some(("/api/manage/localization/locales", ("locale", "de")));
        let first = Some(("/api/manage/localization/locales", ("locale", "en")));
        let currencies = Some(("/api/manage/economy/currencies", ("currencyName", "coins")));
        let lines = Some(("/api/manage/matchmaking/lines", ("line", "type:arena")));
        let names = || of("displayName", ["a", "b", "c"].map(|name| json!(name)));
        let things = [
            put("/api/manage/localization/messages/en/lobby/welcome", texts, of("value", ["a", "b", "c"].map(|it| json!(it)))),
            put("/api/manage/localization/locales/de", locales, names()),
            put("/api/manage/localization/locales/en", first, names()),
            put("/api/manage/economy/currencies/coins", currencies, of("minimum", [1, 2, 3].map(|it| json!(it)))),
            put("/api/manage/roles/helper", None, of("scopes", ["chat:read", "audit:read", "reports:manage"].map(|it| json!([it])))),
            patch("/api/manage/network", of("chatHistoryDays", [1, 2, 3].map(|it| json!(it)))),
            patch(&format!("/api/manage/webhooks/{webhook}"), of("name", ["b", "c", "d"].map(|name| json!(name)))),
            put("/api/manage/matchmaking/lines/type%3Aarena", lines, of("maxWaiting", [5, 6, 7].map(|most| json!(most)))),
            patch(&format!("/api/manage/punishments/{ban}"), of("reason", ["a", "b", "c"].map(|why| json!(why)))),
            put("/api/plugin/collections/guilds/red", None, of("level", [1, 2, 3].map(|it| json!(it)))),
            put("/api/admin/plans/small", None, of("limits", [6, 7, 8].map(|keys| json!({"keys": keys})))),
        ];
        for thing in things {
            let client = if thing.path.starts_with("/api/admin") { &operator } else { &owner };
            // From what is there: nothing, or what it is at first.
            let at_first = thing.revision(client).await;
            thing.change(client, 0, at_first).await.expect(200);
            let now = thing.revision(client).await;
            assert!(now > 0 && now != at_first, "{}", thing.path);
            // Somebody who read it before changes nothing, and is told what is there.
            let refused = thing.change(client, 1, at_first).await;
            let refused = refused.expect(409).clone();
            let changed = &refused["changed"];
            assert_eq!(refused["code"], "revision_changed");
            assert_eq!((&changed["expected"], &changed["revision"]), (&json!(at_first), &json!(now)), "{}", thing.path);
            assert!(changed["now"].is_object(), "{changed}");
            assert_eq!(thing.revision(client).await, now, "{}", thing.path);
            thing.change(client, 1, now).await.expect(200);
            // Without the header it is any.
            client.send(client.request(thing.method.clone(), &thing.path).json(&thing.bodies[2])).await.expect(200);
            thing.change(client, 0, now).await.expect(409);
        }
        // A document that somebody changed is not deleted, and its index has what it says.
        let document = "/api/plugin/collections/guilds/red";
        let delete = |revision: i64| owner.request(Method::DELETE, document).header("If-Match", revision.to_string());
        owner.send(delete(1)).await.expect(409);
        let by = async |level: i64| {
            let found = owner.get(&format!("/api/plugin/collections/guilds/by/level?value={level}")).await;
            found.expect(200)["items"].as_array().unwrap().len()
        };
        assert_eq!((by(1).await, by(2).await, by(3).await), (0, 0, 1));
        let tag = owner.get(document).await.headers["etag"].to_str().unwrap().trim_matches('"').parse().unwrap();
        owner.send(delete(tag)).await.expect(200);
        owner.get(document).await.expect(404);
        // A text that somebody changed is not taken back.
        let text = "/api/manage/localization/messages/en/lobby/welcome";
        let take_back = |revision: i64| owner.request(Method::DELETE, text).header("If-Match", revision.to_string());
        owner.send(take_back(1)).await.expect(409);
        let page = owner.get("/api/manage/localization/messages").await.expect(200).clone();
        owner.send(take_back(page["items"][0]["revision"].as_i64().unwrap())).await.expect(204);
    }
}
