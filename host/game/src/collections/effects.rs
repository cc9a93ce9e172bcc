//! Changes of documents by modules.

use axum::http::StatusCode;
use hub_sandbox::contract::effects::{DeleteDocument, PutDocument};
use serde_json::Value;

use crate::app::App;
use crate::collections::model::{CollectionName, DocumentId};
use crate::collections::{service, store};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::http::if_match::IfMatch;
use crate::modules::read_field;
use crate::values::NetworkId;

/// Refuses a change of a document that is not as it was read; it then stays so until the transaction ends.
async fn check_expected(
    app: &App,
    network: NetworkId,
    place: (&CollectionName, &DocumentId),
    expected: Option<&String>,
) -> Result<(), ApiError> {
    let Some(expected) = expected else { return Ok(()) };
    let expected: Value = serde_json::from_str(expected)
        .map_err(|error| ApiError::invalid(format!("`expected`: must be JSON: {error}.")))?;
    let stored =
        app.db.transaction(async |mut tx| store::lock_document(&mut tx, network, place.0, place.1).await).await?;
    let is_same = stored.is_some_and(|stored| serde_json::from_str(stored.as_str()).ok() == Some(expected));
    if is_same {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::CONFLICT, "document_changed", "The document is not as it was read."))
}

/// Stores a document.
pub async fn put(app: &App, network: NetworkId, effect: &PutDocument) -> Result<(), ApiError> {
    let (collection, id): (CollectionName, DocumentId) =
        (read_field("collection", &effect.collection)?, read_field("id", &effect.id)?);
    let document: Document = serde_json::from_str(&effect.document)
        .map_err(|error| ApiError::invalid(format!("`document`: must be JSON: {error}.")))?;
    check_expected(app, network, (&collection, &id), effect.expected.as_ref()).await?;
    service::put(app, network, &collection, &id, (document.bounded()?, IfMatch(None))).await?;
    Ok(())
}

/// Deletes a document. A missing one is no error, unless one is expected.
pub async fn delete(app: &App, network: NetworkId, effect: &DeleteDocument) -> Result<(), ApiError> {
    let (collection, id): (CollectionName, DocumentId) =
        (read_field("collection", &effect.collection)?, read_field("id", &effect.id)?);
    check_expected(app, network, (&collection, &id), effect.expected.as_ref()).await?;
    service::delete(app, network, &collection, &id, IfMatch(None)).await?;
    Ok(())
}
