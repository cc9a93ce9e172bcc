//! Safe retries.

use serde_json::{Value, json};

use crate::support::{Answer, Client, Hub, on_all};

const PLAYER: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async fn post(client: &Client, key: &str, path: &str, body: &Value) -> Answer {
    let request = client.request(reqwest::Method::POST, path).header("Idempotency-Key", key);
    client.send(request.json(body)).await
}

fn ban(reason: &str) -> Value {
    json!({"playerUuid": PLAYER, "playerName": "Steve", "type": "BAN", "reason": reason})
}

const CREATE: &str = "/api/plugin/punishments/create";

async fn history(client: &Client) -> usize {
    let path = format!("/api/plugin/punishments/player/{PLAYER}/history");
    client.get(&path).await.expect(200).as_array().unwrap().len()
}

fn replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

on_all! {
    async fn a_repeat_gets_the_same_answer_and_has_no_effect(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        let first = post(&owner, "a", CREATE, &ban("x")).await;
        first.expect(200);
        assert!(!replayed(&first));
        hub.advance_ms(60_000);
        let again = post(&owner, "a", CREATE, &ban("x")).await;
        assert_eq!(again.expect(200), &first.body);
        assert!(replayed(&again));
        assert_eq!(again.headers["content-type"], first.headers["content-type"]);
        assert_eq!(history(&owner).await, 1);
        // One effect, one event; the next is that of the next effect.
        assert_eq!(events.next_named("PUNISHMENT").await.data["punishment"]["reason"], "x");
        post(&owner, "b", CREATE, &ban("y")).await.expect(200);
        assert_eq!(events.next_named("PUNISHMENT").await.data["punishment"]["reason"], "y");
    }

    async fn concurrent_repeats_have_one_effect(hub: Hub) {
        let owner = hub.network().await;
        let body = ban("x");
        let answers = futures_util::future::join_all((0..20).map(|_| post(&owner, "a", CREATE, &body))).await;
        for answer in &answers {
            assert_eq!(answer.expect(200), &answers[0].body);
        }
        assert_eq!(answers.iter().filter(|answer| !replayed(answer)).count(), 1);
        assert_eq!(history(&owner).await, 1);
    }

    async fn another_body_or_path_is_refused(hub: Hub) {
        let owner = hub.network().await;
        post(&owner, "a", CREATE, &ban("x")).await.expect(200);
        post(&owner, "a", CREATE, &ban("y")).await.expect_error(400, "idempotency_mismatch");
        post(&owner, "a", "/api/plugin/punishments/create-by-name", &ban("x")).await
            .expect_error(400, "idempotency_mismatch");
        post(&owner, "a", &format!("{CREATE}?x=1"), &ban("x")).await.expect_error(400, "idempotency_mismatch");
        assert_eq!(history(&owner).await, 1);
    }

    async fn keys_belong_to_their_network(hub: Hub) {
        let (one, other) = (hub.network().await, hub.network().await);
        post(&one, "a", CREATE, &ban("x")).await.expect(200);
        assert!(!replayed(&post(&other, "a", CREATE, &ban("y")).await));
        assert_eq!(history(&other).await, 1);
    }

    async fn errors_are_repeated_with_the_id_of_the_repeat(hub: Hub) {
        let owner = hub.network().await;
        let wrong = json!({"type": "NONSENSE"});
        let first = post(&owner, "a", CREATE, &wrong).await;
        first.expect_error(400, "invalid_request");
        let again = post(&owner, "a", CREATE, &wrong).await;
        again.expect_error(400, "invalid_request");
        assert!(replayed(&again));
        assert_eq!(again.body["error"], first.body["error"]);
        assert_ne!(again.body["requestId"], first.body["requestId"]);
    }

    async fn a_key_expires_after_a_day(hub: Hub) {
        let owner = hub.network().await;
        post(&owner, "a", CREATE, &ban("x")).await.expect(200);
        hub.advance_ms(24 * 3_600_000 - 1);
        assert!(replayed(&post(&owner, "a", CREATE, &ban("x")).await));
        hub.advance_ms(1);
        assert!(!replayed(&post(&owner, "a", CREATE, &ban("x")).await));
        assert!(replayed(&post(&owner, "a", CREATE, &ban("x")).await));
        assert_eq!(history(&owner).await, 2);
    }

    async fn a_repeat_needs_the_permission(hub: Hub) {
        let owner = hub.network().await;
        let reader = owner.key_with(&["servers:read"]).await;
        let body = json!({"name": "n", "scopes": ["plugin"]});
        post(&reader, "a", "/api/manage/keys", &body).await.expect_error(403, "forbidden_scope");
        let made = post(&owner, "a", "/api/manage/keys", &body).await;
        made.expect(201);
        assert!(!replayed(&made));
        post(&reader, "a", "/api/manage/keys", &body).await.expect_error(403, "forbidden_scope");
        post(&hub.anonymous(), "a", "/api/manage/keys", &body).await.expect_error(401, "unauthenticated");
        let again = post(&owner, "a", "/api/manage/keys", &body).await;
        assert_eq!(again.expect(201), &made.body);
    }

    async fn a_secret_is_not_stored(hub: Hub) {
        let owner = hub.network().await;
        let body = json!({"name": "n", "scopes": ["plugin"]});
        let made = post(&owner, "a", "/api/manage/keys", &body).await;
        let secret = made.expect(201)["apiKey"].as_str().unwrap().to_owned();
        assert_eq!(post(&owner, "a", "/api/manage/keys", &body).await.expect(201)["apiKey"], secret.as_str());
        let kept: Vec<(Vec<u8>,)> = hub.app.db.query("SELECT body FROM idempotency_keys").all().await.unwrap();
        assert_eq!(kept.len(), 1);
        assert!(!String::from_utf8_lossy(&kept[0].0).contains(&secret));
        // There is still one effect when the response is lost.
        let key = owner.key.unwrap();
        let hub: Hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(&key);
        post(&owner, "a", "/api/manage/keys", &body).await.expect_error(409, "answer_not_kept");
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["total"], 2);
    }

    async fn an_answer_with_a_secret_is_given_again_to_the_asking_key_alone(hub: Hub) {
        let owner = hub.network().await;
        let made = owner.post("/api/manage/keys", json!({"name": "second", "scopes": ["network:manage", "plugin"]})).await;
        let second = hub.with_key(made.expect(201)["apiKey"].as_str().unwrap());
        let server = crate::servers::server("s", json!({}));
        for (key, path, body) in [
            ("a", "/api/manage/keys", json!({"name": "n", "scopes": ["plugin"]})),
            ("b", "/api/manage/signing-secret/rotate", json!({"overlapMs": 1000})),
            ("c", "/api/plugin/servers/register", server),
        ] {
            let first = post(&owner, key, path, &body).await;
            first.expect(201);
            post(&second, key, path, &body).await.expect_error(409, "answer_not_kept");
            let again = post(&owner, key, path, &body).await;
            assert_eq!(again.expect(201), &first.body, "{path}");
            assert!(replayed(&again));
            let secret = first.body.get("apiKey").unwrap_or(&first.body["signingSecret"]).as_str().unwrap();
            let kept: Vec<(Vec<u8>,)> = hub.app.db.query("SELECT body FROM idempotency_keys").all().await.unwrap();
            for (body,) in kept {
                assert!(!String::from_utf8_lossy(&body).contains(secret), "{path}");
            }
        }
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["total"], 3);
    }

    async fn a_link_is_not_stored(hub: Hub) {
        let owner = hub.network().await;
        crate::servers::register(&owner, "n1", json!({"serverType": "islands"})).await;
        let _stream = owner.events(Some("n1"), None).await;
        let body = json!({"ownerScope": "player", "ownerId": PLAYER, "gameId": "islands"});
        let opened = owner.post("/api/plugin/worlds/open", body).await.expect(200).clone();
        let upload_url = format!("/api/plugin/worlds/{}/upload-url", opened["worldInstanceId"].as_str().unwrap());
        let upload = owner.request(reqwest::Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
        let artifact = owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
        let install = format!("/api/manage/artifacts/{artifact}/install");
        for (key, path, body) in [("a", &upload_url, json!({})), ("b", &install, json!({"serverId": "n1"}))] {
            let first = post(&owner, key, path, &body).await;
            let link = first.body["url"].as_str().unwrap_or_else(|| panic!("{}", first.body)).to_owned();
            assert_eq!(post(&owner, key, path, &body).await.body["url"], link.as_str());
            let kept: Vec<(Vec<u8>,)> = hub.app.db.query("SELECT body FROM idempotency_keys").all().await.unwrap();
            let signature = link.rsplit_once('.').unwrap().1;
            assert!(kept.iter().all(|(body,)| !String::from_utf8_lossy(body).contains(signature)), "{path}");
        }
    }

    async fn a_repeat_is_judged_like_a_first_call(hub: Hub) {
        let owner = hub.network().await;
        let line = json!({"playerUuid": PLAYER, "playerName": "Steve", "message": "one", "serverId": "b"});
        post(&owner, "a", "/api/plugin/chat", &line).await.expect(204);
        let bound = async |body: Value| {
            let made = owner.post("/api/manage/keys", body).await.expect(201).clone();
            hub.with_key(made["apiKey"].as_str().unwrap())
        };
        let a = bound(json!({"name": "a", "scopes": ["plugin"], "servers": ["a"]})).await;
        let b = bound(json!({"name": "b", "scopes": ["plugin"], "servers": ["b"]})).await;
        let elsewhere = bound(json!({"name": "c", "scopes": ["plugin"], "addresses": ["203.0.113.7"]})).await;
        post(&a, "a", "/api/plugin/chat", &line).await.expect_error(403, "forbidden_origin");
        post(&elsewhere, "a", "/api/plugin/chat", &line).await.expect_error(403, "forbidden_origin");
        let again = post(&b, "a", "/api/plugin/chat", &line).await;
        again.expect(204);
        assert!(replayed(&again));
        // A query's result needs its scope again, too.
        let (path, find) = ("/api/plugin/matchmaking/find?explain=true", json!({"serverType": "lobby"}));
        post(&owner, "b", path, &find).await.expect(200);
        post(&b, "b", path, &find).await.expect_error(403, "forbidden_scope");
    }

    async fn responses_survive_a_restart(hub: Hub) {
        let key = hub.network().await.key.unwrap();
        let first = post(&hub.with_key(&key), "a", CREATE, &ban("x")).await;
        let hub: Hub = hub.restart(std::time::Duration::ZERO).await;
        let again = post(&hub.with_key(&key), "a", CREATE, &ban("x")).await;
        assert_eq!(again.expect(200), &first.body);
        assert!(replayed(&again));
    }

    async fn effects_outside_the_database_happen_once_too(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        let line = json!({"playerUuid": PLAYER, "playerName": "Steve", "message": "one", "serverId": "lobby-1",
            "serverType": "lobby"});
        post(&owner, "a", "/api/plugin/chat", &line).await.expect(204);
        let again = post(&owner, "a", "/api/plugin/chat", &line).await;
        again.expect(204);
        assert!(replayed(&again));
        let mut other = line.clone();
        other["message"] = json!("two");
        post(&owner, "b", "/api/plugin/chat", &other).await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "one");
        assert_eq!(events.next_named("CHAT").await.data["message"], "two");
    }

    async fn an_invalid_key_is_refused(hub: Hub) {
        let owner = hub.network().await;
        for key in ["", "ä", &"x".repeat(256)] {
            post(&owner, key, CREATE, &ban("x")).await.expect_error(400, "invalid_request");
        }
        let twice = owner.request(reqwest::Method::POST, CREATE).header("Idempotency-Key", "a");
        owner.send(twice.header("Idempotency-Key", "b").json(&ban("x"))).await.expect_error(400, "invalid_request");
        assert_eq!(history(&owner).await, 0);
    }

    async fn large_bodies_are_distinguished(hub: Hub) {
        let owner = hub.network().await;
        let upload = async |bytes: Vec<u8>| {
            let request = owner.request(reqwest::Method::POST, "/api/manage/modules?name=big");
            owner.send(request.header("Idempotency-Key", "a").body(bytes)).await
        };
        let mut bytes = vec![7; 3 * 1024 * 1024];
        upload(bytes.clone()).await.expect_error(400, "invalid_module");
        assert!(replayed(&upload(bytes.clone()).await));
        bytes[2_500_000] = 8;
        upload(bytes).await.expect_error(400, "idempotency_mismatch");
    }

    async fn a_body_is_no_larger_than_its_route_takes(hub: Hub) {
        let owner = hub.network().await;
        let large = format!(r#"{{"reason": "{}"}}"#, "x".repeat(1024 * 1024));
        let announced = owner.request(reqwest::Method::POST, CREATE).header("Idempotency-Key", "a");
        owner.send(announced.body(large.clone())).await.expect_error(413, "body_too_large");
        let chunks = futures_util::stream::iter(large.into_bytes().chunks(9_999).map(Vec::from).map(Ok::<_, std::io::Error>).collect::<Vec<_>>());
        let chunked = owner.request(reqwest::Method::POST, CREATE).header("Idempotency-Key", "a");
        owner.send(chunked.body(reqwest::Body::wrap_stream(chunks))).await.expect_error(413, "body_too_large");
        // The key is still free.
        post(&owner, "a", CREATE, &ban("x")).await.expect(200);
    }

    async fn large_bodies_of_several_keys_are_read_one_by_one(hub: Hub) {
        let owner = hub.network().await;
        let upload = async |key: &str| {
            let request = owner.request(reqwest::Method::POST, "/api/manage/modules?name=big");
            owner.send(request.header("Idempotency-Key", key).body(vec![7; 3 * 1024 * 1024])).await
        };
        let (one, two, three) = tokio::join!(upload("a"), upload("b"), upload("c"));
        for answer in [one, two, three, upload("b").await] {
            answer.expect_error(400, "invalid_module");
        }
    }
}
