//! Things owed to players, such as purchases. [`ConnectorOptions::on_delivery`](crate::ConnectorOptions::on_delivery) claims, runs and
//! completes them.

use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::model::{Delivery, DeliveryClaim, DeliveryRequest, ReadyDeliveries};
use crate::{HubClient, HubError, retry};

impl HubClient {
    /// Creates a delivery. With the same `reference` again it is the delivery there is, however it ended; other values under a used
    /// reference fail with `reference_used`.
    pub async fn create_delivery(&self, request: &DeliveryRequest) -> Result<Delivery, HubError> {
        self.plugin(Method::POST, &["deliveries"]).json(request).send().await
    }

    /// At most 100 deliveries that the server may claim now, of all players or of one.
    pub async fn list_ready_deliveries(
        &self,
        server_id: &str,
        player: Option<Uuid>,
    ) -> Result<ReadyDeliveries, HubError> {
        let request = self.plugin(Method::GET, &["deliveries"]).query("serverId", server_id);
        request.query_if("playerUuid", player).send().await
    }

    /// Claims a delivery for 60 seconds. Fails with `claimed`, `settled` or `not_ready`.
    pub async fn claim_delivery(&self, delivery_id: i64, server_id: &str) -> Result<DeliveryClaim, HubError> {
        self.claim_delivery_once(delivery_id, server_id, &retry::new_key()).await
    }

    /// The same under an `Idempotency-Key` of the caller's: with the same key it is the same claim.
    pub async fn claim_delivery_once(
        &self,
        delivery_id: i64,
        server_id: &str,
        key: &str,
    ) -> Result<DeliveryClaim, HubError> {
        let request = self.plugin(Method::POST, &["deliveries", &delivery_id.to_string(), "claim"]);
        request.json(&json!({"serverId": server_id})).idempotency_key(key).send().await
    }

    /// Says that it is delivered; fails with `stale_claim` where the claim is over.
    pub async fn complete_delivery(&self, delivery_id: i64, claim: &str) -> Result<Delivery, HubError> {
        let request = self.plugin(Method::POST, &["deliveries", &delivery_id.to_string(), "complete"]);
        request.json(&json!({"claim": claim})).safe().send().await
    }

    /// Says that it cannot be delivered: offered again with `retry`, up to five attempts, else FAILED.
    pub async fn fail_delivery(
        &self,
        delivery_id: i64,
        claim: &str,
        reason: &str,
        retry: bool,
    ) -> Result<Delivery, HubError> {
        let request = self.plugin(Method::POST, &["deliveries", &delivery_id.to_string(), "fail"]);
        request.json(&json!({"claim": claim, "reason": reason, "retry": retry})).safe().send().await
    }
}
