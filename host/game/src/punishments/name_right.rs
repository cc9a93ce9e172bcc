//! Right to say under which name a player was seen: punishments by that name match the player from then on.

use crate::auth::{Caller, Scope};

/// Right to record players' names for punishments.
#[derive(Clone, Copy, Debug)]
pub struct NameRight(());

impl NameRight {
    /// Right of a caller who may also punish the player.
    pub(crate) fn of(caller: &Caller) -> Option<Self> {
        caller.scopes.allow(Scope::PunishmentsWrite).then_some(Self(()))
    }

    /// Right of a connector that reports a player on its server.
    pub(crate) fn of_connector() -> Self {
        Self(())
    }
}
