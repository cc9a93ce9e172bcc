//! Endpoints: requests to a network's own routes, each answered once with its effects.

mod document;
mod failing;
mod friends;
mod secrets;
mod tebex;

use hub::values::hex;
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use super::{chain, upload};
use crate::support::{Answer, Client, Hub, on_both};

const SECRET: &str = "open sesame";
const VOTER: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

/// Grants of all that the module `votes` asks for.
fn grants() -> Value {
    json!({"scopes": ["economy:write", "deliveries:write", "chat:send"], "secrets": ["VOTES"]})
}

/// Activates the module `votes` with its secret.
pub async fn install(owner: &Client, config: Value) {
    owner.put("/api/manage/secrets/VOTES", json!({"value": SECRET})).await.expect(204);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/votes/votes.wasm");
    upload(owner, "votes", std::fs::read(file).unwrap()).await.expect(201);
    configure(owner, config).await.expect(200);
}

async fn configure(owner: &Client, config: Value) -> Answer {
    let link = json!({"name": "votes", "version": 1, "config": config, "grants": grants()});
    chain(owner, "endpoints", json!([link])).await
}

/// Path of a public endpoint.
fn public(owner: &Client, rest: &str) -> String {
    format!("/api/public/x/{}/{rest}", owner.network.unwrap())
}

fn signature(secret: &str, body: &str) -> String {
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
    hex(mac.as_ref())
}

/// Sends a vote as the listing does: without a key, and signed.
pub async fn vote(owner: &Client, body: &str) -> Answer {
    vote_signed(owner, body, &signature(SECRET, body)).await
}

async fn vote_signed(owner: &Client, body: &str, signature: &str) -> Answer {
    let stranger = owner.without_key();
    let request = stranger.request(Method::POST, &public(owner, "votes/vote")).header("X-Signature", signature);
    stranger.send(request.header("Content-Type", "application/json").body(body.to_owned())).await
}

fn by_voter(id: &str) -> String {
    json!({"id": id, "uuid": VOTER, "service": "Top Servers"}).to_string()
}

async fn coins(owner: &Client) -> Value {
    let read = owner.get(&format!("/api/plugin/economy/player/{VOTER}/currencies")).await.expect(200).clone();
    let found = read.as_array().unwrap().iter().find(|it| it["currencyName"] == "coins").cloned();
    found.map_or(json!(0), |it| it["balance"].clone())
}

on_both! {
    async fn nothing_is_committed_for_a_network_that_is_frozen(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        vote(&owner, &by_voter("first")).await.expect(200);
        let before = coins(&owner).await;
        // Another process does it, and this node looks at the network once a second.
        let freeze = "UPDATE networks SET suspended = $2 WHERE network_id = $1";
        hub.app.db.write(freeze).bind(owner.network.unwrap()).bind(true).execute().await.unwrap();
        let refused = vote(&owner, &by_voter("second")).await;
        assert!([404, 503].contains(&refused.status.as_u16()), "{} {}", refused.status, refused.body);
        hub.app.db.write(freeze).bind(owner.network.unwrap()).bind(false).execute().await.unwrap();
        assert_eq!(coins(&owner).await, before);
        Hub::eventually("it is served again", async || vote(&owner, &by_voter("second")).await.status == 200).await;
        assert_ne!(coins(&owner).await, before);
    }

    async fn a_signed_request_has_its_effects_once_however_often_it_is_sent(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({"delivery": "crate"})).await;
        let first = vote(&owner, &by_voter("1")).await;
        assert_eq!(first.expect(200), &json!({"votes": 1}));
        assert_eq!(coins(&owner).await, 25);
        // The key is the id of the vote: the rest of a repeat does not matter.
        let other = json!({"id": "1", "player": "Notch"}).to_string();
        for body in [by_voter("1"), other] {
            let again = vote(&owner, &body).await;
            assert_eq!((again.expect(200), &again.headers["content-type"]), (&json!({"votes": 1}), &first.headers["content-type"]));
        }
        assert_eq!(coins(&owner).await, 25);
        let (owner_, body) = (&owner, by_voter("2"));
        let at_once = futures_util::future::join_all((0..12).map(|_| vote(owner_, &body))).await;
        assert!(at_once.iter().all(|answer| *answer.expect(200) == json!({"votes": 2})), "{at_once:?}");
        let ids: Vec<_> = (3..9).map(|id| by_voter(&id.to_string())).collect();
        let different = futures_util::future::join_all(ids.iter().map(|body| vote(owner_, body))).await;
        let mut counted: Vec<_> = different.iter().map(|it| it.expect(200)["votes"].as_i64().unwrap()).collect();
        counted.sort_unstable();
        assert_eq!(counted, [3, 4, 5, 6, 7, 8], "each call saw those before it");
        assert_eq!(coins(&owner).await, 200);
        let deliveries = owner.get("/api/manage/deliveries").await.expect(200).clone();
        assert_eq!(deliveries["items"].as_array().unwrap().len(), 8, "{deliveries}");
        // After a restart the database knows the answers.
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        assert_eq!(vote(&owner, &by_voter("1")).await.expect(200), &json!({"votes": 1}));
        assert_eq!(coins(&owner).await, 200);
    }

    async fn a_request_is_checked_before_the_module_runs(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        let body = by_voter("1");
        vote_signed(&owner, &body, &signature("other", &body)).await.expect_error(401, "invalid_signature");
        vote_signed(&owner, &body, "").await.expect_error(401, "invalid_signature");
        vote(&owner, r#"{"uuid": "1"}"#).await.expect_error(400, "missing_dedupe");
        vote(&owner, r#"{"id": "1", "player": ""}"#).await.expect_error(400, "invalid_request");
        vote(&owner, &format!(r#"{{"id": "{}"}}"#, "a".repeat(70_000))).await.expect_error(413, "body_too_large");
        let stranger = owner.without_key();
        let unknown = [
            public(&owner, "votes/other"),
            public(&owner, "votes/vote/more"),
            public(&owner, "other/vote"),
            // Not without a key.
            public(&owner, &format!("votes/players/{VOTER}/votes")),
            "/api/public/x/nobody/votes/vote".to_owned(),
            format!("/api/public/x/{VOTER}/votes/vote"),
        ];
        for path in unknown {
            let answer = stranger.post(&path, json!({})).await;
            answer.expect_error(404, "unknown_endpoint");
            assert_eq!(answer.body["error"], "No such endpoint.", "one answer for all: {path}");
        }
        stranger.get(&public(&owner, "votes/vote")).await.expect_error(405, "method_not_allowed");
        assert_eq!(coins(&owner).await, 0);
        let calls = owner.get("/api/manage/extension-points/endpoints").await.expect(200)["modules"][0]["calls"].clone();
        assert_eq!(calls, 0, "none of them reached the module");
        let other = hub.network().await;
        vote(&other, &body).await.expect_error(404, "unknown_endpoint");
    }

    async fn a_key_of_the_network_opens_its_private_endpoints(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        vote(&owner, r#"{"id": "1", "player": "Notch the \"first\""}"#).await.expect(200);
        let path = "/api/plugin/x/votes/players/notch%20the%20%22first%22/votes";
        let read = owner.get(path).await;
        assert_eq!(read.expect(200), &json!({"votes": 1}));
        assert_eq!(read.headers["content-security-policy"], "sandbox; default-src 'none'");
        assert_eq!(read.headers["x-content-type-options"], "nosniff");
        assert_eq!(read.headers.get("access-control-allow-origin"), None);
        let key = owner.key_with(&["plugin"]).await;
        key.get(path).await.expect(200);
        owner.key_with(&["players:read"]).await.get(path).await.expect_error(403, "forbidden_scope");
        hub.anonymous().get(path).await.expect_error(401, "unauthenticated");
        owner.get("/api/plugin/x/votes/players").await.expect_error(404, "unknown_endpoint");
        // The hub trusts its keys: no signature.
        let body = json!({"id": "2", "player": "Steve"});
        assert_eq!(key.post("/api/plugin/x/votes/vote", body).await.expect(200), &json!({"votes": 1}));
        chain(&owner, "endpoints", json!([])).await.expect(200);
        owner.get(path).await.expect_error(404, "unknown_endpoint");
    }

    async fn pages_of_others_may_ask_a_public_endpoint(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        let stranger = owner.without_key();
        let asked = stranger.send(stranger.request(Method::OPTIONS, &public(&owner, "votes/vote"))).await;
        assert_eq!((asked.status.as_u16(), &asked.headers["access-control-allow-origin"]), (204, &"*".parse().unwrap()));
        let answer = vote(&owner, &by_voter("1")).await;
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
        assert_eq!(answer.headers["content-security-policy"], "sandbox; default-src 'none'");
        // Nothing that is refused before acts as a page of the hub, or is kept from other pages.
        let without_key = hub.anonymous().get("/api/plugin/x/votes/vote").await;
        without_key.expect_error(401, "unauthenticated");
        let elsewhere = stranger.get("/api/public/x/nobody").await;
        elsewhere.expect_error(404, "unknown_route");
        let other_method = stranger.send(stranger.request(Method::TRACE, &public(&owner, "votes/vote"))).await;
        assert_eq!(other_method.status.as_u16(), 405);
        for answer in [&without_key, &elsewhere, &other_method] {
            assert_eq!(answer.headers["content-security-policy"], "sandbox; default-src 'none'");
            assert_eq!(answer.headers["x-content-type-options"], "nosniff");
            assert_eq!(answer.headers["cross-origin-resource-policy"], "cross-origin");
        }
        assert_eq!(without_key.headers.get("access-control-allow-origin"), None);
        for answer in [&elsewhere, &other_method] {
            assert_eq!(answer.headers["access-control-allow-origin"], "*");
        }
        // By address and endpoint.
        let mut last = 200;
        for id in 0..80 {
            let answer = vote_signed(&owner, &by_voter(&id.to_string()), "").await;
            last = answer.status.as_u16();
        }
        assert_eq!(last, 429);
        let limited = vote(&owner, &by_voter("2")).await;
        assert_eq!(limited.headers["access-control-allow-origin"], "*");
        hub.advance_ms(60_000);
        vote(&owner, &by_voter("2")).await.expect(200);
    }

    async fn a_suspended_network_answers_strangers_like_none(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        vote(&owner, &by_voter("1")).await.expect(200);
        let operator = hub.operator().await;
        let path = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.patch(&path, json!({"suspended": true})).await.expect(200);
        Hub::eventually("it is unknown", async || vote(&owner, &by_voter("1")).await.status.as_u16() == 404).await;
        vote(&owner, &by_voter("1")).await.expect_error(404, "unknown_endpoint");
    }
}
