//! Writing of entries.

use hub_db::{Db, Error, Tx};
use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::Action;
use crate::audit::store::{self, NewEntry};
use crate::auth::{ActorType, OPERATOR_NETWORK, Origin};
use crate::http::answer::json_size;
use crate::values::NetworkId;

/// Maximum length of a stored target, in characters.
const MAX_TARGET: usize = 255;
/// Bytes of JSON of a value that an entry shows; of a larger one it has their number.
const MAX_VALUE_BYTES: usize = 4_096;

/// A change, as recorded in the audit log. Its values must contain no secret.
#[derive(Clone, Debug)]
pub struct Change {
    action: Action,
    target: String,
    before: Option<Value>,
    after: Option<Value>,
}

impl Change {
    /// A change of `target`.
    #[expect(clippy::needless_pass_by_value, reason = "ids are passed as they are")]
    pub fn new(action: Action, target: impl ToString) -> Self {
        let target = target.to_string().chars().take(MAX_TARGET).collect();
        Self { action, target, before: None, after: None }
    }

    /// Adds the previous value.
    pub fn before(self, before: impl Serialize) -> Self {
        Self { before: Some(shown(before)), ..self }
    }

    /// Adds the new value.
    pub fn after(self, after: impl Serialize) -> Self {
        Self { after: Some(shown(after)), ..self }
    }
}

/// Logged form of a value: only its size if it is large.
fn shown(value: impl Serialize) -> Value {
    let bytes = json_size(&value);
    if bytes > MAX_VALUE_BYTES {
        return json!({"omittedBytes": bytes});
    }
    // All values of requests can be serialized.
    serde_json::to_value(value).unwrap_or_default()
}

/// Writes an entry to a network's audit log in the transaction of the change. Actions of the operator are also written
/// to the operator's own log. Fails, and with it the change, if its caller's right has ended since the request began.
pub async fn record(tx: &mut Tx, network: NetworkId, origin: &Origin, change: Change) -> Result<(), Error> {
    write(tx, network, origin, change).await.map(drop)
}

/// Writes an entry about something of the operator that these networks depend on, also to their logs.
pub async fn record_for_all(tx: &mut Tx, networks: &[NetworkId], origin: &Origin, change: Change) -> Result<(), Error> {
    let id = write(tx, OPERATOR_NETWORK, origin, change).await?;
    // The operator's own network, which is on a plan as well, has the entry already.
    let others: Vec<_> = networks.iter().copied().filter(|network| *network != OPERATOR_NETWORK).collect();
    store::copy(tx, OPERATOR_NETWORK, &id, &others).await
}

/// Like [`record`], but returns the entry's id.
async fn write(tx: &mut Tx, network: NetworkId, origin: &Origin, change: Change) -> Result<String, Error> {
    origin.must_still(tx).await?;
    let now = origin.clock.now();
    // A command line writes a single entry: the first of its millisecond.
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

/// Writes an entry about a change outside the database, before it is made. Fails if its caller's right has ended.
pub async fn record_alone(db: &Db, network: NetworkId, origin: &Origin, change: Change) -> Result<(), Error> {
    db.transaction(async |mut tx| record(&mut tx, network, origin, change.clone()).await).await
}
