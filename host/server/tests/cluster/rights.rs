//! A right that is ended at one node ends at the others, too, where it was just used and so is remembered.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use hub::http_client;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, TIMEOUT, wait_until};

const PASSWORD: &str = "correct horse battery";
/// Longest time for which another node may go on with what it knows.
const REMEMBERED: Duration = Duration::from_secs(1);

/// Caller with a key or a session, at any node.
#[derive(Clone, Debug)]
enum Caller {
    Key(String),
    Session(String),
}

impl Caller {
    fn request(&self, fleet: &Fleet, node: usize, method: Method, path: &str) -> RequestBuilder {
        let request = http_client::client().unwrap().request(method, format!("{}{path}", fleet.url(node)));
        match self {
            Self::Key(key) => request.header("X-Service-Api-Key", key),
            Self::Session(token) => request.bearer_auth(token),
        }
    }

    /// Sends a request; returns the status and the body.
    async fn send(&self, fleet: &Fleet, node: usize, method: Method, path: &str, body: Value) -> (u16, Value) {
        let request = self.request(fleet, node, method, path).json(&body).timeout(Duration::from_secs(10));
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    async fn expect(&self, fleet: &Fleet, node: usize, (method, path, body): (Method, &str, Value)) -> Value {
        let (status, answer) = self.send(fleet, node, method, path, body).await;
        assert!(status < 300, "{path} at {node}: {status} {answer}");
        answer
    }
}

/// Code of the latest invitation to an address, in the mails of all nodes.
async fn code(fleet: &Fleet, email: &str) -> String {
    let began = Instant::now();
    loop {
        let folders = (0..3).filter_map(|node| std::fs::read_dir(fleet.data(node).join("outbox")).ok()).flatten();
        let files = folders.map(|entry| entry.unwrap().path());
        let mails = files.filter(|path| path.extension().is_some_and(|kind| kind == "eml"));
        let mails = mails.filter_map(|path| std::fs::read_to_string(path).ok());
        let is_code = |line: &&str| line.len() == 40 && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let mut codes = mails
            .filter(|mail| mail.contains(&format!("To: {email}")))
            .filter_map(|mail| mail.lines().map(str::trim).find(is_code).map(str::to_owned));
        if let Some(code) = codes.next() {
            return code;
        }
        assert!(began.elapsed() < TIMEOUT, "no mail to {email}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A member of a network: their id, and a session.
async fn member(fleet: &Fleet, owner: &Client, email: &str, role: &str) -> (String, Caller) {
    owner.post("/api/manage/people", json!({"email": email, "role": role})).await.expect(201);
    let body = json!({"token": code(fleet, email).await, "name": "Alex", "password": PASSWORD});
    let answer = http_client::client().unwrap().post(format!("{}/api/people/accept", fleet.url(0))).json(&body);
    let session: Value = answer.send().await.unwrap().json().await.unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{session}")).to_owned();
    (text(&session["person"]["personId"]), Caller::Session(text(&session["token"])))
}

/// A request that any node answers by what it remembers itself; most others go to the network's owner.
fn imports() -> (Method, &'static str, Value) {
    (Method::GET, "/api/manage/imports", Value::Null)
}

/// Right of a caller, used at all nodes until it is ended at the first, and for as long as another may remember it.
struct Right<'a> {
    fleet: &'a Fleet,
    caller: Caller,
    /// A request that the right allows.
    used: (Method, &'a str, Value),
}

impl Right<'_> {
    async fn ends_with(&self, status: u16, code: &str, end: impl AsyncFnOnce()) {
        let (method, path, body) = &self.used;
        let ask = async |node| self.caller.send(self.fleet, node, method.clone(), path, body.clone()).await;
        for node in 0..3 {
            let (before, answer) = ask(node).await;
            assert!(before < 300, "{path} at {node}: {before} {answer}");
        }
        end().await;
        let ended = Instant::now();
        let (mut answers, mut began) = (vec![(200, Value::Null); 3], ended);
        // Rights in use would be remembered on if their time began anew with each use. A refused caller asks no more, so
        // that it does not look like guessing.
        while began.duration_since(ended) <= REMEMBERED {
            began = Instant::now();
            for (node, answer) in answers.iter_mut().enumerate().filter(|(_, answer)| answer.0 < 300) {
                *answer = ask(node).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for (node, (after, answer)) in answers.iter().enumerate() {
            assert_eq!((*after, answer["code"].as_str()), (status, Some(code)), "{path} at {node}: {answer}");
        }
    }
}

/// Waits until a caller may do this at every node.
async fn may_everywhere(fleet: &Fleet, caller: &Caller, (method, path, body): (Method, &str, Value)) {
    for node in 0..3 {
        wait_until(async || caller.send(fleet, node, method.clone(), path, body.clone()).await.0 == 200).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_ended_at_one_node_ends_at_all() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("rights");
    let first = Caller::Key(owner.key.clone());
    let change = async |method: Method, path: &str, body: Value| first.expect(&fleet, 0, (method, path, body)).await;
    let right = |caller: &Caller| Right { fleet: &fleet, caller: caller.clone(), used: imports() };
    let new_key = json!({"name": "k", "scopes": ["network:manage"]});
    let of = |made: &Value| Caller::Key(made["apiKey"].as_str().unwrap().to_owned());

    // A secret that was replaced.
    let made = change(Method::POST, "/api/manage/keys", new_key.clone()).await;
    let roll = format!("/api/manage/keys/{}/roll", made["keyId"].as_str().unwrap());
    let replace = async || drop(change(Method::POST, &roll, json!({"overlapMs": 0})).await);
    right(&of(&made)).ends_with(401, "unauthenticated", replace).await;

    // A role of the network's own that became smaller, and one that was exchanged.
    let own = "/api/manage/roles/own";
    change(Method::PUT, own, json!({"scopes": ["audit:read"]})).await;
    let (alex, session) = member(&fleet, &owner, "alex@example.org", "own").await;
    let audit = Right { used: (Method::GET, "/api/manage/audit/export", Value::Null), ..right(&session) };
    let smaller = async || drop(change(Method::PUT, own, json!({"scopes": ["reports:manage"]})).await);
    audit.ends_with(403, "forbidden_scope", smaller).await;
    let path = format!("/api/manage/people/{alex}");
    change(Method::PATCH, &path, json!({"role": "ADMIN"})).await;
    may_everywhere(&fleet, &session, imports()).await;
    let demote = async || drop(change(Method::PATCH, &path, json!({"role": "VIEWER"})).await);
    right(&session).ends_with(403, "forbidden_scope", demote).await;

    // A second factor that the network demands.
    change(Method::PATCH, &path, json!({"role": "ADMIN"})).await;
    may_everywhere(&fleet, &session, imports()).await;
    let demand = async |is_on: bool| {
        change(Method::PATCH, "/api/manage/network", json!({"requireSecondFactor": is_on})).await;
    };
    right(&session).ends_with(403, "second_factor_required", async || demand(true).await).await;
    demand(false).await;
    may_everywhere(&fleet, &session, imports()).await;

    // A member who was removed; a key that they made ended with them.
    let theirs = of(&session.expect(&fleet, 1, (Method::POST, "/api/manage/keys", new_key)).await);
    let remove = async || drop(change(Method::DELETE, &path, Value::Null).await);
    right(&theirs).ends_with(401, "unauthenticated", remove).await;
    for node in 0..3 {
        let (status, answer) = session.send(&fleet, node, Method::GET, "/api/manage/keys", Value::Null).await;
        assert_eq!((status, answer["code"].as_str()), (403, Some("not_a_member")), "at {node}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_and_streams_that_are_ended_at_one_node_end_at_all() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("rights");
    let (alex, session) = member(&fleet, &owner, "alex@example.org", "ADMIN").await;
    let right = |caller: &Caller| Right { fleet: &fleet, caller: caller.clone(), used: imports() };
    let sign_in = async || {
        let body = json!({"email": "alex@example.org", "password": PASSWORD});
        let answer = http_client::client().unwrap().post(format!("{}/api/people/sign-in", fleet.url(0))).json(&body);
        let answer: Value = answer.send().await.unwrap().json().await.unwrap();
        Caller::Session(answer["token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned())
    };

    // Ended by another session of the same person.
    let second = sign_in().await;
    let elsewhere = (Method::POST, "/api/people/sign-out-elsewhere", json!({}));
    right(&second).ends_with(401, "unauthenticated", async || drop(session.expect(&fleet, 0, elsewhere).await)).await;
    // By a new password.
    let third = sign_in().await;
    let password = json!({"current": PASSWORD, "new": "another correct password"});
    let new = (Method::POST, "/api/people/password", password);
    right(&third).ends_with(401, "unauthenticated", async || drop(session.expect(&fleet, 0, new).await)).await;

    // Streams of someone who is no member any more.
    let mut streams = vec![];
    for node in 0..3 {
        let stream = session.request(&fleet, node, Method::GET, "/api/plugin/events").send().await.unwrap();
        assert_eq!(stream.status(), 200, "at {node}");
        streams.push(stream.bytes_stream());
    }
    let path = format!("/api/manage/people/{alex}");
    Caller::Key(owner.key.clone()).expect(&fleet, 0, (Method::DELETE, &path, Value::Null)).await;
    for mut stream in streams {
        let ended = async { while stream.next().await.is_some_and(|chunk| chunk.is_ok()) {} };
        tokio::time::timeout(TIMEOUT, ended).await.expect("the streams of a removed member end");
    }
}
