//! Fuzzed `Last-Event-ID` of the event stream and of a server's log: any of them opens the stream, with the expected
//! beginning.
//!
//! The first byte chooses the stream and whether the rest is the header or changes of an id that the hub gave.
#![no_main]

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use hub_fuzz::{Answer, Hub, Network};
use libfuzzer_sys::fuzz_target;

const SERVER: &str = r#"{"serverId":"s","serverType":"lobby","gameType":"MINECRAFT","port":25565}"#;
const LINE: &str = r#"{"playerUuid":"069a79f4-44e9-4726-a5be-fca90e38aaf5","playerName":"Notch","message":"hi","serverId":"s","serverType":"lobby"}"#;

const LINES: &str = r#"{"lines":[{"at":1,"stream":"stdout","text":"one"},{"at":2,"stream":"stdout","text":"two"}]}"#;

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    Hub::run(async |hub| {
        let network = hub.network().await;
        expect_success(&post(hub, &network, "/api/plugin/servers/register", SERVER).await);
        if choice & 2 != 0 {
            let path = "/api/plugin/servers/s/logs";
            expect_success(&post(hub, &network, path, LINES).await);
            let answer = open(hub, &network, "/api/manage/servers/s/logs/recent", rest).await;
            assert!(answer.is_none_or(|answer| answer.status == 200));
            return;
        }
        let path = "/api/plugin/events";
        let first = open(hub, &network, path, b"").await.expect("an empty header is one");
        let first = String::from_utf8_lossy(&first.body).into_owned();
        let id = first.lines().find_map(|line| line.strip_prefix("id: ")).expect("a new stream has an id");
        expect_success(&post(hub, &network, "/api/plugin/chat", LINE).await);
        let header = if choice & 1 == 0 { rest.to_vec() } else { changed(id.as_bytes(), rest) };
        let Some(answer) = open(hub, &network, path, &header).await else { return };
        assert_eq!(answer.status, 200);
        assert!(answer.body.starts_with(b": open\nretry: ") && answer.body.ends_with(b"\n\n"));
        assert_eq!(answer.body.windows(4).any(|four| four == b"id: "), header.is_empty(), "a client has its id");
    });
});

fn expect_success(answer: &Answer) {
    assert!(answer.status.is_success(), "{}", answer.json());
}

async fn post(hub: &Hub, network: &Network, path: &str, body: &'static str) -> Answer {
    let request =
        Request::post(path).header("x-service-api-key", &network.key).header("content-type", "application/json");
    hub.send(request.body(Body::from(body)).expect("a request"), None).await.expect("it waits for nothing")
}

/// `None` if the text is no value of a header.
async fn open(hub: &Hub, network: &Network, path: &str, id: &[u8]) -> Option<Answer> {
    let request = Request::get(path).header("x-service-api-key", &network.key).header("accept", "text/event-stream");
    let request = request.header("last-event-id", HeaderValue::from_bytes(id).ok()?);
    // A log has no first part until there is a line behind the id.
    let patience = std::time::Duration::from_millis(if path.ends_with("recent") { 5 } else { 60_000 });
    hub.send(request.body(Body::empty()).expect("a request"), Some(patience)).await
}

/// Each two bytes replace one byte of the text.
fn changed(text: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for change in changes.chunks_exact(2).take(8) {
        let at = usize::from(change[0]) % text.len();
        text[at] = change[1];
    }
    text
}
