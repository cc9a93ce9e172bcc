//! Host calls answered from a record.

use crate::contract::HostError;
use crate::host::{BoxFuture, EmptyHost, Host, HostAnswer, HostCall, HostCallRecord};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives a module the answers of an earlier call: each recorded answer once, to an equal host call, in their order.
pub struct RecordedHost {
    /// Answers not yet given.
    remaining: Mutex<Vec<Option<HostCallRecord>>>,
    fallback: Fallback,
    unrecorded: AtomicU64,
}

/// Source of answers that the record lacks.
enum Fallback {
    Host(Arc<dyn Host>),
    /// The store, reconstructed from the record, and nothing else.
    Store(Mutex<HashMap<String, Option<String>>>),
}

impl RecordedHost {
    /// For a replay: calls missing in the record always get the same answer. The store begins with the content shown by
    /// the record and keeps the module's writes.
    pub fn replay(recorded: impl IntoIterator<Item = HostCallRecord>) -> Self {
        let recorded: Vec<_> = recorded.into_iter().collect();
        let mut store = HashMap::new();
        for record in &recorded {
            if let Some((key, value)) = value_before(record) {
                store.entry(key).or_insert(value);
            }
        }
        Self::new(recorded, Fallback::Store(Mutex::new(store)))
    }

    /// For a shadow of the recorded call: the host answers calls missing in the record.
    pub(crate) fn with_fallback(recorded: Vec<HostCallRecord>, host: Arc<dyn Host>) -> Self {
        Self::new(recorded, Fallback::Host(host))
    }

    fn new(recorded: Vec<HostCallRecord>, fallback: Fallback) -> Self {
        let remaining = Mutex::new(recorded.into_iter().map(Some).collect());
        Self { remaining, fallback, unrecorded: AtomicU64::new(0) }
    }

    /// Number of calls missing in the record.
    pub fn unrecorded(&self) -> u64 {
        self.unrecorded.load(Ordering::Relaxed)
    }

    fn take_recorded(&self, call: &HostCall) -> Option<HostCallRecord> {
        let mut remaining = self.remaining.lock();
        remaining.iter_mut().find(|record| record.as_ref().is_some_and(|record| record.call == *call))?.take()
    }
}

impl Host for RecordedHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        if let Some(record) = self.take_recorded(call) {
            if let Fallback::Store(store) = &self.fallback
                && let Some((key, value)) = value_after(&record)
            {
                store.lock().insert(key, value);
            }
            return Box::pin(std::future::ready(record.answer));
        }
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        match &self.fallback {
            Fallback::Host(host) => host.answer(call),
            Fallback::Store(store) => match answer_from_store(&mut store.lock(), call) {
                Some(answer) => Box::pin(std::future::ready(answer)),
                None => EmptyHost.answer(call),
            },
        }
    }
}

/// Value of a key before a recorded call, if the record shows it.
fn value_before(record: &HostCallRecord) -> Option<(String, Option<String>)> {
    match (&record.call, record.answer.as_ref().ok()?) {
        (HostCall::StoreGet { key }, HostAnswer::Value(value)) => Some((key.clone(), value.clone())),
        (HostCall::StoreIncrement { key, by, .. }, HostAnswer::Number(sum)) => {
            let number = sum.wrapping_sub(*by);
            Some((key.clone(), (number != 0).then(|| number.to_string())))
        }
        (HostCall::StoreDelete { key }, HostAnswer::Deleted(true)) => Some((key.clone(), Some(String::new()))),
        _ => None,
    }
}

/// Value of a key after a recorded call.
fn value_after(record: &HostCallRecord) -> Option<(String, Option<String>)> {
    match (&record.call, record.answer.as_ref().ok()?) {
        (HostCall::StoreGet { key }, HostAnswer::Value(value)) => Some((key.clone(), value.clone())),
        (HostCall::StoreSet { key, value, .. }, _) => Some((key.clone(), Some(value.clone()))),
        (HostCall::StoreIncrement { key, .. }, HostAnswer::Number(sum)) => Some((key.clone(), Some(sum.to_string()))),
        (HostCall::StoreDelete { key }, _) => Some((key.clone(), None)),
        _ => None,
    }
}

/// Executes a store call; `None` for any other call.
fn answer_from_store(
    store: &mut HashMap<String, Option<String>>,
    call: &HostCall,
) -> Option<Result<HostAnswer, HostError>> {
    let value = |store: &HashMap<_, Option<String>>, key: &String| store.get(key).cloned().flatten();
    Some(Ok(match call {
        HostCall::StoreGet { key } => HostAnswer::Value(value(store, key)),
        HostCall::StoreSet { key, value, .. } => {
            store.insert(key.clone(), Some(value.clone()));
            HostAnswer::Done
        }
        HostCall::StoreIncrement { key, by, .. } => {
            let number = value(store, key).map_or(Ok(0), |number| number.parse::<i64>());
            let Some(sum) = number.ok().and_then(|number| number.checked_add(*by)) else {
                return Some(Err(HostError::Invalid("the value of this key is not an integer".into())));
            };
            store.insert(key.clone(), Some(sum.to_string()));
            HostAnswer::Number(sum)
        }
        HostCall::StoreDelete { key } => HostAnswer::Deleted(store.insert(key.clone(), None).flatten().is_some()),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn increment(by: i64) -> HostCall {
        HostCall::StoreIncrement { key: "k".into(), by, ttl_ms: None }
    }

    fn get(key: &str) -> HostCall {
        HostCall::StoreGet { key: key.into() }
    }

    #[allow(clippy::unnecessary_wraps)] // Signature of a host function.
    fn number(sum: i64) -> Result<HostAnswer, HostError> {
        Ok(HostAnswer::Number(sum))
    }

    #[allow(clippy::unnecessary_wraps)]
    fn value(text: &str) -> Result<HostAnswer, HostError> {
        Ok(HostAnswer::Value(Some(text.into())))
    }

    #[tokio::test]
    async fn equal_calls_get_the_recorded_answers_in_their_order() {
        let record = [(increment(1), number(3)), (get("a"), value("x")), (increment(1), number(9))];
        let host = RecordedHost::replay(record.map(|(call, answer)| HostCallRecord { call, answer }));
        assert_eq!(host.answer(&increment(1)).await, number(3));
        assert_eq!(host.answer(&increment(1)).await, number(9));
        assert_eq!(host.answer(&get("a")).await, value("x"));
        assert_eq!(host.unrecorded(), 0);
        // From here on the store answers by itself.
        assert_eq!(host.answer(&increment(1)).await, number(10));
        assert_eq!(host.answer(&get("a")).await, value("x"));
        assert_eq!(host.answer(&get("never seen")).await, Ok(HostAnswer::Value(None)));
        assert_eq!(
            host.answer(&HostCall::Balance { player: "p".into(), currency: "c".into() }).await,
            Ok(HostAnswer::Balance(None))
        );
        assert_eq!(host.unrecorded(), 4);
    }

    #[tokio::test]
    async fn the_store_begins_as_the_record_shows_it() {
        let record =
            [(increment(2), number(5)), (HostCall::StoreDelete { key: "d".into() }, Ok(HostAnswer::Deleted(true)))];
        let host = RecordedHost::replay(record.map(|(call, answer)| HostCallRecord { call, answer }));
        assert_eq!(host.answer(&get("k")).await, value("3"));
        assert_eq!(host.answer(&increment(1)).await, number(4));
        assert_eq!(host.answer(&get("d")).await, value(""));
        let set = HostCall::StoreSet { key: "k".into(), value: "text".into(), ttl_ms: None };
        assert_eq!(host.answer(&set).await, Ok(HostAnswer::Done));
        assert!(matches!(host.answer(&increment(1)).await, Err(HostError::Invalid(_))));
        assert_eq!(host.answer(&HostCall::StoreDelete { key: "k".into() }).await, Ok(HostAnswer::Deleted(true)));
        assert_eq!(host.answer(&get("k")).await, Ok(HostAnswer::Value(None)));
    }
}
