//! The event stream: the connector's reaction to each event.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;
use tracing::{info, warn};
use uuid::Uuid;

use super::Shared;
use super::game::GameTask;
use super::persist::persist;
use crate::model::{
    ConsoleCommandOrder, DeliveryReady, Punishment, PunishmentKind, SessionEnd, SessionRequest, SignedTransferCommand,
};
use crate::stream::{HubEvent, StreamUpdate};
use crate::{EventStream, HubError};

/// Lifetime of transfer commands, and of reports of them.
const COMMAND_TTL: Duration = Duration::from_secs(30);

impl Shared {
    /// Follows the stream until the connector stops.
    pub(super) async fn follow(self: &Arc<Self>, mut stream: EventStream) {
        let mut was_open = false;
        loop {
            match stream.next().await {
                StreamUpdate::Opened => {
                    self.stream.lock().opened();
                    // State that was read before the first stream may have changed before it began.
                    if was_open {
                        self.look_for_deliveries(None);
                    } else {
                        self.read_all();
                    }
                    was_open = true;
                }
                StreamUpdate::Lost(error) => {
                    info!("the event stream ended and will be opened again: {}", error.message());
                    self.stream.lock().lost(error.message());
                }
                StreamUpdate::Event(event) => {
                    if let Err(error) = self.handle(&event) {
                        warn!("an event cannot be handled: {}", error.message());
                    }
                    // Without receivers the event is dropped.
                    let _ = self.events.send(event);
                }
            }
        }
    }

    fn handle(self: &Arc<Self>, event: &HubEvent) -> Result<(), HubError> {
        match event.kind.as_str() {
            "PING" => self.clock.ping(event.at),
            "RESYNC" => {
                info!("events may have been missed; reading everything anew");
                self.session.register_again();
                self.read_all();
            }
            "CHAT" => self.ask_game(GameTask::Chat(event.parse()?)),
            "PUNISHMENT" => self.punished(event)?,
            "TRANSFER" => self.carry_out(event.parse()?),
            "SIGNING_SECRET_ROTATED" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Rotation {
                    signing_secret: String,
                    valid_until: i64,
                }
                let rotation: Rotation = event.parse()?;
                self.verifier.rotate(&rotation.signing_secret, rotation.valid_until);
            }
            "EXECUTE_COMMAND" => self.run_command(event.parse()?, event.at),
            "LOCALIZATION_UPDATED" => self.read_catalog(),
            "CONFIG_UPDATED" => {
                let (group, namespace) = (event.text("group"), event.text("namespace"));
                self.read_configs(|config| config.is(group, namespace));
            }
            "PERMISSIONS_UPDATED" => {
                let player: Option<Uuid> = event.text("playerUuid").and_then(|text| text.parse().ok());
                let revision = event.data["revision"].as_i64();
                self.permissions.changed();
                let online = self.online();
                let concerned = online.into_iter().filter(|each| player.is_none_or(|player| player == *each));
                for each in concerned.filter(|each| self.permissions.is_before(*each, revision)) {
                    self.permission_refresh.add(each);
                }
            }
            "SESSION_REQUESTED" => {
                let request: SessionRequest = event.parse()?;
                self.player_data.requested(request.player_uuid, request.fence);
            }
            "SESSION_ENDED" => {
                let end: SessionEnd = event.parse()?;
                self.player_data.session_ended(end.player_uuid, end.fence);
            }
            "DELIVERY_READY" => {
                let ready: DeliveryReady = event.parse()?;
                self.delivery_ready(ready.delivery_id, ready.player_uuid, &ready.kind);
            }
            "TICKET_UPDATED" => self.ticket_updated(&event.parse()?),
            "TICKET_MATCHED" => self.ticket_matched(&event.parse()?),
            _ => {} // For listeners.
        }
        Ok(())
    }

    fn punished(&self, event: &HubEvent) -> Result<(), HubError> {
        let punishment = Punishment::deserialize(&event.data["punishment"])
            .map_err(|error| HubError::InvalidAnswer(format!("PUNISHMENT: {error}")))?;
        let action = event.text("action");
        // UPDATED: staff changed it, and it may be in force still.
        let is_in_force = matches!(action, Some("CREATED" | "UPDATED")) && punishment.active;
        self.punishments.update(punishment.clone(), is_in_force);
        if action == Some("CREATED") && matches!(punishment.kind, PunishmentKind::Ban | PunishmentKind::Kick) {
            for player in self.online().into_iter().filter(|player| self.punishments.concerns(&punishment, *player)) {
                self.ask_game(GameTask::Kick(player, punishment.clone()));
            }
        }
        Ok(())
    }

    fn carry_out(self: &Arc<Self>, command: SignedTransferCommand) {
        if let Err(refusal) = self.verifier.verify(&command, self.clock.now()) {
            warn!("transfer {} is refused: {refusal}", command.transfer_id);
        } else if self.is_online(command.player_uuid) {
            self.ask_game(GameTask::Transfer(command));
        } else {
            let shared = Arc::clone(self);
            let report =
                async move { shared.report_failed_transfer(&command, "The player is not on this server.").await };
            self.spawn(report);
        }
    }

    pub(super) async fn report_failed_transfer(&self, command: &SignedTransferCommand, message: &str) {
        let report = || self.client.report_transfer(command.transfer_id, command.player_uuid, "FAILED", Some(message));
        if let Err(error) = persist(Some(COMMAND_TTL), report).await {
            warn!("the end of transfer {} cannot be reported: {}", command.transfer_id, error.message());
        }
    }

    /// Runs a console command, unless its caller has timed out.
    fn run_command(&self, command: ConsoleCommandOrder, sent_at: i64) {
        let left = sent_at + command.timeout_ms - self.clock.now();
        match u64::try_from(left) {
            Ok(left) if left > 0 => {
                // Some of the time is for the answer's way back.
                let deadline = Instant::now() + Duration::from_millis(left * 9 / 10);
                self.ask_game(GameTask::Command(command, deadline));
            }
            _ => info!("a console command came too late and was not run"),
        }
    }

    pub(super) async fn answer_command(&self, command: &ConsoleCommandOrder, outcome: Result<String, String>) {
        let patience = Duration::from_millis(command.timeout_ms.unsigned_abs());
        let outcome = outcome.as_deref().map_err(String::as_str);
        let report = || self.client.report_executed_command(&command.request_id, outcome);
        if let Err(error) = persist(Some(patience), report).await {
            warn!("a console command cannot be answered: {}", error.message());
        }
    }

    /// Reads all cached state again.
    fn read_all(self: &Arc<Self>) {
        self.punishments.gap();
        for player in self.online() {
            self.punishment_refresh.add(player);
            self.permission_refresh.add(player);
            self.language_refresh.add(player);
        }
        self.read_catalog();
        self.read_configs(|_| true);
        self.read_places();
        self.look_for_deliveries(None);
    }

    fn read_catalog(self: &Arc<Self>) {
        if !self.localization.namespaces.is_empty() {
            let shared = Arc::clone(self);
            self.spawn(async move {
                if let Err(error) = persist(None, || shared.localization.refresh_catalog()).await {
                    warn!("the messages cannot be read: {}", error.message());
                }
            });
        }
    }

    pub(super) fn read_configs(self: &Arc<Self>, which: impl Fn(&super::config::ConfigSource) -> bool) {
        let configs = self.configs.lock().clone();
        for config in configs.into_iter().filter(|config| which(config)) {
            let shared = Arc::clone(self);
            self.spawn(async move {
                if let Err(error) = persist(None, || config.read(&shared.client)).await {
                    warn!("a config document cannot be read: {}", error.message());
                }
            });
        }
    }
}

/// The lease of a `WORLD_READY`.
pub(super) fn ready_lease(event: &HubEvent) -> Option<&str> {
    match &event.data["worldInstanceId"] {
        Value::String(lease) if event.kind == "WORLD_READY" => Some(lease),
        _ => None,
    }
}
