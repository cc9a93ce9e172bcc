//! The extension point `login`: every player who joins, before they are let in.

pub use crate::bindings::login::exports::network_hub::module::login::{Attempt, Decision, Refusal};

use crate::CallContext;
use crate::bindings::login::exports::network_hub::module::login::Guest;
use crate::entry::{Exported, start};

/// Decides about players who join. Export it with [`export`](crate::export).
pub trait Login {
    /// Decides about one player. The first refusal of the chain ends it.
    fn check(context: &CallContext, attempt: &Attempt) -> Decision;
}

impl Decision {
    /// Refuses the player, with a reason for them (1 to 256 characters) and a kind for connectors: 1 to 32 of `a-z`, `0-9`,
    /// `_` and `-`.
    pub fn refuse(reason: impl Into<String>, kind: impl Into<String>) -> Self {
        Self::Refuse(Refusal { reason: reason.into(), kind: kind.into() })
    }
}

impl<T: Login> Guest for Exported<T> {
    fn check(context: CallContext, attempt: Attempt) -> Decision {
        start();
        T::check(&context, &attempt)
    }
}
