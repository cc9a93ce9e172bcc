//! Documents from other tools' files.

use hub_db::Tx;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::config_documents::model::ConfigKey;
use crate::config_documents::{service, store};
use crate::http::document::Document;
use crate::import_outcome::ImportOutcome;
use crate::limits::QuotaExceeded;
use crate::values::{Identifier, NetworkId};

/// A document of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentImport {
    pub group: Identifier,
    pub namespace: Identifier,
    pub doc: Value,
}

impl DocumentImport {
    fn parts(&self) -> Result<(ConfigKey, Document), hub_db::Error> {
        let key = ConfigKey { group: self.group.clone(), namespace: self.namespace.clone() };
        let doc = Document::try_from(self.doc.to_string()).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        Ok((key, doc))
    }
}

/// Effect of a document, `pending` new ones of the same batch before it.
pub async fn plan_document<E: From<QuotaExceeded> + From<hub_db::Error>>(
    app: &App,
    network: NetworkId,
    import: &DocumentImport,
    pending: i64,
) -> Result<ImportOutcome, E> {
    let (key, doc) = import.parts()?;
    let stored = store::get(&app.db, network, &key).await?;
    if stored.as_ref().is_some_and(|stored| stored.as_str() == doc.as_str()) {
        return Ok(ImportOutcome::Unchanged);
    }
    service::check::<E>(app, network, &key, &doc, pending).await?;
    Ok(if stored.is_some() { ImportOutcome::Changed } else { ImportOutcome::Created })
}

/// Stores a document, replacing any existing one.
pub async fn write_document(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    import: &DocumentImport,
) -> Result<(), hub_db::Error> {
    let (key, doc) = import.parts()?;
    if store::put(tx, network, &key, &doc).await? {
        service::publish_update(app, tx, network, &key).await?;
    }
    Ok(())
}
