//! Bans, mutes, warnings, kicks.

use reqwest::Method;
use uuid::Uuid;

use crate::model::{
    AddressPunishmentRequest, NamePunishmentRequest, PlayerAddress, Punishment, PunishmentRemoval, PunishmentRequest,
};
use crate::{HubClient, HubError};

impl HubClient {
    /// Punishes a player, permanently without a duration.
    pub async fn create_punishment(&self, request: &PunishmentRequest) -> Result<Punishment, HubError> {
        self.plugin(Method::POST, &["punishments", "create"]).json(request).send().await
    }

    /// Punishes the player who has or will have a name.
    pub async fn create_punishment_by_name(&self, request: &NamePunishmentRequest) -> Result<Punishment, HubError> {
        self.plugin(Method::POST, &["punishments", "create-by-name"]).json(request).send().await
    }

    /// Punishes an address; none, and without effect, for a blank one.
    pub async fn create_ip_punishment(
        &self,
        request: &AddressPunishmentRequest,
    ) -> Result<Option<Punishment>, HubError> {
        self.plugin(Method::POST, &["punishments", "create-ip"]).json(request).send().await
    }

    /// Records a player's current address, so that punishments of addresses match.
    pub async fn record_player_ip(&self, address: &PlayerAddress) -> Result<(), HubError> {
        self.plugin(Method::POST, &["punishments", "ip"]).json(address).safe().run().await
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

    /// Revokes a punishment; one that is not active is returned unchanged.
    pub async fn remove_punishment(&self, removal: &PunishmentRemoval) -> Result<Punishment, HubError> {
        self.plugin(Method::POST, &["punishments", "remove"]).json(removal).send().await
    }
}
