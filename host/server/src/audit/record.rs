//! Writing entries.

use hub_db::{Db, Error, Tx};
use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::Action;
use crate::audit::store::{self, NewEntry};
use crate::auth::{ActorType, OPERATOR_NETWORK, Origin};
use crate::http::answer::json_size;
use crate::values::NetworkId;

/// The longest target that is kept, in characters.
const MAX_TARGET: usize = 255;
/// Bytes of JSON of a value that an entry shows; of a larger one it has their number.
const MAX_VALUE_BYTES: usize = 4_096;

/// A change, as the audit log tells it. What it shows must hold no secret.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    action: Action,
    target: String,
    before: Option<Value>,
    after: Option<Value>,
}

impl Change {
    /// Something was done to `target`.
    #[expect(clippy::needless_pass_by_value, reason = "ids are passed as they are")]
    pub(crate) fn new(action: Action, target: impl ToString) -> Self {
        let target = target.to_string().chars().take(MAX_TARGET).collect();
        Self { action, target, before: None, after: None }
    }

    /// What it was before.
    pub(crate) fn before(self, before: impl Serialize) -> Self {
        Self { before: Some(shown(before)), ..self }
    }

    /// What it is now.
    pub(crate) fn after(self, after: impl Serialize) -> Self {
        Self { after: Some(shown(after)), ..self }
    }
}

/// A value as the log shows it: its size alone where it is large.
fn shown(value: impl Serialize) -> Value {
    let bytes = json_size(&value);
    if bytes > MAX_VALUE_BYTES {
        return json!({"omittedBytes": bytes});
    }
    // No value of a request fails to become JSON.
    serde_json::to_value(value).unwrap_or_default()
}

/// Writes an entry of a network's audit log in the transaction of the change. What the operator does is written into the
/// operator's own log, too.
pub(crate) async fn record(tx: &mut Tx, network: NetworkId, origin: &Origin, change: Change) -> Result<(), Error> {
    write(tx, network, origin, change).await.map(drop)
}

/// Writes an entry of something of the operator's that these networks depend on, into their logs, too.
pub(crate) async fn record_for_all(
    tx: &mut Tx,
    networks: &[NetworkId],
    origin: &Origin,
    change: Change,
) -> Result<(), Error> {
    let id = write(tx, OPERATOR_NETWORK, origin, change).await?;
    store::copy(tx, OPERATOR_NETWORK, &id, networks).await
}

/// The same as [`record`]; answers the entry's id.
async fn write(tx: &mut Tx, network: NetworkId, origin: &Origin, change: Change) -> Result<String, Error> {
    let now = origin.clock.now();
    // A command line writes one entry: the first of its millisecond.
    let micros = origin.order.as_ref().map_or(now.saturating_mul(1000), |order| order.next(now).saturating_add(1));
    let id = format!("{micros:015x}{}", origin.ids.token(6));
    let Change { action, target, before, after } = change;
    let entry = NewEntry {
        id: &id,
        at: now,
        actor: &origin.actor,
        action: action.into(),
        target: &target,
        before: before.filter(|value| !value.is_null()).map(|value| value.to_string()),
        after: after.filter(|value| !value.is_null()).map(|value| value.to_string()),
        request_id: origin.request_id.as_deref(),
        address: origin.address.map(|address| address.to_string()),
    };
    store::insert(tx, network, &entry).await?;
    if origin.actor.kind == ActorType::Operator && network != OPERATOR_NETWORK {
        let of_network = format!("{network} {target}");
        let target = if target == network.to_string() { &target } else { &of_network };
        store::insert(tx, OPERATOR_NETWORK, &NewEntry { target, ..entry }).await?;
    }
    Ok(id)
}

/// Writes an entry of something that is in no database, before it is done.
pub(crate) async fn record_alone(db: &Db, network: NetworkId, origin: &Origin, change: Change) -> Result<(), Error> {
    db.transaction(async |mut tx| record(&mut tx, network, origin, change.clone()).await).await
}
