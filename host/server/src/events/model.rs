//! What can be told.

/// The kinds of events; the name is the frame's `event:` and the `type` in its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A chat line, to everybody.
    Chat,
    /// A punishment was created, revoked or ran out.
    Punishment,
    /// A signed command to send a player elsewhere, to the owning server.
    Transfer,
    /// A console command, to the server that is to run it.
    ExecuteCommand,
    /// The localization catalog changed.
    LocalizationUpdated,
    /// A world that was opened is ready.
    WorldReady,
    /// A world is to be booted, to its node.
    WorldOpen,
    /// A world is to be saved, to its node.
    WorldSnapshot,
    /// A world is to be saved and unloaded, to its node.
    WorldUnload,
    /// A config document changed.
    ConfigUpdated,
}

impl EventKind {
    /// The name on the wire.
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
