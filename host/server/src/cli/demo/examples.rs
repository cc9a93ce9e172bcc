//! Things that the examples of the API document name, so that they can be read and tried as they stand.

use anyhow::Context as _;
use network_hub_client::HubError;
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::{Uuid, uuid};

use crate::cli::client::HubClient;

/// The player of the examples.
pub(super) const PLAYER: Uuid = uuid!("069a79f4-44e9-4726-a5be-fca90e38aaf5");
pub(super) const NAME: &str = "Notch";
/// A player who was muted and reported.
const RUDE: (Uuid, &str) = (uuid!("61699b2e-d327-4a01-9f1e-0ea8c3f06bc6"), "Dinnerbone");
const SERVER: &str = "survival-eu";

/// Creates those that are not there from an earlier run, as the network's owner.
pub(super) async fn create(owner: &HubClient) -> anyhow::Result<()> {
    let vip = json!({
        "groupId": "vip", "displayName": "VIP", "priority": 10, "parents": [],
        "nodes": [{"node": "essentials.fly", "value": true}],
    });
    put(owner, "/api/plugin/permissions/groups/vip", &vip).await?;
    put(owner, "/api/manage/roles/helper", &json!({"scopes": ["reports:manage", "chat:read"]})).await?;
    let scoreboard =
        json!({"group": "lobby", "namespace": "scoreboard", "defaultDoc": {"title": "Welcome", "lines": 3}});
    owner.post("/api/plugin/config/register", &scoreboard).await?;
    let guilds = json!({"name": "guilds", "key": "id", "indexes": [{"field": "level", "type": "number"}]});
    owner.post("/api/plugin/collections/register", &json!({"collections": [guilds]})).await?;
    let dragons = json!({"id": "red-dragons", "name": "Red Dragons", "level": 7});
    put(owner, "/api/plugin/collections/guilds/red-dragons", &dragons).await?;
    play(owner).await?;
    offend(owner).await
}

/// A visit of the player, whose inventory is saved twice: the first is in a snapshot.
async fn play(owner: &HubClient) -> anyhow::Result<()> {
    let player = format!("/api/plugin/players/{PLAYER}");
    if exists(owner, &format!("{player}/session")).await? {
        return Ok(());
    }
    let join = json!({
        "serverId": SERVER, "serverType": "survival", "playerUuid": PLAYER, "playerName": NAME,
    });
    owner.post("/api/plugin/servers/players", &join).await?;
    for items in [json!(["wooden_sword"]), json!(["diamond_sword", "bow"])] {
        let opened = owner.post(&format!("{player}/session"), &json!({"serverId": SERVER, "username": NAME})).await?;
        let fence = opened["fence"].as_i64().context("the hub's answer has no fence")?;
        let data = json!({"items": items}).to_string();
        let save = json!({"data": [{"namespace": "inventory", "data": data}], "close": true});
        owner.put(&format!("{player}/session/{fence}"), &save).await?;
    }
    Ok(())
}

/// A mute, and the report before it.
async fn offend(owner: &HubClient) -> anyhow::Result<()> {
    if exists(owner, "/api/manage/punishments/1").await? {
        return Ok(());
    }
    let (rude, name) = RUDE;
    let report =
        json!({"reporterUuid": PLAYER, "playerUuid": rude, "reason": "Insults in the lobby", "serverId": SERVER});
    owner.post("/api/plugin/reports", &report).await?;
    let mute = json!({
        "playerUuid": rude, "playerName": name, "type": "MUTE", "reason": "Insults", "durationMs": 86_400_000,
        "ipBased": false, "issuerUuid": PLAYER, "issuerName": NAME,
    });
    owner.post("/api/plugin/punishments/create", &mute).await?;
    Ok(())
}

/// Stores what is not there; what somebody changed since stays.
async fn put(owner: &HubClient, path: &str, body: &Value) -> anyhow::Result<()> {
    if !exists(owner, path).await? {
        owner.put(path, body).await?;
    }
    Ok(())
}

async fn exists(owner: &HubClient, path: &str) -> Result<bool, HubError> {
    match owner.get(path).await {
        Ok(_) => Ok(true),
        Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(false),
        Err(error) => Err(error),
    }
}
