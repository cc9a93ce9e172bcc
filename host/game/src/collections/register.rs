//! Registration of collections: definitions only grow, and a new index is built over stored documents.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::App;
use crate::collections::build::{self, Batch, RETRY_DELAY};
use crate::collections::model::{CollectionDefinition, CollectionName};
use crate::collections::service::{CollectionsError, Result};
use crate::collections::store::{self, StoredCollection, builds};
use crate::limits::{self, Limit};
use crate::values::NetworkId;

/// Time to wait for indexes to be complete.
const PATIENCE: Duration = Duration::from_secs(2);

/// Registers new parts of these definitions and returns the current state of each collection, in the requested order.
/// Every server calls this at its start and nearly always nothing is new, so that is checked first. New indexes are
/// complete on return if building them is quick.
pub(super) async fn register(
    app: &App,
    network: NetworkId,
    requested: &[CollectionDefinition],
) -> Result<Vec<StoredCollection>> {
    if let Some(unchanged) = unchanged(app, network, requested).await? {
        return Ok(unchanged);
    }
    // Locked in the order of names, so that two calls for the same collections cannot deadlock.
    let mut by_name: Vec<_> = requested.iter().enumerate().collect();
    by_name.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    let registered = app
        .db
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
                    if !new.is_empty() && builds::has_documents(&mut tx, network, &merged.name).await? {
                        let fields = new.iter().map(|index| index.field.clone()).collect();
                        builds::begin(&mut tx, network, &merged.name, fields).await?;
                        build::enqueue(app, &mut tx, network, &merged.name).await?;
                    }
                    store::update_definition(&mut tx, network, &merged).await?;
                }
                registered.push((*at, merged));
            }
            let count = store::count_collections(&mut tx, network).await?;
            limits::check(app, Limit::Collections, before, count - before)?;
            registered.sort_by_key(|(at, _)| *at);
            Ok::<_, CollectionsError>(registered.into_iter().map(|(_, definition)| definition).collect::<Vec<_>>())
        })
        .await?;
    let mut answer = Vec::with_capacity(registered.len());
    let deadline = Instant::now() + PATIENCE;
    for definition in registered {
        // Uncommitted indexes cannot be built.
        if !hub_db::has_uncommitted_writes() {
            await_build(app, network, &definition.name, deadline).await?;
        }
        let build = builds::find(&app.db, network, &definition.name).await?;
        answer.push(StoredCollection { definition, building: build.map_or(vec![], |build| build.fields) });
    }
    Ok(answer)
}

/// Helps to build a collection's indexes until they are complete or the deadline has passed.
async fn await_build(app: &App, network: NetworkId, collection: &CollectionName, deadline: Instant) -> Result<()> {
    while Instant::now() < deadline {
        match build::build_batch(app, network, collection).await? {
            Batch::Complete => return Ok(()),
            Batch::Done => {}
            Batch::Taken => tokio::time::sleep(RETRY_DELAY).await,
        }
    }
    Ok(())
}

/// Current collections, if these definitions would not change them.
async fn unchanged(
    app: &App,
    network: NetworkId,
    requested: &[CollectionDefinition],
) -> Result<Option<Vec<StoredCollection>>> {
    let mut unchanged = Vec::with_capacity(requested.len());
    for definition in requested {
        match store::collection(&app.db, network, &definition.name).await? {
            Some(stored) if merge(&stored.definition, definition)? == stored.definition => unchanged.push(stored),
            _ => return Ok(None),
        }
    }
    Ok(Some(unchanged))
}

/// Stored definition with the additions of the requested one: new indexes last.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collections::model::{IndexDefinition, IndexType};

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
