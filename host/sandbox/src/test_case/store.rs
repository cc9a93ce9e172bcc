//! A module's key-value store in memory, with the rules of the real one.

use crate::contract::HostError;
use crate::contract::state::{StateEntry, StateWrite};
use crate::host::{HostAnswer, HostCall};
use std::collections::{BTreeMap, HashMap};

/// Maximum size of a module's store in one network, in bytes: a key's, its value's (a number counts as 20) and 64 of
/// overhead.
const QUOTA: usize = 16 << 20;
const ENTRY_BYTES: usize = 64;
const NUMBER_BYTES: usize = 20;

pub(super) struct TestStore(HashMap<String, Entry>);

struct Entry {
    value: String,
    expires_at_ms: Option<u64>,
}

impl Entry {
    fn size(&self, key: &str) -> usize {
        let number = self.value.parse::<i64>().is_ok_and(|number| number.to_string() == self.value);
        ENTRY_BYTES + key.len() + if number { NUMBER_BYTES } else { self.value.len() }
    }
}

impl TestStore {
    /// A store with these values, which never expire.
    pub(super) fn new(values: &BTreeMap<String, String>) -> Self {
        let entry = |value: &String| Entry { value: value.clone(), expires_at_ms: None };
        Self(values.iter().map(|(key, value)| (key.clone(), entry(value))).collect())
    }

    /// Executes a store call; fails for any other call.
    pub(super) fn apply(&mut self, call: &HostCall, now_ms: u64) -> Result<HostAnswer, HostError> {
        match call {
            HostCall::StoreGet { key } => Ok(HostAnswer::Value(self.value(key, now_ms).map(str::to_owned))),
            HostCall::StoreSet { key, value, ttl_ms } => {
                let entry = Entry { value: value.clone(), expires_at_ms: expiry(now_ms, *ttl_ms) };
                self.put(key, entry, now_ms).map(|()| HostAnswer::Done)
            }
            HostCall::StoreIncrement { key, by, ttl_ms } => {
                self.increment(key, *by, *ttl_ms, now_ms).map(HostAnswer::Number)
            }
            HostCall::StoreDelete { key } => {
                let existed = self.value(key, now_ms).is_some();
                self.0.remove(key);
                Ok(HostAnswer::Deleted(existed))
            }
            _ => Err(HostError::Unavailable),
        }
    }

    /// Executes a read of `state`; `None` for any other call.
    pub(super) fn read_state(&self, call: &HostCall, now_ms: u64) -> Option<HostAnswer> {
        Some(match call {
            HostCall::StateGet { keys } => {
                HostAnswer::Values(keys.iter().map(|key| self.value(key, now_ms).map(str::to_owned)).collect())
            }
            HostCall::StateList { prefix, after, limit } => {
                let in_range =
                    |key: &&String| key.starts_with(prefix) && after.as_ref().is_none_or(|after| *key > after);
                let mut keys: Vec<_> = self.0.keys().filter(in_range).collect();
                keys.sort();
                let entry = |key: &String| {
                    let value = self.value(key, now_ms)?.to_owned();
                    Some(StateEntry { key: key.clone(), value })
                };
                HostAnswer::Entries(keys.into_iter().filter_map(entry).take(*limit as usize).collect())
            }
            _ => return None,
        })
    }

    /// Applies what a call wrote into `state`.
    pub(super) fn commit(&mut self, writes: &[StateWrite], now_ms: u64) {
        for write in writes {
            let call = match write.clone() {
                StateWrite::Set { key, value, ttl_ms } => HostCall::StoreSet { key, value, ttl_ms },
                StateWrite::Increment { key, by, ttl_ms } => HostCall::StoreIncrement { key, by, ttl_ms },
                StateWrite::Delete { key } => HostCall::StoreDelete { key },
            };
            // One that the hub would refuse shows in the hub alone.
            let _ = self.apply(&call, now_ms);
        }
    }

    fn value(&self, key: &str, now_ms: u64) -> Option<&str> {
        let entry = self.0.get(key)?;
        entry.expires_at_ms.is_none_or(|at| at > now_ms).then_some(entry.value.as_str())
    }

    fn increment(&mut self, key: &str, by: i64, ttl_ms: Option<u64>, now_ms: u64) -> Result<i64, HostError> {
        let invalid = |why: &str| HostError::Invalid(why.to_owned());
        let before = self.value(key, now_ms);
        let expires_at_ms = match before {
            // The first increment sets the expiry.
            Some(_) => self.0.get(key).and_then(|entry| entry.expires_at_ms),
            None => expiry(now_ms, ttl_ms),
        };
        let number = before.map_or(Ok(0), str::parse::<i64>);
        let number = number.map_err(|_| invalid("the value of this key is not an integer"))?;
        let sum = number.checked_add(by).ok_or_else(|| invalid("the sum is too large"))?;
        self.put(key, Entry { value: sum.to_string(), expires_at_ms }, now_ms)?;
        Ok(sum)
    }

    fn put(&mut self, key: &str, entry: Entry, now_ms: u64) -> Result<(), HostError> {
        self.0.retain(|_, entry| entry.expires_at_ms.is_none_or(|at| at > now_ms));
        let others = self.0.iter().filter(|(other, _)| *other != key);
        let used: usize = others.map(|(key, entry)| entry.size(key)).sum();
        if used + entry.size(key) > QUOTA {
            return Err(HostError::QuotaExceeded);
        }
        self.0.insert(key.to_owned(), entry);
        Ok(())
    }
}

fn expiry(now_ms: u64, ttl_ms: Option<u64>) -> Option<u64> {
    ttl_ms.map(|ttl| now_ms.saturating_add(ttl))
}
