//! State of modules: read by their calls, checked and changed when a call is committed.

use hub_db::{Error, Executor, Tx};
use hub_sandbox::HostAnswer;
use hub_sandbox::HostCall;
use hub_sandbox::contract::HostError;
use hub_sandbox::contract::state::{StateChanges, StateEntry, StateRead, StateWrite};

use crate::app::App;
use crate::clock::{Cutoff, Millis};
use crate::modules::handlers::store::state::{self as store, StateOwner};
use crate::values::NetworkId;

/// Maximum size of one module's state in one network.
const QUOTA: i64 = 16 * 1024 * 1024;
/// Size of an entry besides its key and value.
const ENTRY_BYTES: i64 = 64;

/// Reason for which a call's use of the state does not hold.
#[derive(Debug)]
pub(in crate::modules) enum StateConflict {
    /// Something that the call read has changed: it runs again.
    Changed,
    /// The module's state would exceed its bound.
    Full,
    /// A key to which the call adds has no whole number.
    NotANumber,
}

/// Answers a host call that reads the state; none for all others.
pub(in crate::modules) async fn answer(
    app: &App,
    network: NetworkId,
    module: &str,
    call: &HostCall,
) -> Option<Result<HostAnswer, HostError>> {
    let (of, now) = (StateOwner { network, module }, app.clock.now());
    let answer = match call {
        HostCall::StateGet { keys } => {
            let mut values = vec![];
            for key in keys {
                match get(&app.db, of, key, now).await {
                    Ok(value) => values.push(value),
                    Err(error) => return Some(Err(unavailable(network, &error))),
                }
            }
            Ok(HostAnswer::Values(values))
        }
        HostCall::StateList { prefix, after, limit } => {
            list(&app.db, of, (prefix, after.as_deref(), *limit), now).await.map(HostAnswer::Entries)
        }
        _ => return None,
    };
    Some(answer.map_err(|error| unavailable(network, &error)))
}

fn unavailable(network: NetworkId, error: &Error) -> HostError {
    tracing::warn!(%network, %error, "a module's state could not be read");
    HostError::Unavailable
}

async fn get(on: impl Into<Executor<'_>>, of: StateOwner<'_>, key: &str, now: Millis) -> Result<Option<String>, Error> {
    let entry = store::entry(on, of, key).await?.filter(|entry| entry.is_live(now));
    Ok(entry.map(|entry| String::from_utf8_lossy(&entry.value).into_owned()))
}

async fn list(
    on: impl Into<Executor<'_>>,
    of: StateOwner<'_>,
    (prefix, after, limit): (&str, Option<&str>, u32),
    now: Millis,
) -> Result<Vec<StateEntry>, Error> {
    let after = after.filter(|after| *after >= prefix);
    let from = (after.unwrap_or(prefix).as_bytes(), after.is_some());
    let rows = store::list(on, of, from, end_of(prefix).as_deref(), i64::from(limit), now).await?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(rows.into_iter().map(|(key, value)| StateEntry { key: text(key), value: text(value) }).collect())
}

/// First key behind all that begin with a prefix; none if there is no such key.
fn end_of(prefix: &str) -> Option<Vec<u8>> {
    let mut end = prefix.as_bytes().to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// Checks what a call read.
async fn check(tx: &mut Tx, of: StateOwner<'_>, reads: &[StateRead], now: Millis) -> Result<bool, Error> {
    for read in reads {
        let is_same = match read {
            StateRead::Key { key, value } => get(&mut *tx, of, key, now).await? == *value,
            StateRead::List { prefix, after, limit, entries } => {
                list(&mut *tx, of, (prefix, after.as_deref(), *limit), now).await? == *entries
            }
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if all that a call read is still so, outside of any commit.
pub(in crate::modules) async fn is_unchanged(
    app: &App,
    network: NetworkId,
    module: &str,
    changes: &StateChanges,
) -> Result<bool, Error> {
    if changes.reads.is_empty() {
        return Ok(true);
    }
    let now = app.clock.now();
    let of = StateOwner { network, module };
    app.db.transaction(async |mut tx| check(&mut tx, of, &changes.reads, now).await).await
}

/// Checks what a call read and makes its changes. A call that uses the state locks it first, so that what it read stays
/// so until the commit.
pub(in crate::modules) async fn commit(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    changes: &StateChanges,
    (called_at, now, ended): (Millis, Millis, Cutoff),
) -> Result<Result<(), StateConflict>, Error> {
    if changes.reads.is_empty() && changes.writes.is_empty() {
        return Ok(Ok(()));
    }
    let of = StateOwner { network, module };
    let before = store::lock(tx, of).await?;
    if !check(tx, of, &changes.reads, now).await? {
        return Ok(Err(StateConflict::Changed));
    }
    if changes.writes.is_empty() {
        return Ok(Ok(()));
    }
    let mut used = before;
    for write in &changes.writes {
        match apply(tx, of, write, (called_at, now)).await? {
            Some(added) => used += added,
            None => return Ok(Err(StateConflict::NotANumber)),
        }
    }
    if used > QUOTA {
        let (bytes, entries) = store::purge(tx, of, ended).await?;
        used -= bytes + entries * ENTRY_BYTES;
    }
    if used > QUOTA && used > before {
        return Ok(Err(StateConflict::Full));
    }
    store::set_size(tx, of, used.max(0)).await?;
    Ok(Ok(()))
}

/// Counts the bytes of a module's state again after a deletion of entries.
pub async fn recount(tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    let of = StateOwner { network, module };
    store::lock(tx, of).await?;
    let (bytes, entries) = store::count(tx, of).await?;
    store::set_size(tx, of, bytes + entries * ENTRY_BYTES).await
}

/// Makes one change. Returns the bytes that it adds; none if it adds to what is no number.
async fn apply(
    tx: &mut Tx,
    of: StateOwner<'_>,
    write: &StateWrite,
    (called_at, now): (Millis, Millis),
) -> Result<Option<i64>, Error> {
    let before = store::entry(&mut *tx, of, write.key()).await?;
    let size = |value: &[u8]| ENTRY_BYTES + write.key().len() as i64 + value.len() as i64;
    let freed = before.as_ref().map_or(0, |entry| size(&entry.value));
    let expiry = |ttl: &Option<u64>| ttl.map(|ttl| called_at.saturating_add(i64::try_from(ttl).unwrap_or(i64::MAX)));
    Ok(match write {
        StateWrite::Set { key, value, ttl_ms } => {
            store::put(tx, of, key, value.as_bytes(), expiry(ttl_ms)).await?;
            Some(size(value.as_bytes()) - freed)
        }
        StateWrite::Increment { key, by, ttl_ms } => {
            let live = before.filter(|entry| entry.is_live(now));
            let expires_at = live.as_ref().map_or_else(|| expiry(ttl_ms), |entry| entry.expires_at);
            let number = live.map_or(Some(0), |entry| String::from_utf8_lossy(&entry.value).parse::<i64>().ok());
            let Some(sum) = number.and_then(|number| number.checked_add(*by)) else { return Ok(None) };
            let value = sum.to_string();
            store::put(tx, of, key, value.as_bytes(), expires_at).await?;
            Some(size(value.as_bytes()) - freed)
        }
        StateWrite::Delete { key } => {
            store::delete(tx, of, key).await?;
            Some(-freed)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_one() {
        assert_eq!(end_of("ab").unwrap(), b"ac");
        assert_eq!(end_of(""), None);
        assert_eq!(end_of("a\u{7f}").unwrap(), b"a\x80");
    }
}
