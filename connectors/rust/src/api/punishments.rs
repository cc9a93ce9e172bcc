//! Bans, mutes, warnings, kicks.

use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::servers::merged;
use crate::model::{Punishment, PunishmentType};
use crate::{HubClient, HubError};

/// A punishment to be made: `PunishmentRequest { duration_ms: Some(3_600_000), ..PunishmentRequest::new(PunishmentType::Mute, "spam") }`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentRequest {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: PunishmentType,
    /// Why.
    pub reason: Option<String>,
    /// How long it lasts, in milliseconds; none is permanent.
    pub duration_ms: Option<u64>,
    /// Whether it also covers the address the player has now, and those they are seen with later.
    pub ip_based: bool,
    /// Who punishes.
    pub issuer_uuid: Option<Uuid>,
    /// Who punishes.
    pub issuer_name: Option<String>,
}

impl PunishmentRequest {
    /// A permanent one of this kind.
    pub fn new(kind: PunishmentType, reason: &str) -> Self {
        let reason = Some(reason.to_owned());
        Self { kind, reason, duration_ms: None, ip_based: false, issuer_uuid: None, issuer_name: None }
    }
}

impl HubClient {
    /// Punishes a player.
    pub async fn create_punishment(
        &self,
        player: Uuid,
        player_name: Option<&str>,
        request: &PunishmentRequest,
    ) -> Result<Punishment, HubError> {
        self.punish("create", json!({"playerUuid": player, "playerName": player_name}), request).await
    }

    /// Punishes whoever has or will have this name.
    pub async fn create_punishment_by_name(
        &self,
        name: &str,
        request: &PunishmentRequest,
    ) -> Result<Punishment, HubError> {
        self.punish("create-by-name", json!({"playerName": name}), request).await
    }

    /// Punishes an address.
    pub async fn create_ip_punishment(&self, ip: &str, request: &PunishmentRequest) -> Result<Punishment, HubError> {
        self.punish("create-ip", json!({"ipAddress": ip}), request).await
    }

    async fn punish(&self, route: &str, whom: Value, request: &PunishmentRequest) -> Result<Punishment, HubError> {
        self.plugin(Method::POST, &["punishments", route]).json(&merged(json!(request), whom)).send().await
    }

    /// Notes a player's address now, so that punishments of addresses match.
    pub async fn record_player_ip(&self, player: Uuid, player_name: Option<&str>, ip: &str) -> Result<(), HubError> {
        let body = json!({"playerUuid": player, "playerName": player_name, "ipAddress": ip});
        self.plugin(Method::POST, &["punishments", "ip"]).json(&body).safe().run().await
    }

    /// The active punishments of a player, and of an address.
    pub async fn query_punishments(&self, player: Uuid, ip: Option<&str>) -> Result<Vec<Punishment>, HubError> {
        let request = self.plugin(Method::GET, &["punishments", "query"]).query("playerUuid", player);
        request.query_if("ip", ip).send().await
    }

    /// All of a player's punishments, also those that ended, the latest first: up to 200 from `offset` on.
    pub async fn list_punishment_history(
        &self,
        player: Uuid,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<Punishment>, HubError> {
        let request = self.plugin(Method::GET, &["punishments", "player", &player.to_string(), "history"]);
        request.query("limit", limit).query("offset", offset).send().await
    }

    /// Revokes a punishment; one that is not active is answered as it is.
    pub async fn remove_punishment(
        &self,
        id: i64,
        actor_name: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Punishment, HubError> {
        let body = json!({"punishmentId": id, "actorName": actor_name, "reason": reason});
        self.plugin(Method::POST, &["punishments", "remove"]).json(&body).send().await
    }
}
