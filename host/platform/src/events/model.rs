//! Kinds of events, and the ones carried by a stream.

use strum::VariantArray as _;

use crate::auth::Scope;

/// Kind of event; its name is the frame's `event:` and the `type` in its data.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum EventKind {
    /// A chat message, to every server.
    Chat,
    /// A punishment was created, revoked or expired.
    Punishment,
    /// A signed command to transfer a player, to the player's current server.
    Transfer,
    /// A console command, to the server that runs it.
    ExecuteCommand,
    /// The localization catalog changed.
    LocalizationUpdated,
    /// An opened world is ready.
    WorldReady,
    /// Boots a world; sent to its node.
    WorldOpen,
    /// Saves a world; sent to its node.
    WorldSnapshot,
    /// Saves and unloads a world; sent to its node.
    WorldUnload,
    /// A config document changed.
    ConfigUpdated,
    /// The secret for signing transfers was replaced.
    SigningSecretRotated,
    /// A server came online.
    ServerOnline,
    /// A server went offline.
    ServerOffline,
    /// A player came online.
    PlayerJoined,
    /// A player went offline.
    PlayerLeft,
    /// A player moved from one server to another.
    PlayerSwitched,
    /// A player's permissions, or a permission group, changed.
    PermissionsUpdated,
    /// A balance changed.
    BalanceChanged,
    /// The state of a world's lease changed.
    WorldState,
    /// Another server asks for a player's session; sent to the server that holds it.
    SessionRequested,
    /// A player's session was ended, but not by its server; sent to that server.
    SessionEnded,
    /// A delivery can be claimed, to the player's current server.
    DeliveryReady,
    /// A delivery has ended, or waits for a person.
    DeliverySettled,
    /// A chat line, with what the network's filter decided about it.
    ChatVerdict,
    /// A player reported another.
    ReportCreated,
    /// A punished player appealed.
    AppealCreated,
    /// A ticket of a waiting line was matched; to the players' servers and all proxies.
    TicketMatched,
    /// The place of a waiting player changed; to the player's server.
    TicketUpdated,
    /// A module emitted it.
    ModuleEvent,
    /// A message of a module to players; to the servers with the players.
    SystemMessage,
    /// A module did not handle an event, which waits for a person.
    ModuleDeadLetter,
    /// Events wait for a module for long.
    ModuleLagging,
}

impl EventKind {
    /// Name in frames.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// True if only streams that list it in `types` get it.
    fn is_on_request(self) -> bool {
        self == Self::SigningSecretRotated || self.needs_listener()
    }

    /// True if it is published only while a stream requests it.
    pub(super) fn needs_listener(self) -> bool {
        matches!(
            self,
            Self::ServerOnline
                | Self::ServerOffline
                | Self::PlayerJoined
                | Self::PlayerLeft
                | Self::PlayerSwitched
                | Self::PermissionsUpdated
                | Self::BalanceChanged
                | Self::WorldState
                | Self::SessionRequested
                | Self::SessionEnded
                | Self::DeliveryReady
                | Self::DeliverySettled
                | Self::ChatVerdict
                | Self::ReportCreated
                | Self::AppealCreated
                | Self::TicketMatched
                | Self::TicketUpdated
                | Self::SystemMessage
                | Self::ModuleEvent
                | Self::ModuleDeadLetter
                | Self::ModuleLagging
        )
    }

    /// Scopes that a webhook of it needs: those of the stream with the same events.
    pub fn scopes(self) -> &'static [Scope] {
        match self {
            Self::ChatVerdict => &[Scope::EventsRead, Scope::ChatRead],
            _ if self.is_subscribable() => &[Scope::EventsRead],
            _ => &[Scope::Plugin],
        }
    }

    /// Scopes that a module needs to be handed it.
    pub fn handler_scopes(self) -> &'static [Scope] {
        match self {
            Self::Chat | Self::ChatVerdict => &[Scope::EventsRead, Scope::ChatRead],
            Self::ReportCreated | Self::AppealCreated => &[Scope::EventsRead, Scope::ReportsManage],
            Self::DeliveryReady | Self::DeliverySettled => &[Scope::EventsRead, Scope::DeliveriesManage],
            _ => &[Scope::EventsRead],
        }
    }

    /// True if webhooks can subscribe to it. Commands to one server, with links and signatures, are only for that
    /// server.
    pub fn is_subscribable(self) -> bool {
        match self {
            Self::Chat
            | Self::Punishment
            | Self::LocalizationUpdated
            | Self::WorldReady
            | Self::ConfigUpdated
            | Self::ServerOnline
            | Self::ServerOffline
            | Self::PlayerJoined
            | Self::PlayerLeft
            | Self::PlayerSwitched
            | Self::PermissionsUpdated
            | Self::BalanceChanged
            | Self::WorldState
            | Self::TicketMatched
            | Self::SessionEnded
            | Self::DeliveryReady
            | Self::DeliverySettled
            | Self::ChatVerdict
            | Self::ReportCreated
            | Self::AppealCreated
            | Self::ModuleEvent
            | Self::ModuleDeadLetter
            | Self::ModuleLagging => true,
            Self::Transfer
            | Self::ExecuteCommand
            | Self::WorldOpen
            | Self::WorldSnapshot
            | Self::WorldUnload
            | Self::SigningSecretRotated
            | Self::SessionRequested
            | Self::SystemMessage
            | Self::TicketUpdated => false,
        }
    }

    /// True if it contains a signature, a link or a secret: the outbox has it sealed.
    pub(super) fn holds_credential(self) -> bool {
        matches!(
            self,
            Self::Transfer | Self::WorldOpen | Self::WorldSnapshot | Self::WorldUnload | Self::SigningSecretRotated
        )
    }

    /// True if it contains a secret of connectors, which a key with access only to the stream must not learn.
    fn is_secret(self) -> bool {
        matches!(self, Self::SigningSecretRotated)
    }
}

/// Frames of every stream; listing them in `types` has no effect.
const ALWAYS: [&str; 2] = ["PING", "RESYNC"];

/// Events of a stream, one bit per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventTypes(u64);

impl FromIterator<EventKind> for EventTypes {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | (1 << kind as u32)))
    }
}

impl Default for EventTypes {
    /// All except those that must be listed.
    fn default() -> Self {
        EventKind::VARIANTS.iter().copied().filter(|kind| !kind.is_on_request()).collect()
    }
}

impl TryFrom<String> for EventTypes {
    type Error = String;

    fn try_from(names: String) -> Result<Self, String> {
        let named = names.split(',').map(str::trim).filter(|name| !ALWAYS.contains(name));
        named.map(|name| name.parse::<EventKind>().map_err(|_| unknown(name))).collect()
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<_> = EventKind::VARIANTS.iter().map(|kind| kind.name()).collect();
    format!("unknown event `{name}`; use any of {}", known.join(", "))
}

impl EventTypes {
    /// True if any of them contains a secret of connectors.
    pub(super) fn include_secret(self) -> bool {
        self.kinds().any(EventKind::is_secret)
    }

    /// Kinds of the events.
    pub(super) fn kinds(self) -> impl Iterator<Item = EventKind> {
        EventKind::VARIANTS.iter().copied().filter(move |kind| self.holds(*kind))
    }

    /// Names of the events that are published only while a stream requests them.
    pub(super) fn needing_listener(self) -> impl Iterator<Item = &'static str> {
        self.kinds().filter(|kind| kind.needs_listener()).map(EventKind::name)
    }

    /// True if the stream carries an event with this name.
    pub(super) fn include(self, name: &str) -> bool {
        name.parse().map_or_else(|_| ALWAYS.contains(&name), |kind| self.holds(kind))
    }

    /// True if they include this kind.
    pub(super) fn holds(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_carries_what_it_names() {
        let usual = EventTypes::default();
        assert!(usual.include("CHAT") && usual.include("PING") && usual.include("RESYNC"));
        assert!(!usual.include("SIGNING_SECRET_ROTATED") && !usual.include_secret());
        assert!(!usual.include("BALANCE_CHANGED") && usual.needing_listener().next().is_none());
        // Events of newer nodes were not requested.
        assert!(!usual.include("OF_A_NEWER_NODE"));
        let named = EventTypes::try_from("SIGNING_SECRET_ROTATED, PING,WORLD_READY".to_owned()).unwrap();
        assert!(named.include("SIGNING_SECRET_ROTATED") && named.include("WORLD_READY") && named.include("RESYNC"));
        assert!(!named.include("CHAT") && named.include_secret());
        let named = EventTypes::try_from("WORLD_STATE,CHAT,SERVER_ONLINE".to_owned()).unwrap();
        assert_eq!(named.needing_listener().collect::<Vec<_>>(), ["SERVER_ONLINE", "WORLD_STATE"]);
        for wrong in ["NONSENSE", "CHAT,", "chat", "CHAT;PING"] {
            assert!(EventTypes::try_from(wrong.to_owned()).unwrap_err().contains("unknown event"), "{wrong}");
        }
    }
}
