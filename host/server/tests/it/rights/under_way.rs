//! Rights that end while a request is under way: nothing of it remains.

use std::pin::pin;
use std::time::Duration;

use futures_util::stream;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use sqlx::Executor as _;
use tokio::sync::mpsc;

use crate::people::{PASSWORD, member, send};
use crate::postgres::until_one_waits;
use crate::support::{Backend, Hub, on_both};

/// Each thing that outlives its request, asked for by a person who is removed when the hub is about to make it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_is_removed_meanwhile_leaves_nothing() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    let mallory = member(&hub, &owner, "m@example.org", "ADMIN").await;
    let key =
        owner.post("/api/manage/keys", json!({"name": "old", "scopes": ["servers:read"]})).await.expect(201).clone();
    let roll = format!("/api/manage/keys/{}/roll", key["keyId"].as_str().unwrap());
    let own = format!("/api/manage/people/{}", mallory.id);
    let webhook = json!({"name": "w", "url": "https://hook.invalid/x", "events": ["CHAT"]});
    let requests = [
        (Method::POST, "/api/manage/keys", json!({"name": "new", "scopes": ["servers:read"]})),
        (Method::POST, &roll, json!({})),
        (Method::POST, "/api/manage/people", json!({"email": "x@example.org", "role": "ADMIN"})),
        (Method::PATCH, &own, json!({"role": "ADMIN"})),
        (Method::PUT, "/api/manage/roles/helper", json!({"scopes": ["servers:read"]})),
        (Method::POST, "/api/manage/webhooks", webhook),
        (Method::POST, "/api/manage/signing-secret/rotate", json!({})),
    ];
    let members = "SELECT COUNT(*) FROM network_members";
    let mut database = hub.database().await;
    database.execute("CREATE TEMPORARY TABLE kept AS SELECT * FROM network_members").await.unwrap();
    for (method, path, body) in requests {
        database.execute("BEGIN; DELETE FROM network_members").await.unwrap();
        let mut sent = pin!(send(&hub, &mallory.token, method, path, body));
        tokio::select! {
            early = &mut sent => panic!("{path} does not look at the right again: {early:?}"),
            () = until_one_waits(&mut database) => {}
        }
        database.execute("COMMIT").await.unwrap();
        let answer = sent.await;
        answer.expect_error(403, "not_a_member");
        let left: i64 = sqlx::query_scalar(members).fetch_one(&mut database).await.unwrap();
        assert_eq!(left, 0, "{path}");
        database.execute("INSERT INTO network_members SELECT * FROM kept").await.unwrap();
    }
    for path in ["/api/manage/webhooks", "/api/manage/people/invitations", "/api/manage/roles"] {
        assert_eq!(owner.get(path).await.expect(200)["total"], 0, "{path}");
    }
    let keys = owner.get("/api/manage/keys").await.expect(200).to_string();
    assert!(!keys.contains(r#""name":"new""#), "{keys}");
    owner.with_key(key["apiKey"].as_str().unwrap()).get("/api/manage/servers").await.expect(200);
}

/// Sign-ins and changes by a password that is replaced by mail while it is checked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_password_opens_and_changes_nothing_once_it_is_replaced() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
    let requests = [
        ("/api/people/sign-in", json!({"email": "alex@example.org", "password": PASSWORD})),
        ("/api/people/password", json!({"current": PASSWORD, "new": "another correct horse"})),
        ("/api/people/second-factor", json!({"password": PASSWORD})),
    ];
    let mut database = hub.database().await;
    database.execute("CREATE TEMPORARY TABLE kept AS SELECT person_id, password_hash FROM persons").await.unwrap();
    let state =
        "SELECT CONCAT((SELECT COUNT(*) FROM person_sessions), password_hash, totp_secret IS NULL) FROM persons";
    for (path, body) in requests {
        database.execute("BEGIN; UPDATE persons SET password_hash = 'by mail'").await.unwrap();
        let before: String = sqlx::query_scalar(state).fetch_one(&mut database).await.unwrap();
        let mut sent = pin!(send(&hub, &alex.token, Method::POST, path, body));
        tokio::select! {
            early = &mut sent => panic!("{path} does not look at the password again: {early:?}"),
            () = until_one_waits(&mut database) => {}
        }
        database.execute("COMMIT").await.unwrap();
        sent.await.expect_error(401, "wrong_credentials");
        let after: String = sqlx::query_scalar(state).fetch_one(&mut database).await.unwrap();
        assert_eq!(after, before, "{path}");
        let back =
            "UPDATE persons SET password_hash = kept.password_hash FROM kept WHERE kept.person_id = persons.person_id;
            DELETE FROM sign_in_failures";
        database.execute(back).await.unwrap();
    }
    let me = send(&hub, &alex.token, Method::GET, "/api/people/me", Value::Null).await;
    assert_eq!(me.expect(200)["email"], "alex@example.org");
}

/// Two people change a webhook at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_a_webhook_keeps_what_another_one_changed_meanwhile() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    let webhook = json!({"name": "w", "url": "https://hook.invalid/x", "events": ["CHAT"]});
    let id = owner.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].clone();
    let path = format!("/api/manage/webhooks/{}", id.as_str().unwrap());
    let mut database = hub.database().await;
    database.execute("BEGIN; UPDATE webhooks SET state = 'DISABLED', disabled_reason = 'REQUESTED'").await.unwrap();
    let mut sent = pin!(owner.patch(&path, json!({"name": "renamed"})));
    tokio::select! {
        early = &mut sent => panic!("it does not wait: {early:?}"),
        () = until_one_waits(&mut database) => {}
    }
    database.execute("COMMIT").await.unwrap();
    let changed = sent.await.expect(200).clone();
    assert_eq!((&changed["name"], &changed["enabled"]), (&json!("renamed"), &json!(false)), "{changed}");
}

on_both! {
    async fn an_upload_that_takes_long_is_refused_at_its_end(hub: Hub) {
        let owner = hub.network().await;
        let mallory = member(&hub, &owner, "m@example.org", "ADMIN").await;
        let (pieces, body) = mpsc::channel::<Vec<u8>>(1);
        let body = stream::unfold(body, async |mut body| Some((Ok::<_, std::io::Error>(body.recv().await?), body)));
        let request = hub.anonymous().request(Method::POST, "/api/manage/imports?kind=litebans");
        let request = request.bearer_auth(&mallory.token).body(Body::wrap_stream(body));
        let client = hub.anonymous();
        let upload = tokio::spawn(async move { client.send(request).await });
        // More than connections buffer: the hub reads, and so it has looked at the session.
        for _ in 0..24 {
            pieces.send(vec![b'-'; 1 << 20]).await.unwrap();
        }
        owner.delete(&format!("/api/manage/people/{}", mallory.id)).await.expect(204);
        drop(pieces);
        upload.await.unwrap().expect_error(403, "not_a_member");
        assert_eq!(owner.get("/api/manage/imports").await.expect(200)["total"], 0);
    }

    async fn a_slow_body_is_of_a_key_that_is_still_good(hub: Hub) {
        let owner = hub.network().await;
        let key = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
        let connector = owner.with_key(key["apiKey"].as_str().unwrap());
        let (pieces, body) = mpsc::channel::<Vec<u8>>(1);
        let body = stream::unfold(body, async |mut body| Some((Ok::<_, std::io::Error>(body.recv().await?), body)));
        let path = "/api/plugin/economy/team/red/currencies/modify";
        let request = connector.request(Method::POST, path).body(Body::wrap_stream(body));
        let paying = tokio::spawn(async move { connector.send(request).await });
        pieces.send(br#"{"currency": "coins", "#.to_vec()).await.unwrap();
        // The time for which a node may remember a key: the hub takes a body that comes later as slow.
        tokio::time::sleep(Duration::from_millis(700)).await;
        owner.delete(&format!("/api/manage/keys/{}", key["keyId"].as_str().unwrap())).await.expect(204);
        pieces.send(br#""amount": 5}"#.to_vec()).await.unwrap();
        drop(pieces);
        paying.await.unwrap().expect_error(401, "unauthenticated");
        let balances = owner.get("/api/plugin/economy/team/red/currencies").await.expect(200).clone();
        assert_eq!(balances, json!([]));
    }

    async fn a_network_may_require_a_second_factor(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        let keys = async || send(&hub, &alex.token, Method::GET, "/api/manage/keys", Value::Null).await;
        keys().await.expect(200);
        owner.patch("/api/manage/network", json!({"requireSecondFactor": true})).await.expect(200);
        keys().await.expect_error(403, "second_factor_required");
        // The account itself is theirs.
        let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
        let path = "/api/people/second-factor";
        let enrolled = post(path, json!({"password": PASSWORD})).await.expect(201).clone();
        let code = crate::people::sessions::shown(enrolled["secret"].as_str().unwrap(), crate::support::NOW);
        post(&format!("{path}/confirm"), json!({"code": code})).await.expect(200);
        keys().await.expect(200);
    }
}
