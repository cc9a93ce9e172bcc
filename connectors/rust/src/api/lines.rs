//! Waiting lines. [`HubConnector::wait_in_line`](crate::HubConnector::wait_in_line) also sends the player when their turn has come.

use reqwest::Method;
use uuid::Uuid;

use super::players::was_found;
use crate::model::{Ticket, TicketRequest};
use crate::{HubClient, HubError};

impl HubClient {
    /// Takes a ticket, which keeps its place in a line until there is room. The same request again keeps ticket and place.
    pub async fn join_line(&self, request: &TicketRequest) -> Result<Ticket, HubError> {
        self.plugin(Method::POST, &["matchmaking", "tickets"]).json(request).send().await
    }

    /// A ticket with its place or its match; none for one that ended more than ten minutes ago.
    pub async fn get_ticket(&self, ticket_id: Uuid) -> Result<Option<Ticket>, HubError> {
        self.plugin(Method::GET, &["matchmaking", "tickets", &ticket_id.to_string()]).find().await
    }

    /// Ends a ticket; returns whether there was one.
    pub async fn leave_line(&self, ticket_id: Uuid) -> Result<bool, HubError> {
        was_found(self.plugin(Method::DELETE, &["matchmaking", "tickets", &ticket_id.to_string()]).run().await)
    }
}
