//! Players: profiles, data, statistics.

use reqwest::{Method, StatusCode};
use serde_json::json;
use uuid::Uuid;

use crate::model::{
    DataEntry, IncrementedStatistic, LivePlayerProfile, LoadedPlayer, OpenedPlayerSession, PlayerSession,
    PlayerSessionRequest, PlayerSessionSave, PlayerStatistics, SavedSession,
};
use crate::{HubClient, HubError};

/// Options of a load.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The name now.
    pub username: Option<String>,
    /// Game mode whose data is read; none: `global`.
    pub game_mode: Option<String>,
    /// The engine, `MINECRAFT` or `HYTALE`; recorded on first sight.
    pub game_type: Option<String>,
    /// Located and forgotten.
    pub ip: Option<String>,
    /// Additional parts of the answer: `permissions`, `punishments`, `language`, `balances`, `statistics`, `data:NAMESPACE`.
    pub include: Vec<String>,
}

impl HubClient {
    /// A player, with where they are; none for one who was never seen. Without a game mode: the data of `global`.
    pub async fn get_player(
        &self,
        player: Uuid,
        game_mode: Option<&str>,
    ) -> Result<Option<LivePlayerProfile>, HubError> {
        let request = self.plugin(Method::GET, &["players", &player.to_string()]);
        request.query_if("gameMode", game_mode).find().await
    }

    /// Loads a joining player, and records an unknown one.
    pub async fn load_player(&self, player: Uuid, options: &LoadOptions) -> Result<LoadedPlayer, HubError> {
        let include = (!options.include.is_empty()).then(|| options.include.join(","));
        self.plugin(Method::POST, &["players", &player.to_string(), "load"])
            .query_if("username", options.username.as_ref())
            .query_if("gameMode", options.game_mode.as_ref())
            .query_if("gameType", options.game_type.as_ref())
            .query_if("ip", options.ip.as_ref())
            .query_if("include", include)
            .safe()
            .send()
            .await
    }

    /// A player's data; none where none was written.
    pub async fn get_player_data(
        &self,
        player: Uuid,
        game_mode: &str,
        namespace: &str,
    ) -> Result<Option<DataEntry>, HubError> {
        self.plugin(Method::GET, &["players", &player.to_string(), "data", game_mode, namespace]).find().await
    }

    /// Writes a player's data: JSON as text, at most 256 KiB.
    ///
    /// `version` is what was read, so that nothing written meanwhile is lost: it fails with `version_conflict`, and then read again and apply the
    /// change to that. 0 for what was never written; none overwrites.
    pub async fn put_player_data(
        &self,
        player: Uuid,
        game_mode: &str,
        namespace: &str,
        data: &str,
        version: Option<i64>,
    ) -> Result<DataEntry, HubError> {
        let request = self.plugin(Method::PUT, &["players", &player.to_string(), "data", game_mode, namespace]);
        let request = request.json(&json!({"data": data, "version": version}));
        let request = if version.is_some() { request.once() } else { request };
        request.send().await
    }

    /// Deletes a player's data; returns whether there was any.
    pub async fn delete_player_data(&self, player: Uuid, game_mode: &str, namespace: &str) -> Result<bool, HubError> {
        let segments = ["players", &player.to_string(), "data", game_mode, namespace];
        was_found(self.plugin(Method::DELETE, &segments).run().await)
    }

    /// A player's newest session; none where there never was one.
    pub async fn get_player_session(&self, player: Uuid) -> Result<Option<PlayerSession>, HubError> {
        self.plugin(Method::GET, &["players", &player.to_string(), "session"]).find().await
    }

    /// Opens a session: the right to write the player's data, which one server has at a time. Waits for the server that has it, 3 s unless
    /// `wait_ms` says otherwise. The answer has the fence that saves name, and the player as a load answers it, read after the session
    /// before ended. Opening again is safe. [`PlayerDataStore`](crate::connector::PlayerDataStore) does all of this.
    pub async fn open_player_session(
        &self,
        player: Uuid,
        request: &PlayerSessionRequest,
    ) -> Result<OpenedPlayerSession, HubError> {
        self.plugin(Method::POST, &["players", &player.to_string(), "session"]).json(request).safe().send().await
    }

    /// Saves data under a session's fence and completes the claims of deliveries; all or none. `close` ends the session. `number` rises with
    /// each save of a session, so that one that was given up cannot follow a later one. Fails with `stale_session` where the session is
    /// over, and with `stale_claim`. The same save again has no second effect.
    pub async fn save_player_session(
        &self,
        player: Uuid,
        fence: i64,
        save: &PlayerSessionSave,
    ) -> Result<SavedSession, HubError> {
        let request = self.plugin(Method::PUT, &["players", &player.to_string(), "session", &fence.to_string()]);
        request.json(save).send().await
    }

    /// A player's statistics in a game mode; none is `global`.
    pub async fn get_player_statistics(
        &self,
        player: Uuid,
        game_mode: Option<&str>,
    ) -> Result<PlayerStatistics, HubError> {
        let request = self.plugin(Method::GET, &["players", &player.to_string(), "statistics"]);
        request.query_if("gameMode", game_mode).send().await
    }

    /// Adds to a player's statistic, in the day, week, month and lifetime. Without a game mode: `global`.
    pub async fn increment_player_statistic(
        &self,
        player: Uuid,
        name: &str,
        amount: f64,
        game_mode: Option<&str>,
    ) -> Result<IncrementedStatistic, HubError> {
        let request = self.plugin(Method::POST, &["players", &player.to_string(), "statistics", "increment"]);
        request.json(&json!({"name": name, "gameMode": game_mode, "amount": amount})).send().await
    }
}

/// False for 404.
pub(super) fn was_found(outcome: Result<(), HubError>) -> Result<bool, HubError> {
    match outcome {
        Ok(()) => Ok(true),
        Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(false),
        Err(error) => Err(error),
    }
}
