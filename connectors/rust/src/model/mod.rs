// Generated from the hub's OpenAPI document by connectors/generate.
//! Requests and answers of the hub. Times are milliseconds since the Unix epoch; `None` is a null or missing field.

#![allow(missing_docs, clippy::doc_markdown, clippy::struct_excessive_bools, reason = "as the document has it")]

use std::fmt;

use serde::Serialize as _;

mod about;
mod chat;
mod collections;
mod config;
mod deliveries;
mod economy;
mod events;
mod localization;
mod matchmaking;
mod node_agents;
mod permissions;
mod player_sessions;
mod players;
mod provisioning;
mod punishments;
mod reports;
mod servers;
mod transfers;
mod worlds;

pub use self::about::*;
pub use self::chat::*;
pub use self::collections::*;
pub use self::config::*;
pub use self::deliveries::*;
pub use self::economy::*;
pub use self::events::*;
pub use self::localization::*;
pub use self::matchmaking::*;
pub use self::node_agents::*;
pub use self::permissions::*;
pub use self::player_sessions::*;
pub use self::players::*;
pub use self::provisioning::*;
pub use self::punishments::*;
pub use self::reports::*;
pub use self::servers::*;
pub use self::transfers::*;
pub use self::worlds::*;

/// Writes enums as the document has them.
macro_rules! display_as_serialized {
    ($($name:ident),* $(,)?) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        })*
    };
}

display_as_serialized!(
    ActorType,
    AppealDecision,
    AppealState,
    CommandStatus,
    DeliveryOnLost,
    DeliveryState,
    DesiredState,
    IndexState,
    IndexType,
    LanguageSource,
    MatchDecider,
    MatchResult,
    OutputStream,
    PlayerSessionState,
    PreviousSessionState,
    ProvisioningPhase,
    PunishmentAction,
    PunishmentKind,
    PunishmentPreviewDecision,
    ReportState,
    ServerConnectivity,
    ServerRole,
    ServerStatus,
    StatisticPeriod,
    TicketState,
    Verdict,
    WorldLeaseState,
    WorldOpenStatus,
    WorldPersistence
);
