//! Requests to the hub that outlast an outage: transfers and worlds.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::Shared;
use super::events::ready_lease;
use super::persist::persist;
use crate::model::{LiveServer, OpenedWorld, TransferOutcome, WorldOpenStatus, WorldRequest};
use crate::{HubError, HubEvent, retry};

const TRANSFER_PATIENCE: Duration = Duration::from_secs(30);
const WORLD_PATIENCE: Duration = Duration::from_mins(1);

impl Shared {
    /// Asks for a transfer, also while the hub is away, the player's server is reconnecting, or the hub is only being told that the
    /// player is here.
    pub(super) async fn transfer(
        &self,
        player: Uuid,
        server: &str,
        world: Option<&str>,
    ) -> Result<TransferOutcome, HubError> {
        let deadline = Instant::now() + TRANSFER_PATIENCE;
        loop {
            while self.session.has_pending_changes(player) && Instant::now() < deadline {
                sleep(Duration::from_millis(100)).await;
            }
            let key = retry::new_key();
            let left = deadline.saturating_duration_since(Instant::now());
            let ask = || self.client.transfer_player_once(player, server, world, &key);
            let outcome = persist(Some(left), ask).await?;
            let is_reconnecting = outcome.result == "NOT_CONNECTED";
            let is_unknown = outcome.result == "PLAYER_OFFLINE" && self.is_online(player);
            if !is_reconnecting && !is_unknown || Instant::now() >= deadline {
                return Ok(outcome);
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Opens a world and waits until it is up.
    pub(super) async fn open_world(self: &Arc<Self>, request: &WorldRequest) -> Result<OpenedWorld, HubError> {
        let late =
            |_| HubError::Connector { code: "world_timeout", message: "The world was not up in time.".to_owned() };
        timeout(WORLD_PATIENCE, self.wait_for_world(request)).await.map_err(late)?
    }

    async fn wait_for_world(&self, request: &WorldRequest) -> Result<OpenedWorld, HubError> {
        loop {
            // Before it is asked for: the event may be quicker than the answer.
            let mut events = self.events.subscribe();
            let mut opened = persist(None, || self.client.open_world(request)).await?;
            if opened.status != Some(WorldOpenStatus::Loading) {
                return Ok(opened);
            }
            if let Some(event) = ready_event(&mut events, opened.world_instance_id.as_deref()).await {
                opened.status = Some(WorldOpenStatus::Ready);
                opened.matched_server = LiveServer::deserialize(&event.data["server"]).ok();
                return Ok(opened);
            }
            // Events were missed: asks again, which opens nothing twice.
        }
    }
}

/// The event that a world is up; none where events were missed.
async fn ready_event(events: &mut broadcast::Receiver<HubEvent>, lease: Option<&str>) -> Option<HubEvent> {
    loop {
        let event = events.recv().await.ok()?;
        if event.kind == "RESYNC" {
            return None;
        }
        if lease.is_some() && ready_lease(&event) == lease {
            return Some(event);
        }
    }
}
