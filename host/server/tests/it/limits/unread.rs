//! Memory of large answers: callers who do not read delay their own network, and no other.

use std::time::Duration;

use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use super::register_collection;
use crate::console::{Browser, name_of};
use crate::people::member;
use crate::support::{Answer, Backend, Client, Hub, on_each};

/// Room for one answer of 15 documents, and then for none of them.
const BOUND: i64 = 3_800 * 1024;
const MGET: &str = "/api/plugin/collections/guilds/mget";
const PATIENCE: Duration = Duration::from_millis(300);

async fn hub(backend: Backend) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.limits = settings.limits.clone().with(Limit::UnreadAnswerBytes, BOUND);
        settings.connections.answer = PATIENCE;
    })
    .await
}

/// A hub with short time limits for readers.
async fn impatient(backend: Backend) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.limits = settings.limits.clone().with(Limit::UnreadAnswerBytes, BOUND);
        settings.connections.answer = PATIENCE;
        settings.connections.write = PATIENCE;
    })
    .await
}

fn document(number: usize) -> Value {
    json!({"n": number, "text": "x".repeat(250_000)})
}

/// A network with more documents than an answer holds.
async fn network(hub: &Hub) -> Client {
    let client = hub.network().await;
    register_collection(&client, "guilds", &["n"]).await.expect(200);
    for number in 0..16 {
        client.put(&format!("/api/plugin/collections/guilds/g{number}"), document(number)).await.expect(200);
    }
    client
}

fn all_ids() -> Value {
    json!({"ids": (0..16).map(|number| format!("g{number}")).collect::<Vec<_>>()})
}

async fn mget(client: &Client) -> Answer {
    client.post(MGET, all_ids()).await
}

/// Requests a large answer and reads none of it.
async fn ask(hub: &Hub, client: &Client) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    // A small buffer, so that little of it leaves the hub.
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(hub.address()).await.unwrap();
    let (key, body) = (client.key.as_deref().unwrap(), all_ids().to_string());
    let length = body.len();
    let head =
        format!("POST {MGET} HTTP/1.1\r\nhost: hub\r\nx-service-api-key: {key}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all((head + &body).as_bytes()).await.unwrap();
    stream
}

/// Sends requests over many connections, until the network has no room for another answer.
async fn fill(hub: &Hub, client: &Client) -> Vec<TcpStream> {
    let mut unread = vec![];
    Hub::eventually("an answer is refused", async || {
        // Of a slow hub the earlier ones may be disconnected by now.
        for _ in 0..8 {
            unread.push(ask(hub, client).await);
        }
        mget(client).await.status == 503
    })
    .await;
    unread
}

async fn only_the_own_network_waits(hub: Hub) {
    let (noisy, quiet) = (network(&hub).await, network(&hub).await);
    let unread = fill(&hub, &noisy).await;
    let refused = mget(&noisy).await;
    refused.expect_error(503, "answers_unread");
    assert_eq!(refused.headers["retry-after"], "1");
    noisy.get("/api/plugin/collections/guilds/top/n?limit=200").await.expect_error(503, "answers_unread");
    for _ in 0..3 {
        assert_eq!(mget(&quiet).await.expect(200)["items"].as_array().unwrap().len(), 15);
    }
    // Invalid requests are refused first.
    let stranger = noisy.key_with(&["events:read"]).await;
    mget(&stranger).await.expect_error(403, "forbidden_scope");
    // Small answers need no room.
    noisy.put("/api/plugin/collections/guilds/small", json!({"n": 99})).await.expect(200);
    noisy.get("/api/plugin/collections/guilds/small").await.expect(200);
    // Of another route there is an answer already, and no room to keep it.
    noisy.get("/api/plugin/collections/guilds/g1").await.expect_error(503, "answers_unread");
    let changed = noisy.put("/api/plugin/collections/guilds/g1", document(77)).await;
    changed.expect_error(503, "answers_unread");
    assert!(changed.body["error"].as_str().unwrap().starts_with("The request succeeded"), "{}", changed.body);
    drop(unread);
    Hub::eventually("room for a document", async || {
        let answer = noisy.get("/api/plugin/collections/guilds/g1").await;
        answer.status == 200 && answer.body["n"] == 77
    })
    .await;
}

async fn memory_comes_back_with_each_answer(hub: Hub) {
    let client = network(&hub).await;
    for _ in 0..3 {
        // Read to the end.
        for _ in 0..3 {
            mget(&client).await.expect(200);
        }
        let path = "/api/plugin/collections/guilds/top/n?limit=200";
        let head = client.request(Method::HEAD, path).send().await.unwrap();
        assert_eq!(head.status(), 200);
        // Abandoned by waiting callers, and by those who should read.
        drop(fill(&hub, &client).await);
        Hub::eventually("room for another answer", async || mget(&client).await.status == 200).await;
    }
}

/// A hub with room for one answer of 15 documents, and then for no page.
async fn tight(backend: Backend) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.limits = settings.limits.clone().with(Limit::UnreadAnswerBytes, 3_720 * 1024);
        settings.connections.answer = PATIENCE;
    })
    .await
}

async fn a_page_takes_the_room_of_its_network(hub: Hub) {
    let (noisy, quiet) = (network(&hub).await, hub.network().await);
    let mut pages = vec![];
    for (owner, email) in [(&noisy, "noisy@example.org"), (&quiet, "quiet@example.org")] {
        for _ in 0..50 {
            // Each sign is five in a page.
            let key = json!({"name": "'".repeat(60), "scopes": ["servers:read"]});
            owner.post("/api/manage/keys", key).await.expect(201);
        }
        member(&hub, owner, email, "OWNER").await;
        let name = name_of(&hub, owner).await;
        pages.push((Browser::signed_in(&hub, email).await, format!("/console/n/{name}/keys")));
    }
    let mut browsers = pages.into_iter();
    let (mut noisy_browser, noisy_page) = browsers.next().unwrap();
    let (mut quiet_browser, quiet_page) = browsers.next().unwrap();
    assert!(noisy_browser.get(&noisy_page).await.expect(200).html.len() > 64 * 1024);
    let unread = fill(&hub, &noisy).await;
    assert_eq!(noisy_browser.get(&noisy_page).await.status, 503);
    assert!(quiet_browser.get(&quiet_page).await.expect(200).has("</html>"));
    drop(unread);
    Hub::eventually("room for a page", async || noisy_browser.get(&noisy_page).await.status == 200).await;
}

async fn a_stream_takes_no_room(hub: Hub) {
    let client = network(&hub).await;
    crate::servers::register(&client, "game-1", json!({})).await;
    let path = "/api/manage/servers/game-1/logs/recent";
    let mut streams = vec![];
    for _ in 0..3 {
        let stream = client.request(Method::GET, path).header("Accept", "text/event-stream").send().await.unwrap();
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        streams.push(stream);
    }
    mget(&client).await.expect(200);
}

async fn callers_who_never_read_are_disconnected(hub: Hub) {
    let client = network(&hub).await;
    let unread = fill(&hub, &client).await;
    Hub::eventually("room for another answer", async || mget(&client).await.status == 200).await;
    drop(unread);
}

on_each! {
    only_the_own_network_waits(super::hub)
    memory_comes_back_with_each_answer(super::hub)
    a_page_takes_the_room_of_its_network(super::tight)
    a_stream_takes_no_room(super::hub)
    callers_who_never_read_are_disconnected(super::impatient)
}
