//! All SQL of webhooks.

pub(super) mod deliveries;
pub(super) mod queue;
pub(super) mod webhooks;

use hub_db::Error;

fn unreadable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    sqlx::Error::Decode(error.into()).into()
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}
