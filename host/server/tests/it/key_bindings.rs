//! Keys that are bound to servers and to addresses.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Backend, Client, Hub, on_both, on_each};

const UUID: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
/// Request fields with "server" or "node" in their names that name no server.
const NO_SERVERS: [&str; 6] = ["serverType", "serverVmType", "nodeId", "node", "nodes", "servers"];

/// A key with all scopes, and with `more` in the request for it.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
async fn make(client: &Client, more: Value) -> Answer {
    let mut body = json!({"name": "bound", "scopes": ["plugin", "agent", "servers:read", "servers:control",
        "modules:write", "network:manage"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/api/manage/keys", body).await
}

async fn bound(client: &Client, more: Value) -> Client {
    let made = make(client, more).await;
    client.with_key(made.expect(201)["apiKey"].as_str().unwrap())
}

/// The fields of a body's schema.
fn fields<'a>(document: &'a Value, mut schema: &'a Value) -> Vec<String> {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    let mut names: Vec<_> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for part in ["allOf", "oneOf", "anyOf"] {
        names.extend(schema[part].as_array().into_iter().flatten().flat_map(|part| fields(document, part)));
    }
    names
}

fn names_a_server(name: &str) -> bool {
    let lower = name.to_lowercase();
    (lower.contains("server") || lower.contains("node")) && !NO_SERVERS.contains(&name)
}

/// A request of an operation that names a server in one place.
struct Naming {
    method: Method,
    path: String,
    parameter: String,
    place: &'static str,
}

impl Naming {
    async fn call(&self, client: &Client, server: &str) -> (u16, Value) {
        let own = format!("{{{}}}", self.parameter);
        let mut path = if self.place == "path" { self.path.replace(&own, server) } else { self.path.clone() };
        while let Some((before, rest)) = path.split_once('{') {
            path = format!("{before}{UUID}{}", rest.split_once('}').unwrap().1);
        }
        if self.place == "query" {
            path = format!("{path}?{}={server}", self.parameter);
        }
        let mut request = client.request(self.method.clone(), &path);
        if self.place == "body" {
            let server = percent_decoded(server);
            request = request.json(&json!({"x": {"y": [1, 2]}, &self.parameter: server}));
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
        (status, if stream { Value::Null } else { response.json().await.unwrap_or_default() })
    }
}

fn percent_decoded(text: &str) -> String {
    text.replace("%65", "e")
}

/// Every place in which an operation names a server.
async fn namings(client: &Client) -> Vec<Naming> {
    let document = client.get("/api/openapi.json").await.expect(200).clone();
    let mut all = vec![];
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let mut add = |parameter: &str, place| {
                if names_a_server(parameter) {
                    let method = method.to_uppercase().parse().unwrap();
                    all.push(Naming { method, path: path.clone(), parameter: parameter.to_owned(), place });
                }
            };
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let place = if parameter["in"] == "path" { "path" } else { "query" };
                add(parameter["name"].as_str().unwrap(), place);
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            for field in fields(&document, body) {
                add(&field, "body");
            }
        }
    }
    all
}

fn uuid_body(server: &str) -> Value {
    json!({"playerUuid": UUID, "playerName": "Steve", "message": "hi", "serverId": server})
}

on_both! {
    async fn a_key_bound_to_servers_names_no_other_anywhere(hub: Hub) {
        let owner = hub.network().await;
        let key = bound(&owner, json!({"servers": ["mine", "other of mine"]})).await;
        let namings = namings(&owner).await;
        let of = |place| namings.iter().filter(|naming| naming.place == place).count();
        assert!(of("path") >= 14 && of("query") >= 3 && of("body") >= 11, "{} {} {}", of("path"), of("query"), of("body"));
        let parameters: BTreeSet<_> = namings.iter().map(|naming| naming.parameter.as_str()).collect();
        assert!(parameters.contains("nodeServerId") && parameters.contains("preferNode"), "{parameters:?}");
        for naming in &namings {
            let name = format!("{} {} with `{}`", naming.method, naming.path, naming.parameter);
            for theirs in ["theirs", "min%65-2"] {
                let (status, body) = naming.call(&key, theirs).await;
                assert_eq!((status, &body["code"]), (403, &"forbidden_origin".into()), "{name}: {body}");
            }
            for own in ["mine", "min%65"] {
                let (status, body) = naming.call(&key, own).await;
                assert!(status < 500 && body["code"] != "forbidden_origin", "{name}: {status} {body}");
            }
            let (_, body) = naming.call(&owner, "theirs").await;
            assert_ne!(body["code"], "forbidden_origin", "{name}");
        }
    }

    async fn a_bound_key_works_without_a_named_server(hub: Hub) {
        let owner = hub.network().await;
        let key = bound(&owner, json!({"servers": ["mine"]})).await;
        key.get("/api/plugin/servers").await.expect(200);
        key.get("/api/plugin/players?search=x").await.expect(200);
        key.post("/api/plugin/matchmaking/find", json!({"serverType": "lobby"})).await.expect(200);
        key.post("/api/plugin/chat", uuid_body("mine")).await.expect(204);
        crate::servers::register(&key, "mine", json!({})).await;
        crate::servers::beat(&key, "mine", json!({"worlds": [{"worldId": "theirs"}]})).await;
        // In any encoding.
        let escaped = r#"{"message": "hi", "server\u0049d": "th\u0065irs", "playerName": "s", "playerUuid": 7}"#;
        let request = key.request(Method::POST, "/api/plugin/chat").body(escaped);
        key.send(request).await.expect_error(403, "forbidden_origin");
        let twice = r#"{"serverId": "mine", "serverId": "theirs"}"#;
        let request = key.request(Method::POST, "/api/plugin/servers/heartbeat").body(twice);
        key.send(request).await.expect_error(403, "forbidden_origin");
        // Other errors of the request are unchanged.
        for (body, status, code) in [
            ("", 400, "invalid_request"), ("[]", 400, "invalid_request"), (r#"{"serverId": 7}"#, 400, "invalid_request"),
            (r#"{"serverId": " "}"#, 400, "invalid_request"), (&" ".repeat(1_100_000), 413, "body_too_large"),
        ] {
            let request = key.request(Method::POST, "/api/plugin/servers/heartbeat").body(body.to_owned());
            key.send(request).await.expect_error(status, code);
        }
        let reader = owner.post("/api/manage/keys", json!({"name": "r", "scopes": ["servers:read"], "servers": ["mine"]}));
        let reader = hub.with_key(reader.await.expect(201)["apiKey"].as_str().unwrap());
        reader.post("/api/manage/servers/theirs/stop", Value::Null).await.expect_error(403, "forbidden_scope");
        reader.get("/api/manage/servers/theirs").await.expect_error(403, "forbidden_origin");
        let head = reader.request(Method::HEAD, "/api/manage/servers/theirs").send().await.unwrap();
        assert_eq!(head.status(), 403);
        reader.get("/api/manage/servers/mine").await.expect(200);
    }

    async fn a_bound_keys_deliveries_are_for_its_servers(hub: Hub) {
        let owner = hub.network().await;
        let key = bound(&owner, json!({"servers": ["mini-1"]})).await;
        // Servers run deliveries of this kind on their consoles.
        let command = |more: Value| {
            let mut body = json!({"playerUuid": UUID, "kind": "command", "payload": {"command": "op me"}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            key.post("/api/plugin/deliveries", body)
        };
        for elsewhere in [json!({}), json!({"serverType": "lobby"}), json!({"serverId": " "}), json!({"serverId": "b"})] {
            command(elsewhere).await.expect_error(403, "forbidden_origin");
        }
        command(json!({"serverId": "mini-1"})).await.expect(201);
    }

    async fn a_bound_key_listens_as_one_of_its_servers(hub: Hub) {
        let owner = hub.network().await;
        let key = bound(&owner, json!({"servers": ["mine", "mine-2"]})).await;
        key.expect_no_stream("", 403, "forbidden_origin").await;
        key.expect_no_stream("serverId=theirs", 403, "forbidden_origin").await;
        let mut stream = key.events(Some("mine-2"), None).await;
        owner.post("/api/plugin/chat", uuid_body("theirs")).await.expect(204);
        assert_eq!(stream.next_named("CHAT").await.data["serverId"], "theirs");
    }

    async fn a_bound_key_uploads_for_its_own_leases(hub: Hub) {
        let owner = hub.network().await;
        crate::servers::register(&owner, "n1", json!({"serverType": "islands"})).await;
        let _stream = owner.events(Some("n1"), None).await;
        let body = json!({"ownerScope": "player", "ownerId": UUID, "gameId": "islands"});
        let opened = owner.post("/api/plugin/worlds/open", body).await.expect(200).clone();
        let path = format!("/api/plugin/worlds/{}/upload-url", opened["worldInstanceId"].as_str().unwrap());
        let of = async |server: &str| bound(&owner, json!({"servers": [server]})).await;
        of("n2").await.post(&path, Value::Null).await.expect_error(403, "forbidden_origin");
        of("n1").await.post(&path, Value::Null).await.expect(200);
    }

    async fn bindings_pass_to_created_keys(hub: Hub) {
        let owner = hub.network().await;
        let both = json!({"servers": ["a", "b"], "addresses": ["127.0.0.0/8", "::1"]});
        let made = make(&owner, both.clone()).await.expect(201).clone();
        assert_eq!((&made["servers"], &made["addresses"]), (&both["servers"], &json!(["127.0.0.0/8", "::1/128"])));
        let key = owner.with_key(made["apiKey"].as_str().unwrap());
        let unbound = make(&owner, json!({})).await.expect(201).clone();
        assert_eq!((&unbound["servers"], &unbound["addresses"]), (&Value::Null, &Value::Null));

        let inherits = make(&key, json!({})).await.expect(201).clone();
        assert_eq!((&inherits["servers"], &inherits["addresses"]), (&made["servers"], &made["addresses"]));
        let narrower = make(&key, json!({"servers": ["b"], "addresses": ["127.0.0.1"]})).await.expect(201).clone();
        assert_eq!((&narrower["servers"], &narrower["addresses"]), (&json!(["b"]), &json!(["127.0.0.1/32"])));
        for wider in [
            json!({"servers": ["a", "c"]}), json!({"addresses": ["126.0.0.0/7"]}), json!({"addresses": ["0.0.0.0/0"]}),
        ] {
            make(&key, wider).await.expect_error(403, "forbidden_origin");
        }
        for wrong in [
            json!({"servers": []}), json!({"addresses": []}), json!({"addresses": ["10.0.0.0/33"]}),
            json!({"addresses": ["home"]}), json!({"servers": [" "]}), json!({"servers": "a"}),
            json!({"servers": (0..101).map(|id| id.to_string()).collect::<Vec<_>>()}),
        ] {
            make(&owner, wrong).await.expect_error(400, "invalid_request");
        }
        // Rolling shows the secret of a key with more rights.
        let path = |key: &Value| format!("/api/manage/keys/{}", key["keyId"].as_str().unwrap());
        key.post(&format!("{}/roll", path(&unbound)), json!({})).await.expect_error(403, "forbidden_origin");
        key.delete(&path(&unbound)).await.expect_error(403, "forbidden_origin");
        let rolled = key.post(&format!("{}/roll", path(&narrower)), json!({})).await.expect(201).clone();
        assert_eq!(rolled["servers"], json!(["b"]));
        let rolled = owner.with_key(rolled["apiKey"].as_str().unwrap());
        rolled.get("/api/manage/servers/a").await.expect_error(403, "forbidden_origin");
        key.delete(&path(&narrower)).await.expect(204);
        let listed = owner.get("/api/manage/keys").await.expect(200)["items"].clone();
        let servers: Vec<_> = listed.as_array().unwrap().iter().map(|key| key["servers"].clone()).collect();
        assert_eq!(servers.iter().filter(|servers| **servers == json!(["a", "b"])).count(), 2, "{listed}");
        assert_eq!(servers.iter().filter(|servers| servers.is_null()).count(), 2, "{listed}");
    }
}

async fn an_address_counts_behind_trusted_proxies(backend: Backend) {
    let range = "127.0.0.0/8".parse().unwrap();
    let hub = Hub::start_with(backend, |settings| settings.trusted_proxies = vec![range]).await;
    let owner = hub.network().await;
    let key = bound(&owner, json!({"addresses": ["203.0.113.0/24", "2001:db8::/32"]})).await;
    let from = async |client: &Client, address: &str| {
        client.send(client.request(Method::GET, "/api/plugin/servers").header("X-Forwarded-For", address)).await
    };
    key.get("/api/plugin/servers").await.expect_error(403, "forbidden_origin");
    from(&key, "203.0.113.7").await.expect(200);
    from(&key, "::ffff:203.0.113.7").await.expect(200);
    from(&key, "2001:db8::7").await.expect(200);
    from(&key, "203.0.114.7").await.expect_error(403, "forbidden_origin");
    // Claimed by a client that is no trusted proxy.
    from(&key, "203.0.113.7, 198.51.100.1").await.expect_error(403, "forbidden_origin");
    from(&owner, "198.51.100.1").await.expect(200);
    // Streams and public routes, too.
    key.expect_no_stream("", 403, "forbidden_origin").await;
    key.get("/api/version").await.expect(200);
    key.post("/api/manage/keys", json!({})).await.expect_error(403, "forbidden_origin");
}

async fn forwarded_addresses_are_ignored_without_trusted_proxies(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let key = bound(&owner, json!({"addresses": ["203.0.113.0/24"]})).await;
    let request = key.request(Method::GET, "/api/plugin/servers").header("X-Forwarded-For", "203.0.113.7");
    key.send(request).await.expect_error(403, "forbidden_origin");
    bound(&owner, json!({"addresses": ["127.0.0.1"]})).await.get("/api/plugin/servers").await.expect(200);
}

on_each! { an_address_counts_behind_trusted_proxies forwarded_addresses_are_ignored_without_trusted_proxies }
