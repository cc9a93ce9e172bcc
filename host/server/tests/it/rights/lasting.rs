//! Each route that creates or changes something, called by somebody whose right has bounds or ends: nothing of it goes on
//! without them, but for a reason.

use hub::auth::{Bindings, KeyId, OPERATOR_NETWORK, Origin, Scope};
use hub::components::components;
use hub::networks::service::{NewKey, create_key, revoke_key};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::imports::files::balances;
use crate::people::{PASSWORD, accept, code, confirm_on_waitlist, member};
use crate::support::{Answer, Client, Hub, on_both};

/// A thing that acts after its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Key,
    Webhook,
    Invitation,
    Import,
}

/// Relation of a route's effect to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// A thing that ends with its creator. Callers with bounds are refused, except that keys carry them.
    Ends(Kind),
    /// Lasts when the creator is gone, for this reason. Callers with bounds are refused.
    Stays(&'static str),
    /// Acts on nobody's behalf, or only where the bounds are checked again.
    Harmless(&'static str),
}

use Effect::{Ends, Harmless, Stays};

const DATA: &str = "data of the network, which acts on nobody's behalf";

/// Scopes that all creations together need.
const SCOPES: &[&str] = &["plugin", "network:manage", "servers:read", "modules:read"];

/// All routes by the beginning of their method and path; the first that fits counts.
const ROUTES: &[(&str, Effect)] = &[
    ("POST /api/manage/keys/{keyId}/roll", Stays("the key ends with whoever rotated it last, too")),
    ("POST /api/manage/keys", Ends(Kind::Key)),
    ("POST /api/manage/webhooks/{webhookId}/rotate-secret", Stays("the receiver has it; rotate again")),
    ("POST /api/manage/webhooks/{webhookId}/", Harmless("sends to a receiver that exists")),
    ("POST /api/manage/webhooks", Ends(Kind::Webhook)),
    ("PATCH /api/manage/webhooks/{webhookId}", Stays("the webhook ends with whoever chose its URL, too")),
    ("POST /api/manage/people", Ends(Kind::Invitation)),
    ("PATCH /api/manage/people/{personId}", Stays("the member is listed")),
    ("PUT /api/manage/roles/{name}", Stays("roles are listed with who set them; members go on with them")),
    ("POST /api/manage/imports/{importId}/cancel", Harmless("ends something")),
    ("POST /api/manage/imports", Ends(Kind::Import)),
    ("POST /api/manage/modules/{name}/{version}/", Harmless("leaves nothing")),
    ("POST /api/manage/modules/{name}/dead-letters", Harmless("repeats what the chain does")),
    ("POST /api/manage/modules/{name}/schedules", Harmless("runs what the chain does")),
    ("POST /api/manage/modules/{name}/activation/rollback", Stays("modules are listed")),
    ("PUT /api/manage/modules/{name}/activation", Stays("modules are listed")),
    ("POST /api/manage/modules", Stays("the module is listed, and its code serves the network")),
    ("POST /api/manage/extension-points/{point}/rollback", Stays("modules are listed")),
    ("POST /api/manage/extension-points/{point}/revisions", Stays("modules are listed")),
    ("PUT /api/manage/extension-points/{point}", Stays("modules are listed")),
    ("PUT /api/manage/secrets/{name}", Stays("secrets are listed; set it again")),
    ("POST /api/manage/audit/{id}/undo", Harmless("sends another request, whose route checks it")),
    ("POST /api/admin/audit/{id}/undo", Harmless("the same")),
    ("POST /api/manage/signing-secret/rotate", Stays("all connectors have it; rotate again")),
    ("PUT /api/manage/provisioning/bundles/{serverType}", Stays("machines run it already")),
    ("PUT /api/manage/provisioning/servers/{serverId}", Harmless("names its server")),
    ("POST /api/manage/artifacts/{artifactId}/install", Harmless("names its server, and its link ends with the key")),
    ("POST /api/manage/artifacts", Harmless("bytes act only when a server is named")),
    ("POST /api/manage/players/", Harmless(DATA)),
    ("PATCH /api/manage/network", Harmless("settings of a network, which act on nobody's behalf")),
    ("PATCH /api/manage/punishments/{id}", Harmless(DATA)),
    ("POST /api/manage/punishments/revoke", Harmless("ends something")),
    ("POST /api/manage/players/{uuid}/notes", Harmless(DATA)),
    ("PATCH /api/manage/reports/{reportId}", Harmless(DATA)),
    ("POST /api/manage/appeals/{appealId}/decide", Harmless("ends something")),
    ("POST /api/manage/servers/", Harmless("names its server")),
    ("POST /api/manage/deliveries/", Harmless("decides about something that exists")),
    ("PUT /api/manage/localization/", Harmless(DATA)),
    ("PUT /api/manage/economy/", Harmless(DATA)),
    ("PUT /api/manage/matchmaking/lines/{line}", Harmless(DATA)),
    ("PATCH /api/manage/matchmaking/tickets/{ticketId}", Harmless(DATA)),
    ("POST /api/admin/networks/{id}/keys", Stays("it is the network's")),
    ("POST /api/admin/networks/{id}/people", Ends(Kind::Invitation)),
    ("POST /api/admin/networks", Stays("it is its owner's")),
    ("PATCH /api/admin/networks/{id}", Harmless("settings of a network, which act on nobody's behalf")),
    ("POST /api/admin/people", Ends(Kind::Invitation)),
    ("POST /api/admin/waitlist/{email}/invite", Ends(Kind::Invitation)),
    ("POST /api/admin/plans", Harmless("limits, which act on nobody's behalf")),
    ("PUT /api/admin/plans/{name}", Harmless("limits, which act on nobody's behalf")),
    ("POST /api/plugin/chat", Harmless("is relayed at once")),
    ("POST /api/plugin/collections/", Harmless(DATA)),
    ("PUT /api/plugin/collections/", Harmless(DATA)),
    ("POST /api/plugin/config/", Harmless(DATA)),
    ("POST /api/plugin/deliveries/{deliveryId}/", Harmless("names its server, or a claim of it")),
    ("POST /api/plugin/deliveries", Harmless("names its server, if the key is bound to servers")),
    ("POST /api/plugin/economy/", Harmless(DATA)),
    ("POST /api/plugin/localization/defaults", Harmless(DATA)),
    ("PUT /api/plugin/localization/", Harmless(DATA)),
    ("POST /api/plugin/matchmaking/tickets", Harmless("ends with its player's visit")),
    ("POST /api/plugin/matchmaking/find", Harmless("reserves for seconds")),
    ("PUT /api/plugin/permissions/", Harmless(DATA)),
    ("POST /api/plugin/permissions/", Harmless(DATA)),
    ("PUT /api/plugin/players/", Harmless(DATA)),
    ("POST /api/plugin/players/", Harmless(DATA)),
    ("POST /api/plugin/provisioning/auth-code", Harmless("names its server")),
    ("POST /api/plugin/punishments/", Harmless(DATA)),
    ("POST /api/plugin/reports", Harmless(DATA)),
    ("POST /api/plugin/servers/", Harmless("names its server")),
    ("POST /api/plugin/transfers", Harmless("ends within a minute")),
    ("POST /api/plugin/worlds/", Harmless("ends with its lease, and the link with the key")),
];

/// Routes of callers with keys that create or change something, with their effect.
async fn routes(hub: &Hub) -> Vec<(Method, String, Effect)> {
    let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
    let mut all = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["post", "put", "patch"] {
            let takes_key =
                |it: &Value| it["security"].as_array().is_some_and(|all| all.iter().any(|it| !it["apiKey"].is_null()));
            if !takes_key(&item[method]) {
                continue;
            }
            let route = format!("{} {path}", method.to_uppercase());
            let known = ROUTES.iter().find(|(beginning, _)| route.starts_with(beginning));
            let (_, effect) = known.unwrap_or_else(|| panic!("does what {route} creates end with its caller?"));
            all.push((method.to_uppercase().parse().unwrap(), path.clone(), *effect));
        }
    }
    for (beginning, _) in ROUTES {
        let exists = all.iter().any(|(method, path, _)| format!("{method} {path}").starts_with(beginning));
        assert!(exists, "there is no {beginning}");
    }
    all
}

/// A path with values in place of its parameters.
fn filled(path: &str, network: &Client) -> String {
    let network = network.network.unwrap().to_string();
    let path = path.replace("networks/{id}", &format!("networks/{network}"));
    path.replace("{serverType}", "lobby").replace("{point}", "chat").replace('{', "x").replace('}', "")
}

/// Caller with a key or a session.
struct Actor<'a> {
    hub: &'a Hub,
    owner: &'a Client,
    credential: Credential,
}

enum Credential {
    Key(Client),
    Session(String),
}

impl Actor<'_> {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        match &self.credential {
            Credential::Key(client) => client.request(method, path),
            Credential::Session(token) => self.hub.anonymous().request(method, path).bearer_auth(token),
        }
    }

    async fn send(&self, request: RequestBuilder) -> Answer {
        self.hub.anonymous().send(request).await
    }

    /// Creates a thing by a route.
    async fn make(&self, method: &Method, path: &str, kind: Kind) -> Thing {
        let path = filled(path, self.owner);
        let email = format!("friend-{}@example.org", self.hub.app.ids.token(8).to_lowercase());
        let (mut path, mut body) = (path, json!({}));
        match kind {
            Kind::Key => body = json!({"name": "made", "scopes": ["network:manage"]}),
            Kind::Webhook => body = json!({"url": "https://hook.invalid/x", "events": ["CHAT"]}),
            Kind::Invitation => {
                body = json!({"email": email, "role": "VIEWER"});
                if path.contains("/waitlist/") {
                    confirm_on_waitlist(self.hub, &email).await;
                    path = path.replace("xemail", &email);
                    body = json!({"networkId": self.owner.network.unwrap()});
                } else if path == "/api/admin/people" {
                    body = json!({"email": email});
                }
            }
            Kind::Import => path = format!("{path}?kind=balances&currency=coins"),
        }
        let request = self.request(method.clone(), &path);
        let request = match kind {
            Kind::Import => request.body(balances(60_000)),
            _ => request.json(&body),
        };
        let answer = self.send(request).await;
        assert!(answer.status.is_success(), "{method} {path}: {} {}", answer.status, answer.body);
        let text = |field: &str| answer.body[field].as_str().unwrap().to_owned();
        match kind {
            Kind::Key => Thing::Key(self.owner.with_key(&text("apiKey"))),
            Kind::Webhook => Thing::Webhook(text("webhookId")),
            Kind::Invitation => {
                // After the mail that confirmed the address.
                let mails = if path.contains("/waitlist/") { 2 } else { 1 };
                Thing::Invitation(code(self.hub, &email, mails).await)
            }
            Kind::Import => Thing::Import(text("importId")),
        }
    }
}

enum Thing {
    Key(Client),
    Webhook(String),
    /// By the code in its mail.
    Invitation(String),
    Import(String),
}

impl Thing {
    /// True if it still does something.
    async fn works(&self, owner: &Client) -> bool {
        match self {
            Self::Key(key) => key.get("/api/manage/keys").await.status == 200,
            Self::Webhook(id) => owner.get(&format!("/api/manage/webhooks/{id}")).await.expect(200)["enabled"] == true,
            Self::Invitation(code) => {
                let body = json!({"token": code, "name": "Friend", "password": PASSWORD});
                let nobody = owner.request(Method::POST, "/api/people/accept").json(&body);
                owner.send(nobody).await.status == 200
            }
            Self::Import(id) => {
                let import = owner.get(&format!("/api/manage/imports/{id}")).await.expect(200).clone();
                assert!(import["createdBy"].is_string());
                import["state"] != "CANCELLED"
            }
        }
    }
}

/// An operator's key.
async fn operator_key(hub: &Hub, bindings: Bindings, expires_at: Option<i64>) -> (KeyId, Client) {
    let new = NewKey { name: "o".to_owned(), scopes: [Scope::Operator].into_iter().collect(), expires_at, bindings };
    let app = &hub.app;
    let key = create_key(&app.db, &app.clock, &app.ids, OPERATOR_NETWORK, new).await.unwrap();
    (key.id.clone(), hub.with_key(&key.text))
}

on_both! {
    async fn callers_with_bounds_create_nothing_without(hub: Hub) {
        let owner = hub.network().await;
        let soon = hub.app.clock.now() + 60_000;
        let all = ["plugin", "agent", "servers:read", "servers:control", "modules:write", "network:manage"];
        let bounds = [
            json!({"servers": ["mini-1"]}),
            json!({"addresses": ["127.0.0.0/8"]}),
            json!({"expiresAt": soon}),
        ];
        for bounds in bounds {
            let mut body = json!({"name": "limited", "scopes": all});
            body.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
            let limited = owner.post("/api/manage/keys", body).await.expect(201)["apiKey"].clone();
            let limited = owner.with_key(limited.as_str().unwrap());
            let bindings = Bindings {
                servers: serde_json::from_value(bounds["servers"].clone()).unwrap(),
                addresses: serde_json::from_value(bounds["addresses"].clone()).unwrap(),
            };
            let (_, operator) = operator_key(&hub, bindings, bounds["expiresAt"].as_i64()).await;
            let mut seen = 0;
            for (method, path, effect) in routes(&hub).await {
                let client = if path.starts_with("/api/admin/") { &operator } else { &limited };
                let filled = filled(&path, &owner);
                if path.ends_with("/keys") {
                    // It carries them.
                    let body = |more: Value| {
                        let mut body = json!({"name": "made", "scopes": ["network:manage"]});
                        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                        body
                    };
                    if bounds["expiresAt"].is_number() {
                        for later in [json!({}), json!({"expiresAt": soon + 1})] {
                            client.post(&filled, body(later)).await.expect_error(403, "forbidden_scope");
                        }
                    }
                    let made = client.post(&filled, body(bounds.clone())).await.expect(201).clone();
                    for (bound, value) in bounds.as_object().unwrap() {
                        assert_eq!(made[bound], *value, "{path}");
                    }
                } else if matches!(effect, Ends(_) | Stays(_)) && !path.ends_with("/roll") {
                    let answer = client.send(client.request(method.clone(), &filled).json(&json!({}))).await;
                    assert_eq!(answer.body["code"], "forbidden_origin", "{method} {path} by {bounds}: {}", answer.body);
                    seen += 1;
                }
            }
            assert!(seen > 10, "{seen}");
        }
    }

    async fn callers_who_are_gone_leave_nothing_that_acts(hub: Hub) {
        let routes = routes(&hub).await;
        let things = |start: &'static str| {
            let all = routes.iter().filter_map(|(method, path, effect)| match effect {
                Ends(kind) if path.starts_with(start) => Some((method, path, *kind)),
                _ => None,
            });
            all.collect::<Vec<_>>()
        };
        assert_eq!((things("/api/manage/").len(), things("/api/admin/").len()), (4, 3));
        for how in ["removed", "deleted", "demoted", "revoked"] {
            let owner = hub.network().await;
            let email = format!("{how}@example.org");
            let boss = owner.post("/api/manage/keys", json!({"name": "boss", "scopes": SCOPES})).await;
            let boss = boss.expect(201).clone();
            let person = if how == "revoked" { None } else { Some(member(&hub, &owner, &email, "OWNER").await) };
            let credential = match &person {
                Some(person) => Credential::Session(person.token.clone()),
                None => Credential::Key(owner.with_key(boss["apiKey"].as_str().unwrap())),
            };
            let actor = Actor { hub: &hub, owner: &owner, credential };
            let mut left = vec![];
            for (method, path, kind) in things("/api/manage/") {
                left.push((path, actor.make(method, path, kind).await));
            }
            for (path, thing) in left.iter().filter(|(_, thing)| !matches!(thing, Thing::Invitation(_))) {
                assert!(thing.works(&owner).await, "{how} {path} at first");
            }
            let person = person.map(|person| format!("/api/manage/people/{}", person.id));
            let ended = match how {
                "removed" => owner.delete(person.as_ref().unwrap()).await,
                "deleted" => hub.operator().await.delete(&person.unwrap().replace("manage", "admin")).await,
                "demoted" => owner.patch(&person.unwrap(), json!({"role": "VIEWER"})).await,
                _ => owner.delete(&format!("/api/manage/keys/{}?revoke=true", boss["keyId"].as_str().unwrap())).await,
            };
            let listed = ended.expect(200)["left"].as_array().unwrap().clone();
            assert_eq!(listed.len(), left.len(), "{listed:?}");
            assert!(listed.iter().all(|it| it["ended"] == true), "{listed:?}");
            for (path, thing) in &left {
                assert!(!thing.works(&owner).await, "{how}: {path} goes on");
            }
        }
        let owner = hub.network().await;
        for how in ["deleted", "revoked"] {
            let (id, key) = operator_key(&hub, Bindings::default(), None).await;
            let credential = if how == "deleted" {
                let email = json!({"email": "root@example.org"});
                key.post("/api/admin/people", email).await.expect(201);
                Credential::Session(accept(&hub, "root@example.org").await.token)
            } else {
                Credential::Key(key)
            };
            let actor = Actor { hub: &hub, owner: &owner, credential };
            let mut left = vec![];
            for (method, path, kind) in things("/api/admin/") {
                left.push((path, actor.make(method, path, kind).await));
            }
            if let Credential::Session(token) = &actor.credential {
                let me = hub.anonymous().request(Method::GET, "/api/people/me").bearer_auth(token);
                let me = actor.send(me).await.expect(200)["personId"].as_str().unwrap().to_owned();
                hub.operator().await.delete(&format!("/api/admin/people/{me}")).await.expect(200);
            } else {
                let origin = Origin::command_line(&hub.app.clock, &hub.app.ids);
                revoke_key(&hub.app.db, components(), &origin, OPERATOR_NETWORK, &id, true).await.unwrap();
            }
            for (path, thing) in &left {
                assert!(!thing.works(&owner).await, "{how}: {path} goes on");
            }
        }
    }
}
