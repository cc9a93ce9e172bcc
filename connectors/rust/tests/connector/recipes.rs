//! Recipes of the guide.

use network_hub_client::connector::CachedConfig;
use network_hub_client::model::{
    DataEntry, MatchRequest, TransactionReceipt, TransferOutcome, WorldBootOrder, WorldRequest,
};
use network_hub_client::{Amount, HubClient, HubConnector, HubError};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::eventually;
use crate::game::FakeGame;
use crate::hub::HubProcess;

/// Sells something; false if the player cannot pay.
async fn buy(client: &HubClient, player: Uuid, price: Amount) -> Result<bool, HubError> {
    match client.spend(player, "coins", price, Some("sword")).await {
        Ok(_) => Ok(true),
        Err(error) if error.is("insufficient_funds") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Moves money between players.
async fn pay(client: &HubClient, from: Uuid, to: Uuid, amount: Amount) -> Result<TransactionReceipt, HubError> {
    client.pay(from, to, "coins", amount, Some("/pay")).await
}

/// Changes a player's data so that no other server's change is lost.
async fn change(client: &HubClient, player: Uuid, change: impl Fn(&mut Value)) -> Result<DataEntry, HubError> {
    loop {
        let read = client.get_player_data(player, "skyblock", "profile").await?;
        let (version, text) = read.map_or((0, "{}".to_owned()), |read| (read.version, read.data));
        let mut data = serde_json::from_str(&text).unwrap_or_default();
        change(&mut data);
        match client.put_player_data(player, "skyblock", "profile", &data.to_string(), Some(version)).await {
            Err(error) if error.is("version_conflict") => {}
            written => return written,
        }
    }
}

/// Finds a place for a party and sends everybody there; returns whether it existed.
async fn play_together(hub: &HubConnector, leader: Uuid, name: &str, party: Vec<Uuid>) -> Result<bool, HubError> {
    let request = MatchRequest {
        server_type: Some("bedwars".to_owned()),
        player_uuid: Some(leader),
        player_name: Some(name.to_owned()),
        party: Some(party.clone()),
        ..MatchRequest::default()
    };
    let found = hub.client().find_match(&request).await?;
    let Some(server) = found.matched_server else { return Ok(false) };
    for player in party {
        hub.transfer(player, &server.server_id, None).await?;
    }
    Ok(true)
}

/// Opens a player's island, wherever it runs, and sends them there; none where it cannot be had.
async fn visit_island(hub: &HubConnector, player: Uuid) -> Result<Option<TransferOutcome>, HubError> {
    let island = WorldRequest {
        game_id: "islands".to_owned(),
        owner_scope: "player".to_owned(),
        owner_id: player.to_string(),
        ..WorldRequest::default()
    };
    let world = hub.open_world(&island).await?;
    let Some(server) = world.matched_server else { return Ok(None) };
    hub.transfer(player, &server.server_id, world.world_instance_id.as_deref()).await.map(Some)
}

/// A setting that operators change while the server runs.
fn rules(hub: &HubConnector) -> CachedConfig {
    hub.config("bedwars", "rules", json!({"rounds": 3}))
}

const ANN: Uuid = Uuid::from_u128(0xA);
const BEN: Uuid = Uuid::from_u128(0xB);

async fn connect(hub: &HubProcess, id: &str, kind: &str, game: &FakeGame) -> HubConnector {
    let connector = hub.server(id, kind).start(game.clone());
    eventually!("it is connected", connector.status().is_connected());
    connector
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_data_are_never_lost() {
    let hub = HubProcess::start_new();
    let changes = (0..20).map(|_| {
        let client = hub.client();
        let level_up = |data: &mut Value| data["level"] = json!(data["level"].as_i64().unwrap_or(0) + 1);
        tokio::spawn(async move { change(&client, ANN, level_up).await })
    });
    for change in changes.collect::<Vec<_>>() {
        change.await.unwrap().unwrap();
    }
    let stored = hub.client().get_player_data(ANN, "skyblock", "profile").await.unwrap().unwrap();
    assert_eq!((stored.data.as_str(), stored.version), ("{\"level\":20}", 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn purchase_beyond_the_balance_is_refused() {
    let hub = HubProcess::start_new();
    let owner = hub.client();
    owner.modify_balance("player", &ANN.to_string(), "coins", 10.into(), None).await.unwrap();
    // Of ten sales at once three can be paid.
    let sales = (0..10).map(|_| {
        let client = hub.client();
        tokio::spawn(async move { buy(&client, ANN, 3.into()).await })
    });
    let mut sold = 0;
    for sale in sales.collect::<Vec<_>>() {
        sold += u32::from(sale.await.unwrap().unwrap());
    }
    assert_eq!(sold, 3);
    pay(&owner, ANN, BEN, 1.into()).await.unwrap();
    let balance = async |player: Uuid| owner.list_balances("player", &player.to_string()).await.unwrap()[0].balance;
    assert_eq!((balance(ANN).await, balance(BEN).await), (Amount::ZERO, 1.into()));
    assert!(!buy(&owner, ANN, 1.into()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_party_is_sent_whole_and_an_island_is_visited() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let lobby = connect(&hub, "lobby-1", "lobby", &game).await;
    let _bedwars = connect(&hub, "bedwars-1", "bedwars", &game).await;
    let node = connect(&hub, "node-1", "islands", &game).await;
    let mut events = node.events();
    tokio::spawn(async move {
        while let Ok(event) = events.recv().await {
            if event.kind == "WORLD_OPEN" {
                let open: WorldBootOrder = event.parse().unwrap();
                node.client().report_world_ready(open.world_id, "node-1", open.fence).await.unwrap();
            }
        }
    });
    lobby.player_joined(ANN, "Ann");
    lobby.player_joined(BEN, "Ben");
    assert!(play_together(&lobby, ANN, "Ann", vec![ANN, BEN]).await.unwrap());
    eventually!("both are sent", game.transfers().len() == 2);
    assert!(visit_island(&lobby, ANN).await.unwrap().unwrap().success);
    eventually!("the player is sent", game.transfers().len() == 3);
    assert!(game.transfers()[2].target_world_id.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn config_follows_the_operator() {
    let (hub, game) = (HubProcess::start_new(), FakeGame::default());
    let (owner, connector) = (hub.client(), connect(&hub, "lobby-1", "lobby", &game).await);
    let rules = rules(&connector);
    eventually!("the default is stored", owner.get_config_document("bedwars", "rules").await.unwrap().is_some());
    owner.publish_config_document("bedwars", "rules", &json!({"rounds": 5})).await.unwrap();
    eventually!("the rules are new", *rules.get() == json!({"rounds": 5}));
}
