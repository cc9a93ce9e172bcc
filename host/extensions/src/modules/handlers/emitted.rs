//! Events that modules emit.

use hub_sandbox::contract::effects::Emit;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::app::App;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::modules::handlers::effects::ModuleActor;
use crate::values::NetworkId;

/// An event that a module emitted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EmittedEvent)]
pub struct ModuleEvent {
    #[schema(example = "friends")]
    module: String,
    #[schema(example = 3)]
    version: i64,
    /// Its name in the module.
    #[schema(example = "friend-added")]
    name: String,
    /// Key of its order; null: it is about the network.
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    key: Option<String>,
    #[schema(value_type = Object, example = json!({"friend": "61699b2e-d327-4a01-9f1e-0ea8c3f06bc6"}))]
    payload: Box<RawValue>,
}

impl ModuleEvent {
    /// The event of this name, with a text of JSON.
    pub fn new(actor: &ModuleActor, name: &str, key: Option<&str>, payload: &str) -> Result<Self, ApiError> {
        let payload = RawValue::from_string(payload.to_owned())
            .map_err(|error| ApiError::invalid(format!("`payload`: must be JSON: {error}.")))?;
        Ok(Self {
            module: actor.name.clone(),
            version: actor.version,
            name: name.to_owned(),
            key: key.map(str::to_owned),
            payload,
        })
    }
}

/// Publishes an event in the caller's transaction.
pub(in crate::modules) async fn publish(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    emit: &Emit,
) -> Result<(), ApiError> {
    let event = ModuleEvent::new(actor, &emit.name, emit.key.as_deref(), &emit.payload)?;
    app.db
        .transaction(async |mut tx| {
            events::publish_in(app, &mut tx, network, EventKind::ModuleEvent, None, &event).await
        })
        .await?;
    Ok(())
}
