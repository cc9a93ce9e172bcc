//! Connections: effects of refusals, slow callers and too many requests. By hand, since clients hide all of it.

use std::time::Duration;

use axum::http::{Request, Version};
use bytes::Bytes;
use hub::config::Settings;
use hub::http::connection::Connections;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Backend, Client, Hub, on_both};

/// Time limit of a test's wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection, written and read byte by byte.
struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
}

struct RawAnswer {
    status: u16,
    head: String,
    body: Value,
}

impl RawAnswer {
    fn closes(&self) -> bool {
        self.head.contains("\r\nconnection: close\r\n")
    }
}

impl Raw {
    async fn open(hub: &Hub) -> Self {
        let stream = TcpStream::connect(hub.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: vec![] }
    }

    async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Writes so that the hub sees the parts one after the other.
    async fn write_parts(&mut self, bytes: &[u8], cuts: &[usize]) {
        let mut from = 0;
        for to in cuts.iter().copied().chain([bytes.len()]) {
            self.write(&bytes[from..to]).await;
            tokio::time::sleep(Duration::from_millis(3)).await;
            from = to;
        }
    }

    async fn read_more(&mut self) -> usize {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await.expect("an answer in time");
        read.expect("no reset")
    }

    async fn answer(&mut self) -> RawAnswer {
        let head = loop {
            if let Some(end) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                break self.received.drain(..end + 4).collect::<Vec<_>>();
            }
            assert_ne!(self.read_more().await, 0, "the connection ended without an answer");
        };
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        let length = header("content-length").map_or(0, |length| length.parse().unwrap());
        while self.received.len() < length {
            assert_ne!(self.read_more().await, 0, "the answer is cut off");
        }
        let body: Vec<_> = self.received.drain(..length).collect();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        RawAnswer { status, body: serde_json::from_slice(&body).unwrap_or_default(), head }
    }

    /// The connection still serves.
    async fn expect_open(&mut self, what: &str) {
        self.write("GET /api/version HTTP/1.1\r\nhost: hub\r\n\r\n").await;
        let answer = self.answer().await;
        assert_eq!((answer.status, answer.closes()), (200, false), "{what}");
    }

    /// The hub has closed its side, without a reset.
    async fn expect_end(&mut self) {
        while self.read_more().await > 0 {}
    }
}

/// A request with a body of the given length.
fn post(path: &str, key: Option<&str>, more: &str, body: &str) -> (String, String) {
    let key = key.map(|key| format!("x-service-api-key: {key}\r\n")).unwrap_or_default();
    let head = format!("POST {path} HTTP/1.1\r\nhost: hub\r\n{key}{more}content-length: {}\r\n\r\n", body.len());
    (head, body.to_owned())
}

/// Each kind of refusal, with a body that its caller continues to send.
fn refusals(owner: &Client, plugin: &Client, body: &str) -> Vec<(u16, (String, String))> {
    let (owner, plugin) = (owner.key.as_deref(), plugin.key.as_deref());
    let keys = "/api/manage/keys";
    vec![
        (400, post(keys, owner, &format!("idempotency-key: {}\r\n", "k".repeat(300)), body)),
        (401, post(keys, None, "", body)),
        (403, post(keys, plugin, "", body)),
        (404, post("/nowhere", owner, "", body)),
        (405, post("/api/version", owner, "", body)),
    ]
}

on_both! {
    async fn a_refused_request_does_not_cost_its_connection(hub: Hub) {
        let owner = hub.network().await;
        let plugin = owner.key_with(&["plugin"]).await;
        let mut raw = Raw::open(&hub).await;
        for size in [1, 17, 5_000, 64 * 1024] {
            let body = "x".repeat(size);
            for (status, (head, body)) in refusals(&owner, &plugin, &body) {
                let what = format!("{status} with {size} bytes");
                // The answer comes first, and the body only then.
                raw.write(&head).await;
                let answer = raw.answer().await;
                assert_eq!((answer.status, answer.closes()), (status, false), "{what}");
                raw.write(&body).await;
                raw.expect_open(&what).await;
                // In pieces, cut wherever a packet may end.
                let all = [head.as_bytes(), body.as_bytes()].concat();
                let (begin, middle) = (head.len(), head.len() + body.len() / 2);
                for cuts in [&[5][..], &[begin - 1], &[begin], &[begin, middle], &[begin / 2, middle], &[all.len() - 1]] {
                    raw.write_parts(&all, cuts).await;
                    assert_eq!(raw.answer().await.status, status, "{what}, cut at {cuts:?}");
                    raw.expect_open(&format!("{what}, cut at {cuts:?}")).await;
                }
                // With the next request right behind it.
                raw.write(&[&all[..], b"GET /api/version HTTP/1.1\r\nhost: hub\r\n\r\n"].concat()).await;
                assert_eq!((raw.answer().await.status, raw.answer().await.status), (status, 200), "{what}");
            }
        }
    }

    async fn a_body_that_was_read_and_refused_does_not_cost_its_connection(hub: Hub) {
        let owner = hub.network().await;
        let mut raw = Raw::open(&hub).await;
        let (head, body) = post("/api/manage/keys", owner.key.as_deref(), "", "no JSON");
        raw.write_parts(&[head.as_bytes(), body.as_bytes()].concat(), &[head.len(), head.len() + 3]).await;
        assert_eq!(raw.answer().await.status, 400);
        raw.expect_open("400").await;
        // Too often.
        let status = loop {
            let (head, body) = post("/api/public/waitlist", None, "", r#"{"email": "a@example.org"}"#);
            // From the hub's own machine, which links may lead to.
            let head = head.replace("host: hub", "host: localhost");
            raw.write_parts(&[head.as_bytes(), body.as_bytes()].concat(), &[head.len()]).await;
            let answer = raw.answer().await;
            if answer.status != 200 {
                break answer.status;
            }
        };
        assert_eq!(status, 429);
        raw.expect_open("429").await;
    }

    async fn a_body_of_unknown_length_is_read_if_it_is_small(hub: Hub) {
        let head = "POST /nowhere HTTP/1.1\r\nhost: hub\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut raw = Raw::open(&hub).await;
        for parts in [vec!["5\r\nhello\r\n0\r\n\r\n"], vec!["5\r\nhe", "llo\r\n", "0\r\n", "\r\n"]] {
            raw.write(head).await;
            for part in parts {
                raw.write_parts(part.as_bytes(), &[]).await;
            }
            assert_eq!(raw.answer().await.status, 404);
            raw.expect_open("chunked").await;
        }
        // A large one, and one that does not come.
        for body in [format!("fffff\r\n{}", "x".repeat(200_000)), "5\r\nhe".to_owned()] {
            let mut raw = Raw::open(&hub).await;
            raw.write(head).await;
            raw.write(body).await;
            let answer = raw.answer().await;
            assert_eq!((answer.status, answer.closes()), (404, true));
            raw.expect_end().await;
        }
    }

    async fn an_oversized_body_is_refused_and_closes_the_connection(hub: Hub) {
        let owner = hub.network().await;
        let plugin = owner.key_with(&["plugin"]).await;
        let large = "x".repeat(5 << 20);
        let mut all = refusals(&owner, &plugin, &large);
        all.push((413, post("/api/manage/keys", owner.key.as_deref(), "", &large)));
        for (status, (head, body)) in all {
            let mut raw = Raw::open(&hub).await;
            raw.write(&head).await;
            // Written to its end before the answer is read, like many clients do.
            raw.write(&body).await;
            let answer = raw.answer().await;
            assert_eq!((answer.status, answer.closes()), (status, true));
            raw.expect_end().await;
        }
        // A caller who waits for `100 Continue` may never send it.
        let mut raw = Raw::open(&hub).await;
        let (head, _) = post("/api/manage/keys", None, "expect: 100-continue\r\n", "{}");
        raw.write(&head).await;
        let answer = raw.answer().await;
        assert_eq!((answer.status, answer.closes()), (401, true));
        raw.expect_end().await;
    }

    async fn a_refused_stream_of_http_2_leaves_the_others_alone(hub: Hub) {
        let stream = TcpStream::connect(hub.address()).await.unwrap();
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        let serving = tokio::spawn(connection);
        for size in [10, 60_000, 1 << 20] {
            let post = Request::post(format!("{}/api/manage/keys", hub.url())).version(Version::HTTP_2);
            let request = post.header("content-length", size).body(()).unwrap();
            client = client.ready().await.unwrap();
            let (response, mut body) = client.send_request(request, false).unwrap();
            let response = timeout(PATIENCE, response).await.unwrap().unwrap();
            assert_eq!((response.status().as_u16(), response.headers().contains_key("connection")), (401, false));
            // A large one was reset without an error.
            let sent = body.send_data(Bytes::from(vec![b'x'; size]), true);
            assert!(sent.is_ok() || size == 1 << 20, "{size}: {sent:?}");
        }
        let get = Request::get(format!("{}/api/version", hub.url())).version(Version::HTTP_2).body(()).unwrap();
        client = client.ready().await.unwrap();
        let (response, _) = client.send_request(get, true).unwrap();
        assert_eq!(timeout(PATIENCE, response).await.unwrap().unwrap().status(), 200);
        drop(client);
        timeout(PATIENCE, serving).await.unwrap().unwrap().unwrap();
    }
}

async fn say(client: &Client) {
    let player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
    let line = json!({"playerUuid": player, "playerName": "Notch", "serverId": "x", "message": "hello"});
    client.post("/api/plugin/chat", line).await.expect(204);
}

/// With time limits short enough for a test.
async fn impatient(change: impl FnOnce(&mut Settings)) -> Hub {
    Hub::start_with(Backend::sqlite(), change).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_is_given_up() {
    let hub = impatient(|settings| settings.connections.body = Duration::from_millis(300)).await;
    let owner = hub.network().await;
    let connector = owner.key_with(&["plugin"]).await;
    let mut events = connector.events(None, None).await;
    let (keys, artifacts) = ("/api/manage/keys", "/api/manage/artifacts?name=a&version=1");
    for (path, more) in
        [(keys, ""), (keys, "idempotency-key: a\r\n"), (artifacts, ""), ("/api/manage/modules?name=m", "")]
    {
        let (head, _) = post(path, owner.key.as_deref(), more, r#"{"name": "k", "scopes": ["plugin"]}"#);
        for begin in ["", "{"] {
            let mut raw = Raw::open(&hub).await;
            raw.write(&head).await;
            raw.write(begin).await;
            let answer = raw.answer().await;
            assert_eq!((answer.status, answer.closes()), (408, true), "{path}");
            assert_eq!(answer.body["code"], "request_timeout");
            assert_eq!(answer.body["requestId"].as_str().unwrap().len(), 16);
            raw.expect_end().await;
        }
    }
    assert_eq!(owner.get(keys).await.expect(200)["total"], 2, "nothing was created");
    // A stream that was open for longer continues.
    say(&owner).await;
    events.next_named("CHAT").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_is_closed_and_a_stream_is_not() {
    let hub = impatient(|settings| {
        settings.connections.head = Duration::from_millis(300);
        settings.connections.idle = Duration::from_millis(600);
    })
    .await;
    let owner = hub.network().await;
    let mut events = owner.events(None, None).await;
    // Without a byte, in the middle of a head, after a request, in the middle of the next one, and of HTTP/2.
    for begin in ["", "GET /api/ver", "GET /healthz HTTP/1.1\r\nhost: hub\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        for then in ["", "GET /api/ver"] {
            let mut raw = Raw::open(&hub).await;
            raw.write(begin).await;
            raw.write(then).await;
            raw.expect_end().await;
        }
    }
    say(&owner).await;
    events.next_named("CHAT").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_one_address_are_limited() {
    let hub = impatient(|settings| {
        settings.connections.is_loopback_exempt = false;
        settings.max_connections_per_address = Some(4);
    })
    .await;
    let mut kept = vec![];
    for _ in 0..4 {
        let mut raw = Raw::open(&hub).await;
        raw.expect_open("within the limit").await;
        kept.push(raw);
    }
    let mut refused = Raw::open(&hub).await;
    refused.write("GET /api/version HTTP/1.1\r\nhost: hub\r\n\r\n").await;
    let answer = refused.answer().await;
    assert_eq!((answer.status, answer.closes()), (429, true));
    assert_eq!(answer.body["code"], "too_many_connections");
    assert!(answer.head.contains("\r\nretry-after: 1\r\n") && answer.head.contains("\r\nx-request-id: "));
    refused.expect_end().await;
    for raw in &mut kept {
        raw.expect_open("not the one too many").await;
    }
    kept.pop();
    Hub::eventually("room for another", async || hub.app.state::<Connections>().count() == 3).await;
    Raw::open(&hub).await.expect_open("after one was closed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_all_addresses_are_limited() {
    let hub = impatient(|settings| settings.max_connections = Some(2)).await;
    let mut kept = [Raw::open(&hub).await, Raw::open(&hub).await];
    for raw in &mut kept {
        raw.expect_open("within the limit").await;
    }
    let answer = Raw::open(&hub).await.answer().await;
    assert_eq!((answer.status, answer.closes()), (503, true));
    assert_eq!(answer.body["code"], "too_many_connections");
    for raw in &mut kept {
        raw.expect_open("not the one too many").await;
    }
}

on_both! {
    async fn links_do_not_use_a_callers_host_header(hub: Hub) {
        let owner = hub.network().await;
        let upload = owner.request(reqwest::Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
        let artifact = owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
        crate::servers::register(&owner, "game-1", json!({})).await;
        let world = json!({"gameId": "islands", "ownerScope": "party", "ownerId": "p"});
        let install = format!("/api/manage/artifacts/{artifact}/install");
        for (path, body) in [
            (install.as_str(), json!({"serverId": "game-1"})),
            ("/api/plugin/worlds/open", world),
            ("/api/public/waitlist", json!({"email": "a@example.org"})),
        ] {
            let ask = |host: &'static str| {
                let request = owner.request(reqwest::Method::POST, path).header("Host", host);
                owner.send(request.header("X-Forwarded-Host", "localhost").json(&body))
            };
            let refused = ask("evil.example").await;
            refused.expect_error(400, "no_public_url");
            assert!(refused.body["error"].as_str().unwrap().contains("--public-url"), "{}", refused.body);
            ask("10.0.0.7:8080").await.expect_error(400, "no_public_url");
            for local in ["localhost:1234", "127.0.0.1", "[::1]:8080"] {
                assert!(ask(local).await.status.is_success(), "{path} by {local}");
            }
        }
    }
}
