//! Reads and writes of one call in `state`: its writes are kept here until it ends, and its reads are recorded.

use crate::contract::HostError;
use crate::contract::state::{StateChanges, StateEntry, StateRead, StateWrite};
use std::collections::{BTreeMap, HashMap};

/// Reads and writes of one call so far.
#[derive(Default)]
pub(crate) struct StateOverlay {
    /// Committed values that the call has seen.
    committed: HashMap<String, Option<String>>,
    changes: StateChanges,
}

/// Arguments of a list.
#[derive(Clone)]
pub(crate) struct ListRange {
    pub(crate) prefix: String,
    pub(crate) after: Option<String>,
    pub(crate) limit: u32,
}

impl ListRange {
    fn contains(&self, key: &str) -> bool {
        key.starts_with(&self.prefix) && self.after.as_deref().is_none_or(|after| key > after)
    }
}

impl StateOverlay {
    /// The reads and writes, which end with the call.
    pub(crate) fn take(&mut self) -> StateChanges {
        std::mem::take(self).changes
    }

    /// The keys among these whose committed values are needed and not yet known.
    pub(crate) fn unknown(&self, keys: &[String]) -> Vec<String> {
        let mut unknown: Vec<String> = Vec::new();
        for key in keys {
            let is_set = matches!(self.write(key), Some(StateWrite::Set { .. } | StateWrite::Delete { .. }));
            if !is_set && !self.committed.contains_key(key) && !unknown.contains(key) {
                unknown.push(key.clone());
            }
        }
        unknown
    }

    /// Records committed values.
    pub(crate) fn learn(&mut self, keys: Vec<String>, values: Vec<Option<String>>) {
        for (key, value) in keys.into_iter().zip(values) {
            self.changes.reads.push(StateRead::Key { key: key.clone(), value: value.clone() });
            self.committed.insert(key, value);
        }
    }

    /// The value of a key as the call sees it, once it is known.
    pub(crate) fn value(&self, key: &str) -> Result<Option<String>, HostError> {
        let committed = self.committed.get(key).cloned().flatten();
        Ok(match self.write(key) {
            None => committed,
            Some(StateWrite::Set { value, .. }) => Some(value.clone()),
            Some(StateWrite::Delete { .. }) => None,
            Some(StateWrite::Increment { by, .. }) => Some(sum(committed.as_deref(), *by)?.to_string()),
        })
    }

    /// The committed entries that are needed for a list: as many more as the call deleted.
    pub(crate) fn committed_range(&self, range: &ListRange) -> ListRange {
        let deleted = |write: &&StateWrite| matches!(write, StateWrite::Delete { key } if range.contains(key));
        let deleted = self.changes.writes.iter().filter(deleted).count();
        ListRange { limit: range.limit.saturating_add(u32::try_from(deleted).unwrap_or(u32::MAX)), ..range.clone() }
    }

    /// Records committed entries of a range, and returns those that the call sees.
    pub(crate) fn list(
        &mut self,
        range: &ListRange,
        committed: ListRange,
        entries: Vec<StateEntry>,
    ) -> Vec<StateEntry> {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for StateEntry { key, value } in &entries {
            seen.insert(key.clone(), value.clone());
        }
        let ListRange { prefix, after, limit } = committed;
        self.changes.reads.push(StateRead::List { prefix, after, limit, entries });
        for write in self.changes.writes.iter().filter(|write| range.contains(write.key())) {
            match write {
                StateWrite::Set { key, value, .. } => {
                    seen.insert(key.clone(), value.clone());
                }
                StateWrite::Delete { key } => {
                    seen.remove(key);
                }
                // A value that is no number stays: the commit refuses it.
                StateWrite::Increment { key, by, .. } => {
                    if let Ok(sum) = sum(seen.get(key).map(String::as_str), *by) {
                        seen.insert(key.clone(), sum.to_string());
                    }
                }
            }
        }
        let entries = seen.into_iter().map(|(key, value)| StateEntry { key, value });
        entries.take(range.limit as usize).collect()
    }

    /// Sets a key.
    pub(crate) fn set(&mut self, key: String, value: String, ttl_ms: Option<u64>) {
        self.put(StateWrite::Set { key, value, ttl_ms });
    }

    /// Deletes a key.
    pub(crate) fn delete(&mut self, key: String) {
        self.put(StateWrite::Delete { key });
    }

    /// Adds to a key, without reading what is committed.
    pub(crate) fn increment(&mut self, key: String, by: i64, ttl_ms: Option<u64>) -> Result<(), HostError> {
        let write = match self.write(&key) {
            None => StateWrite::Increment { key, by, ttl_ms },
            Some(StateWrite::Delete { .. }) => StateWrite::Set { key, value: by.to_string(), ttl_ms },
            Some(StateWrite::Set { value, ttl_ms, .. }) => {
                StateWrite::Set { value: sum(Some(value), by)?.to_string(), ttl_ms: *ttl_ms, key }
            }
            Some(StateWrite::Increment { by: before, ttl_ms, .. }) => {
                let by = before.checked_add(by).ok_or_else(not_a_number)?;
                StateWrite::Increment { by, ttl_ms: *ttl_ms, key }
            }
        };
        self.put(write);
        Ok(())
    }

    fn write(&self, key: &str) -> Option<&StateWrite> {
        self.changes.writes.iter().find(|write| write.key() == key)
    }

    fn put(&mut self, write: StateWrite) {
        match self.changes.writes.iter_mut().find(|before| before.key() == write.key()) {
            Some(before) => *before = write,
            None => self.changes.writes.push(write),
        }
    }
}

fn not_a_number() -> HostError {
    HostError::Invalid("the value of this key is not an integer, or the sum is too large".into())
}

fn sum(value: Option<&str>, by: i64) -> Result<i64, HostError> {
    let number = value.map_or(Ok(0), str::parse::<i64>).map_err(|_| not_a_number())?;
    number.checked_add(by).ok_or_else(not_a_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, value: &str) -> StateEntry {
        StateEntry { key: key.into(), value: value.into() }
    }

    fn known(values: &[(&str, Option<&str>)]) -> StateOverlay {
        let mut overlay = StateOverlay::default();
        let keys = values.iter().map(|(key, _)| (*key).to_owned()).collect();
        overlay.learn(keys, values.iter().map(|(_, value)| value.map(str::to_owned)).collect());
        overlay
    }

    #[test]
    fn a_call_sees_its_own_writes() {
        let mut overlay = known(&[("a", Some("1")), ("b", None)]);
        overlay.increment("a".into(), 2, None).unwrap();
        overlay.increment("b".into(), 5, Some(9)).unwrap();
        assert_eq!(overlay.value("a"), Ok(Some("3".into())));
        assert_eq!(overlay.value("b"), Ok(Some("5".into())));
        overlay.set("a".into(), "x".into(), None);
        assert_eq!(overlay.value("a"), Ok(Some("x".into())));
        assert!(overlay.increment("a".into(), 1, None).is_err());
        overlay.delete("a".into());
        assert_eq!(overlay.value("a"), Ok(None));
        overlay.increment("a".into(), 7, Some(3)).unwrap();
        let StateChanges { reads, writes } = overlay.take();
        assert_eq!(reads.len(), 2);
        assert_eq!(
            writes,
            [
                StateWrite::Set { key: "a".into(), value: "7".into(), ttl_ms: Some(3) },
                StateWrite::Increment { key: "b".into(), by: 5, ttl_ms: Some(9) }
            ]
        );
    }

    #[test]
    fn an_increment_reads_nothing() {
        let mut overlay = StateOverlay::default();
        overlay.increment("k".into(), 1, None).unwrap();
        overlay.increment("k".into(), i64::MAX, None).unwrap_err();
        assert_eq!(overlay.unknown(&["k".into(), "k".into()]), ["k"]);
        assert_eq!(overlay.take().reads, []);
    }

    #[test]
    fn a_list_has_the_calls_own_entries_in_their_places() {
        let mut overlay = StateOverlay::default();
        overlay.delete("p:a".into());
        overlay.set("p:b2".into(), "new".into(), None);
        overlay.increment("p:c".into(), 1, None).unwrap();
        overlay.set("q".into(), "other".into(), None);
        overlay.set("p:z".into(), "beyond the page".into(), None);
        let range = ListRange { prefix: "p:".into(), after: None, limit: 3 };
        let committed = overlay.committed_range(&range);
        assert_eq!(committed.limit, 4);
        let entries = ["p:a", "p:b", "p:c", "p:d"].map(|key| entry(key, "1")).to_vec();
        let seen = overlay.list(&range, committed, entries);
        assert_eq!(seen, [entry("p:b", "1"), entry("p:b2", "new"), entry("p:c", "2")]);
        let after = ListRange { after: Some("p:c".into()), ..range };
        assert!(!after.contains("p:c") && after.contains("p:d") && !after.contains("q"));
    }
}
