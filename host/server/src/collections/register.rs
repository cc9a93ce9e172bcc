//! Registering collections: definitions only grow, and a new index is built over what is stored.

use hub_db::Tx;

use crate::app::App;
use crate::collections::index::{self, Entry, TooLong};
use crate::collections::model::{CollectionDefinition, CollectionName, DocumentId, IndexDefinition};
use crate::collections::service::{CollectionsError, Result, parse};
use crate::collections::store;
use crate::limits::{self, Limit};
use crate::values::NetworkId;

/// Documents read at a time while an index is built.
const BATCH: i64 = 200;

/// Registers what is new in these definitions and answers what each collection is then, in the order asked. Every
/// server asks this as it starts; nearly always nothing is new, so that is checked first.
pub(super) async fn register(
    app: &App,
    network: NetworkId,
    requested: &[CollectionDefinition],
) -> Result<Vec<CollectionDefinition>> {
    if let Some(unchanged) = unchanged(app, network, requested).await? {
        return Ok(unchanged);
    }
    // Locked by name: two calls for the same collections then cannot wait for each other.
    let mut by_name: Vec<_> = requested.iter().enumerate().collect();
    by_name.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    app.db
        .transaction(async |mut tx| {
            let mut registered: Vec<(usize, CollectionDefinition)> = Vec::with_capacity(by_name.len());
            let before = store::count_collections(&mut tx, network).await?;
            for (at, definition) in &by_name {
                let stored = store::lock_or_create_definition(&mut tx, network, &definition.name).await?;
                let merged = merge(&stored, definition)?;
                if merged != stored {
                    let (used, all) = (stored.indexes.len() as i64, merged.indexes.len() as i64);
                    limits::check(app, Limit::IndexesPerCollection, used, all - used)?;
                    let new = merged.indexes.get(stored.indexes.len()..).unwrap_or_default();
                    build(&mut tx, network, &merged.name, new).await?;
                    store::update_definition(&mut tx, network, &merged).await?;
                }
                registered.push((*at, merged));
            }
            let count = store::count_collections(&mut tx, network).await?;
            limits::check(app, Limit::Collections, before, count - before)?;
            registered.sort_by_key(|(at, _)| *at);
            Ok(registered.into_iter().map(|(_, definition)| definition).collect())
        })
        .await
}

/// What the collections are, if these definitions would change none of them.
async fn unchanged(
    app: &App,
    network: NetworkId,
    requested: &[CollectionDefinition],
) -> Result<Option<Vec<CollectionDefinition>>> {
    let mut unchanged = Vec::with_capacity(requested.len());
    for definition in requested {
        match store::definition(&app.db, network, &definition.name).await? {
            Some(stored) if merge(&stored, definition)? == stored => unchanged.push(stored),
            _ => return Ok(None),
        }
    }
    Ok(Some(unchanged))
}

/// The stored definition with what the requested one adds: new indexes last.
fn merge(stored: &CollectionDefinition, requested: &CollectionDefinition) -> Result<CollectionDefinition> {
    let mut merged = stored.clone();
    match (&stored.key, &requested.key) {
        (Some(key), Some(other)) if key != other => {
            return Err(CollectionsError::KeyChanged(stored.name.clone(), key.clone()));
        }
        (None, Some(key)) => merged.key = Some(key.clone()),
        _ => {}
    }
    for index in &requested.indexes {
        match merged.index(&index.field) {
            Some(there) if there.r#type != index.r#type => {
                let (field, kind) = (there.field.clone(), there.r#type);
                return Err(CollectionsError::TypeChanged(stored.name.clone(), field, kind));
            }
            Some(_) => {}
            None => merged.indexes.push(index.clone()),
        }
    }
    Ok(merged)
}

/// Adds the stored documents to new indexes, a batch at a time.
async fn build(
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
    indexes: &[IndexDefinition],
) -> Result<()> {
    if indexes.is_empty() {
        return Ok(());
    }
    let mut after: Option<DocumentId> = None;
    loop {
        let batch = store::documents_after(tx, network, collection, after.as_ref(), BATCH).await?;
        let mut entries: Vec<(&DocumentId, Entry)> = vec![];
        for row in &batch {
            let found = index::entries(&parse(&row.doc)?, indexes)
                .map_err(|TooLong(field)| CollectionsError::StoredTooLong(field, row.id.clone()))?;
            entries.extend(found.into_iter().map(|entry| (&row.id, entry)));
        }
        store::add_entries(tx, network, collection, entries.iter().map(|(id, entry)| (*id, entry))).await?;
        match batch.last() {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collections::model::IndexType;

    fn definition(key: Option<&str>, indexes: &[(&str, IndexType)]) -> CollectionDefinition {
        let indexes =
            indexes.iter().map(|(field, r#type)| IndexDefinition { field: field.parse().unwrap(), r#type: *r#type });
        CollectionDefinition {
            name: "guilds".parse().unwrap(),
            key: key.map(|key| key.parse().unwrap()),
            indexes: indexes.collect(),
        }
    }

    #[test]
    fn definitions_only_grow() {
        use IndexType::{Number, String};
        let stored = definition(Some("id"), &[("a", String), ("b", Number)]);
        assert_eq!(merge(&stored, &definition(None, &[])).unwrap(), stored);
        let more = merge(&stored, &definition(Some("id"), &[("c", Number), ("a", String), ("c", Number)])).unwrap();
        assert_eq!(more, definition(Some("id"), &[("a", String), ("b", Number), ("c", Number)]));
        let keyed = merge(&definition(None, &[]), &definition(Some("id"), &[])).unwrap();
        assert_eq!(keyed, definition(Some("id"), &[]));
        let changed = |requested| merge(&stored, &requested).unwrap_err();
        assert!(matches!(changed(definition(None, &[("a", Number)])), CollectionsError::TypeChanged(..)));
        assert!(matches!(changed(definition(Some("x"), &[])), CollectionsError::KeyChanged(..)));
    }
}
