//! The state of this module in this network, which is committed with the effects of its calls: all or nothing.
//!
//! Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's host calls to data. Writes are seen
//! by the same call; together they have up to 256 KiB. Calls behave as though they ran one after the other: where
//! something that a call read has changed when it ends, it runs again. [`increment`] reads nothing.
//!
//! Overrides may read, and have the [`store`](crate::store) for their own writes.

pub use crate::bindings::host::network_hub::module::state::Entry;

use crate::HostError;
use crate::host::state as host;

/// The value of a key; none if it was never set, has been deleted or has expired.
pub fn get(key: &str) -> Result<Option<String>, HostError> {
    host::get(key)
}

/// The values of 1 to 32 keys, in their order.
pub fn get_many(keys: &[String]) -> Result<Vec<Option<String>>, HostError> {
    host::get_many(keys)
}

/// The entries whose keys begin with `prefix` and come after `after`, in the order of the keys' bytes: 1 to 100.
pub fn list(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, HostError> {
    host::list(prefix, after, limit)
}

/// Sets a key. With `ttl_ms` (1 or more) it expires that long after the call's `now_ms`, without it never.
pub fn set(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), HostError> {
    host::set(key, value, ttl_ms)
}

/// Adds to the number stored under a key. A missing key counts as 0 and is created with `ttl_ms`; the expiry of a key
/// that exists stays. A value that is no number fails the call at its end.
pub fn increment(key: &str, by: i64, ttl_ms: Option<u64>) -> Result<(), HostError> {
    host::increment(key, by, ttl_ms)
}

/// Deletes a key, if it is there.
pub fn delete(key: &str) -> Result<(), HostError> {
    host::delete(key)
}
