//! Connects game servers, proxies and tools with a Network Hub.
//!
//! - [`HubClient`]: one call for each thing that a game server asks of the hub, and [`HubClient::request`] for all else.
//! - [`HubConnector`]: keeps one server connected: registration, heartbeats, players, the event stream, transfers, commands, and what
//!   is kept in memory. Made by [`ConnectorOptions`].
//! - [`GameServer`]: what the connector asks of the game.
//!
//! It needs a tokio runtime with I/O and time.

mod amount;
mod api;
mod client;
pub mod connector;
mod error;
pub mod model;
mod request;
mod retry;
mod stream;

pub use amount::{Amount, ParseAmountError};
pub use api::{DocumentQuery, LoadOptions, Order};
pub use client::{HubClient, HubClientBuilder};
pub use connector::{ConnectorOptions, GameServer, HubConnector, ServerState};
pub use error::{HubError, Refusal};
pub use request::{Answer, Request};
pub use reqwest::{Method, StatusCode, header};
pub use retry::RetryPolicy;
pub use stream::{EventStream, HubEvent, StreamUpdate};
