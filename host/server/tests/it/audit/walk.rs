//! Calls every changing route of the document with a manage or an operator's key, and checks that each leaves an entry.
//! A new route fails here until it is called, and until it writes one. Before, each is called while the key's right has
//! ended and this node does not know it yet: nothing may come of it, so that no right outlives its holder.

use std::collections::BTreeSet;

use hub::app::App;
use hub::auth::KeyCache;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::deliveries;
use crate::modules::{handlers, wasm};
use crate::people;
use crate::servers::{join, register};
use crate::support::{Answer, Client, Hub, on_both};

/// Routes that change nothing: they run a module beside the network's data, or show what would be sent.
const NO_CHANGE: &[&str] = &[
    "POST /api/manage/modules/{name}/{version}/dry-run",
    "POST /api/manage/modules/{name}/{version}/replay",
    "POST /api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/preview",
];

/// Routes whose entries are tested elsewhere: their background work writes further entries at any time.
const ELSEWHERE: &[&str] = &["POST /api/manage/imports", "POST /api/manage/imports/{importId}/cancel"];

/// The routes under `/api/manage` and `/api/admin` that are no GET.
async fn changing_routes(client: &Client) -> BTreeSet<String> {
    let document = client.get("/api/openapi.json").await.expect(200).clone();
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        if path.starts_with("/api/manage/") || path.starts_with("/api/admin/") {
            let methods = item.as_object().unwrap().keys().filter(|method| *method != "get");
            routes.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
        }
    }
    assert!(routes.len() > 30, "{routes:?}");
    routes
}

struct Walk {
    app: App,
    owner: Client,
    operator: Client,
    called: BTreeSet<String>,
    /// Calls with an ended right that the cache of keys let in, and all of them.
    let_in: (usize, usize),
}

impl Walk {
    /// Numbers of entries in the two logs.
    async fn entries(&self) -> (i64, i64) {
        let total = async |client: &Client, path: &str| client.get(path).await.expect(200)["total"].as_i64().unwrap();
        (total(&self.owner, "/api/manage/audit?limit=1").await, total(&self.operator, "/api/admin/audit?limit=1").await)
    }

    /// Calls a route, which must succeed and leave an entry: in the network's log, or in the operator's.
    async fn call(&mut self, route: &str, path: &str, prepare: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Value {
        let (method, _) = route.split_once(' ').unwrap();
        let client = if path.starts_with("/api/admin/") { self.operator.clone() } else { self.owner.clone() };
        let request = prepare(client.request(method.parse::<Method>().unwrap(), path));
        self.call_too_late(route, &client, request.try_clone().unwrap()).await;
        self.check(route, client.send(request)).await
    }

    /// The key is revoked, as by another node, after this one looked it up.
    async fn call_too_late(&mut self, route: &str, client: &Client, request: RequestBuilder) {
        let key = client.key.as_ref().unwrap().split('_').nth(1).unwrap();
        let revoke = async |at: Option<i64>| {
            let revoke = "UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1";
            self.app.db.write(revoke).bind(key).bind(at).execute().await.unwrap();
        };
        let before = self.entries().await;
        revoke(Some(1)).await;
        let refused = client.send(request).await;
        let is_operators = route.contains(" /api/admin/");
        let log = if is_operators { "/api/admin/audit?limit=1" } else { "/api/manage/audit?limit=1" };
        self.let_in.0 += usize::from(client.get(log).await.status == 200);
        self.let_in.1 += 1;
        revoke(None).await;
        // It may have been looked up meanwhile.
        self.app.state::<KeyCache>().clear();
        assert_eq!(
            (refused.status.as_u16(), &refused.body["code"]),
            (401, &json!("unauthenticated")),
            "{route} {}",
            refused.body
        );
        assert_eq!(self.entries().await, before, "{route} left an entry");
    }

    async fn check(&mut self, route: &str, call: impl Future<Output = Answer>) -> Value {
        let before = self.entries().await;
        let answer = call.await;
        assert!(answer.status.is_success(), "{route}: {} {}", answer.status, answer.body);
        let after = self.entries().await;
        let expected = if route.contains(" /api/admin/") { after.1 > before.1 } else { after.0 == before.0 + 1 };
        assert!(expected, "{route} left no entry in the audit log: {before:?}, then {after:?}");
        self.called.insert(route.to_owned());
        answer.body
    }

    async fn json(&mut self, route: &str, path: &str, body: Value) -> Value {
        self.call(route, path, |request| request.json(&body)).await
    }

    /// A route whose path has no parameter.
    async fn plain(&mut self, route: &str, body: Value) -> Value {
        let path = route.split_once(' ').unwrap().1.to_owned();
        self.json(route, &path, body).await
    }

    async fn keys(&mut self) {
        let made = self.plain("POST /api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await;
        let path = format!("/api/manage/keys/{}", made["keyId"].as_str().unwrap());
        self.json("POST /api/manage/keys/{keyId}/roll", &format!("{path}/roll"), json!({})).await;
        self.json("DELETE /api/manage/keys/{keyId}", &path, json!({})).await;
        self.plain("POST /api/manage/signing-secret/rotate", json!({})).await;
        let (path, route) = ("/api/manage/secrets/VOTES", "/api/manage/secrets/{name}");
        self.json(&format!("PUT {route}"), path, json!({"value": "sesame"})).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
    }

    async fn settings(&mut self) {
        self.plain("PATCH /api/manage/network", json!({"stage": "TEST"})).await;
        let currency = "PUT /api/manage/economy/currencies/{name}";
        self.json(currency, "/api/manage/economy/currencies/coins", json!({"minimum": 0})).await;
        self.json(currency, "/api/manage/economy/currencies/coins", json!({"minimum": 5})).await;
        let entry = self.owner.get("/api/manage/audit?limit=1").await.expect(200)["items"][0]["id"].clone();
        let undo = format!("/api/manage/audit/{}/undo", entry.as_str().unwrap());
        self.json("POST /api/manage/audit/{id}/undo", &undo, json!({})).await;
        let path = "/api/manage/localization/messages/en/lobby/welcome";
        let route = "/api/manage/localization/messages/{locale}/{namespace}/{key}";
        self.json(&format!("PUT {route}"), path, json!({"value": "Hello"})).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
        let route = "PUT /api/manage/localization/locales/{locale}";
        self.json(route, "/api/manage/localization/locales/de", json!({"enabled": true})).await;
        let (path, route) = ("/api/manage/provisioning/servers/s-1", "/api/manage/provisioning/servers/{serverId}");
        self.json(&format!("PUT {route}"), path, json!({"provider": "p"})).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
        let (path, route) = ("/api/manage/provisioning/bundles/t", "/api/manage/provisioning/bundles/{serverType}");
        self.call(&format!("PUT {route}"), path, |request| request.body("bytes")).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
    }

    async fn lines(&mut self) {
        let (route, path) = ("PUT /api/manage/matchmaking/lines/{line}", "/api/manage/matchmaking/lines/type:lobby");
        self.json(route, path, json!({"paused": true})).await;
        let ticket = json!({"playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf6", "serverType": "lobby"});
        let ticket = self.owner.post("/api/plugin/matchmaking/tickets", ticket).await.expect(200).clone();
        let path = format!("/api/manage/matchmaking/tickets/{}", ticket["ticketId"].as_str().unwrap());
        let route = "/api/manage/matchmaking/tickets/{ticketId}";
        self.json(&format!("PATCH {route}"), &path, json!({"priority": 5})).await;
        self.json(&format!("DELETE {route}"), &path, json!({})).await;
    }

    async fn players(&mut self) {
        let path = "/api/manage/players/069a79f4-44e9-4726-a5be-fca90e38aaf5";
        let session = "/api/plugin/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/session";
        register(&self.owner, "a-1", json!({})).await;
        let opened = self.owner.post(session, json!({"serverId": "a-1"})).await.expect(200).clone();
        let save = json!({"data": [{"namespace": "n", "data": "1"}], "close": true});
        self.owner.put(&format!("{session}/{}", opened["fence"]), save).await.expect(200);
        let route = "POST /api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}/restore";
        let snapshot = format!("{path}/data/global/n/snapshots/{}/restore", opened["fence"]);
        self.json(route, &snapshot, json!({})).await;
        self.json("DELETE /api/manage/players/{uuid}", path, json!({})).await;
    }

    async fn deliveries(&mut self, hub: &Hub) {
        register(&self.owner, "lobby-1", json!({})).await;
        join(&self.owner, "lobby-1", 1).await;
        let mut held = vec![];
        for kind in ["cancelled", "retried", "confirmed"] {
            let id = deliveries::create(&self.owner, 1, json!({"kind": kind})).await;
            deliveries::claim(&self.owner, id, "lobby-1").await.expect(200);
            held.push(id);
        }
        hub.advance_ms(60_000);
        for (id, decision) in held.into_iter().zip(["cancel", "retry", "confirm"]) {
            let state = async || deliveries::read(&self.owner, id).await["state"] == "HELD";
            Hub::eventually("it is held", state).await;
            let route = format!("POST /api/manage/deliveries/{{deliveryId}}/{decision}");
            self.json(&route, &format!("/api/manage/deliveries/{id}/{decision}"), json!({})).await;
        }
        register(&self.owner, "lobby-1", json!({})).await;
    }

    /// A player is punished, reported and noted, and appeals.
    async fn staff(&mut self, hub: &Hub) {
        let player = "069a79f4-44e9-4726-a5be-fca90e38aaf6";
        let ban = json!({"playerUuid": player, "type": "BAN", "issuerName": "Alex"});
        let ban = self.owner.post("/api/plugin/punishments/create", ban).await.expect(200).clone();
        let route = "PATCH /api/manage/punishments/{id}";
        self.json(route, &format!("/api/manage/punishments/{}", ban["id"]), json!({"reason": "x"})).await;
        let code = format!("/api/public/appeals/{}", ban["appealCode"].as_str().unwrap());
        hub.anonymous().post(&code, json!({"text": "Sorry."})).await.expect(201);
        let appeals = self.owner.get("/api/manage/appeals").await.expect(200).clone();
        let path = format!("/api/manage/appeals/{}/decide", appeals["items"][0]["appealId"].as_str().unwrap());
        self.json("POST /api/manage/appeals/{appealId}/decide", &path, json!({"decision": "REJECT"})).await;
        self.plain("POST /api/manage/punishments/revoke", json!({"issuerName": "Alex"})).await;
        let report = json!({"reporterUuid": player, "playerUuid": player, "reason": "x"});
        let report = self.owner.post("/api/plugin/reports", report).await.expect(201).clone();
        let path = format!("/api/manage/reports/{}", report["reportId"]);
        self.json("PATCH /api/manage/reports/{reportId}", &path, json!({"state": "CLOSED"})).await;
        let (route, path) = ("/api/manage/players/{uuid}/notes", format!("/api/manage/players/{player}/notes"));
        let note = self.json(&format!("POST {route}"), &path, json!({"text": "x"})).await;
        let path = format!("{path}/{}", note["noteId"].as_str().unwrap());
        self.json(&format!("DELETE {route}/{{noteId}}"), &path, json!({})).await;
        let (route, path) = ("/api/manage/roles/{name}", "/api/manage/roles/helper");
        self.json(&format!("PUT {route}"), path, json!({"scopes": ["audit:read"]})).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
    }

    async fn artifacts(&mut self) {
        let (route, path) = ("POST /api/manage/artifacts", "/api/manage/artifacts?name=a&version=1");
        let made = self.call(route, path, |request| request.body("bytes")).await;
        let path = format!("/api/manage/artifacts/{}", made["artifactId"].as_str().unwrap());
        let route = "POST /api/manage/artifacts/{artifactId}/install";
        self.json(route, &format!("{path}/install"), json!({"serverId": "lobby-1"})).await;
        self.json("DELETE /api/manage/artifacts/{artifactId}", &path, json!({})).await;
    }

    async fn modules(&mut self) {
        let path = "/api/manage/modules?name=guard";
        let wasm = |bytes: Vec<u8>| {
            move |request: RequestBuilder| request.header("Content-Type", "application/wasm").body(bytes)
        };
        self.call("POST /api/manage/modules", path, wasm(wasm::moody(1))).await;
        let (route, path) = ("/api/manage/extension-points/{point}", "/api/manage/extension-points/chat");
        let chain = json!({"modules": [{"name": "guard", "version": 1, "config": {"token": "sesame"}}]});
        self.json(&format!("PUT {route}"), path, chain).await;
        self.json(&format!("POST {route}/rollback"), &format!("{path}/rollback"), json!({})).await;
        let restore = format!("POST {route}/revisions/{{revision}}/restore");
        self.json(&restore, &format!("{path}/revisions/1/restore"), json!({})).await;
        self.owner.post(&format!("{path}/rollback"), json!({})).await.expect(200);
        let log = self.owner.get("/api/manage/audit").await.body.to_string();
        assert!(log.contains("configSha256") && !log.contains("sesame"), "{log}");
        let route = "DELETE /api/manage/modules/{name}/{version}";
        self.json(route, "/api/manage/modules/guard/1", json!({})).await;
        self.handlers().await;
    }

    async fn handlers(&mut self) {
        handlers::activate(&self.owner, "PLAYER").await;
        handlers::vote(&self.owner, "J1").await;
        let (owner, letters) = (self.owner.clone(), "/api/manage/modules/counter/dead-letters");
        let read = async || owner.get(letters).await.expect(200)["items"].as_array().unwrap().clone();
        Hub::eventually("the dead letters are there", async || read().await.len() == 1).await;
        let path = format!("{letters}/{}", read().await[0]["deadLetterId"].as_str().unwrap());
        let route = "/api/manage/modules/{name}/dead-letters";
        self.json(&format!("POST {route}/retry"), &format!("{letters}/retry"), json!({"code": "reject"})).await;
        let is_idle = async |attempts: i64| {
            let all = read().await;
            all.iter().all(|letter| letter["state"] == "WAITING" && letter["attempts"].as_i64() >= Some(attempts))
        };
        Hub::eventually("they are not retried any more", async || is_idle(2).await).await;
        self.json(&format!("POST {route}/{{deadLetterId}}/retry"), &format!("{path}/retry"), json!({})).await;
        Hub::eventually("it is not retried any more", async || is_idle(2).await).await;
        self.json(&format!("DELETE {route}/{{deadLetterId}}"), &path, json!({})).await;
        let at_events = "/api/manage/extension-points/events";
        self.owner.put(at_events, json!({"modules": []})).await.expect(200);
        let route = "DELETE /api/manage/extension-points/events/kept/{name}";
        self.json(route, &format!("{at_events}/kept/counter"), json!({})).await;
        self.schedules().await;
    }

    async fn schedules(&mut self) {
        handlers::schedules::activate(&self.owner, 1, &[("Set", "0 0 1 1 *", "ONCE")]).await;
        let route = "POST /api/manage/modules/{name}/schedules/{schedule}/run";
        self.json(route, "/api/manage/modules/ticker/schedules/Set/run", json!({})).await;
        let owner = self.owner.clone();
        Hub::eventually("the timer is set", async || {
            owner.get(handlers::schedules::TIMERS).await.expect(200)["total"] == 1
        })
        .await;
        let route = "DELETE /api/manage/modules/{name}/timers/{key}";
        self.json(route, &format!("{}/one", handlers::schedules::TIMERS), json!({})).await;
        let (route, path) = ("/api/manage/modules/{name}/activation", "/api/manage/modules/ticker/activation");
        let activation = json!({"version": 1, "grants": {"scopes": ["economy:write"]},
            "points": {"schedules": {"limits": {"logLines": 4}}}});
        self.json(&format!("PUT {route}"), path, activation).await;
        self.json(&format!("POST {route}/rollback"), &format!("{path}/rollback"), json!({})).await;
        self.json(&format!("DELETE {route}"), path, json!({})).await;
    }

    /// Commands to a server, each of which is answered by its agent or connector.
    async fn servers(&mut self) {
        let owner = self.owner.clone();
        for (action, body) in [
            ("start", json!({})),
            ("stop", json!({})),
            ("restart", json!({})),
            ("kill", json!({})),
            ("console", json!({"line": "list"})),
        ] {
            let answering = tokio::spawn(answer_as_agent(owner.clone()));
            let route = format!("POST /api/manage/servers/{{serverId}}/{action}");
            self.json(&route, &format!("/api/manage/servers/lobby-1/{action}"), body).await;
            answering.await.unwrap();
        }
        let mut events = owner.events(Some("lobby-1"), None).await;
        let connector = owner.clone();
        let answering = tokio::spawn(async move {
            let event = events.next_named("EXECUTE_COMMAND").await.data;
            let result = json!({"requestId": event["requestId"], "success": true});
            connector.post("/api/plugin/servers/command-result", result).await.expect(204);
        });
        let (route, path) = ("POST /api/manage/servers/{serverId}/command", "/api/manage/servers/lobby-1/command");
        self.json(route, path, json!({"command": "list"})).await;
        answering.await.unwrap();
    }

    async fn webhooks(&mut self) {
        // The address leads nowhere.
        let hook = json!({"url": "https://webhook.invalid/token-in-the-query?token=sesame", "events": ["CHAT"]});
        let made = self.plain("POST /api/manage/webhooks", hook).await;
        let route = "/api/manage/webhooks/{webhookId}";
        let path = format!("/api/manage/webhooks/{}", made["webhookId"].as_str().unwrap());
        self.json(&format!("PATCH {route}"), &path, json!({"name": "w"})).await;
        self.json(&format!("POST {route}/rotate-secret"), &format!("{path}/rotate-secret"), json!({})).await;
        self.json(&format!("POST {route}/test"), &format!("{path}/test"), json!({})).await;
        // Waiting events fail, and can then be sent again.
        for enabled in [false, true] {
            self.owner.patch(&path, json!({"enabled": enabled})).await.expect(200);
        }
        let resend = format!("{route}/deliveries/{{deliveryId}}/resend");
        self.json(&format!("POST {resend}"), &format!("{path}/deliveries/1/resend"), json!({})).await;
        let log = self.owner.get("/api/manage/audit").await.body.to_string();
        assert!(log.contains("webhook.invalid") && !log.contains("sesame") && !log.contains("whsec_"), "{log}");
        self.json(&format!("DELETE {route}"), &path, json!({})).await;
    }

    /// A person is invited, joins, and is changed and removed again.
    async fn people(&mut self, hub: &Hub) {
        let invite = |email: &str| json!({"email": email, "role": "VIEWER"});
        self.plain("POST /api/manage/people", invite("alex@example.org")).await;
        let person = people::accept(hub, "alex@example.org").await;
        let (route, path) = ("/api/manage/people/{personId}", format!("/api/manage/people/{}", person.id));
        self.json(&format!("PATCH {route}"), &path, json!({"role": "MODERATOR"})).await;
        self.json(&format!("DELETE {route}"), &path, json!({})).await;
        let made = self.plain("POST /api/manage/people", invite("kim@example.org")).await;
        let path = format!("/api/manage/people/invitations/{}", made["invitationId"].as_str().unwrap());
        self.json("DELETE /api/manage/people/invitations/{invitationId}", &path, json!({})).await;
        let made = self.plain("POST /api/admin/people", json!({"email": "root@example.org"})).await;
        let path = format!("/api/admin/people/invitations/{}", made["invitationId"].as_str().unwrap());
        self.json("DELETE /api/admin/people/invitations/{invitationId}", &path, json!({})).await;
        let path = format!("/api/admin/people/{}", person.id);
        self.json("DELETE /api/admin/people/{personId}", &path, json!({})).await;
        let path = format!("/api/admin/networks/{}/people", self.owner.network.unwrap());
        let made = self.json("POST /api/admin/networks/{id}/people", &path, invite("sam@example.org")).await;
        let invitation = format!("{path}/invitations/{}", made["invitationId"].as_str().unwrap());
        self.json("DELETE /api/admin/networks/{id}/people/invitations/{invitationId}", &invitation, json!({})).await;
        self.json("POST /api/admin/networks/{id}/people", &path, invite("noa@example.org")).await;
        let person = people::accept(hub, "noa@example.org").await;
        let member = format!("{path}/{}", person.id);
        self.json("DELETE /api/admin/networks/{id}/people/{personId}", &member, json!({})).await;
        people::confirm_on_waitlist(hub, "robin@example.org").await;
        let path = "/api/admin/waitlist/robin@example.org/invite";
        let body = json!({"networkId": self.owner.network.unwrap()});
        self.json("POST /api/admin/waitlist/{email}/invite", path, body).await;
    }

    async fn operator(&mut self) {
        self.plain("POST /api/admin/plans", json!({"name": "p"})).await;
        self.json("PUT /api/admin/plans/{name}", "/api/admin/plans/p", json!({"limits": {"keys": 5}})).await;
        let entry = self.operator.get("/api/admin/audit?limit=1").await.expect(200)["items"][0]["id"].clone();
        let undo = format!("/api/admin/audit/{}/undo", entry.as_str().unwrap());
        self.json("POST /api/admin/audit/{id}/undo", &undo, json!({})).await;
        self.json("DELETE /api/admin/plans/{name}", "/api/admin/plans/p", json!({})).await;
        let made = self.plain("POST /api/admin/networks", json!({"name": "walked"})).await;
        let path = format!("/api/admin/networks/{}", made["networkId"].as_str().unwrap());
        self.json("PATCH /api/admin/networks/{id}", &path, json!({"suspended": true})).await;
        self.json("PATCH /api/admin/networks/{id}", &path, json!({"suspended": false})).await;
        let route = "/api/admin/networks/{id}/keys";
        let key = json!({"name": "k", "scopes": ["plugin"]});
        let key = self.json(&format!("POST {route}"), &format!("{path}/keys"), key).await;
        let of_key = format!("{path}/keys/{}", key["keyId"].as_str().unwrap());
        self.json(&format!("DELETE {route}/{{keyId}}"), &of_key, json!({})).await;
        self.json("DELETE /api/admin/networks/{id}", &path, json!({})).await;
        let join = json!({"email": "alex@example.org"});
        self.operator.post("/api/public/waitlist", join).await.expect(200);
        let (route, path) = ("DELETE /api/admin/waitlist/{email}", "/api/admin/waitlist/alex@example.org");
        self.json(route, path, json!({})).await;
    }
}

/// Fetches one command and reports it as done.
async fn answer_as_agent(client: Client) {
    let path = "/api/plugin/servers/lobby-1/commands";
    loop {
        let polled = client.get(&format!("{path}?waitMs=30000")).await;
        let Some(command) = polled.expect(200)["commands"].as_array().unwrap().first().cloned() else { continue };
        let command: Value = serde_json::from_str(command.as_str().unwrap()).unwrap();
        let id = command["commandId"].as_str().unwrap();
        client.post(&format!("{path}/{id}/result"), json!({"status": "OK"})).await.expect(201);
        return;
    }
}

on_both! {
    async fn every_change_is_in_the_audit_log(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        register(&owner, "lobby-1", json!({})).await;
        owner.get("/api/plugin/servers/lobby-1/commands").await.expect(200);
        let app = hub.app.clone();
        let mut walk = Walk { app, owner: owner.clone(), operator, called: BTreeSet::new(), let_in: (0, 0) };
        walk.keys().await;
        walk.settings().await;
        walk.lines().await;
        walk.servers().await;
        walk.artifacts().await;
        walk.players().await;
        walk.staff(&hub).await;
        walk.modules().await;
        walk.webhooks().await;
        walk.deliveries(&hub).await;
        walk.people(&hub).await;
        walk.operator().await;
        let expected = changing_routes(&owner).await;
        let no_change: BTreeSet<_> = NO_CHANGE.iter().chain(ELSEWHERE).map(|route| (*route).to_owned()).collect();
        let missing: Vec<_> = expected.difference(&walk.called).filter(|route| !no_change.contains(*route)).collect();
        assert!(missing.is_empty(), "call these here, and have them write an entry: {missing:#?}");
        assert!(no_change.is_subset(&expected) && walk.called.is_subset(&expected));
        let (let_in, all) = walk.let_in;
        assert!(2 * let_in > all, "of {all} calls only {let_in} met a key that this node held for good");
    }
}
