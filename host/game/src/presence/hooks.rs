//! Hooks of presence: work of the components above it when players come and go, and their part of a server.

use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::clock::Millis;
use crate::presence::{Arrival, SavedVisit};
use crate::values::{Identifier, NetworkId, PlayerId};

/// An agent's report of itself and of the server's container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    pub(crate) node_id: String,
    pub capabilities: Vec<String>,
    pub(crate) container_state: Option<String>,
    pub(crate) container_status: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub out_of_memory: Option<bool>,
}

/// The components above presence, as `lifecycle.rs` joins them.
pub trait PresenceHooks: Send + Sync {
    /// Records that a player joined a server: ends their transfer there, makes them known, and tells the
    /// deliveries that can be claimed. A failure is only logged.
    fn joined<'a>(
        &self,
        app: &'a App,
        network: NetworkId,
        player: PlayerId,
        name: Option<&'a Identifier>,
        server: &'a Identifier,
    ) -> BoxFuture<'a, ()>;

    /// Records players who came with a server's list, like those who [joined](Self::joined), all in a few statements.
    fn arrived<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        arrivals: &'a [Arrival],
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Records players who left without a report, at these times.
    fn departed<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        departures: &'a [(PlayerId, Millis)],
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// The time until which a player who leaves `server` in a transfer may arrive.
    fn arrival_deadline<'a>(
        &self,
        app: &'a App,
        network: NetworkId,
        player: PlayerId,
        server: &'a Identifier,
    ) -> BoxFuture<'a, Result<Option<Millis>, hub_db::Error>>;

    /// Records that a player left. A failure is only logged.
    fn left<'a>(&self, app: &'a App, network: NetworkId, player: PlayerId) -> BoxFuture<'a, ()>;

    /// Saves visits that began or ended, in the transaction that saves the presence.
    fn save_visits<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        visits: &'a [SavedVisit],
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// The last report of a server's node agent, while one polls.
    fn agent_report(&self, app: &App, network: NetworkId, server: &Identifier) -> Option<AgentReport>;
}

/// The hooks as a state.
pub struct Hooks(pub &'static dyn PresenceHooks);
