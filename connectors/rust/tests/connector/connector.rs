//! The connector while its hub is there.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use network_hub_client::connector::{CommandRefusal, JoinDecision};
use network_hub_client::model::{
    AddressPunishmentRequest, LanguageSource, MatchRequest, NamePunishmentRequest, PermissionGroupUpdate,
    PermissionNodeInput, PunishmentKind, PunishmentRemoval, ServerConnectivity, WorldBootOrder, WorldOpenStatus,
};
use network_hub_client::{ConnectorOptions, HubConnector, HubEvent, Method, ServerState};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::broadcast::Receiver;
use uuid::Uuid;

use crate::eventually;
use crate::game::FakeGame;
use crate::hub::{HubProcess, punishment, world};

const ANN: Uuid = Uuid::from_u128(0xA);
const BEN: Uuid = Uuid::from_u128(0xB);

async fn start(options: ConnectorOptions, game: &FakeGame) -> HubConnector {
    let connector = options.start(game.clone());
    eventually!("the connector is connected", connector.status().is_connected());
    connector
}

async fn join(hub: &HubProcess, connector: &HubConnector, player: Uuid, name: &str) {
    assert!(connector.check_join(player, name, None).await.is_allowed());
    connector.player_joined(player, name);
    eventually!("the player is online", hub.place(player).await.is_some());
}

fn allow(node: &str) -> PermissionNodeInput {
    PermissionNodeInput { node: node.to_owned(), value: Some(true), ..PermissionNodeInput::default() }
}

/// The next event of a type.
async fn event(events: &mut Receiver<HubEvent>, kind: &str) -> HubEvent {
    let next = async {
        loop {
            let event = events.recv().await.unwrap();
            if event.kind == kind {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), next).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_online_with_its_state_and_players() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let connector = start(hub.server("state-1", "state").events(&["PLAYER_JOINED", "PLAYER_LEFT"]), &game).await;
    let mut events = connector.events();
    join(&hub, &connector, ANN, "Ann").await;
    assert_eq!(event(&mut events, "PLAYER_JOINED").await.text("playerUuid"), Some(ANN.to_string().as_str()));
    let state = ServerState { game_state: Some("PLAYING".to_owned()), players_to_start: Some(4), worlds: None };
    connector.set_state(state);
    let live = async || owner.list_servers(Some("state"), Some(true), 0).await.unwrap().items[0].live.clone().unwrap();
    eventually!("the state is known", live().await.game_state.as_deref() == Some("PLAYING"));
    assert_eq!((live().await.current_players, live().await.max_players, live().await.port), (1, 10, 25565));
    let servers = owner.list_servers(None, None, 0).await.unwrap();
    assert_eq!((servers.items[0].connectivity, servers.total), (Some(ServerConnectivity::Connected), 1));
    connector.player_changed_world(ANN, "nether", None);
    let world = async || hub.connection(ANN).await.and_then(|connection| connection.world_id);
    eventually!("the world is known", world().await.as_deref() == Some("nether"));
    assert_eq!(owner.list_online_players(Some("state")).await.unwrap()[0].player_uuid, ANN);
    connector.player_left(ANN);
    eventually!("the player has left", hub.place(ANN).await.is_none());
    event(&mut events, "PLAYER_LEFT").await;
    connector.player_joined(BEN, "Ben");
    connector.stop().await;
    // It told of the last join before it went offline.
    assert!(owner.get_player(BEN, None).await.unwrap().is_some());
    assert_eq!(owner.list_servers(Some("state"), Some(true), 0).await.unwrap().total, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_is_found_a_place_and_sent_there() {
    let (hub, game, arena_game) = (HubProcess::start_new(), FakeGame::default(), FakeGame::default());
    let lobby = start(hub.server("lobby-1", "lobby"), &game).await;
    let arena = start(hub.server("arena-1", "arena"), &arena_game).await;
    join(&hub, &lobby, BEN, "Ben").await;
    let request = MatchRequest {
        server_type: Some("arena".to_owned()),
        player_uuid: Some(BEN),
        player_name: Some("Ben".to_owned()),
        ..MatchRequest::default()
    };
    let found = lobby.client().find_match(&request).await.unwrap();
    assert!(found.success);
    let outcome = lobby.transfer(BEN, &found.matched_server.unwrap().server_id, None).await.unwrap();
    assert!(outcome.success);
    assert_eq!(found.transfer_id, Some(outcome.transfer_id));
    eventually!("the command was carried out", game.transfers().len() == 1);
    let command = &game.transfers()[0];
    assert_eq!((command.host.as_str(), command.player_uuid), ("10.0.0.1", BEN));
    lobby.player_left(BEN);
    arena.player_joined(BEN, "Ben");
    eventually!("the transfer has ended", hub.transfer_record(outcome.transfer_id).await["result"] == "SUCCESS");
    assert_eq!(hub.place(BEN).await.as_deref(), Some("arena-1"));
    // Handed on: this verifier has not used it, another time it has.
    assert_eq!(arena.transfer_verifier().verify(command, arena.hub_time()), Ok(()));
    assert_eq!(arena.transfer_verifier().verify(command, arena.hub_time()), Err(CommandRefusal::Used));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_that_cannot_be_is_reported() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let lobby = start(hub.server("from", "lobby"), &game).await;
    let target = start(hub.server("to", "arena"), &game).await;
    join(&hub, &lobby, ANN, "Ann").await;
    game.refuse_transfers();
    let outcome = target.transfer(ANN, "to", None).await.unwrap();
    eventually!("the failure is reported", {
        let record = hub.transfer_record(outcome.transfer_id).await;
        record["result"] == "FAILED" && record["errorMessage"] == "the player is in a cutscene"
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_good_while_the_secret_is_rotated() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let from = start(hub.server("from", "lobby"), &game).await;
    start(hub.server("to", "arena"), &game).await;
    let mut events = from.events();
    join(&hub, &from, ANN, "Ann").await;
    let rotate = "/api/manage/signing-secret/rotate";
    hub.manage(Method::POST, rotate, json!({"overlapMs": 60_000})).await;
    from.transfer(ANN, "to", None).await.unwrap();
    eventually!("a command with two signatures is carried out", game.transfers().len() == 1);
    assert_eq!(game.transfers()[0].signature.split(' ').count(), 2);
    // Signed with the new secret alone: whoever kept the old one would refuse it.
    hub.manage(Method::POST, rotate, json!({"overlapMs": 0})).await;
    event(&mut events, "SIGNING_SECRET_ROTATED").await;
    let newest = event(&mut events, "SIGNING_SECRET_ROTATED").await.text("signingSecret").unwrap().to_owned();
    from.transfer(ANN, "to", None).await.unwrap();
    eventually!("a command with the new signature is carried out", game.transfers().len() == 2);
    let command = &game.transfers()[1];
    let text = format!("{}.{ANN}.to..10.0.0.1.25565.{}", command.transfer_id, command.expires_at);
    let mac = Hmac::<Sha256>::new_from_slice(newest.as_bytes()).unwrap().chain_update(text);
    assert_eq!(command.signature, format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())));
}

#[tokio::test(flavor = "multi_thread")]
async fn console_commands_are_answered_and_never_run_late() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let connector = start(hub.server("console", "lobby"), &game).await;
    let run = async |body: Value| hub.manage(Method::POST, "/api/manage/servers/console/command", body).await;
    let ran = run(json!({"command": "say hi"})).await;
    assert_eq!((&ran["success"], &ran["output"]), (&json!(true), &json!("ran say hi")));
    assert_eq!(run(json!({"command": "fail"})).await["error"], "no such command");
    eventually!("the connector says that the game hangs", {
        let hang = json!({"command": "hang", "timeoutMs": 1_000});
        match hub
            .client()
            .request(Method::POST, "/api/manage/servers/console/command")
            .json(&hang)
            .send::<Value>()
            .await
        {
            Ok(hung) => hung["error"] == "The game did not answer in time.",
            // On a loaded machine its answer may come too late for the hub, which says so.
            Err(error) => {
                assert!(error.is("no_answer"), "{}", error.message());
                false
            }
        }
    });
    // A bug of the game is the end of one command, not of the connector.
    let broken = run(json!({"command": "panic"})).await;
    assert!(broken["error"].as_str().unwrap().starts_with("The game failed"), "{broken}");
    assert_eq!(run(json!({"command": "next"})).await["output"], "ran next");
    assert_eq!(game.commands(), ["say hi", "next"]);
    assert!(connector.status().is_connected());
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_is_shown_and_muted_players_are_held_back() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let connector = start(hub.server("chat", "lobby"), &game).await;
    // A mute of an unchecked player would be unknown.
    assert!(connector.send_chat(BEN, "Ben", "hello").await.unwrap_err().is("muted"));
    join(&hub, &connector, ANN, "Ann").await;
    for line in ["hello", "break the game", "there"] {
        connector.send_chat(ANN, "Ann", line).await.unwrap();
    }
    eventually!("the lines came back", game.chat() == ["hello", "there"]);
    let mute = punishment(PunishmentKind::Mute, ANN, "Ann", "spam");
    let mute = owner.create_punishment(&mute).await.unwrap();
    eventually!("the mute is known", connector.punishments().is_muted(ANN));
    assert_eq!(connector.punishments().mute(ANN).unwrap().reason.as_deref(), Some("spam"));
    assert!(connector.send_chat(ANN, "Ann", "again").await.unwrap_err().is("muted"));
    // An edit does not lift it.
    hub.manage(Method::PATCH, &format!("/api/manage/punishments/{}", mute.id), json!({"reason": "spam, again"})).await;
    let reason = || connector.punishments().mute(ANN).and_then(|mute| mute.reason);
    eventually!("the edit is known", reason().as_deref() == Some("spam, again"));
    owner
        .remove_punishment(&PunishmentRemoval { punishment_id: mute.id, ..PunishmentRemoval::default() })
        .await
        .unwrap();
    eventually!("the mute is over", !connector.punishments().is_muted(ANN));
    connector.send_chat(ANN, "Ann", "thanks").await.unwrap();
    // One by name counts, too, in any case.
    owner.create_punishment_by_name(&NamePunishmentRequest::new("ANN", PunishmentKind::Mute)).await.unwrap();
    eventually!("the name is muted", connector.punishments().is_muted(ANN));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_banned_player_is_removed_and_kept_out() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let connector = start(hub.server("ban", "lobby"), &game).await;
    join(&hub, &connector, ANN, "Ann").await;
    let ban = punishment(PunishmentKind::Ban, ANN, "Ann", "cheating");
    owner.create_punishment(&ban).await.unwrap();
    eventually!("the player was kicked", game.has_kicked(ANN));
    match connector.check_join(ANN, "Ann", Some("203.0.113.7")).await {
        JoinDecision::Banned(ban) => assert_eq!(ban.reason.as_deref(), Some("cheating")),
        other => panic!("{other:?}"),
    }
    // A ban of an address concerns another player with it.
    let (ip_address, kind) = (Some("203.0.113.8".to_owned()), Some(PunishmentKind::Ban));
    let ban = AddressPunishmentRequest { ip_address, kind, ..AddressPunishmentRequest::default() };
    owner.create_ip_punishment(&ban).await.unwrap().unwrap();
    assert!(connector.check_join(BEN, "Ben", Some("203.0.113.9")).await.is_allowed());
    assert!(!connector.check_join(BEN, "Ben", Some("203.0.113.8")).await.is_allowed());
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_answer_from_memory_and_are_read_anew() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let build = allow("build.*");
    let deny = PermissionNodeInput { value: Some(false), ..allow("build.tnt.*") };
    let arena = PermissionNodeInput { context: Some("server=arena".to_owned()), ..allow("arena.only") };
    let permissions = vec![build, deny, allow("build.tnt.small"), arena];
    let group =
        PermissionGroupUpdate { priority: Some(1), permissions: Some(permissions), ..PermissionGroupUpdate::default() };
    owner.put_permission_group("builder", &group).await.unwrap();
    owner.add_player_permission(ANN, &allow("group.builder")).await.unwrap();
    let connector = start(hub.server("lobby-1", "lobby"), &game).await;
    let there = start(hub.server("arena-1", "arena").permission_context("server=arena"), &game).await;
    assert_eq!(connector.permissions().check(ANN, "build.house"), None);
    join(&hub, &connector, ANN, "Ann").await;
    let may = |node: &str| connector.permissions().check(ANN, node);
    assert_eq!(may("BUILD.house"), Some(true));
    assert_eq!((may("build"), may("build.tnt.large"), may("build.tnt.small")), (None, Some(false), Some(true)));
    assert_eq!(may("arena.only"), None);
    assert!(connector.permissions().get(ANN).unwrap().groups.contains(&"builder".to_owned()));
    assert!(there.check_join(ANN, "Ann", None).await.is_allowed());
    assert!(there.permissions().has(ANN, "arena.only"));
    owner.add_player_permission(ANN, &allow("fly")).await.unwrap();
    eventually!("the player may fly", connector.permissions().has(ANN, "fly"));
    owner.delete_permission_group("builder").await.unwrap();
    eventually!("the group is gone", !connector.permissions().has(ANN, "build.house"));
    // No event announces that a node has expired.
    let expiring = PermissionNodeInput { expires_at: Some(connector.hub_time() + 6_000), ..allow("brief") };
    owner.add_player_permission(ANN, &expiring).await.unwrap();
    eventually!("the player may for a while", connector.permissions().has(ANN, "brief"));
    eventually!("the while is over", !connector.permissions().has(ANN, "brief"));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_in_the_players_language_and_follow_the_operator() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let options = hub.server("messages", "lobby").messages("game", "en", &[("welcome", "Welcome"), ("bye", "Bye")]);
    let options = options.messages("game", "de", &[("welcome", "Willkommen")]);
    let connector = start(options, &game).await;
    let messages = connector.localization();
    assert_eq!(messages.text_in("fr", "welcome"), "Welcome");
    join(&hub, &connector, ANN, "Ann").await;
    messages.set_language(ANN, Some("de"), LanguageSource::Player).await.unwrap();
    eventually!("the catalog is read", messages.catalog().is_some_and(|read| read.messages.contains_key("de")));
    assert_eq!(messages.text(ANN, "welcome"), "Willkommen");
    assert_eq!((messages.text(ANN, "bye"), messages.text(ANN, "none")), ("Bye".to_owned(), "none".to_owned()));
    let path = "/api/manage/localization/messages/de/game/welcome";
    hub.manage(Method::PUT, path, json!({"value": "Servus"})).await;
    eventually!("the edit is known", messages.text(ANN, "welcome") == "Servus");
}

#[tokio::test(flavor = "multi_thread")]
async fn config_is_kept_current() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let owner = hub.client();
    let connector = start(hub.server("config", "lobby"), &game).await;
    let mut config = connector.config("arena", "main", json!({"rounds": 3}));
    assert_eq!(*config.get(), json!({"rounds": 3}));
    let stored = async || owner.get_config_document("arena", "main").await.unwrap();
    eventually!("the default is stored", stored().await.is_some());
    owner.publish_config_document("arena", "main", &json!({"rounds": 5})).await.unwrap();
    let changed = tokio::time::timeout(Duration::from_secs(60), config.changed()).await.unwrap().unwrap();
    assert_eq!((&*changed, &*config.get()), (&json!({"rounds": 5}), &json!({"rounds": 5})));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_world_is_waited_for_until_it_is_up() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let node = start(hub.server("isles-1", "isles"), &game).await;
    let (client, mut events) = (hub.client(), node.events());
    tokio::spawn(async move {
        let open: WorldBootOrder = event(&mut events, "WORLD_OPEN").await.parse().unwrap();
        client.report_world_ready(open.world_id, "isles-1", open.fence).await.unwrap();
    });
    let opened = node.open_world(&world("isles", ANN)).await.unwrap();
    assert_eq!((opened.success, opened.status), (true, Some(WorldOpenStatus::Ready)));
    assert_eq!(opened.matched_server.unwrap().server_id, "isles-1");
    // No server runs this one.
    let none = node.open_world(&world("nothing", ANN)).await.unwrap();
    assert!(!none.success && none.error_message.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_wrong_key_says_so() {
    let hub = HubProcess::start_new();
    let client = network_hub_client::HubClient::new(&hub.url(), "hub_wrong").unwrap();
    let connector = ConnectorOptions::new(client, crate::hub::server("wrong", "lobby")).start(FakeGame::default());
    eventually!("the status tells", connector.status().last_error.is_some());
    assert!(!connector.status().is_connected());
    assert!(matches!(connector.check_join(ANN, "Ann", None).await, JoinDecision::NotVerified));
}
