//! Servers, matchmaking, transfers, chat.

use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::model::{
    ChatMessageInput, ListedServerPage, Match, MatchRequest, PresenceRecord, RegionPopulation, ServerHeartbeat,
    ServerRegistration, ServerSession, TransferOutcome,
};
use crate::{HubClient, HubError, retry};

impl HubClient {
    /// Registers a server and marks it online. Repeating it replaces the registration; players stay.
    pub async fn register_server(&self, server: &ServerRegistration) -> Result<ServerSession, HubError> {
        self.plugin(Method::POST, &["servers", "register"]).json(server).safe().send().await
    }

    /// Keeps a server online; never repeated. Fails with `unknown_server` if the server has to register again.
    ///
    /// `players` are all who are on it: others have left. None leaves them unchanged.
    pub async fn send_heartbeat(&self, heartbeat: &ServerHeartbeat) -> Result<(), HubError> {
        self.plugin(Method::POST, &["servers", "heartbeat"]).json(heartbeat).once().run().await
    }

    /// Takes a server offline at once; one that is unknown stays so.
    pub async fn unregister_server(&self, server_id: &str) -> Result<(), HubError> {
        self.plugin(Method::POST, &["servers", "unregister"]).query("serverId", server_id).safe().run().await
    }

    /// Puts a player on a server, and ends the transfer that sent them there. A player is on one server at most.
    pub async fn join_server(&self, server_id: &str, player: Uuid, name: &str) -> Result<(), HubError> {
        self.join_server_once(server_id, player, name, &retry::new_key()).await
    }

    /// The same under an `Idempotency-Key` of the caller's: with the same key it counts once, however often it is sent.
    pub async fn join_server_once(&self, server_id: &str, player: Uuid, name: &str, key: &str) -> Result<(), HubError> {
        let body = json!({"serverId": server_id, "playerUuid": player, "playerName": name});
        self.plugin(Method::POST, &["servers", "players"]).json(&body).idempotency_key(key).run().await
    }

    /// Moves a player to another world of their server. Fails with `player_not_on_server`.
    pub async fn change_player_world(
        &self,
        server_id: &str,
        player: Uuid,
        world_id: &str,
        previous_world_id: Option<&str>,
    ) -> Result<(), HubError> {
        let body = json!({
            "serverId": server_id, "playerUuid": player, "newWorldId": world_id, "previousWorldId": previous_world_id,
        });
        self.plugin(Method::POST, &["servers", "players", "world"]).json(&body).safe().run().await
    }

    /// Takes a player off this server; one who is elsewhere by now stays there.
    pub async fn leave_server(&self, server_id: &str, player: Uuid) -> Result<(), HubError> {
        let segments = ["servers", "players", &player.to_string()];
        self.plugin(Method::DELETE, &segments).query("serverId", server_id).run().await
    }

    /// The servers of the network, of a type or of all, online or not. Pages count from 0 and have up to 200.
    pub async fn list_servers(
        &self,
        server_type: Option<&str>,
        online: Option<bool>,
        page: u32,
    ) -> Result<ListedServerPage, HubError> {
        let request =
            self.plugin(Method::GET, &["servers"]).query_if("serverType", server_type).query_if("online", online);
        request.query("page", page).query("limit", 200).send().await
    }

    /// All players who are online on servers of a type, or of all.
    pub async fn list_online_players(&self, server_type: Option<&str>) -> Result<Vec<PresenceRecord>, HubError> {
        let mut players = Vec::new();
        let mut cursor = None;
        loop {
            let request = self.plugin(Method::GET, &["servers", "players"]);
            let answer = request.query_if("serverType", server_type).query_if("cursor", cursor).answer().await?;
            players.append(&mut answer.json()?);
            cursor = answer.header("next-cursor");
            if cursor.is_none() {
                return Ok(players);
            }
        }
    }

    /// Reports the outcome of a console command; what comes too late is accepted and discarded.
    pub async fn report_executed_command(&self, request_id: &str, outcome: Result<&str, &str>) -> Result<(), HubError> {
        let body = json!({
            "requestId": request_id, "success": outcome.is_ok(), "output": outcome.ok(), "error": outcome.err(),
        });
        self.plugin(Method::POST, &["servers", "command-result"]).json(&body).safe().run().await
    }

    /// Finds a place and reserves a slot there for 15 seconds. Where there is none the answer says why; that is no error.
    pub async fn find_match(&self, request: &MatchRequest) -> Result<Match, HubError> {
        self.plugin(Method::POST, &["matchmaking", "find"]).json(request).send().await
    }

    /// Returns servers and players by region, of one type or all.
    pub async fn list_regions(&self, server_type: Option<&str>) -> Result<Vec<RegionPopulation>, HubError> {
        self.plugin(Method::GET, &["matchmaking", "regions"]).query_if("serverType", server_type).send().await
    }

    /// Sends a player from the server they are on to another one, into a world there or not. The answer says whether the command
    /// is on its way, not whether the player arrived. [`HubConnector::transfer`](crate::HubConnector::transfer) also waits for servers that are
    /// just reconnecting.
    pub async fn transfer_player(
        &self,
        player: Uuid,
        target_server_id: &str,
        target_world_id: Option<&str>,
    ) -> Result<TransferOutcome, HubError> {
        self.transfer_player_once(player, target_server_id, target_world_id, &retry::new_key()).await
    }

    /// The same under an `Idempotency-Key` of the caller's: with the same key it counts once, however often it is sent.
    pub async fn transfer_player_once(
        &self,
        player: Uuid,
        target_server_id: &str,
        target_world_id: Option<&str>,
        key: &str,
    ) -> Result<TransferOutcome, HubError> {
        let body = json!({"playerUuid": player, "targetServerId": target_server_id, "targetWorldId": target_world_id});
        self.plugin(Method::POST, &["transfers"]).json(&body).idempotency_key(key).send().await
    }

    /// Reports how a transfer ended: `SUCCESS`, or an upper-case word that says what went wrong, which releases the slot. The first
    /// report counts; a join at the target is one, too.
    pub async fn report_transfer(
        &self,
        transfer_id: Uuid,
        player: Uuid,
        result: &str,
        error_message: Option<&str>,
    ) -> Result<(), HubError> {
        let body = json!({
            "transferId": transfer_id, "playerUuid": player, "result": result, "errorMessage": error_message,
        });
        self.plugin(Method::POST, &["transfers", "result"]).json(&body).safe().run().await
    }

    /// Sends a line to every server, this one included: show it when it comes back as `CHAT`, because a filter may have rewritten it.
    /// Fails with `chat_rejected` where a filter refuses it.
    pub async fn send_chat_message(&self, message: &ChatMessageInput) -> Result<(), HubError> {
        self.plugin(Method::POST, &["chat"]).json(message).run().await
    }
}
