//! Data that moves with players, deliveries and waiting lines.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use network_hub_client::connector::{DeliveryFailure, EndReason, PlayerDataHandler};
use network_hub_client::model::{
    DeliveryOnLost, DeliveryRequest, PlayerSessionRequest, PlayerSessionSave, PlayerSessionState, TicketRequest,
    TicketState,
};
use network_hub_client::{ConnectorOptions, HubClient, HubConnector, Method};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::eventually;
use crate::game::FakeGame;
use crate::hub::{HubProcess, server};
use crate::proxy::TcpProxy;

const ANN: Uuid = Uuid::from_u128(1);

/// Diamonds of players, who are there from `apply` until they leave or have to be frozen.
#[derive(Clone, Default)]
struct Diamonds {
    held: Arc<Mutex<HashMap<Uuid, u64>>>,
    endings: Arc<Mutex<Vec<EndReason>>>,
}

impl Diamonds {
    fn of(&self, player: Uuid) -> Option<u64> {
        self.held.lock().get(&player).copied()
    }

    fn give(&self, player: Uuid) {
        *self.held.lock().get_mut(&player).unwrap() += 1;
    }
}

impl PlayerDataHandler for Diamonds {
    fn apply(&self, player: Uuid, data: &HashMap<String, String>) {
        let stored = data.get("inventory").map_or(0, |text| text.parse().unwrap());
        self.held.lock().insert(player, stored);
    }

    fn capture(&self, player: Uuid) -> HashMap<String, String> {
        HashMap::from([("inventory".to_owned(), self.of(player).unwrap().to_string())])
    }

    fn ended(&self, player: Uuid, reason: EndReason) {
        self.endings.lock().push(reason);
        self.held.lock().remove(&player);
    }
}

struct Server {
    connector: HubConnector,
    game: FakeGame,
    diamonds: Diamonds,
}

impl Server {
    async fn start(
        hub: &HubProcess,
        id: &str,
        prepare: impl FnOnce(ConnectorOptions, &Diamonds) -> ConnectorOptions,
    ) -> Self {
        let (game, diamonds) = (FakeGame::default(), Diamonds::default());
        let options = ConnectorOptions::new(hub.client(), server(id, "games"));
        let options = prepare(options.player_data(diamonds.clone(), &["inventory"]), &diamonds);
        let connector = options.start(game.clone());
        eventually!("the connector is connected", connector.status().is_connected());
        Self { connector, game, diamonds }
    }

    fn is_open(&self) -> bool {
        self.connector.player_data().is_open(ANN)
    }

    async fn join(&self) {
        self.connector.player_joined(ANN, "Ann");
        eventually!("the data is applied", self.is_open());
    }

    fn leave(&self) {
        self.connector.player_left(ANN);
        self.diamonds.held.lock().remove(&ANN);
    }
}

async fn stored(hub: &HubProcess) -> Option<String> {
    hub.client().get_player_data(ANN, "global", "inventory").await.unwrap().map(|entry| entry.data)
}

async fn is_closed(hub: &HubProcess) -> bool {
    let session = hub.client().get_player_session(ANN).await.unwrap();
    session.is_some_and(|session| session.state == PlayerSessionState::Closed)
}

async fn buy(hub: &HubProcess, kind: &str, reference: Option<String>) -> i64 {
    let request = DeliveryRequest {
        player_uuid: Some(ANN),
        kind: kind.to_owned(),
        reference,
        on_lost: Some(DeliveryOnLost::Retry),
        ..DeliveryRequest::default()
    };
    hub.client().create_delivery(&request).await.unwrap().delivery_id
}

async fn delivery_state(hub: &HubProcess, id: i64) -> Value {
    let page = hub.client().request(Method::GET, "/api/manage/deliveries?limit=200").send::<Value>().await.unwrap();
    let items = page["items"].as_array().unwrap();
    items.iter().find(|item| item["deliveryId"] == json!(id)).unwrap()["state"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn data_moves_with_players() {
    let hub = HubProcess::start_new();
    let a = Server::start(&hub, "a", |options, _| options).await;
    let b = Server::start(&hub, "b", |options, _| options).await;
    a.join().await;
    assert_eq!(a.diamonds.of(ANN), Some(0));
    a.diamonds.give(ANN);
    let fence = a.connector.player_data().fence(ANN);
    // The other server sees the player first, as where this one lags.
    b.join().await;
    assert_eq!((b.diamonds.of(ANN), a.is_open()), (Some(1), false));
    assert_eq!(*a.diamonds.endings.lock(), [EndReason::Requested]);
    assert!(b.connector.player_data().fence(ANN) > fence);
    assert!(a.connector.player_data().save(ANN).await.unwrap_err().is("no_session"));
    a.leave();
    b.diamonds.give(ANN);
    b.connector.player_data().save(ANN).await.unwrap();
    assert_eq!(stored(&hub).await.as_deref(), Some("2"));
    b.connector.player_data().put(ANN, "notes", "\"hello\"").unwrap();
    b.diamonds.give(ANN);
    b.connector.stop().await;
    assert!(is_closed(&hub).await);
    assert_eq!(stored(&hub).await.as_deref(), Some("3"));
    let notes = hub.client().get_player_data(ANN, "global", "notes").await.unwrap().unwrap();
    assert_eq!((notes.data.as_str(), notes.version), ("\"hello\"", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_session_stops_saving_and_is_opened_again() {
    let hub = HubProcess::start_new();
    let a = Server::start(&hub, "a", |options, _| options.autosave(Duration::from_millis(100))).await;
    a.join().await;
    a.diamonds.give(ANN);
    eventually!("the autosave was made", stored(&hub).await.as_deref() == Some("1"));
    let owner = hub.client();
    owner.register_server(&server("stranger", "games")).await.unwrap();
    let request =
        PlayerSessionRequest { server_id: "stranger".to_owned(), wait_ms: Some(0), ..PlayerSessionRequest::default() };
    let opened = owner.open_player_session(ANN, &request).await.unwrap();
    eventually!("the session is over", !a.is_open());
    let save = PlayerSessionSave { close: Some(true), ..PlayerSessionSave::default() };
    owner.save_player_session(ANN, opened.fence, &save).await.unwrap();
    eventually!("it is opened again", a.is_open());
    assert_eq!(a.diamonds.of(ANN), Some(1));
    assert!(a.connector.player_data().fence(ANN) > Some(opened.fence));
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_neither_lost_nor_doubled_by_switches() {
    let mut hub = HubProcess::start_new();
    let mut servers = Vec::new();
    for id in ["a", "b", "c"] {
        servers.push(Server::start(&hub, id, |options, _| options.autosave(Duration::from_millis(100))).await);
    }
    let mut here = 0;
    servers[here].join().await;
    for given in 1..=60_u64 {
        servers[here].diamonds.give(ANN);
        let there = (here + 1 + usize::from(given % 3 == 0)) % servers.len();
        if given % 2 == 0 {
            servers[here].leave();
        }
        servers[there].connector.player_joined(ANN, "Ann");
        if given % 2 == 1 {
            sleep(Duration::from_millis(given * 7 % 50)).await;
            servers[here].leave();
        }
        if given % 20 == 10 {
            // The last save is repeated until the hub is back; the session waits for it.
            hub.kill();
            hub.start_again();
        }
        here = there;
        eventually!("the data has arrived", servers[here].is_open());
        assert_eq!(servers[here].diamonds.of(ANN), Some(given));
    }
    servers[here].leave();
    eventually!("the session is closed", is_closed(&hub).await);
    assert_eq!(stored(&hub).await.as_deref(), Some("60"));
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_arrive_once() {
    let mut hub = HubProcess::start_new();
    let attempts = Arc::new(AtomicI64::new(0));
    let prepare = |options: ConnectorOptions, diamonds: &Diamonds| {
        let (diamonds, attempts) = (diamonds.clone(), Arc::clone(&attempts));
        let flaky = move |delivery: network_hub_client::model::Delivery| {
            let attempts = Arc::clone(&attempts);
            async move {
                attempts.store(delivery.attempts, Ordering::SeqCst);
                assert_ne!(delivery.attempts, 1, "a bug of the plugin");
                if delivery.attempts < 3 { Err(DeliveryFailure::retry("full")) } else { Ok(()) }
            }
        };
        let give = move |delivery: &network_hub_client::model::Delivery| {
            diamonds.give(delivery.player_uuid.unwrap());
            Ok(())
        };
        let impossible = |_| async { Err(DeliveryFailure::new("no such kit")) };
        options.on_delivery("flaky", flaky).on_delivery("impossible", impossible).on_data_delivery("diamond", give)
    };
    let servers = [Server::start(&hub, "a", prepare).await, Server::start(&hub, "b", prepare).await];
    let (flaky, impossible) = (buy(&hub, "flaky", None).await, buy(&hub, "impossible", None).await);
    let mut orders = Vec::new();
    for at in 0..20 {
        orders.push(buy(&hub, "diamond", Some(format!("order-{at}"))).await);
    }
    servers[0].join().await;
    for step in 0..6 {
        // In the middle of them the player moves, and the hub dies.
        sleep(Duration::from_millis(50)).await;
        if step % 3 == 1 {
            hub.kill();
        }
        servers[step % 2].leave();
        if step % 3 == 1 {
            hub.start_again();
        }
        servers[(step + 1) % 2].join().await;
    }
    for order in orders {
        // A claim whose answer was lost with the hub runs out after a minute.
        let end = Instant::now() + Duration::from_secs(150);
        while delivery_state(&hub, order).await != "DELIVERED" {
            assert!(Instant::now() < end, "not in time: the diamond is delivered");
            sleep(Duration::from_millis(50)).await;
        }
    }
    servers[0].leave();
    eventually!("the session is closed", is_closed(&hub).await);
    assert_eq!(stored(&hub).await.as_deref(), Some("20"));
    servers[0].join().await;
    eventually!("it is given up", delivery_state(&hub, impossible).await == "FAILED");
    eventually!("it is delivered at last", delivery_state(&hub, flaky).await == "DELIVERED");
    assert!(attempts.load(Ordering::SeqCst) >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_is_saved_after_its_claim_is_over_is_given_once() {
    let hub = HubProcess::start_new();
    let link = Arc::new(TcpProxy::start(hub.port).await);
    let (game, diamonds, given) = (FakeGame::default(), Diamonds::default(), Arc::new(AtomicI64::new(0)));
    let (players, count, cut) = (diamonds.clone(), Arc::clone(&given), Arc::clone(&link));
    let give = move |_: &network_hub_client::model::Delivery| {
        cut.cut();
        players.give(ANN);
        count.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let options = ConnectorOptions::new(HubClient::new(&link.url, &hub.key).unwrap(), server("a", "games"));
    let options = options.player_data(diamonds.clone(), &["inventory"]).on_data_delivery("diamond", give);
    let a = Server { connector: options.start(game.clone()), game, diamonds };
    eventually!("the connector is connected", a.connector.status().is_connected());
    a.join().await;
    let id = buy(&hub, "diamond", None).await;
    eventually!("the item is there", given.load(Ordering::SeqCst) == 1);
    // The claim ends before the save, as when the hub was away for a minute.
    let answers = link.answers();
    let claim = answers.split("\"claim\":\"").nth(1).unwrap().split('"').next().unwrap();
    hub.client().fail_delivery(id, claim, "too late", true).await.unwrap();
    link.heal();
    eventually!("it is delivered", delivery_state(&hub, id).await == "DELIVERED");
    assert_eq!((given.load(Ordering::SeqCst), stored(&hub).await.as_deref()), (1, Some("1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_cannot_be_saved_is_left_to_a_person() {
    let hub = HubProcess::start_new();
    let ran = Arc::new(AtomicI64::new(0));
    let a = Server::start(&hub, "a", |options, diamonds| {
        let (diamonds, ran) = (diamonds.clone(), Arc::clone(&ran));
        // A player whose data is gone cannot be captured.
        let uncaptured = move |_: &network_hub_client::model::Delivery| {
            ran.fetch_add(1, Ordering::SeqCst);
            diamonds.held.lock().remove(&ANN);
            Ok(())
        };
        options.on_data_delivery("uncaptured", uncaptured)
    })
    .await;
    a.join().await;
    let id = buy(&hub, "uncaptured", None).await;
    eventually!("it is given up", delivery_state(&hub, id).await == "FAILED");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_save_of_what_was_delivered_is_left_to_a_person() {
    let hub = HubProcess::start_new();
    let ran = Arc::new(AtomicI64::new(0));
    let counted = Arc::clone(&ran);
    let a = Server::start(&hub, "a", |options, _| {
        let give = move |_: &network_hub_client::model::Delivery| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        options.on_data_delivery("kit", give)
    })
    .await;
    a.join().await;
    // More than a namespace may hold.
    a.connector.player_data().put(ANN, "notes", &format!("\"{}\"", "x".repeat(300_000))).unwrap();
    let id = buy(&hub, "kit", None).await;
    eventually!("it is given up", delivery_state(&hub, id).await == "FAILED");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_finishes_what_it_began_and_begins_nothing() {
    let hub = HubProcess::start_new();
    let (began, may_end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let late = Arc::new(AtomicI64::new(0));
    let a = Server::start(&hub, "a", |options, _| {
        let (began, may_end, late) = (Arc::clone(&began), Arc::clone(&may_end), Arc::clone(&late));
        let slow = move |_| {
            let (began, may_end) = (Arc::clone(&began), Arc::clone(&may_end));
            async move {
                began.notify_one();
                may_end.notified().await;
                Ok::<_, DeliveryFailure>(())
            }
        };
        let count = move |_| {
            late.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, DeliveryFailure>(()) }
        };
        options.on_delivery("slow", slow).on_delivery("late", count)
    })
    .await;
    a.join().await;
    let slow_id = buy(&hub, "slow", None).await;
    began.notified().await;
    let connector = a.connector.clone();
    let stopped = tokio::spawn(async move { connector.stop().await });
    eventually!("the session is closed", is_closed(&hub).await);
    let late_id = buy(&hub, "late", None).await;
    may_end.notify_one();
    stopped.await.unwrap();
    let states = (delivery_state(&hub, slow_id).await, delivery_state(&hub, late_id).await);
    assert_eq!(states, (json!("DELIVERED"), json!("PENDING")));
    assert_eq!(late.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn players_wait_in_line_and_are_sent_when_there_is_room() {
    let mut hub = HubProcess::start_new();
    let (owner, early, ben) = (hub.client(), Uuid::from_u128(8), Uuid::from_u128(9));
    let lobby = Server::start(&hub, "lobby", |options, _| options).await;
    let mut places = lobby.connector.places();
    let mut arena = server("arena", "arena");
    arena.max_players = Some(1);
    owner.register_server(&arena).await.unwrap();
    owner.join_server("arena", early, "Early").await.unwrap();
    for player in [ANN, ben] {
        lobby.connector.player_joined(player, "Ann");
        eventually!("the player is there", hub.place(player).await.is_some());
    }
    let request =
        |player_uuid| TicketRequest { player_uuid, server_type: Some("arena".to_owned()), ..TicketRequest::default() };
    let ticket = lobby.connector.wait_in_line(&request(ANN)).await.unwrap();
    assert_eq!((ticket.state, ticket.position, ticket.line.as_str()), (TicketState::Waiting, Some(1), "type:arena"));
    lobby.connector.wait_in_line(&request(ben)).await.unwrap();
    assert_eq!(lobby.connector.wait_in_line(&request(ANN)).await.unwrap().ticket_id, ticket.ticket_id);
    assert_eq!(places.recv().await.unwrap().player, ANN);
    assert_eq!(lobby.connector.place(ben).unwrap().position, 2);
    owner.leave_server("arena", early).await.unwrap();
    eventually!("the first is sent", lobby.game.transfers().len() == 1);
    assert_eq!(lobby.game.transfers()[0].player_uuid, ANN);
    assert!(lobby.connector.place(ANN).is_none());
    // While the hub is away the ticket goes on, and so does the place.
    hub.kill();
    let left = timeout(Duration::from_millis(100), lobby.connector.leave_line(ben)).await;
    assert!(left.is_err() && lobby.connector.place(ben).is_some());
    hub.start_again();
    assert!(lobby.connector.leave_line(ben).await.unwrap());
    assert!(!lobby.connector.leave_line(ben).await.unwrap());
}
