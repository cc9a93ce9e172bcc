//! Signing in by OpenID Connect.

use reqwest::Method;
use reqwest::redirect::Policy;
use serde_json::{Value, json};

use super::provider::{HUB, Provider, Signature};
use super::sessions::shown;
use super::{PASSWORD, accept, code, get, invite, member, send, sign_in};
use crate::cli::Installation;
use crate::support::{Answer, Backend, Client, Hub, NOW, on_each};

const ALEX: &str = "alex@example.org";

/// A hub whose people sign in with a provider.
struct Site {
    hub: Hub,
    provider: Provider,
}

async fn start(backend: Backend) -> Site {
    let provider = Provider::start().await;
    let hub = Hub::start_with(backend, |settings| provider.apply(settings)).await;
    Site { hub, provider }
}

/// A sign-in that came back from the provider.
struct Begun {
    cookie: String,
    /// Path and query to which the browser is sent.
    callback: String,
}

/// The first cookie that an answer sets, with its attributes.
fn cookies(answer: &Answer) -> Vec<String> {
    answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

/// In the format that a browser sends back.
fn pair(cookie: &str) -> String {
    cookie.split(';').next().unwrap().to_owned()
}

impl Site {
    /// A caller that follows no redirect.
    fn browser(&self) -> Client {
        let http = hub::http_client::builder().unwrap().redirect(Policy::none()).build().unwrap();
        Client::new(http, self.hub.url(), None)
    }

    async fn go(&self, query: &str) -> Answer {
        self.browser().get(&format!("/api/people/openid/sign-in{query}")).await
    }

    /// Goes to the provider, and comes back.
    async fn begin(&self, query: &str) -> Begun {
        let answer = self.go(query).await;
        answer.expect(303);
        let [cookie] = &cookies(&answer)[..] else { panic!("{:?}", answer.headers) };
        for part in ["; HttpOnly", "; SameSite=Lax", "; Secure", "; Max-Age=600", "; Path=/;"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let url = answer.headers["location"].to_str().unwrap().to_owned();
        assert!(url.starts_with(&self.provider.issuer()), "{url}");
        let http = hub::http_client::builder().unwrap().redirect(Policy::none()).build().unwrap();
        let back = http.get(url).send().await.unwrap();
        let callback = back.headers()["location"].to_str().unwrap().strip_prefix(HUB).unwrap().to_owned();
        Begun { cookie: pair(cookie), callback }
    }

    async fn come_back(&self, cookie: &str, callback: &str) -> Answer {
        let browser = self.browser();
        browser.send(browser.request(Method::GET, callback).header("Cookie", cookie)).await
    }

    async fn finish(&self, begun: &Begun) -> Answer {
        self.come_back(&begun.cookie, &begun.callback).await
    }

    async fn sign_in(&self, query: &str) -> Answer {
        let begun = self.begin(query).await;
        self.finish(&begun).await
    }

    /// Person of the session that an answer began.
    async fn me(&self, signed_in: &Answer) -> Value {
        let cookies = cookies(signed_in);
        let session = cookies.iter().find(|cookie| cookie.starts_with("__Host-hub_session=")).expect("a session");
        let browser = self.browser();
        let me = browser.request(Method::GET, "/api/people/me").header("Cookie", pair(session));
        browser.send(me).await.expect(200).clone()
    }

    /// Log entries about accounts linked to the provider.
    async fn links(&self) -> Vec<Value> {
        let operator = self.hub.operator().await;
        let log = operator.get("/api/admin/audit?action=person.openid_linked").await.expect(200).clone();
        log["items"].as_array().unwrap().clone()
    }

    /// The query that names the invitation of the latest mail.
    async fn invitation(&self, owner: &Client, email: &str, role: &str) -> String {
        invite(owner, email, role).await.expect(201);
        format!("?invitation={}", code(&self.hub, email, 1).await)
    }
}

async fn an_invitation_is_accepted_and_from_then_on_the_subject_decides(site: Site) {
    let owner = site.hub.network().await;
    let invitation = site.invitation(&owner, ALEX, "MODERATOR").await;
    let outbox = crate::support::files(&site.hub.data().join("outbox"));
    let mail = std::fs::read_to_string(&outbox[0]).unwrap().replace("=\r\n", "").replace("=3D", "=");
    assert!(mail.contains(&format!("{HUB}/api/people/openid/sign-in{invitation}")), "{mail}");

    let answer = site.sign_in(&invitation).await;
    let person = answer.expect(200)["person"].clone();
    assert_eq!(
        (&answer.body["token"], &person["email"], &person["name"]),
        (&Value::Null, &json!(ALEX), &json!("Alex"))
    );
    assert_eq!((&person["hasPassword"], &person["hasOpenId"]), (&json!(false), &json!(true)));
    let me = site.me(&answer).await;
    assert_eq!((&me["personId"], &me["networks"][0]["role"]), (&person["personId"], &json!("MODERATOR")));
    let [link] = &site.links().await[..] else { panic!("{:?}", site.links().await) };
    assert_eq!(link["after"], json!({"issuer": site.provider.issuer(), "subject": "7"}));
    assert_eq!((&link["target"], &link["actor"]["type"]), (&person["personId"], &json!("PERSON")));

    // The address at the provider may change, and be given to another person.
    site.provider.claim(json!({"email": "alex@elsewhere.example"}));
    assert_eq!(site.sign_in("").await.expect(200)["person"]["personId"], person["personId"]);
    site.provider.claim(json!({"sub": "8", "email": "Alex@Example.org"}));
    site.sign_in("").await.expect_error(403, "openid_subject_differs");
    assert_eq!(site.links().await.len(), 1);

    // Without the account, the subject is unassigned again.
    let path = format!("/api/admin/people/{}", person["personId"].as_str().unwrap());
    site.hub.operator().await.delete(&path).await.expect(204);
    site.provider.claim(json!({"sub": "7"}));
    site.sign_in("").await.expect_error(403, "not_invited");
}

async fn sign_in_needs_an_invitation_to_a_verified_address(site: Site) {
    let owner = site.hub.network().await;
    site.sign_in("").await.expect_error(403, "not_invited");
    site.sign_in("?invitation=none").await.expect_error(400, "unknown_token");
    // Another person's invitation gives nothing, and stays valid.
    let invitation = site.invitation(&owner, "kim@example.org", "VIEWER").await;
    site.sign_in(&invitation).await.expect_error(403, "forbidden_origin");
    assert_eq!(owner.get("/api/manage/people").await.expect(200)["total"], 0);
    for unverified in [
        json!({"email_verified": false}),
        json!({"email_verified": null}),
        json!({"email": null}),
        json!({"email": "kim"}),
        // With the sign of the unit Kelvin.
        json!({"email": "\u{212a}im@example.org"}),
    ] {
        site.provider.claim(json!({"email": "kim@example.org", "email_verified": true}));
        site.provider.claim(unverified);
        site.sign_in(&invitation).await.expect_error(403, "openid_email_unverified");
    }
    // Many providers do this: the address is only in the user info, and a boolean is a text.
    let info = |subject: &str| json!({"sub": subject, "email": "kim@example.org", "email_verified": "true"});
    site.provider.claim(json!({"email": null, "email_verified": null}));
    site.provider.answers().user_info = info("8");
    site.hub.advance_ms(600_000);
    site.sign_in(&invitation).await.expect_error(403, "openid_token_invalid");
    site.provider.answers().user_info = info("7");
    let person = site.sign_in(&invitation).await.expect(200)["person"].clone();
    // It sent no name, either.
    assert_eq!((&person["email"], &person["name"]), (&json!("kim@example.org"), &json!("kim")));
    site.sign_in(&invitation).await.expect_error(400, "unknown_token");
}

async fn a_password_and_the_provider_are_two_ways_into_one_account(site: Site) {
    let owner = site.hub.network().await;
    let alex = member(&site.hub, &owner, ALEX, "OWNER").await;
    // Final target of the browser.
    let answer = site.sign_in("?return=/console%23people").await;
    answer.expect(303);
    assert_eq!(answer.headers["location"], format!("{HUB}/console#people"));
    assert_eq!(site.me(&answer).await["personId"], json!(alex.id));
    assert_eq!(site.me(&answer).await["hasPassword"], true);
    for elsewhere in ["//evil.example", "/%5Cevil.example", "https://evil.example", "console", "/a%0D%0Ab"] {
        site.go(&format!("?return={elsewhere}")).await.expect_error(400, "invalid_request");
    }
    sign_in(&site.hub, ALEX, PASSWORD, json!({})).await.expect(200);
    site.sign_in("").await.expect(200);
    assert_eq!(site.links().await.len(), 1);
    // With an account an invitation joins another network.
    let other = site.hub.network().await;
    invite(&other, ALEX, "VIEWER").await.expect(201);
    let invitation = code(&site.hub, ALEX, 2).await;
    let joined = site.sign_in(&format!("?invitation={invitation}")).await.expect(200).clone();
    assert_eq!(joined["person"]["networks"].as_array().unwrap().len(), 2);
}

async fn an_account_without_a_password_sets_one_by_mail(site: Site) {
    let owner = site.hub.network().await;
    let answer = site.sign_in(&site.invitation(&owner, ALEX, "VIEWER").await).await;
    let csrf = answer.expect(200)["person"]["csrfToken"].as_str().unwrap().to_owned();
    let cookie = pair(cookies(&answer).iter().find(|cookie| cookie.starts_with("__Host-hub_session=")).unwrap());
    let post = async |path: &str, body: Value| {
        let browser = site.browser();
        let request = browser.request(Method::POST, path).header("Cookie", &cookie).header("X-CSRF-Token", &csrf);
        browser.send(request.json(&body)).await
    };
    let change = json!({"current": PASSWORD, "new": PASSWORD});
    post("/api/people/password", change).await.expect_error(400, "no_password");
    post("/api/people/second-factor", json!({"password": PASSWORD})).await.expect_error(400, "no_password");
    sign_in(&site.hub, ALEX, PASSWORD, json!({})).await.expect_error(401, "wrong_credentials");
    site.hub.anonymous().post("/api/people/password/lost", json!({"email": ALEX})).await.expect(204);
    let body = json!({"token": code(&site.hub, ALEX, 2).await, "password": PASSWORD});
    site.hub.anonymous().post("/api/people/password/reset", body).await.expect(204);
    sign_in(&site.hub, ALEX, PASSWORD, json!({})).await.expect(200);
    site.sign_in("").await.expect(200);
}

async fn signed_claims_of_the_provider_are_checked(site: Site) {
    let owner = site.hub.network().await;
    member(&site.hub, &owner, ALEX, "OWNER").await;
    let honest = site.provider.answers().clone();
    for lie in [
        json!({"aud": "another"}),
        json!({"aud": ["network-hub", "another"]}),
        json!({"azp": "another"}),
        json!({"iss": "http://127.0.0.1:1"}),
        json!({"nonce": "another"}),
        json!({"nonce": null}),
        json!({"exp": NOW / 1000}),
        json!({"sub": ""}),
    ] {
        site.provider.answers().claims = honest.claims.clone();
        site.provider.claim(lie.clone());
        let answer = site.sign_in("").await;
        answer.expect_error(403, "openid_token_invalid");
        assert!(
            cookies(&answer)[0].starts_with("__Host-hub_openid=; ") && cookies(&answer)[0].contains("Max-Age=0"),
            "{lie}"
        );
    }
    site.provider.answers().claims = honest.claims.clone();
    for signature in [Signature::Key(2), Signature::Secret, Signature::Absent] {
        site.provider.answers().signature = signature;
        site.sign_in("").await.expect_error(403, "openid_token_invalid");
    }
    assert!(site.links().await.is_empty());
    site.provider.answers().signature = Signature::Key(1);
    site.sign_in("").await.expect(200);
}

async fn an_answer_counts_once_in_the_browser_that_asked_and_for_ten_minutes(site: Site) {
    let owner = site.hub.network().await;
    member(&site.hub, &owner, ALEX, "OWNER").await;
    let (one, other) = (site.begin("").await, site.begin("?return=/console").await);
    // Another person's answer, as a link that they were given.
    site.come_back(&other.cookie, &one.callback).await.expect_error(400, "openid_state_wrong");
    site.come_back("a=b", &one.callback).await.expect_error(400, "openid_sign_in_ended");
    site.come_back("__Host-hub_openid=x", &one.callback).await.expect_error(400, "openid_sign_in_ended");
    site.come_back(&one.cookie, "/api/people/openid/callback?code=code-0")
        .await
        .expect_error(400, "openid_state_wrong");
    let (_, state) = one.callback.split_once("&state=").unwrap();
    let refused = format!("/api/people/openid/callback?error=access_denied&state={state}");
    let answer = site.come_back(&one.cookie, &refused).await;
    answer.expect_error(403, "openid_refused");
    assert!(answer.body["error"].as_str().unwrap().contains("access_denied"), "{}", answer.body);
    assert!(cookies(&answer)[0].starts_with("__Host-hub_openid=; "), "{:?}", answer.headers);
    let unsaid = refused.replace("access_denied", "%3Cscript%3E");
    let answer = site.come_back(&one.cookie, &unsaid).await;
    answer.expect_error(403, "openid_refused");
    assert!(!answer.body["error"].as_str().unwrap().contains("script"), "{}", answer.body);
    site.come_back(&one.cookie, &refused.replace(state, "x")).await.expect_error(400, "openid_state_wrong");
    // The code of one sign-in is of no use in another.
    let mixed = one.callback.replace("code-0", "code-1");
    site.come_back(&one.cookie, &mixed).await.expect_error(400, "openid_code_refused");
    let answer = site.finish(&one).await;
    answer.expect(200);
    assert!(cookies(&answer).iter().any(|cookie| cookie.starts_with("__Host-hub_openid=; ")), "{:?}", answer.headers);
    site.finish(&one).await.expect_error(400, "openid_code_refused");

    let late = site.begin("").await;
    site.hub.advance_ms(599_999);
    site.sign_in("").await.expect(200);
    site.hub.advance_ms(1);
    site.finish(&late).await.expect_error(400, "openid_sign_in_ended");
}

async fn a_second_factor_of_the_hub_is_asked_for(site: Site) {
    let owner = site.hub.network().await;
    let alex = member(&site.hub, &owner, ALEX, "OWNER").await;
    let post = async |path: &str, body: Value| send(&site.hub, &alex.token, Method::POST, path, body).await;
    let path = "/api/people/second-factor";
    let secret = post(path, json!({"password": PASSWORD})).await.expect(201)["secret"].as_str().unwrap().to_owned();
    let confirmed = post(&format!("{path}/confirm"), json!({"code": shown(&secret, NOW)})).await;
    let recovery = confirmed.expect(200)["recoveryCodes"].clone();

    let answer = site.sign_in("").await;
    answer.expect_error(401, "second_factor_needed");
    let [pending] = &cookies(&answer)[..] else { panic!("{:?}", answer.headers) };
    let with_code = async |cookie: &str, code: &str| {
        let browser = site.browser();
        let request = browser.request(Method::POST, "/api/people/openid/second-factor").header("Cookie", cookie);
        browser.send(request.json(&json!({"code": code}))).await
    };
    with_code(&pair(pending), "000000").await.expect_error(401, "wrong_credentials");
    with_code("a=b", recovery[0].as_str().unwrap()).await.expect_error(400, "openid_sign_in_ended");
    // A sign-in that has only begun has no answer of the provider.
    let begun = site.begin("").await;
    with_code(&begun.cookie, recovery[0].as_str().unwrap()).await.expect_error(400, "openid_sign_in_ended");
    assert!(site.links().await.is_empty());
    site.hub.advance_ms(30_000);
    let answer = with_code(&pair(pending), &shown(&secret, NOW + 30_000)).await;
    answer.expect(200);
    assert_eq!(site.me(&answer).await["personId"], json!(alex.id));
    assert_eq!(site.links().await.len(), 1);

    // A page learns of it from its URL.
    let answer = site.sign_in("?return=/console?x=1").await;
    answer.expect(303);
    assert_eq!(answer.headers["location"], format!("{HUB}/console?x=1&signIn=second_factor_needed"));
    let pending = pair(&cookies(&answer)[0]);
    assert!(cookies(&answer).iter().all(|cookie| !cookie.starts_with("__Host-hub_session=")), "{:?}", answer.headers);
    for _ in 0..5 {
        with_code(&pending, "000000").await.expect_error(401, "wrong_credentials");
    }
    with_code(&pending, recovery[1].as_str().unwrap()).await.expect_error(429, "rate_limited");
    site.hub.advance_ms(15_000);
    with_code(&pending, recovery[1].as_str().unwrap()).await.expect(200);
    site.hub.advance_ms(285_000);
    with_code(&pending, recovery[2].as_str().unwrap()).await.expect_error(400, "openid_sign_in_ended");
}

async fn the_provider_may_be_away_and_change_its_keys(site: Site) {
    let owner = site.hub.network().await;
    member(&site.hub, &owner, ALEX, "OWNER").await;
    site.provider.answers().is_down = true;
    for _ in 0..2 {
        let answer = site.go("").await;
        answer.expect_error(503, "openid_unavailable");
        assert_eq!(answer.headers["retry-after"], "5");
    }
    assert_eq!(site.provider.answers().discoveries, 1);
    site.provider.answers().is_down = false;
    site.hub.advance_ms(5_000);
    site.sign_in("").await.expect(200);
    site.sign_in("").await.expect(200);
    assert_eq!(site.provider.answers().discoveries, 2);
    // New keys count at once.
    site.provider.answers().published_key = 3;
    site.provider.answers().signature = Signature::Key(3);
    site.sign_in("").await.expect(200);
    assert_eq!(site.provider.answers().discoveries, 3);
    site.hub.advance_ms(600_000);
    site.sign_in("").await.expect(200);
    assert_eq!(site.provider.answers().discoveries, 4);
}

async fn one_address_guesses_few_answers(site: Site) {
    let begun = site.begin("").await;
    let mut refused = 0;
    for _ in 0..40 {
        let answer = site.come_back(&begun.cookie, "/api/people/openid/callback?code=1&state=2").await;
        refused += u32::from(answer.status == 429);
    }
    assert_eq!(refused, 10);
}

async fn half_of_the_options_is_refused_at_the_start(backend: Backend) {
    let installation = Installation::new(backend);
    let secret = "kept-to-itself";
    let refused = installation.run(&["serve", "--listen", "127.0.0.1:0", "--oidc-client-secret", secret]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("--oidc-issuer and --oidc-client-id"), "{said}");
    assert!(!said.contains(secret), "{said}");
}

async fn without_a_provider_sign_in_with_one_is_refused(backend: Backend) {
    let hub = Hub::start(backend).await;
    let client = hub.anonymous();
    client.get("/api/people/openid/sign-in").await.expect_error(404, "openid_not_set_up");
    client.get("/api/people/openid/callback").await.expect_error(404, "openid_not_set_up");
    let body = json!({"code": "123456"});
    client.post("/api/people/openid/second-factor", body).await.expect_error(404, "openid_not_set_up");
    let owner = hub.network().await;
    invite(&owner, ALEX, "VIEWER").await.expect(201);
    let alex = accept(&hub, ALEX).await;
    assert_eq!(get(&hub, &alex.token, "/api/people/me").await.expect(200)["hasOpenId"], false);
}

on_each! {
    an_invitation_is_accepted_and_from_then_on_the_subject_decides(super::start)
    sign_in_needs_an_invitation_to_a_verified_address(super::start)
    a_password_and_the_provider_are_two_ways_into_one_account(super::start)
    an_account_without_a_password_sets_one_by_mail(super::start)
    signed_claims_of_the_provider_are_checked(super::start)
    an_answer_counts_once_in_the_browser_that_asked_and_for_ten_minutes(super::start)
    a_second_factor_of_the_hub_is_asked_for(super::start)
    the_provider_may_be_away_and_change_its_keys(super::start)
    one_address_guesses_few_answers(super::start)
    half_of_the_options_is_refused_at_the_start(std::future::ready)
    without_a_provider_sign_in_with_one_is_refused(std::future::ready)
}
