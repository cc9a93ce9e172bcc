//! The extension point `events`: what happened in the network, after it happened.
//!
//! ```
//! use network_hub_module::CallContext;
//! use network_hub_module::effects::{self, Effect};
//! use network_hub_module::events::{Event, Events, Failure};
//!
//! struct Welcome;
//!
//! #[network_hub_module::export]
//! impl Events for Welcome {
//!     fn handle(_: &CallContext, event: &Event) -> Result<Vec<Effect>, Failure> {
//!         Ok(vec![effects::modify_currency(event.player()?, "coins", 100.0, "welcome")])
//!     }
//! }
//! ```
//!
//! `module.toml` beside `Cargo.toml` names the types of events, their order, and what the module needs:
//!
//! ```toml
//! scopes = ["events:read", "economy:write"]
//!
//! [events]
//! types = ["PLAYER_JOINED"]
//! ```

pub use crate::bindings::events::exports::network_hub::module::events::{Event, Failure};

use crate::bindings::events::exports::network_hub::module::events::Guest;
use crate::effects::Effect;
use crate::entry::{Exported, start};
use crate::{CallContext, HostError};
use serde::de::DeserializeOwned;

/// Handles events. Export it with [`export`](crate::export).
pub trait Events {
    /// Handles one event of the types that `module.toml` names.
    ///
    /// # Errors
    /// [`Failure::Retry`] to be called again later, [`Failure::Reject`] for an event that never can be handled. Nothing
    /// of the call is kept then.
    fn handle(context: &CallContext, event: &Event) -> Result<Vec<Effect>, Failure>;
}

impl Event {
    /// The event's fields.
    ///
    /// # Errors
    /// [`Failure::Reject`] if they do not fit `T`.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.data)
            .map_err(|error| Failure::Reject(format!("the fields of {}: {error}", self.kind)))
    }

    /// UUID of the player that it is about.
    ///
    /// # Errors
    /// [`Failure::Reject`] if it is about none.
    pub fn player(&self) -> Result<&str, Failure> {
        self.player_uuid.as_deref().ok_or_else(|| Failure::Reject(format!("{} is about no player", self.kind)))
    }
}

/// A host function that fails is a reason to try again.
impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Unavailable => Self::Retry("the hub's data can't be reached".into()),
            HostError::QuotaExceeded => Self::Retry("the module's state is full".into()),
            HostError::Invalid(why) => Self::Reject(why),
            HostError::Forbidden => Self::Reject("a scope for reading is not granted".into()),
        }
    }
}

impl<T: Events> Guest for Exported<T> {
    fn handle(context: CallContext, event: Event) -> Result<Vec<Effect>, Failure> {
        start();
        T::handle(&context, &event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Balance {
        owner_key: String,
    }

    #[test]
    fn fields_are_read_or_the_event_is_rejected() {
        let event = testing::event("BALANCE_CHANGED", r#"{"ownerKey": "p"}"#);
        assert_eq!(event.fields::<Balance>().unwrap().owner_key, "p");
        let Err(Failure::Reject(why)) = testing::event("BALANCE_CHANGED", "{}").fields::<Balance>() else { panic!() };
        assert!(why.contains("missing field `ownerKey`"), "{why}");
    }

    #[test]
    fn an_event_is_about_a_player_or_not() {
        let mut event = testing::event("FIRST_JOIN", "{}");
        assert_eq!(event.player().unwrap(), "p");
        event.player_uuid = None;
        assert!(event.player().is_err());
    }
}
