//! The rules of config documents.

use thiserror::Error;

use crate::app::App;
use crate::config_documents::model::{ConfigDocument, ConfigKey};
use crate::config_documents::store;
use crate::events::{self, EventKind};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::limits::{LimitError, check_storage, row_bytes};
use crate::values::NetworkId;

/// What can be wrong with a request about config documents.
#[derive(Debug, Error)]
pub(super) enum ConfigError {
    /// No such document in the caller's network.
    #[error("This network has no config document `{}` of the group `{}`.", .0.namespace, .0.group)]
    Unknown(ConfigKey),
    /// The network stores too much.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ConfigError> for ApiError {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Unknown(_) => Self::not_found("unknown_config", message),
            ConfigError::Limit(error) => error.into(),
            ConfigError::Database(error) => error.into(),
        }
    }
}

/// The stored document.
pub(super) async fn get(app: &App, network: NetworkId, key: ConfigKey) -> Result<ConfigDocument, ConfigError> {
    match store::get(&app.db, network, &key).await? {
        Some(doc) => Ok(ConfigDocument { key, doc }),
        None => Err(ConfigError::Unknown(key)),
    }
}

/// Stores a document, whatever was stored before.
pub(super) async fn publish(
    app: &App,
    network: NetworkId,
    key: ConfigKey,
    doc: Document,
) -> Result<ConfigDocument, ConfigError> {
    check_room(app, network, &key, &doc).await?;
    if store::put(&app.db, network, &key, &doc).await? {
        publish_update(app, network, &key).await;
    }
    Ok(ConfigDocument { key, doc })
}

/// Stores a document where there is none, and answers the stored one. Every server asks this as it starts and nearly
/// always finds one, so that is checked first.
pub(super) async fn register(
    app: &App,
    network: NetworkId,
    key: ConfigKey,
    default: Document,
) -> Result<ConfigDocument, ConfigError> {
    if let Some(doc) = store::get(&app.db, network, &key).await? {
        return Ok(ConfigDocument { key, doc });
    }
    check_room(app, network, &key, &default).await?;
    if store::insert(&app.db, network, &key, &default).await? {
        publish_update(app, network, &key).await;
        return Ok(ConfigDocument { key, doc: default });
    }
    get(app, network, key).await
}

/// Refuses a document that is more than the network may store.
async fn check_room(app: &App, network: NetworkId, key: &ConfigKey, doc: &Document) -> Result<(), LimitError> {
    let bytes = row_bytes(&[key.group.as_str(), key.namespace.as_str(), doc.as_str()]);
    check_storage(app, network, bytes, store::stored_bytes(&app.db, network, key)).await
}

/// Publishes a stored change to the network's servers. A failed publication is only logged: clients read the document
/// again when they reconnect.
async fn publish_update(app: &App, network: NetworkId, key: &ConfigKey) {
    if let Err(error) = events::publish(app, network, EventKind::ConfigUpdated, None, key).await {
        tracing::warn!(%error, group = %key.group, namespace = %key.namespace, "could not publish a config document");
    }
}
