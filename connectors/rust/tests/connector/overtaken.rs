//! Answers that come in another order than they were asked for: the caches keep the one that was asked for last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use network_hub_client::model::LanguageSource;
use network_hub_client::{ConnectorOptions, HubClient, HubConnector};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::game::FakeGame;
use crate::hub::{answer, server};

const ANN: Uuid = Uuid::from_u128(1);
const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nretry: 10\n\n";

/// Requests of one kind, of which the first is answered last.
struct Kind {
    /// Start of the first one.
    first: &'static str,
    /// Part of all.
    all: &'static str,
    older: &'static str,
    newer: &'static str,
    /// True if the stream opens once the first one has come.
    has_stream: bool,
}

/// A hub of these requests only.
struct SlowHub {
    kind: Kind,
    was_asked: watch::Sender<bool>,
    is_released: watch::Sender<bool>,
    is_held: AtomicBool,
}

impl SlowHub {
    async fn start(kind: Kind) -> (Arc<Self>, HubConnector) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (was_asked, is_released) = (watch::Sender::new(false), watch::Sender::new(false));
        let hub = Arc::new(Self { kind, was_asked, is_released, is_held: AtomicBool::new(false) });
        let serving = Arc::clone(&hub);
        tokio::spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                let hub = Arc::clone(&serving);
                tokio::spawn(async move { hub.serve(connection).await });
            }
        });
        let client = HubClient::new(&url, "key").unwrap();
        (hub, ConnectorOptions::new(client, server("a", "games")).start(FakeGame::default()))
    }

    async fn serve(&self, mut connection: TcpStream) {
        let mut bytes = vec![0; 65_536];
        let length = connection.read(&mut bytes).await.unwrap_or_default();
        let request = String::from_utf8_lossy(&bytes[..length]);
        let is_stream = request.starts_with("GET /api/plugin/events") && self.kind.has_stream;
        let is_first = request.starts_with(self.kind.first) && !self.is_held.swap(true, Ordering::SeqCst);
        let answer = if is_stream {
            self.was_asked.subscribe().wait_for(|was| *was).await.unwrap();
            STREAM.to_owned()
        } else if is_first {
            self.was_asked.send_replace(true);
            self.is_released.subscribe().wait_for(|is| *is).await.unwrap();
            answer("200 OK", "content-type: application/json\r\n", self.kind.older)
        } else if request.contains(self.kind.all) {
            answer("200 OK", "content-type: application/json\r\n", self.kind.newer)
        } else {
            answer("503 Service Unavailable", "", "")
        };
        // Requests may be given up, and connections made that are not used.
        let _ = connection.write_all(answer.as_bytes()).await;
        if is_stream {
            std::future::pending::<()>().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_document() {
    let (hub, connector) = SlowHub::start(Kind {
        first: "POST /api/plugin/config/register",
        all: "/config/register",
        older: r#"{"group":"arena","namespace":"main","doc":"older"}"#,
        newer: r#"{"group":"arena","namespace":"main","doc":"newer"}"#,
        has_stream: true,
    })
    .await;
    let mut config = connector.config("arena", "main", json!("default"));
    let changed = timeout(Duration::from_secs(60), config.changed()).await.unwrap().unwrap();
    assert_eq!(*changed, json!("newer"));
    hub.is_released.send_replace(true);
    let late = timeout(Duration::from_secs(1), config.changed()).await;
    assert!(late.is_err(), "the older document: {late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_language() {
    let (hub, connector) = SlowHub::start(Kind {
        first: "GET /api/plugin/localization/players/",
        all: "/localization/players/",
        older: r#"{"locale":null,"source":null}"#,
        newer: r#"{"locale":"de","source":"PLAYER"}"#,
        has_stream: false,
    })
    .await;
    connector.player_joined(ANN, "Ann");
    timeout(Duration::from_secs(60), hub.was_asked.subscribe().wait_for(|was| *was)).await.unwrap().unwrap();
    connector.localization().set_language(ANN, Some("de"), LanguageSource::Player).await.unwrap();
    hub.is_released.send_replace(true);
    for _ in 0..50 {
        assert_eq!(connector.localization().locale(ANN), "de");
        sleep(Duration::from_millis(20)).await;
    }
}
