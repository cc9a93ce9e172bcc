//! Decisions whether players may join.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tracing::{info, warn};
use uuid::Uuid;

use super::Shared;
use super::persist::persist;
use super::punishments::Identity;
use crate::model::{LoadedPlayer, PlayerAddress, Punishment};
use crate::{HubError, LoadOptions};

/// Decision whether a player may join.
#[derive(Clone, Debug)]
pub enum JoinDecision {
    /// They may. The player as the hub has loaded them; none where the hub was away.
    Allowed(Option<Box<LoadedPlayer>>),
    /// A ban, of which the hub or the connector knows.
    Banned(Box<Punishment>),
    /// The hub is away, and nothing current is known of the player.
    NotVerified,
}

impl JoinDecision {
    /// True if they may join.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl Shared {
    pub(super) async fn check_join(self: &Arc<Self>, player: Uuid, name: &str, ip: Option<&str>) -> JoinDecision {
        let identity = Identity { name: Some(name.to_owned()), ip: ip.map(str::to_owned) };
        self.note_ip(player, identity.clone());
        let why = match timeout(self.options.join_timeout, self.ask_hub(player, identity.clone())).await {
            Ok(Ok(decision)) => return decision,
            Ok(Err(error)) => error.message(),
            Err(_) => "it did not answer in time".to_owned(),
        };
        info!("player {player} is checked without the hub: {why}");
        self.decide_from_memory(player, &identity)
    }

    /// Records a player's address: later punishments of the address match it.
    fn note_ip(self: &Arc<Self>, player: Uuid, identity: Identity) {
        let shared = Arc::clone(self);
        let Identity { name, ip: Some(ip) } = identity else { return };
        let address = PlayerAddress { player_uuid: player, player_name: name, ip_address: ip };
        self.spawn(async move {
            let note = || shared.client.record_player_ip(&address);
            if let Err(error) = persist(Some(Duration::from_mins(1)), note).await {
                warn!("the address of player {player} cannot be noted: {}", error.message());
            }
        });
    }

    async fn ask_hub(&self, player: Uuid, identity: Identity) -> Result<JoinDecision, HubError> {
        let asked_at = Instant::now();
        let options = LoadOptions {
            username: identity.name.clone(),
            game_mode: self.options.game_mode.clone(),
            game_type: self.options.game_type.clone(),
            ip: identity.ip.clone(),
            include: self.options.include.clone(),
        };
        let mut profile = self.client.load_player(player, &options).await?;
        let found = match profile.punishments.clone() {
            Some(found) => found,
            None => self.client.query_punishments(player, identity.ip.as_deref()).await?,
        };
        if let Some(language) = profile.language.clone() {
            self.localization.put(player, language, asked_at);
        }
        // Part of the join, so that they are there when it is over.
        match profile.permissions.take() {
            Some(permissions) if self.permissions.is_for_everywhere() => {
                profile.permissions = Some(permissions.clone());
                self.permissions.put(player, permissions, None, asked_at);
            }
            permissions => {
                profile.permissions = permissions;
                if let Err(error) = self.permissions.refresh(player).await {
                    warn!("the permissions of player {player} cannot be read: {}", error.message());
                }
            }
        }
        self.punishments.checked(player, identity, found, asked_at);
        Ok(match self.punishments.ban(player) {
            Some(ban) => JoinDecision::Banned(Box::new(ban)),
            None => JoinDecision::Allowed(Some(Box::new(profile))),
        })
    }

    fn decide_from_memory(&self, player: Uuid, identity: &Identity) -> JoinDecision {
        if let Some(ban) = self.punishments.find_ban(player, identity) {
            return JoinDecision::Banned(Box::new(ban));
        }
        let is_recent = self.stream.lock().was_open_within(self.options.trust_clean);
        let is_clean = is_recent && self.punishments.is_current(player, identity.ip.as_deref());
        if is_clean || self.options.allow_unverified { JoinDecision::Allowed(None) } else { JoinDecision::NotVerified }
    }

    /// A player is in the game. Something may have changed since they were checked, if they were.
    pub(super) fn joined(&self, player: Uuid) {
        if !self.punishments.is_current(player, None) {
            self.punishment_refresh.add(player);
        }
        if let Some(ban) = self.punishments.ban(player) {
            self.kick(player, ban);
        }
        if self.permissions.may_be_stale(player) {
            self.permission_refresh.add(player);
        }
        if self.localization.language(player).is_none() {
            self.language_refresh.add(player);
        }
    }

    /// Reads a player's punishments again, and acts on them.
    pub(super) async fn refresh_punishments(&self, player: Uuid) -> Result<(), HubError> {
        let asked_at = Instant::now();
        let identity = self.punishments.identity(player);
        let found = self.client.query_punishments(player, identity.ip.as_deref()).await?;
        if self.punishments.identity(player) != identity {
            // They came from another address meanwhile, whose bans are not in the answer.
            self.punishment_refresh.add(player);
            return Ok(());
        }
        self.punishments.checked(player, identity, found, asked_at);
        if let Some(ban) = self.punishments.ban(player) {
            self.kick(player, ban);
        }
        Ok(())
    }
}
