//! The kinds of events.

/// A kind of event; its name is the frame's `event:` and the `type` in its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A chat line, to every server.
    Chat,
    /// A punishment was created, revoked or expired.
    Punishment,
    /// A signed command to transfer a player, to the server the player is on.
    Transfer,
    /// A console command, to the server that runs it.
    ExecuteCommand,
    /// The localization catalog changed.
    LocalizationUpdated,
    /// An opened world is ready.
    WorldReady,
    /// Boots a world, to its node.
    WorldOpen,
    /// Saves a world, to its node.
    WorldSnapshot,
    /// Saves and unloads a world, to its node.
    WorldUnload,
    /// A config document changed.
    ConfigUpdated,
}

impl EventKind {
    /// The name in frames.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "CHAT",
            Self::Punishment => "PUNISHMENT",
            Self::Transfer => "TRANSFER",
            Self::ExecuteCommand => "EXECUTE_COMMAND",
            Self::LocalizationUpdated => "LOCALIZATION_UPDATED",
            Self::WorldReady => "WORLD_READY",
            Self::WorldOpen => "WORLD_OPEN",
            Self::WorldSnapshot => "WORLD_SNAPSHOT",
            Self::WorldUnload => "WORLD_UNLOAD",
            Self::ConfigUpdated => "CONFIG_UPDATED",
        }
    }
}
