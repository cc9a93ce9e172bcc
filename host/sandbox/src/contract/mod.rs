//! The contract between hub and module, as Rust types: `plugins-sdk/wit/1.1` one to one.
//!
//! The hub itself works with these types, too. When a later version of the contract changes a type, the newest
//! version's types stay here, and the older version translates: see `versions`.

pub mod chat;
pub mod economy;
pub mod effects;
pub mod endpoints;
pub mod events;
mod json_form;
pub mod login;
pub mod matchmaking;
pub mod players;
pub mod punishment;
pub mod queue;
pub mod schedules;
pub mod state;
mod types;

pub use types::{CallContext, Cause, HostError, LogLevel, PlayerRef, PunishmentKind};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The WIT package of all the contract's interfaces.
pub const PACKAGE: &str = "network-hub:module";

/// Interfaces of types alone, which a module may import without any of their functions.
pub(crate) const TYPE_INTERFACES: &[&str] = &["types", "effects"];

/// Interface of timers, which belong to the point `schedules`.
pub(crate) const TIMERS: &str = "timers";

/// An extension point: a decision of the hub that a network's modules make, or events that they handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Point {
    /// Choice of the server or world to which a player is sent.
    Matchmaking,
    /// Every chat line before it is shown.
    Chat,
    /// Every punishment before it is made.
    Punishment,
    /// Events of the network, after they happened.
    Events,
    /// Requests to the network's own routes.
    Endpoints,
    /// Times that the manifest lists, and timers that effects set.
    Schedules,
    /// Every player who joins.
    Login,
    /// Changes of balances that connectors ask for, before they are made.
    Economy,
    /// Every new ticket of a waiting line.
    Queue,
}

impl Point {
    /// All points, in their listing order.
    pub const ALL: [Self; 9] = [
        Self::Matchmaking,
        Self::Chat,
        Self::Punishment,
        Self::Events,
        Self::Endpoints,
        Self::Schedules,
        Self::Login,
        Self::Economy,
        Self::Queue,
    ];

    /// The points of [`Point::is_override`], in their listing order.
    pub const OVERRIDES: [Self; 6] =
        [Self::Matchmaking, Self::Chat, Self::Punishment, Self::Login, Self::Economy, Self::Queue];

    /// True if its modules decide on the way of a request; false if they handle something after it, with effects.
    pub const fn is_override(self) -> bool {
        !matches!(self, Self::Events | Self::Endpoints | Self::Schedules)
    }

    /// True if the first version of the contract has it.
    pub(crate) const fn is_of_first_version(self) -> bool {
        matches!(self, Self::Matchmaking | Self::Chat | Self::Punishment)
    }

    /// The name in the API, which is also the name of its first WIT interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matchmaking => "matchmaking",
            Self::Chat => "chat",
            Self::Punishment => "punishment",
            Self::Events => "events",
            Self::Endpoints => "endpoints",
            Self::Schedules => "schedules",
            Self::Login => "login",
            Self::Economy => "economy",
            Self::Queue => "queue",
        }
    }

    /// The point of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }

    /// The point that a WIT interface belongs to.
    pub(crate) fn of_interface(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.interfaces().iter().any(|(interface, _)| *interface == name))
    }

    /// Its WIT interfaces, of which a module exports one or more, and the functions that each exports.
    pub(crate) const fn interfaces(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Matchmaking => &[("matchmaking", &["rank-servers", "rank-worlds"])],
            Self::Chat => &[("chat", &["filter"])],
            Self::Punishment => &[("punishment", &["review"])],
            Self::Events => &[("events", &["handle"])],
            Self::Endpoints => &[("endpoints", &["answer"])],
            Self::Schedules => &[("schedules", &["tick"]), (TIMERS, &["fire"])],
            Self::Login => &[("login", &["check"])],
            Self::Economy => &[("economy", &["review"])],
            Self::Queue => &[("queue", &["place"])],
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The full name of an interface, such as `network-hub:module/chat@1.0.0`.
pub(crate) fn interface_name(interface: &str, version: &str) -> String {
    format!("{PACKAGE}/{interface}@{version}")
}
