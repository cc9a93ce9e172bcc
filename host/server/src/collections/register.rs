//! Registering collections: definitions only grow, and a new index is built over what is stored.

use hub_db::Tx;

use crate::app::App;
use crate::collections::index::{self, Entry, TooLong};
use crate::collections::model::{CollectionName, Definition, DocumentId, IndexDefinition};
use crate::collections::service::{CollectionsError, MOST_COLLECTIONS, MOST_INDEXES, Result, read};
use crate::collections::store;
use crate::values::NetworkId;

/// Documents read at a time while an index is built.
const BATCH: i64 = 200;

/// Registers what is new in these definitions; what each collection is then, in the order asked. Every server asks this
/// as it starts, and nearly always nothing is new, so that is looked at first.
pub async fn register(app: &App, network: NetworkId, wanted: &[Definition]) -> Result<Vec<Definition>> {
    if let Some(unchanged) = unchanged(app, network, wanted).await? {
        return Ok(unchanged);
    }
    // By name, so that two who register the same ones at once wait for each other in turn.
    let mut turns: Vec<usize> = (0..wanted.len()).collect();
    turns.sort_by_key(|turn| wanted.get(*turn).map(|definition| &definition.name));
    app.db
        .transaction(async |mut tx| {
            let mut registered: Vec<(usize, Definition)> = Vec::with_capacity(wanted.len());
            for (turn, wish) in turns.iter().filter_map(|turn| Some((*turn, wanted.get(*turn)?))) {
                let stored = store::take_definition(&mut tx, network, &wish.name).await?;
                let merged = merge(&stored, wish)?;
                if merged != stored {
                    let new = merged.indexes.get(stored.indexes.len()..).unwrap_or_default();
                    build(&mut tx, network, &merged.name, new).await?;
                    store::set_definition(&mut tx, network, &merged).await?;
                }
                registered.push((turn, merged));
            }
            if store::count_collections(&mut tx, network).await? > MOST_COLLECTIONS {
                return Err(CollectionsError::TooManyCollections);
            }
            registered.sort_by_key(|(turn, _)| *turn);
            Ok(registered.into_iter().map(|(_, definition)| definition).collect())
        })
        .await
}

/// What the collections are, if these definitions would change none of them.
async fn unchanged(app: &App, network: NetworkId, wanted: &[Definition]) -> Result<Option<Vec<Definition>>> {
    let mut stored = Vec::with_capacity(wanted.len());
    for wish in wanted {
        match store::definition(&app.db, network, &wish.name).await? {
            Some(definition) if merge(&definition, wish)? == definition => stored.push(definition),
            _ => return Ok(None),
        }
    }
    Ok(Some(stored))
}

/// A definition with what a wish adds: new indexes last.
fn merge(stored: &Definition, wish: &Definition) -> Result<Definition> {
    let mut merged = stored.clone();
    match (&stored.key, &wish.key) {
        (Some(key), Some(other)) if key != other => {
            return Err(CollectionsError::KeyChanged(stored.name.clone(), key.clone()));
        }
        (None, Some(key)) => merged.key = Some(key.clone()),
        _ => {}
    }
    for index in &wish.indexes {
        match merged.index(&index.field) {
            Some(there) if there.r#type != index.r#type => {
                let (field, kind) = (there.field.clone(), there.r#type);
                return Err(CollectionsError::TypeChanged(stored.name.clone(), field, kind));
            }
            Some(_) => {}
            None => merged.indexes.push(index.clone()),
        }
    }
    if merged.indexes.len() > MOST_INDEXES {
        return Err(CollectionsError::TooManyIndexes);
    }
    Ok(merged)
}

/// Puts what is stored into new indexes, a batch at a time.
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
            let found = index::entries(&read(&row.doc)?, indexes)
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

    fn definition(key: Option<&str>, indexes: &[(&str, IndexType)]) -> Definition {
        let indexes = indexes
            .iter()
            .map(|(field, r#type)| IndexDefinition { field: (*field).to_owned().try_into().unwrap(), r#type: *r#type });
        Definition {
            name: "guilds".to_owned().try_into().unwrap(),
            key: key.map(|key| key.to_owned().try_into().unwrap()),
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
        let changed = |wish| merge(&stored, &wish).unwrap_err();
        assert!(matches!(changed(definition(None, &[("a", Number)])), CollectionsError::TypeChanged(..)));
        assert!(matches!(changed(definition(Some("x"), &[])), CollectionsError::KeyChanged(..)));
    }
}
