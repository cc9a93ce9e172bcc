//! People: invited by mail, signed in, acting by their roles.

mod openid;
pub mod provider;
pub mod sessions;
mod smtp;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Backend, Client, Hub, on_both, on_each};

pub const PASSWORD: &str = "correct horse battery";

/// A person with an account and a session.
pub struct Person {
    pub id: String,
    pub token: String,
}

/// The code in the latest mail to an address, once there are as many.
pub async fn code(hub: &Hub, email: &str, count: usize) -> String {
    let mail = latest_mail(hub, email, count).await;
    let is_code = |line: &&str| line.len() == 40 && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
    mail.lines().map(str::trim).find(is_code).expect(&mail).to_owned()
}

async fn latest_mail(hub: &Hub, email: &str, count: usize) -> String {
    let folder = hub.app.settings.data.join("outbox");
    for _ in 0..1_000 {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap());
        let whole = entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "eml"));
        let read = whole.map(|entry| {
            (entry.metadata().unwrap().modified().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
        });
        let mut mails: Vec<_> = read.filter(|(_, mail)| mail.contains(&format!("To: {email}"))).collect();
        if mails.len() >= count {
            mails.sort();
            return mails.pop().unwrap().1;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no mail to {email}");
}

/// Accepts the invitation that was sent to an address.
pub async fn accept(hub: &Hub, email: &str) -> Person {
    let body = json!({"token": code(hub, email, 1).await, "name": "Alex", "password": PASSWORD});
    let session = hub.anonymous().post("/api/people/accept", body).await.expect(200).clone();
    person(&session)
}

fn person(session: &Value) -> Person {
    let id = session["person"]["personId"].as_str().unwrap().to_owned();
    Person { id, token: session["token"].as_str().unwrap().to_owned() }
}

/// Puts an address on the waitlist and confirms it.
pub async fn confirm_on_waitlist(hub: &Hub, email: &str) {
    hub.anonymous().post("/api/public/waitlist", json!({"email": email})).await.expect(200);
    // An address that is confirmed before its mail is sent gets none.
    latest_mail(hub, email, 1).await;
    let confirmed = "UPDATE waitlist SET confirmed_at = 1 WHERE email_folded = $1";
    hub.app.db.write(confirmed).bind(email).execute().await.unwrap();
}

async fn invite(client: &Client, email: &str, role: &str) -> Answer {
    client.post("/api/manage/people", json!({"email": email, "role": role})).await
}

/// A member of the network with this role.
pub async fn member(hub: &Hub, owner: &Client, email: &str, role: &str) -> Person {
    invite(owner, email, role).await.expect(201);
    accept(hub, email).await
}

pub async fn send(hub: &Hub, token: &str, method: Method, path: &str, body: Value) -> Answer {
    send_for(hub, token, None, method, path, body).await
}

/// Sends a request of a signed-in person, for one of their networks.
async fn send_for(hub: &Hub, token: &str, network: Option<&Client>, method: Method, path: &str, body: Value) -> Answer {
    let client = hub.anonymous();
    let mut request = client.request(method, path).bearer_auth(token).json(&body);
    if let Some(network) = network {
        request = request.header("X-Network-Id", network.network.unwrap().to_string());
    }
    client.send(request).await
}

pub async fn get(hub: &Hub, token: &str, path: &str) -> Answer {
    send(hub, token, Method::GET, path, Value::Null).await
}

pub async fn sign_in(hub: &Hub, email: &str, password: &str, more: Value) -> Answer {
    let mut body = json!({"email": email, "password": password});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    hub.anonymous().post("/api/people/sign-in", body).await
}

on_both! {
    async fn an_invited_person_signs_in_and_acts_by_their_role(hub: Hub) {
        let owner = hub.network().await;
        let invited = invite(&owner, "Alex@Example.org", "MODERATOR").await.expect(201).clone();
        assert_eq!((&invited["email"], &invited["role"]), (&json!("Alex@Example.org"), &json!("MODERATOR")));
        let waiting = owner.get("/api/manage/people/invitations").await.expect(200).clone();
        assert_eq!(waiting["items"][0]["invitationId"], invited["invitationId"]);
        let alex = accept(&hub, "Alex@Example.org").await;
        assert_eq!(owner.get("/api/manage/people/invitations").await.expect(200)["total"], 0);
        let members = owner.get("/api/manage/people").await.expect(200).clone();
        assert_eq!((&members["items"][0]["personId"], &members["items"][0]["role"]), (&json!(alex.id), &json!("MODERATOR")));

        let session = sign_in(&hub, " alex@example.ORG ", PASSWORD, json!({})).await.expect(200).clone();
        let token = session["token"].as_str().unwrap();
        let network = &session["person"]["networks"][0];
        assert_eq!((&network["networkId"], &network["stage"]), (&json!(owner.network.unwrap()), &json!("LIVE")));
        // Requests within and beyond the role.
        get(&hub, token, "/api/manage/servers").await.expect(200);
        get(&hub, token, "/api/plugin/players").await.expect(200);
        for path in ["/api/manage/keys", "/api/manage/audit", "/api/manage/modules", "/api/admin/networks"] {
            get(&hub, token, path).await.expect_error(403, "forbidden_scope");
        }
        // Another network's data is not theirs.
        let other = hub.network().await;
        send_for(&hub, token, Some(&other), Method::GET, "/api/manage/servers", Value::Null).await
            .expect_error(403, "not_a_member");
        let log = owner.get("/api/manage/audit?action=member.joined").await.expect(200).clone();
        let actor = json!({"type": "PERSON", "id": alex.id, "name": "Alex@Example.org"});
        assert!(log["items"][0]["requestId"].is_string() && log["items"][0]["address"] == "127.0.0.1", "{log}");
        assert_eq!((&log["items"][0]["actor"], &log["items"][0]["target"]), (&actor, &json!(alex.id)));
    }

    async fn a_change_by_a_person_is_in_the_audit_log(hub: Hub) {
        let owner = hub.network().await;
        let admin = member(&hub, &owner, "a@example.org", "ADMIN").await;
        let path = "/api/manage/economy/currencies/coins";
        send(&hub, &admin.token, Method::PUT, path, json!({"minimum": 0})).await.expect(200);
        let log = owner.get(&format!("/api/manage/audit?actor={}", admin.id)).await.expect(200).clone();
        assert_eq!(log["items"][0]["action"], "currency.put");
        assert_eq!(log["items"][0]["actor"]["type"], "PERSON");
    }

    async fn roles_and_keys_beyond_ones_own_are_refused(hub: Hub) {
        let owner = hub.network().await;
        let boss = member(&hub, &owner, "o@example.org", "OWNER").await;
        let admin = member(&hub, &owner, "a@example.org", "ADMIN").await;
        let post = async |path: &str, body: Value| send(&hub, &admin.token, Method::POST, path, body).await;
        let invitation = |role: &str| json!({"email": "x@example.org", "role": role});
        post("/api/manage/people", invitation("OWNER")).await.expect_error(403, "forbidden_scope");
        post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect_error(403, "forbidden_scope");
        let path = |person: &Person| format!("/api/manage/people/{}", person.id);
        let change = async |of: &Person, method: Method, body: Value| {
            send(&hub, &admin.token, method, &path(of), body).await
        };
        change(&boss, Method::PATCH, json!({"role": "VIEWER"})).await.expect_error(403, "forbidden_scope");
        change(&boss, Method::DELETE, json!({})).await.expect_error(403, "forbidden_scope");
        change(&admin, Method::PATCH, json!({"role": "OWNER"})).await.expect_error(403, "forbidden_scope");
        post("/api/manage/people", invitation("ADMIN")).await.expect(201);
        post("/api/manage/keys", json!({"name": "k", "scopes": ["servers:read"]})).await.expect(201);
        // Keys that expire, or are bound, can't invite.
        let made = async |more: Value| {
            let mut body = json!({"name": "k", "scopes": ["network:manage", "servers:read", "modules:read"]});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            owner.with_key(owner.post("/api/manage/keys", body).await.expect(201)["apiKey"].as_str().unwrap())
        };
        for more in [json!({"addresses": ["127.0.0.0/8"]}), json!({"expiresAt": crate::support::NOW + 60_000})] {
            invite(&made(more).await, "y@example.org", "VIEWER").await.expect_error(403, "forbidden_origin");
        }
        let small = made(json!({})).await;
        invite(&small, "y@example.org", "MODERATOR").await.expect_error(403, "forbidden_scope");
        invite(&small, "y@example.org", "VIEWER").await.expect(201);
    }

    async fn one_person_is_in_many_networks(hub: Hub) {
        let (one, other) = (hub.network().await, hub.network().await);
        let alex = member(&hub, &one, "alex@example.org", "OWNER").await;
        invite(&other, "alex@example.org", "VIEWER").await.expect(201);
        let token = code(&hub, "alex@example.org", 2).await;
        let body = json!({"token": token, "name": "x", "password": PASSWORD});
        hub.anonymous().post("/api/people/accept", body).await.expect_error(400, "person_exists");
        let joined = send(&hub, &alex.token, Method::POST, "/api/people/join", json!({"token": token})).await;
        assert_eq!(joined.expect(200)["networkId"], json!(other.network.unwrap()));
        // Now each request names one.
        get(&hub, &alex.token, "/api/manage/servers").await.expect_error(400, "network_needed");
        let keys = async |network: &Client| {
            send_for(&hub, &alex.token, Some(network), Method::GET, "/api/manage/keys", Value::Null).await
        };
        assert_eq!(keys(&one).await.expect(200)["total"], 1);
        keys(&other).await.expect_error(403, "forbidden_scope");
        let me = get(&hub, &alex.token, "/api/people/me").await.expect(200).clone();
        assert_eq!(me["networks"].as_array().unwrap().len(), 2);
    }

    async fn an_invitation_works_once_for_a_week_and_for_its_address(hub: Hub) {
        let owner = hub.network().await;
        invite(&owner, "alex@example.org", "VIEWER").await.expect(201);
        invite(&owner, "alex@example.org", "VIEWER").await.expect_error(400, "invited_lately");
        let token = code(&hub, "alex@example.org", 1).await;
        let body = |token: &str| json!({"token": token, "name": "Alex", "password": PASSWORD});
        let accept = async |token: &str| hub.anonymous().post("/api/people/accept", body(token)).await;
        accept(&"x".repeat(40)).await.expect_error(400, "unknown_token");
        accept(&token).await.expect(200);
        accept(&token).await.expect_error(400, "unknown_token");
        invite(&owner, "alex@example.org", "ADMIN").await.expect_error(400, "already_member");
        // Passed on to another person with an account.
        let kim = member(&hub, &owner, "kim@example.org", "VIEWER").await;
        invite(&owner, "sam@example.org", "OWNER").await.expect(201);
        let passed_on = code(&hub, "sam@example.org", 1).await;
        send(&hub, &kim.token, Method::POST, "/api/people/join", json!({"token": passed_on})).await
            .expect_error(403, "forbidden_origin");
        // It expires by itself, not because it is deleted a while later.
        hub.advance_ms((7 * 24 * 60 - 5) * 60 * 1_000);
        accept(&token).await.expect_error(400, "unknown_token");
        hub.advance_ms(5 * 60 * 1_000);
        accept(&passed_on).await.expect_error(400, "unknown_token");
        // Revoked.
        let made = invite(&owner, "robin@example.org", "VIEWER").await.expect(201).clone();
        let token = code(&hub, "robin@example.org", 1).await;
        owner.delete(&format!("/api/manage/people/invitations/{}", made["invitationId"].as_str().unwrap())).await.expect(204);
        accept(&token).await.expect_error(400, "unknown_token");
    }

    async fn a_removed_member_is_out_within_a_second(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        get(&hub, &alex.token, "/api/manage/keys").await.expect(200);
        let path = format!("/api/manage/people/{}", alex.id);
        owner.patch(&path, json!({"role": "VIEWER"})).await.expect(200);
        get(&hub, &alex.token, "/api/manage/keys").await.expect_error(403, "forbidden_scope");
        owner.delete(&path).await.expect(204);
        get(&hub, &alex.token, "/api/manage/servers").await.expect_error(403, "not_a_member");
        owner.delete(&path).await.expect_error(404, "unknown_person");
        // Another network's key sees nothing of them.
        let other = hub.network().await;
        let kim = member(&hub, &owner, "kim@example.org", "VIEWER").await;
        other.delete(&format!("/api/manage/people/{}", kim.id)).await.expect_error(404, "unknown_person");
        assert_eq!(other.get("/api/manage/people").await.expect(200)["total"], 0);
    }

    async fn the_waitlist_leads_to_an_invitation(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let path = "/api/admin/waitlist/robin@example.org/invite";
        let body = json!({"networkId": owner.network.unwrap()});
        hub.anonymous().post("/api/public/waitlist", json!({"email": "robin@example.org"})).await.expect(200);
        operator.post(path, body.clone()).await.expect_error(404, "unknown_address");
        confirm_on_waitlist(&hub, "robin@example.org").await;
        operator.post(path, body.clone()).await.expect(204);
        assert_eq!(operator.get("/api/admin/waitlist").await.expect(200)["total"], 0);
        let waiting = owner.get("/api/manage/people/invitations").await.expect(200).clone();
        assert_eq!((&waiting["items"][0]["email"], &waiting["items"][0]["role"]), (&json!("robin@example.org"), &json!("OWNER")));
    }

    async fn the_operator_revokes_and_removes_any_role(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let boss = member(&hub, &owner, "boss@example.org", "OWNER").await;
        let people = format!("/api/admin/networks/{}/people", owner.network.unwrap());
        assert_eq!(operator.get(&people).await.expect(200)["items"][0]["personId"], boss.id);
        operator.post(&people, json!({"email": "tpyo@example.org", "role": "OWNER"})).await.expect(201);
        operator.post("/api/admin/people", json!({"email": "tpyo@example.org"})).await.expect(201);
        // Sent before they are revoked: a revoked invitation that waits is never sent.
        let tokens = [code(&hub, "tpyo@example.org", 1).await, code(&hub, "tpyo@example.org", 2).await];
        for path in [format!("{people}/invitations"), "/api/admin/people/invitations".to_owned()] {
            let waiting = operator.get(&path).await.expect(200).clone();
            assert_eq!((&waiting["total"], &waiting["items"][0]["email"]), (&json!(1), &json!("tpyo@example.org")));
            let invitation = format!("{path}/{}", waiting["items"][0]["invitationId"].as_str().unwrap());
            owner.delete(&invitation).await.expect_error(403, "forbidden_scope");
            operator.delete(&invitation).await.expect(204);
            operator.delete(&invitation).await.expect_error(404, "unknown_invitation");
            assert_eq!(operator.get(&path).await.expect(200)["total"], 0);
        }
        for token in tokens {
            let body = json!({"token": token, "name": "x", "password": PASSWORD});
            hub.anonymous().post("/api/people/accept", body).await.expect_error(400, "unknown_token");
        }
        operator.delete(&format!("{people}/{}", boss.id)).await.expect(204);
        get(&hub, &boss.token, "/api/manage/servers").await.expect_error(403, "not_a_member");
        let log = owner.get("/api/manage/audit?action=member.removed").await.expect(200).clone();
        let entry = &log["items"][0];
        assert_eq!(entry["before"], json!({"email": "boss@example.org", "role": "OWNER"}));
        assert_eq!(entry["actor"]["type"], "OPERATOR");
        let nowhere = format!("/api/admin/networks/{}/people", uuid::Uuid::nil());
        operator.get(&nowhere).await.expect_error(404, "unknown_network");
    }

    async fn a_deleted_account_is_logged_with_its_data(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let alex = member(&hub, &owner, "alex@example.org", "ADMIN").await;
        operator.delete(&format!("/api/admin/people/{}", alex.id)).await.expect(204);
        let before = async |client: &Client, path: &str| client.get(path).await.expect(200)["items"][0]["before"].clone();
        let removed = before(&owner, "/api/manage/audit?action=member.removed").await;
        assert_eq!(removed, json!({"email": "alex@example.org", "role": "ADMIN"}));
        let deleted = before(&operator, "/api/admin/audit?action=person.deleted").await;
        assert_eq!(deleted, json!({"email": "alex@example.org", "operator": false}));
    }

    async fn operators_are_people_too(hub: Hub) {
        let operator = hub.operator().await;
        operator.post("/api/admin/people", json!({"email": "root@example.org"})).await.expect(201);
        let root = accept(&hub, "root@example.org").await;
        assert_eq!(get(&hub, &root.token, "/api/people/me").await.expect(200)["operator"], true);
        let made = send(&hub, &root.token, Method::POST, "/api/admin/networks", json!({"name": "theirs"})).await;
        let made = made.expect(201).clone();
        let log = operator.get(&format!("/api/admin/audit?actor={}", root.id)).await.expect(200).clone();
        let kinds: Vec<_> = log["items"].as_array().unwrap().iter().map(|entry| entry["actor"]["type"].clone()).collect();
        assert!(kinds.contains(&json!("OPERATOR")), "{log}");
        // The operator's role gives them no network.
        let owner = hub.network().await;
        send_for(&hub, &root.token, Some(&owner), Method::GET, "/api/manage/keys", Value::Null).await
            .expect_error(403, "not_a_member");
        // The keys that they made for networks stay, and are named.
        let keys = format!("/api/admin/networks/{}/keys", owner.network.unwrap());
        let body = json!({"name": "for them", "scopes": ["plugin"]});
        let theirs = send(&hub, &root.token, Method::POST, &keys, body).await.expect(201).clone();
        let gone = operator.delete(&format!("/api/admin/people/{}?revoke=true", root.id)).await.expect(200).clone();
        let first = &made["apiKey"].as_str().unwrap()[4..16];
        let left = |id: &Value, name: &Value, network: &Value| {
            json!({"type": "KEY", "id": id, "name": name, "ended": false, "networkId": network})
        };
        let of_first = gone["left"].as_array().unwrap().iter().find(|left| left["id"] == first).expect("the first key").clone();
        assert_eq!(of_first, left(&json!(first), &of_first["name"], &made["networkId"]));
        let network = json!(owner.network.unwrap());
        assert!(gone["left"].as_array().unwrap().contains(&left(&theirs["keyId"], &json!("for them"), &network)), "{gone}");
        owner.with_key(theirs["apiKey"].as_str().unwrap()).get("/api/plugin/servers").await.expect(200);
        get(&hub, &root.token, "/api/admin/networks").await.expect_error(401, "unauthenticated");
    }
}

/// Members and invitations count.
async fn people_of_a_network_are_limited(backend: Backend) {
    let bounds: hub::limits::Bounds = serde_json::from_str(r#"{"people": 2}"#).unwrap();
    let hub = Hub::start_with(backend, |settings| settings.limits = bounds).await;
    let owner = hub.network().await;
    member(&hub, &owner, "a@example.org", "VIEWER").await;
    invite(&owner, "b@example.org", "VIEWER").await.expect(201);
    invite(&owner, "c@example.org", "VIEWER").await.expect_quota("people", 2);
    let others = hub.network().await;
    invite(&others, "c@example.org", "VIEWER").await.expect(201);
}

/// Revoking an invitation does not unsend its mail.
async fn invitations_of_one_address_are_limited(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    for _ in 0..3 {
        let made = invite(&owner, "alex@example.org", "VIEWER").await.expect(201)["invitationId"].clone();
        let path = format!("/api/manage/people/invitations/{}", made.as_str().unwrap());
        owner.delete(&path).await.expect(204);
    }
    let refused = invite(&owner, "alex@example.org", "VIEWER").await;
    assert_eq!((refused.status.as_u16(), &refused.body["code"]), (429, &json!("rate_limited")));
    assert_eq!(owner.get("/api/manage/people/invitations").await.expect(200)["total"], 0);
    invite(&owner, "kim@example.org", "VIEWER").await.expect(201);
    invite(&other, "alex@example.org", "VIEWER").await.expect(201);
    hub.advance_ms(10 * 60 * 1_000);
    invite(&owner, "alex@example.org", "VIEWER").await.expect(201);
}

/// Each of them would be looked up.
async fn a_session_that_asks_for_others_networks_is_slowed_down(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let mut answers = vec![0, 0];
    for network in 0..220_u128 {
        let request = hub.anonymous().request(Method::GET, "/api/manage/servers").bearer_auth(&alex.token);
        let network = uuid::Uuid::from_u128(network + 1).to_string();
        match hub.anonymous().send(request.header("X-Network-Id", network)).await.status.as_u16() {
            403 => answers[0] += 1,
            429 => answers[1] += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!(answers, [200, 20]);
    get(&hub, &alex.token, "/api/manage/servers").await.expect(200);
}

on_each! {
    people_of_a_network_are_limited invitations_of_one_address_are_limited
    a_session_that_asks_for_others_networks_is_slowed_down
}
