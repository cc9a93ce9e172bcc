//! Sessions: tokens and cookies, passwords, second factors, guessing.

use hub::limits::{Bounds, Limit};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use totp_rs::Builder;

use super::{PASSWORD, code, get, member, send, sign_in};
use crate::support::{Answer, Backend, Hub, NOW, on_both, on_each};

/// Code shown by an authenticator app.
pub fn shown(secret: &str, millis: i64) -> String {
    let secret = totp_rs::Secret::try_from_base32(secret).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    totp.generate(u64::try_from(millis / 1000).unwrap()).to_string()
}

async fn with_cookie(hub: &Hub, cookie: &str, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Answer {
    let client = hub.anonymous();
    let request = client.request(Method::POST, "/api/manage/keys").header("Cookie", cookie);
    client.send(change(request.json(&json!({"name": "k", "scopes": ["servers:read"]})))).await
}

on_both! {
    async fn a_session_as_cookie_needs_the_csrf_token_for_changes(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "OWNER").await;
        // Like a form of another site's page would.
        let body = json!({"email": "alex@example.org", "password": PASSWORD, "cookie": true}).to_string();
        let form = hub.anonymous().request(Method::POST, "/api/people/sign-in").header("Content-Type", "text/plain");
        hub.anonymous().send(form.body(body)).await.expect_error(400, "invalid_request");
        let answer = sign_in(&hub, "alex@example.org", PASSWORD, json!({"cookie": true})).await;
        assert_eq!(answer.expect(200)["token"], Value::Null);
        let set = answer.headers["set-cookie"].to_str().unwrap().to_owned();
        assert!(set.contains("; HttpOnly; SameSite=Strict") && set.contains("; Path=/;"), "{set}");
        let cookie = set.split(';').next().unwrap();
        let client = hub.anonymous();
        let read = client.request(Method::GET, "/api/manage/keys").header("Cookie", format!("a=b; {cookie}"));
        client.send(read).await.expect(200);
        with_cookie(&hub, cookie, |request| request).await.expect_error(403, "csrf_token_wrong");
        with_cookie(&hub, cookie, |request| request.header("X-CSRF-Token", "0")).await.expect_error(403, "csrf_token_wrong");
        let csrf = answer.body["person"]["csrfToken"].as_str().unwrap();
        with_cookie(&hub, cookie, |request| request.header("X-CSRF-Token", csrf)).await.expect(201);
        let out = client.request(Method::POST, "/api/people/sign-out").header("Cookie", cookie).header("X-CSRF-Token", csrf);
        let out = client.send(out).await;
        assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
        with_cookie(&hub, cookie, |request| request.header("X-CSRF-Token", csrf)).await.expect_error(401, "unauthenticated");
    }

    async fn own_sessions_are_listed_and_ended(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let kim = member(&hub, &owner, "kim@example.org", "VIEWER").await;
        let again = async || sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200)["token"].as_str().unwrap().to_owned();
        let list = async |token: &str| get(&hub, token, "/api/people/sessions").await.expect(200)["items"].as_array().unwrap().clone();
        let first = list(&alex.token).await;
        assert_eq!((first.len(), &first[0]["current"], &first[0]["address"]), (1, &json!(true), &json!("127.0.0.1")));
        hub.advance_ms(1_000);
        let (one, two) = (again().await, again().await);
        let all = list(&one).await;
        assert_eq!(all.len(), 3);
        let id = |token: &str| token.split('_').nth(1).unwrap().to_owned();
        let current: Vec<_> = all.iter().filter(|it| it["current"] == true).map(|it| it["sessionId"].clone()).collect();
        assert_eq!(current, [json!(id(&one))]);
        assert_eq!((&all[2]["sessionId"], &all[2]["createdAt"]), (&json!(id(&alex.token)), &json!(NOW)));
        // Others' cannot be ended, nor the same twice.
        let path = |token: &str| format!("/api/people/sessions/{}", id(token));
        let end = async |by: &str, token: &str| send(&hub, by, Method::DELETE, &path(token), json!({})).await;
        end(&kim.token, &two).await.expect_error(404, "unknown_session");
        get(&hub, &two, "/api/people/me").await.expect(200);
        end(&one, &two).await.expect(204);
        end(&one, &two).await.expect_error(404, "unknown_session");
        for path in ["/api/people/me", "/api/manage/keys"] {
            get(&hub, &two, path).await.expect_error(401, "unauthenticated");
        }
        send(&hub, &one, Method::POST, "/api/people/sign-out-elsewhere", json!({})).await.expect(204);
        get(&hub, &alex.token, "/api/manage/keys").await.expect_error(401, "unauthenticated");
        get(&hub, &kim.token, "/api/people/me").await.expect(200);
        assert_eq!(list(&one).await.len(), 1);
        end(&one, &one).await.expect(204);
        get(&hub, &one, "/api/people/sessions").await.expect_error(401, "unauthenticated");
        hub.anonymous().get("/api/people/sessions").await.expect_error(401, "unauthenticated");
        let log = hub.operator().await.get("/api/admin/audit?limit=3").await.expect(200).clone();
        let actions: Vec<_> = log["items"].as_array().unwrap().iter().map(|it| it["action"].as_str().unwrap()).collect();
        assert!(actions.contains(&"person.session_ended") && actions.contains(&"person.signed_out_elsewhere"), "{actions:?}");
    }

    async fn sessions_end(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let again = async || sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200)["token"].as_str().unwrap().to_owned();
        let (one, other) = (again().await, again().await);
        let client = hub.anonymous();
        let request = client.request(Method::GET, "/api/manage/keys").header("Authorization", format!("bearer {one}"));
        client.send(request).await.expect(200);
        send(&hub, &one, Method::POST, "/api/people/sign-out", json!({})).await.expect(204);
        get(&hub, &one, "/api/manage/keys").await.expect_error(401, "unauthenticated");
        get(&hub, &other, "/api/manage/keys").await.expect(200);
        send(&hub, &other, Method::POST, "/api/people/sign-out-everywhere", json!({})).await.expect(204);
        for token in [&other, &alex.token] {
            get(&hub, token, "/api/manage/keys").await.expect_error(401, "unauthenticated");
        }
        let last = again().await;
        let everywhere = ["/api/manage/keys", "/api/people/me"];
        // An attacker who knows a session's id, which is no secret, and not the rest.
        let (known, _) = last.rsplit_once('_').unwrap();
        for wrong in [format!("{known}_{}", "x".repeat(last.len() - known.len() - 1)), "hubs_x".to_owned()] {
            for path in everywhere {
                get(&hub, &wrong, path).await.expect_error(401, "unauthenticated");
            }
        }
        // It expires by itself, not because it is deleted a while later.
        hub.advance_ms((14 * 24 * 60 - 5) * 60 * 1_000);
        for path in everywhere {
            get(&hub, &last, path).await.expect(200);
        }
        hub.advance_ms(5 * 60 * 1_000);
        for path in everywhere {
            get(&hub, &last, path).await.expect_error(401, "unauthenticated");
        }
        // No token, and no password, is in the database.
        let stored: Vec<(String, String)> =
            hub.app.db.query("SELECT person_id, password_hash FROM persons").all().await.unwrap();
        assert!(stored[0].1.starts_with("$argon2id$"), "{stored:?}");
    }

    async fn guesses_are_slowed_down_whether_or_not_there_is_an_account(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "OWNER").await;
        for email in ["alex@example.org", "nobody@example.org"] {
            for _ in 0..5 {
                sign_in(&hub, email, "a wrong password", json!({})).await.expect_error(401, "wrong_credentials");
            }
            let refused = sign_in(&hub, email, PASSWORD, json!({})).await;
            refused.expect_error(429, "rate_limited");
            assert_eq!(refused.headers["retry-after"], "15");
        }
        hub.advance_ms(15_000);
        sign_in(&hub, "alex@example.org", "a wrong password", json!({})).await.expect_error(401, "wrong_credentials");
        hub.advance_ms(15_000);
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect_error(429, "rate_limited");
        hub.advance_ms(15_000);
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200);
        // A success forgets the failures.
        sign_in(&hub, "alex@example.org", "a wrong password", json!({})).await.expect_error(401, "wrong_credentials");
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200);
    }

    async fn one_address_guesses_the_passwords_of_few(hub: Hub) {
        let mut refused = 0;
        for at in 0..40 {
            let answer = sign_in(&hub, &format!("p{at}@example.org"), "a wrong password", json!({})).await;
            refused += u32::from(answer.status == 429);
        }
        assert_eq!(refused, 10);
    }

    async fn many_guesses_at_once_are_no_more_than_one_after_the_other(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "OWNER").await;
        let guess = || sign_in(&hub, "alex@example.org", "a wrong password", json!({}));
        let answers = futures_util::future::join_all((0..12).map(|_| guess())).await;
        assert!(answers.iter().filter(|answer| answer.status == 401).count() <= 5, "{answers:?}");
    }

    async fn a_second_factor_is_asked_for_and_its_codes_work_once(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
        let path = "/api/people/second-factor";
        post(path, json!({"password": "a wrong password"})).await.expect_error(401, "wrong_credentials");
        let secret = post(path, json!({"password": PASSWORD})).await.expect(201)["secret"].as_str().unwrap().to_owned();
        // Not in effect before it is confirmed.
        let other = sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200).clone();
        let other = other["token"].as_str().unwrap().to_owned();
        post(&format!("{path}/confirm"), json!({"code": "000000"})).await.expect_error(401, "wrong_credentials");
        let confirmed = post(&format!("{path}/confirm"), json!({"code": shown(&secret, NOW)})).await;
        let recovery = confirmed.expect(200)["recoveryCodes"].clone();
        assert_eq!(recovery.as_array().unwrap().len(), 10);
        // The session that was opened with the password alone is over.
        get(&hub, &other, "/api/people/me").await.expect_error(401, "unauthenticated");
        get(&hub, &alex.token, "/api/people/me").await.expect(200);
        post(path, json!({"password": PASSWORD})).await.expect_error(400, "second_factor_enabled");

        let with = async |code: &str| sign_in(&hub, "alex@example.org", PASSWORD, json!({"code": code})).await;
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect_error(401, "second_factor_needed");
        // The code that confirmed it is used up.
        with(&shown(&secret, NOW)).await.expect_error(401, "wrong_credentials");
        hub.advance_ms(30_000);
        let next = shown(&secret, NOW + 30_000);
        with(&next).await.expect(200);
        with(&next).await.expect_error(401, "wrong_credentials");
        let code = recovery[3].as_str().unwrap();
        with(code).await.expect(200);
        with(code).await.expect_error(401, "wrong_credentials");
        // A request without a code restores no guesses.
        for _ in 0..8 {
            with("000000").await;
            sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await;
        }
        with(recovery[4].as_str().unwrap()).await.expect_error(429, "rate_limited");
        let disable = async |code: Value| {
            // Waits for all earlier failures.
            hub.advance_ms(900_000);
            post(&format!("{path}/disable"), json!({"password": PASSWORD, "code": code})).await
        };
        disable(Value::Null).await.expect_error(401, "second_factor_needed");
        disable(json!("000000")).await.expect_error(401, "wrong_credentials");
        // Nor does the right password.
        hub.advance_ms(900_000);
        for _ in 0..8 {
            post(&format!("{path}/disable"), json!({"password": PASSWORD, "code": "000000"})).await;
        }
        let body = json!({"password": PASSWORD, "code": recovery[6]});
        post(&format!("{path}/disable"), body).await.expect_error(429, "rate_limited");
        disable(recovery[5].clone()).await.expect(204);
        hub.advance_ms(900_000);
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200);
        // The log has all this, and no secret.
        let log = hub.operator().await.get("/api/admin/audit").await.expect(200).to_string();
        assert!(log.contains("person.second_factor_enabled") && log.contains("person.second_factor_disabled"), "{log}");
        let recovery = recovery.as_array().unwrap().iter().map(|code| code.as_str().unwrap());
        for secret in recovery.chain([&*secret, PASSWORD, &alex.token]) {
            assert!(!log.contains(secret), "{secret} is in {log}");
        }
    }

    async fn a_lost_password_is_replaced_by_mail_and_ends_all_sessions(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
        let lost = async |email: &str| hub.anonymous().post("/api/people/password/lost", json!({"email": email})).await;
        lost("nobody@example.org").await.expect(204);
        lost("alex@example.org").await.expect(204);
        let token = code(&hub, "alex@example.org", 2).await;
        let reset = async |token: &str, password: &str| {
            let body = json!({"token": token, "password": password});
            hub.anonymous().post("/api/people/password/reset", body).await
        };
        reset(&"x".repeat(40), "a new password").await.expect_error(400, "unknown_token");
        reset(&token, "short").await.expect_error(400, "invalid_request");
        // No second mail within ten minutes; the first one's code stays valid.
        lost("alex@example.org").await.expect(204);
        reset(&token, "a new password").await.expect(204);
        reset(&token, "a newer password").await.expect_error(400, "unknown_token");
        get(&hub, &alex.token, "/api/manage/keys").await.expect_error(401, "unauthenticated");
        sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect_error(401, "wrong_credentials");
        let session = sign_in(&hub, "alex@example.org", "a new password", json!({})).await.expect(200).clone();
        // Changing it keeps only the session that did it.
        let other = sign_in(&hub, "alex@example.org", "a new password", json!({})).await.expect(200).clone();
        let token = session["token"].as_str().unwrap();
        let change = |current: &str| json!({"current": current, "new": PASSWORD});
        let path = "/api/people/password";
        send(&hub, token, Method::POST, path, change("a wrong password")).await.expect_error(401, "wrong_credentials");
        send(&hub, token, Method::POST, path, change("a new password")).await.expect(204);
        get(&hub, token, "/api/manage/keys").await.expect(200);
        get(&hub, other["token"].as_str().unwrap(), "/api/manage/keys").await.expect_error(401, "unauthenticated");
        // A mail from before the change sets no other password.
        hub.advance_ms(60 * 60 * 1_000);
        lost("alex@example.org").await.expect(204);
        let early = code(&hub, "alex@example.org", 3).await;
        let token = sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await.expect(200)["token"].clone();
        send(&hub, token.as_str().unwrap(), Method::POST, path, change(PASSWORD)).await.expect(204);
        reset(&early, "an early password").await.expect_error(400, "unknown_token");
        // A reset ends after an hour.
        lost("alex@example.org").await.expect(204);
        let late = code(&hub, "alex@example.org", 4).await;
        // By itself, not because it is deleted a while later.
        hub.advance_ms(55 * 60 * 1_000);
        reset(&"x".repeat(40), "a new password").await.expect_error(400, "unknown_token");
        hub.advance_ms(5 * 60 * 1_000);
        reset(&late, "a late password").await.expect_error(400, "unknown_token");
    }

    async fn the_stream_of_a_person_ends_with_the_membership(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let client = hub.anonymous();
        let request = client.request(Method::GET, "/api/plugin/events").bearer_auth(&alex.token);
        let mut stream = request.send().await.unwrap();
        assert_eq!(stream.status(), 200);
        owner.delete(&format!("/api/manage/people/{}", alex.id)).await.expect(204);
        let ended = async { while let Ok(Some(_)) = stream.chunk().await {
            hub.advance_ms(500);
        } };
        let ticking = async { loop {
            hub.advance_ms(500);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        } };
        tokio::select! {
            () = ended => {}
            () = ticking => {}
            () = tokio::time::sleep(std::time::Duration::from_secs(20)) => panic!("the stream goes on"),
        }
    }
}

/// An attacker who knows the address of an account, and guesses, does not lock out its owner where they were before.
/// 30 guesses of an address, 60 of a /56 and 120 of a /48, whoever they are made for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_of_one_site_share_their_guesses() {
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.trusted_proxies = proxies).await;
    let mut refused = 0;
    let mut guesses = async |address: &dyn Fn(u32) -> String, most: u32| {
        let mut allowed = 0;
        for at in 0..most {
            let body = json!({"email": format!("p{refused}-{at}@example.org"), "password": "a wrong password"});
            let client = hub.anonymous();
            let request = client.request(Method::POST, "/api/people/sign-in").header("X-Forwarded-For", address(at));
            let answer = client.send(request.json(&body)).await;
            allowed += u32::from(answer.status == 401);
        }
        refused += 1;
        allowed
    };
    assert_eq!(guesses(&|_| "2001:db8:1::1".to_owned(), 35).await, 30);
    assert_eq!(guesses(&|at| format!("2001:db8:2:{at:x}::1"), 70).await, 60);
    assert_eq!(guesses(&|at| format!("2001:db8:3:{:x}::1", at * 256), 130).await, 120);
}

async fn guesses_from_elsewhere_do_not_lock_out_the_owner(backend: Backend) {
    let hub =
        Hub::start_with(backend, |settings| settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
    let owner = hub.network().await;
    let from = async |address: &str, password: &str| {
        let client = hub.anonymous();
        let body = json!({"email": "alex@example.org", "password": password});
        let request = client.request(Method::POST, "/api/people/sign-in").header("X-Forwarded-For", address);
        client.send(request.json(&body)).await
    };
    let (home, elsewhere) = ("2001:db8:1::7", "203.0.113.7");
    member(&hub, &owner, "alex@example.org", "OWNER").await;
    let session = from(home, PASSWORD).await.expect(200)["token"].as_str().unwrap().to_owned();
    let guess = async |address: &str| {
        for _ in 0..5 {
            from(address, "a wrong password").await.expect_error(401, "wrong_credentials");
        }
        let refused = from(address, PASSWORD).await;
        assert_eq!(refused.status, 429, "{}", refused.body);
    };
    guess(elsewhere).await;
    // A third place is treated like the second: it is the account that waits.
    assert_eq!(from("198.51.100.9", PASSWORD).await.status, 429);
    from(home, PASSWORD).await.expect(200);
    // The same household, signed out or not.
    send(&hub, &session, Method::POST, "/api/people/sign-out-everywhere", json!({})).await.expect(204);
    from("2001:db8:1::8", PASSWORD).await.expect(200);
    assert_eq!(from(elsewhere, PASSWORD).await.status, 429, "a success at home lets no guess through");
    // A guesser at home is slowed down, too, and changing the password there does not wait for others' guesses.
    guess(home).await;
    hub.advance_ms(15_000);
    let session = from(home, PASSWORD).await.expect(200)["token"].as_str().unwrap().to_owned();
    guess(home).await;
    let change = json!({"current": PASSWORD, "new": "another password"});
    send(&hub, &session, Method::POST, "/api/people/password", change).await.expect(204);
}

async fn a_person_has_so_many_sessions(backend: Backend) {
    let bounds = Bounds::default().with(Limit::SessionsPerPerson, 2);
    let hub = Hub::start_with(backend, |settings| settings.limits = bounds).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let again = async || {
        hub.advance_ms(1_000);
        let session = sign_in(&hub, "alex@example.org", PASSWORD, json!({})).await;
        session.expect(200)["token"].as_str().unwrap().to_owned()
    };
    let (second, third) = (again().await, again().await);
    get(&hub, &alex.token, "/api/people/me").await.expect_error(401, "unauthenticated");
    send(&hub, &third, Method::POST, "/api/people/sign-out", json!({})).await.expect(204);
    // An expired one is dropped before a valid one.
    let fourth = again().await;
    for token in [&second, &fourth] {
        get(&hub, token, "/api/people/me").await.expect(200);
    }
}

on_each! { guesses_from_elsewhere_do_not_lock_out_the_owner a_person_has_so_many_sessions }
