//! Names of players, for lists that have their UUIDs alone.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Profiles of these players, by UUID. Those who were never seen, or whom the person may not see, are left out.
pub(super) async fn players<'a>(visit: &Visit, uuids: impl Iterator<Item = &'a Value>) -> Map<String, Value> {
    let wanted: BTreeSet<&str> = uuids.filter_map(Value::as_str).collect();
    let asked = wanted.into_iter().map(async |uuid| Some((uuid.to_owned(), player(visit, uuid).await.ok()?)));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn player(visit: &Visit, uuid: &str) -> Result<Value, Refusal> {
    let uuid = encode(uuid);
    visit.get(&format!("/api/plugin/players/{uuid}"), &[]).await
}
