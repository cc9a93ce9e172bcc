//! Answers that come in another order than they were asked for: the caches keep the one that was asked for last. An event
//! is newer than an answer under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use network_hub_client::model::{LanguageSource, TicketRequest};
use network_hub_client::{ConnectorOptions, HubClient, HubConnector};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::game::FakeGame;
use crate::hub::{answer, server};
use crate::verifier::command;

const ANN: Uuid = Uuid::from_u128(1);
const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nretry: 10\n\n";
const TICKET: Uuid = Uuid::from_u128(2);
/// Of the player Ann, the second of two.
const WAITING: &str = r#"{"line":"type:arena","position":2,"waiting":2,"state":"WAITING","etaMs":null,"match":null,
    "ticketId":"00000000-0000-0000-0000-000000000002"}"#;

/// Requests of one kind, of which the first is answered last.
struct Kind {
    /// Start of the first one.
    first: &'static str,
    /// Part of all.
    all: &'static str,
    older: &'static str,
    newer: &'static str,
    /// Events of the stream that opens once the first one has come.
    events: Option<String>,
}

/// A hub of these requests only.
struct SlowHub {
    kind: Kind,
    was_asked: watch::Sender<bool>,
    /// True once a test hears the events.
    is_heard: watch::Sender<bool>,
    is_released: watch::Sender<bool>,
    is_held: AtomicBool,
}

impl SlowHub {
    async fn start(kind: Kind) -> (Arc<Self>, HubConnector) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let [was_asked, is_heard, is_released] = [(); 3].map(|()| watch::Sender::new(false));
        let hub = Arc::new(Self { kind, was_asked, is_heard, is_released, is_held: AtomicBool::new(false) });
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
        let events = self.kind.events.as_ref().filter(|_| request.starts_with("GET /api/plugin/events"));
        let is_first = request.starts_with(self.kind.first) && !self.is_held.swap(true, Ordering::SeqCst);
        let answer = if let Some(events) = events {
            self.was_asked.subscribe().wait_for(|was| *was).await.unwrap();
            if !events.is_empty() {
                self.is_heard.subscribe().wait_for(|is| *is).await.unwrap();
            }
            format!("{STREAM}{events}")
        } else if is_first {
            self.was_asked.send_replace(true);
            self.is_released.subscribe().wait_for(|is| *is).await.unwrap();
            answer("200 OK", "content-type: application/json\r\n", self.kind.older)
        } else if request.contains(self.kind.all) {
            answer("200 OK", "content-type: application/json\r\n", self.kind.newer)
        } else if request.contains(" /api/plugin/servers/") {
            answer("204 No Content", "", "")
        } else {
            answer("503 Service Unavailable", "", "")
        };
        // Requests may be given up, and connections made that are not used.
        let _ = connection.write_all(answer.as_bytes()).await;
        if events.is_some() {
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
        events: Some(String::new()),
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
        events: None,
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

fn event(name: &str, mut data: Value) -> String {
    data["at"] = json!(0);
    format!("event: {name}\ndata: {data}\n\n")
}

/// The connector once a ticket's answer is there, which this event overtook.
async fn overtaken(event: String) -> HubConnector {
    let (hub, connector) = SlowHub::start(Kind {
        first: "POST /api/plugin/matchmaking/tickets",
        all: "/matchmaking/tickets",
        older: WAITING,
        newer: WAITING,
        events: Some(event),
    })
    .await;
    connector.player_joined(ANN, "Ann");
    let mut events = connector.events();
    hub.is_heard.send_replace(true);
    let request = TicketRequest { player_uuid: ANN, server_type: Some("arena".to_owned()), ..Default::default() };
    let answer = async {
        timeout(Duration::from_secs(60), events.recv()).await.unwrap().unwrap();
        hub.is_released.send_replace(true);
    };
    let (ticket, ()) = tokio::join!(connector.wait_in_line(&request), answer);
    assert_eq!((ticket.as_ref().unwrap().ticket_id, ticket.unwrap().position), (TICKET, Some(2)));
    connector
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place() {
    let place = json!({"ticketId": TICKET, "playerUuid": ANN, "position": 1, "waiting": 2, "etaMs": null});
    let connector = overtaken(event("TICKET_UPDATED", place.clone())).await;
    assert_eq!(connector.place(ANN).unwrap().position, 1);
    // Of an older ticket.
    let mut other = place;
    other["ticketId"] = json!(ANN);
    let connector = overtaken(event("TICKET_UPDATED", other)).await;
    assert_eq!(connector.place(ANN).unwrap().position, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match() {
    let server = json!({
        "serverId": "a", "serverType": "games", "host": "h", "port": 1, "region": "UNKNOWN", "worlds": [],
        "currentPlayers": 0, "totalPlayers": 0, "maxPlayers": 0, "playersToStart": 0, "playersNeededToStart": 0,
        "playerCountDisplay": "0", "full": false, "joinable": true, "minigameServer": false, "lastHeartbeat": 0, "startedAt": 0,
    });
    let found =
        json!({"result": "SUCCESS", "success": true, "warm": false, "transferId": TICKET, "matchedServer": server});
    let matched = json!({"ticketId": TICKET, "playerUuid": ANN, "party": [], "match": found});
    let connector = overtaken(event("TICKET_MATCHED", matched)).await;
    assert_eq!(connector.place(ANN), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signing_secret() {
    let rotated = json!({"signingSecret": "new", "validUntil": 1});
    let (hub, connector) = SlowHub::start(Kind {
        first: "POST /api/plugin/servers/register",
        all: "/servers/register",
        older: r#"{"serverId":"a","heartbeatIntervalMs":60000,"offlineAfterMs":90000,"signingSecret":"old"}"#,
        newer: "",
        events: Some(event("SIGNING_SECRET_ROTATED", rotated)),
    })
    .await;
    let mut events = connector.events();
    hub.is_heard.send_replace(true);
    timeout(Duration::from_secs(60), events.recv()).await.unwrap().unwrap();
    hub.is_released.send_replace(true);
    let is_registered = async {
        while !connector.status().registered {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(60), is_registered).await.unwrap();
    let later = 4_000_000_000_000;
    let command = command(3, later + 1, &["new"]);
    assert_eq!(connector.transfer_verifier().verify(&command, later), Ok(()));
}
