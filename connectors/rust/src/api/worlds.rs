//! Worlds on demand. Opening, releasing and snapshots are for any server; the others are callbacks of the node that runs a world, and
//! fail with `lease_ended` or `stale_fence` where it no longer does.

use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{OpenedWorld, SnapshotUpload, WorldLease, WorldRequest};
use crate::{HubClient, HubError};

impl HubClient {
    /// Opens a world, wherever it is or will be up. `LOADING`: wait for `WORLD_READY` with its `worldInstanceId`, as
    /// [`HubConnector::open_world`](crate::HubConnector::open_world) does.
    pub async fn open_world(&self, request: &WorldRequest) -> Result<OpenedWorld, HubError> {
        self.plugin(Method::POST, &["worlds", "open"]).json(request).safe().send().await
    }

    /// Releases a world that is no longer needed.
    pub async fn release_world(&self, lease: &str) -> Result<WorldLease, HubError> {
        self.plugin(Method::POST, &["worlds", lease, "release"]).safe().send().await
    }

    /// Asks for a save point of a live world.
    pub async fn snapshot_world(&self, lease: &str, reason: Option<&str>) -> Result<WorldLease, HubError> {
        self.plugin(Method::POST, &["worlds", lease, "snapshot"]).json(&json!({"reason": reason})).safe().send().await
    }

    /// At a node's start: all leases it held before are lost.
    pub async fn release_all_worlds(&self, node_server_id: &str) -> Result<(), HubError> {
        let body = json!({"nodeServerId": node_server_id});
        self.plugin(Method::POST, &["worlds", "release-all"]).json(&body).safe().run().await
    }

    /// The world is up.
    pub async fn report_world_ready(
        &self,
        lease: i64,
        node_server_id: &str,
        fence: i64,
    ) -> Result<WorldLease, HubError> {
        self.callback(lease, "ready", json!({"nodeServerId": node_server_id, "fence": fence})).await
    }

    /// Renews a lease, every third of its `lease_ms`. The answer's state is what the hub wants.
    pub async fn send_world_heartbeat(
        &self,
        lease: i64,
        node_server_id: &str,
        fence: i64,
        player_count: u32,
    ) -> Result<WorldLease, HubError> {
        let body = json!({"nodeServerId": node_server_id, "fence": fence, "playerCount": player_count});
        self.callback(lease, "heartbeat", body).await
    }

    /// Creates an address to upload a snapshot to.
    pub async fn create_world_upload_url(&self, lease: i64) -> Result<SnapshotUpload, HubError> {
        self.plugin(Method::POST, &["worlds", &lease.to_string(), "upload-url"]).safe().send().await
    }

    /// The world is unloaded, and saved under the key of its upload with its size, if it was.
    pub async fn report_world_unloaded(
        &self,
        lease: i64,
        node_server_id: &str,
        fence: i64,
        snapshot: Option<(&str, u64)>,
    ) -> Result<WorldLease, HubError> {
        let (blob_key, size) = snapshot.unzip();
        let body = json!({"nodeServerId": node_server_id, "fence": fence, "blobKey": blob_key, "sizeBytes": size});
        self.callback(lease, "unloaded", body).await
    }

    async fn callback(&self, lease: i64, route: &str, body: Value) -> Result<WorldLease, HubError> {
        self.plugin(Method::POST, &["worlds", &lease.to_string(), route]).json(&body).safe().send().await
    }
}
