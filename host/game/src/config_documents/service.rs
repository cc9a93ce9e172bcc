//! The rules of config documents.

use hub_db::Tx;
use thiserror::Error;

use crate::app::App;
use crate::config_documents::model::{ConfigDocument, ConfigKey};
use crate::config_documents::store;
use crate::events::{self, EventKind};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::limits::{QuotaExceeded, check_rows, check_storage, row_bytes};
use crate::values::{NetworkId, like_pattern};

/// Errors of requests about config documents.
#[derive(Debug, Error)]
pub(super) enum ConfigError {
    /// No such document in the caller's network.
    #[error("This network has no config document `{}` of the group `{}`.", .0.namespace, .0.group)]
    Unknown(ConfigKey),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ConfigError> for ApiError {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Unknown(_) => Self::not_found("unknown_config", message),
            ConfigError::Quota(exceeded) => exceeded.into(),
            ConfigError::Database(error) => error.into(),
        }
    }
}

/// Returns the stored document.
pub(super) async fn get(app: &App, network: NetworkId, key: ConfigKey) -> Result<ConfigDocument, ConfigError> {
    match store::get(&app.db, network, &key).await? {
        Some(doc) => Ok(ConfigDocument { key, doc }),
        None => Err(ConfigError::Unknown(key)),
    }
}

/// Refuses a document that exceeds the network's storage, with `pending` new ones that are not stored yet.
pub(super) async fn check<E: From<QuotaExceeded> + From<hub_db::Error>>(
    app: &App,
    network: NetworkId,
    key: &ConfigKey,
    doc: &Document,
    pending: i64,
) -> Result<(), E> {
    let is_there = store::exists(&app.db, network, key);
    let _adding = check_rows::<E>(app, network, store::CONFIG_DOCUMENTS, 1 + pending, is_there).await?;
    let bytes = row_bytes(&[key.group.as_str(), key.namespace.as_str(), doc.as_str()]);
    check_storage(app, network, bytes, store::stored_bytes(&app.db, network, key)).await
}

/// Stores a document, replacing any existing one.
pub(super) async fn publish(
    app: &App,
    network: NetworkId,
    key: ConfigKey,
    doc: Document,
) -> Result<ConfigDocument, ConfigError> {
    check::<ConfigError>(app, network, &key, &doc, 0).await?;
    app.db
        .transaction(async |mut tx| {
            if store::put(&mut tx, network, &key, &doc).await? {
                publish_update(app, &mut tx, network, &key).await?;
            }
            Ok::<_, ConfigError>(())
        })
        .await?;
    Ok(ConfigDocument { key, doc })
}

/// Stores a document if there is none, and returns the stored one. Every server calls this at its start and nearly
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
    check::<ConfigError>(app, network, &key, &default, 0).await?;
    let is_new = app
        .db
        .transaction(async |mut tx| {
            let is_new = store::insert(&mut tx, network, &key, &default).await?;
            if is_new {
                publish_update(app, &mut tx, network, &key).await?;
            }
            Ok::<_, ConfigError>(is_new)
        })
        .await?;
    if is_new {
        return Ok(ConfigDocument { key, doc: default });
    }
    get(app, network, key).await
}

/// Publishes the event of a changed document.
pub(super) async fn publish_update(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    key: &ConfigKey,
) -> Result<(), hub_db::Error> {
    events::publish_in(app, tx, network, EventKind::ConfigUpdated, None, key).await
}

/// Groups and names of the documents with a text in them, in any case.
pub async fn search(
    app: &App,
    network: NetworkId,
    text: &str,
    most: i64,
) -> Result<Vec<(String, String)>, hub_db::Error> {
    store::search(&app.db, network, &like_pattern(&text.to_lowercase()), most).await
}
