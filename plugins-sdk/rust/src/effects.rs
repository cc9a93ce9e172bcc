//! Requests of a handler to the hub: up to 64 effects a call.
//!
//! Each [`Action`] has a record with the fields of the hub's route for the same change; `.into()` makes it an
//! [`Effect`], and the functions here make the common ones. They are applied in their order, in one transaction with
//! what the call wrote into the [`state`](crate::state): all or nothing. One that the hub refuses fails the call, unless
//! it is [`optional`](Effect::optional).
//!
//! Each needs a scope among `scopes` in `module.toml`, which the module's owner grants.

pub use crate::bindings::events::network_hub::module::effects::{
    Action, CallWebhook, CancelTimer, ChatTarget, DeleteDocument, DeletePlayerData, Deliver, Effect, Emit,
    IncrementStatistic, ModifyCurrency, OnLost, Operation, Punish, PutDocument, PutPermission, PutPlayerData,
    RemovePermission, RevokePunishment, RunCommand, SendChat, SetTimer, Transaction, Transfer,
};

use serde::Serialize;

impl Effect {
    /// The call's other effects are applied even if the hub refuses this one.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

macro_rules! effects {
    ($($name:ident),*) => {
        $(impl From<$name> for Effect {
            fn from(action: $name) -> Self {
                Self { action: Action::$name(action), optional: false }
            }
        })*
    };
}

effects!(
    CallWebhook,
    CancelTimer,
    DeleteDocument,
    DeletePlayerData,
    Deliver,
    Emit,
    IncrementStatistic,
    ModifyCurrency,
    Punish,
    PutDocument,
    PutPermission,
    PutPlayerData,
    RemovePermission,
    RevokePunishment,
    RunCommand,
    SendChat,
    SetTimer,
    Transaction,
    Transfer
);

/// An amount of a currency in ten-thousandths, as effects have it: `amount(2.5)` is 25,000.
pub fn amount(units: f64) -> i64 {
    // Exact for all amounts that a balance can have.
    #[allow(clippy::cast_possible_truncation)]
    let parts = (units * 10_000.0).round() as i64;
    parts
}

/// Adds to a player's balance; negative takes away. Scope `economy:write`.
pub fn modify_currency(player_uuid: &str, currency: &str, units: f64, reason: &str) -> Effect {
    let (owner_type, owner_key) = ("player".into(), player_uuid.into());
    let (currency, reason) = (currency.into(), Some(reason.into()));
    ModifyCurrency { owner_type, owner_key, currency, amount: amount(units), reason, exact: false }.into()
}

/// Adds to a player's statistic of the game mode `global`. Scope `players:write`.
pub fn increment_statistic(player_uuid: &str, name: &str, amount: f64) -> Effect {
    let (owner_type, owner_key) = ("player".into(), player_uuid.into());
    IncrementStatistic { owner_type, owner_key, name: name.into(), game_mode: None, amount }.into()
}

/// Shows a message to a player; refused if they are offline. Scope `chat:send`.
pub fn tell(player_uuid: &str, text: impl Into<String>) -> Effect {
    SendChat { target: ChatTarget::Player(player_uuid.into()), text: text.into(), prefix: None }.into()
}

/// Shows a message to all players of the network. Scope `chat:send`.
pub fn announce(text: impl Into<String>) -> Effect {
    SendChat { target: ChatTarget::Network, text: text.into(), prefix: None }.into()
}

/// Publishes an event `MODULE_EVENT`, in order with others of this key.
///
/// # Panics
/// If the payload is no JSON object.
pub fn emit(name: &str, key: Option<&str>, payload: &impl Serialize) -> Effect {
    Emit { name: name.into(), key: key.map(str::to_owned), payload: json(payload) }.into()
}

/// Sets a timer, replacing one of the same key.
///
/// # Panics
/// If the payload is no JSON object.
pub fn set_timer(key: &str, at_ms: u64, payload: &impl Serialize) -> Effect {
    SetTimer { key: key.into(), at_ms, payload: json(payload) }.into()
}

/// The text of a JSON object, for documents and payloads.
///
/// # Panics
/// If the value can't be written as JSON: a map whose keys are no texts.
#[allow(clippy::expect_used)] // The panic is logged, with its reason.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a document or payload must be a JSON object")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_ten_thousandths() {
        assert_eq!([amount(2.5), amount(-0.0001), amount(0.3)], [25_000, -1, 3_000]);
    }

    #[test]
    fn an_effect_becomes_optional() {
        let effect = tell("p", "hello");
        assert!(!effect.optional && effect.clone().optional().optional);
        assert!(matches!(effect.action, Action::SendChat(SendChat { target: ChatTarget::Player(_), .. })));
    }
}
