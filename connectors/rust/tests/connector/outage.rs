//! The connector while its hub is away.

use std::time::Duration;

use network_hub_client::connector::JoinDecision;
use network_hub_client::model::{ChatMessageInput, PunishmentKind};
use network_hub_client::{ConnectorOptions, HubClient, HubConnector, ServerState};
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use crate::eventually;
use crate::game::FakeGame;
use crate::hub::{HubProcess, punishment, server};
use crate::proxy::TcpProxy;

const STAYS: Uuid = Uuid::from_u128(1);
const LEAVES: Uuid = Uuid::from_u128(2);
const JOINS: Uuid = Uuid::from_u128(3);
const VISITS: Uuid = Uuid::from_u128(4);

async fn start(hub: &HubProcess, url: &str, id: &str, game: &FakeGame) -> HubConnector {
    let client = HubClient::new(url, &hub.key).unwrap();
    let options = ConnectorOptions::new(client, server(id, "games")).join_timeout(Duration::from_secs(10));
    let connector = options.start(game.clone());
    eventually!("the connector is connected", connector.status().is_connected());
    connector
}

async fn join(hub: &HubProcess, connector: &HubConnector, player: Uuid, name: &str) {
    assert!(connector.check_join(player, name, None).await.is_allowed());
    connector.player_joined(player, name);
    eventually!("the player is online", hub.place(player).await.is_some());
}

fn line(text: &str) -> ChatMessageInput {
    ChatMessageInput {
        player_name: "Owner".to_owned(),
        message: text.to_owned(),
        server_id: "console".to_owned(),
        ..ChatMessageInput::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_hub_is_killed() {
    let (mut hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let connector = start(&hub, &hub.url(), "a", &game).await;
    let _other = start(&hub, &hub.url(), "b", &FakeGame::default()).await;
    let (banned, clean) = (Uuid::from_u128(5), Uuid::from_u128(6));
    join(&hub, &connector, STAYS, "Stays").await;
    join(&hub, &connector, LEAVES, "Leaves").await;
    let ban = |player, name| punishment(PunishmentKind::Ban, player, name, "cheating");
    let mute = punishment(PunishmentKind::Mute, LEAVES, "Leaves", "cheating");
    owner.create_punishment(&ban(banned, "Banned")).await.unwrap();
    owner.create_punishment(&mute).await.unwrap();
    eventually!("the ban and the mute are known", connector.punishments().all().len() == 2);
    let address = Some("203.0.113.1");
    assert!(connector.check_join(clean, "Clean", address).await.is_allowed());

    hub.kill();
    connector.player_left(LEAVES);
    eventually!("the outage is noticed", {
        let status = connector.status();
        !status.registered && !status.stream_open
    });
    connector.player_joined(JOINS, "Joins");
    connector.player_joined(VISITS, "Visits");
    connector.player_left(VISITS);
    let transferring = connector.clone();
    let transfer = tokio::spawn(async move { transferring.transfer(STAYS, "b", None).await });
    // Bans and mutes fail closed: what is known stays, and of whom nothing is known stays out.
    assert!(matches!(connector.check_join(banned, "Banned", None).await, JoinDecision::Banned(_)));
    assert!(matches!(connector.check_join(Uuid::from_u128(7), "New", None).await, JoinDecision::NotVerified));
    assert!(connector.check_join(clean, "Clean", address).await.is_allowed());
    let elsewhere = connector.check_join(clean, "Clean", Some("203.0.113.2")).await;
    assert!(matches!(elsewhere, JoinDecision::NotVerified));
    let is_muted = |player| connector.punishments().is_muted(player);
    assert_eq!([LEAVES, JOINS, STAYS].map(is_muted), [true, true, false]);
    assert_eq!(connector.status().pending_changes, 4);

    hub.start_again();
    eventually!("the join was told", hub.place(JOINS).await.as_deref() == Some("a"));
    eventually!("the leave was told", hub.place(LEAVES).await.is_none());
    eventually!("the visit was told", owner.get_player(VISITS, None).await.unwrap().is_some());
    eventually!("nobody is left behind", {
        hub.place(VISITS).await.is_none() && connector.status().pending_changes == 0
    });
    assert!(transfer.await.unwrap().unwrap().success);
    eventually!("the transfer is carried out", game.transfers().len() == 1);
    assert_eq!(game.transfers()[0].player_uuid, STAYS);
    eventually!("the stream is open again", connector.status().is_connected());
    // Players that were admitted unchecked are checked now.
    eventually!("the player is known not to be muted", !is_muted(JOINS));
    owner.create_punishment(&ban(JOINS, "Joins")).await.unwrap();
    eventually!("events come again", game.has_kicked(JOINS));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_during_a_broken_stream_are_applied_later() {
    let (mut hub, game) = (HubProcess::start_new(), FakeGame::default());
    let connector = start(&hub, &hub.url(), "a", &game).await;
    join(&hub, &connector, STAYS, "Stays").await;
    hub.kill();
    hub.start_again();
    // Before the connector is back: its events belong to a hub that is no more, so it gets RESYNC.
    let ban = punishment(PunishmentKind::Ban, STAYS, "Stays", "late");
    hub.client().create_punishment(&ban).await.unwrap();
    eventually!("the ban is carried out", game.has_kicked(STAYS));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_where_it_ended() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let (owner, link) = (hub.client(), TcpProxy::start(hub.port).await);
    let connector = start(&hub, &link.url, "a", &game).await;
    let mut events = connector.events();
    owner.send_chat_message(&line("before")).await.unwrap();
    eventually!("the stream works", game.chat() == ["before"]);
    link.cut();
    link.drop_connections();
    let mut expected = vec!["before".to_owned()];
    for at in 0..20 {
        expected.push(format!("line {at}"));
        owner.send_chat_message(&line(&format!("line {at}"))).await.unwrap();
    }
    eventually!("the connector notices", !connector.status().stream_open);
    link.heal();
    eventually!("everything came", game.chat().len() >= expected.len());
    owner.send_chat_message(&line("after")).await.unwrap();
    expected.push("after".to_owned());
    eventually!("and what follows", game.chat() == expected);
    while let Ok(event) = events.try_recv() {
        assert_ne!(event.kind, "RESYNC");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_in_a_partition() {
    let (hub, game, other_game) = (HubProcess::start_new(), FakeGame::default(), FakeGame::default());
    let (owner, link) = (hub.client(), TcpProxy::start(hub.port).await);
    let connector = start(&hub, &link.url, "a", &game).await;
    let other = start(&hub, &hub.url(), "b", &other_game).await;
    join(&hub, &connector, STAYS, "Stays").await;
    join(&hub, &connector, LEAVES, "Leaves").await;

    link.cut();
    let cut_at = Instant::now();
    connector.player_left(LEAVES);
    connector.player_joined(JOINS, "Joins");
    connector.player_joined(VISITS, "Visits");
    connector.player_left(VISITS);
    assert!(cut_at.elapsed() < Duration::from_secs(10), "no call waits for the hub");
    // The visitor goes to a server that the hub still hears.
    other.player_joined(VISITS, "Visits");
    eventually!("the visitor is there", hub.place(VISITS).await.as_deref() == Some("b"));
    connector.set_state(ServerState { game_state: Some("PLAYING".to_owned()), ..ServerState::default() });
    let asked = cut_at.elapsed();
    assert!(matches!(connector.check_join(Uuid::from_u128(7), "New", None).await, JoinDecision::NotVerified));
    assert!(cut_at.elapsed() < asked + Duration::from_secs(30), "a join waits for ten seconds");
    sleep_until(cut_at + Duration::from_secs(15)).await;
    // Its command is on its way while nothing gets through.
    let sent = other.transfer(STAYS, "b", None).await.unwrap();
    assert!(sent.success, "{}", sent.result);
    let online = async || owner.list_servers(Some("games"), Some(true), 0).await.unwrap();
    while online().await.total > 1 {
        assert!(cut_at.elapsed() < Duration::from_secs(80), "the hub has given the server up");
        sleep(Duration::from_millis(200)).await;
    }
    sleep_until(cut_at + Duration::from_secs(30)).await;
    assert!(game.transfers().is_empty());

    link.heal();
    eventually!("the join was told", hub.place(JOINS).await.as_deref() == Some("a"));
    eventually!("who stayed is back", hub.place(STAYS).await.as_deref() == Some("a"));
    eventually!("everything was told", {
        let status = connector.status();
        status.pending_changes == 0 && status.is_connected()
    });
    eventually!("the transfer is carried out", game.transfers().len() == 1);
    assert_eq!(game.transfers()[0].transfer_id, sent.transfer_id);
    // Late packets of the partition and the heartbeats after it change nothing any more.
    let end = Instant::now() + Duration::from_secs(7);
    while Instant::now() < end {
        assert_eq!(hub.place(VISITS).await.as_deref(), Some("b"));
        sleep(Duration::from_millis(200)).await;
    }
    assert_eq!((hub.place(LEAVES).await, hub.place(JOINS).await.as_deref()), (None, Some("a")));
    let servers = online().await.items;
    let server = servers.iter().find(|server| server.server_id == "a").unwrap();
    assert_eq!(server.live.as_ref().unwrap().game_state.as_deref(), Some("PLAYING"));
    connector.player_left(STAYS);
    other.player_joined(STAYS, "Stays");
    eventually!("the player has moved", hub.place(STAYS).await.as_deref() == Some("b"));
    eventually!("the transfer has ended", hub.transfer_record(sent.transfer_id).await["result"] == "SUCCESS");
    assert_eq!(game.transfers().len(), 1);
}

/// Visits that are over are given up before memory is; who is here is not.
#[tokio::test(flavor = "multi_thread")]
async fn pending_changes_are_bounded() {
    let client = HubClient::new("http://127.0.0.1:9", "key").unwrap();
    let connector = ConnectorOptions::new(client, server("alone", "games")).start(FakeGame::default());
    connector.player_joined(STAYS, "Stays");
    connector.player_joined(JOINS, "Joins");
    for at in 100..10_100 {
        connector.player_joined(Uuid::from_u128(at), "Visits");
        connector.player_left(Uuid::from_u128(at));
    }
    assert!(connector.status().pending_changes < 100);
    connector.player_changed_world(STAYS, "one", None);
    connector.player_changed_world(STAYS, "two", None);
    let before = connector.status().pending_changes;
    connector.player_changed_world(STAYS, "three", None);
    assert_eq!(connector.status().pending_changes, before, "of changes of world the last one counts");
    let began = Instant::now();
    connector.stop().await;
    assert!(began.elapsed() < Duration::from_secs(30));
}
