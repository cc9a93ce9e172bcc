//! A stream against a server that does what no hub does.

use std::time::Duration;

use network_hub_client::{HubClient, HubError, StreamUpdate};

use crate::hub::{FakeHub, answer};

const OPEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nretry: 10\n\n";

fn client(hub: &FakeHub) -> HubClient {
    HubClient::new(&hub.url, "key").unwrap()
}

#[tokio::test]
async fn a_silent_stream_is_opened_again_after_the_last_event_that_was_handled() {
    let event = |id: u32| (format!("{OPEN}id: e-{id}\nevent: CHAT\ndata: {{\"at\":{id}}}\n\n"), true);
    let hub = FakeHub::start(vec![event(1), event(2), event(3)]).await;
    let mut stream = client(&hub).events(Some("a"), &["CHAT"]).with_silence(Duration::from_millis(1_500));
    assert!(matches!(stream.next().await, StreamUpdate::Opened));
    assert!(matches!(stream.next().await, StreamUpdate::Event(event) if event.at == 1 && event.kind == "CHAT"));
    let StreamUpdate::Lost(error) = stream.next().await else { panic!("it is silent") };
    assert!(error.is("unreachable") && error.message().contains("nothing came"), "{}", error.message());
    assert!(matches!(stream.next().await, StreamUpdate::Opened));
    assert!(matches!(stream.next().await, StreamUpdate::Event(event) if event.at == 2));
    // Cancelled while it waits, it loses nothing.
    assert!(tokio::time::timeout(Duration::from_millis(50), stream.next()).await.is_err());
    assert!(matches!(stream.next().await, StreamUpdate::Lost(_)));
    assert!(matches!(stream.next().await, StreamUpdate::Opened));
    assert_eq!(hub.header("last-event-id"), [None, Some("e-1".to_owned()), Some("e-2".to_owned())]);
    assert!(hub.requests.lock()[0].starts_with("GET /api/plugin/events?serverId=a&types=CHAT "));
}

#[tokio::test]
async fn malformed_json_does_not_end_the_stream_and_its_end_is_reported() {
    let frames = "event: CHAT\ndata: not json\n\n: a comment\n\ndata: {\"type\":\"PING\",\"at\":7}\n\n";
    let hub = FakeHub::start(vec![(format!("{OPEN}{frames}"), false)]).await;
    let mut stream = client(&hub).events(None, &[]);
    assert!(matches!(stream.next().await, StreamUpdate::Opened));
    assert!(matches!(stream.next().await, StreamUpdate::Event(event) if event.kind == "CHAT" && event.at == 0));
    assert!(matches!(stream.next().await, StreamUpdate::Event(event) if event.kind == "PING" && event.at == 7));
    assert!(matches!(stream.next().await, StreamUpdate::Lost(HubError::Unreachable { .. })));
}

#[tokio::test]
async fn a_refusal_is_told_and_tried_again() {
    let body = "{\"error\":\"No.\",\"code\":\"forbidden_scope\",\"requestId\":\"r-1\"}";
    let hub = FakeHub::start(vec![(answer("403 Forbidden", "", body), false)]).await;
    let mut stream = client(&hub).events(None, &[]);
    for _ in 0..2 {
        let StreamUpdate::Lost(error) = stream.next().await else { panic!("it is refused") };
        assert!(error.is("forbidden_scope"));
        assert_eq!(error.refusal().unwrap().request_id.as_deref(), Some("r-1"));
    }
}
