//! A key-value store that belongs to this module in this network, and outlives the call.
//!
//! Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's 8 host calls to data. Two calls
//! of a module may run at once, so count with [`increment`] rather than with [`get`] and [`set`].
//!
//! In handlers every function is [`HostError::Unavailable`]: they have the [`state`](crate::state).

use crate::HostError;
use crate::host::store as host;

/// The value of a key; none if it was never set, has been deleted or has expired.
pub fn get(key: &str) -> Result<Option<String>, HostError> {
    host::get(key)
}

/// Sets a key. With `ttl_ms` (1 or more) it expires after that time, without it never.
pub fn set(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), HostError> {
    host::set(key, value, ttl_ms)
}

/// Adds to the number stored under a key and returns the sum. A missing key counts as 0 and is created with
/// `ttl_ms`; the expiry of a key that exists stays, which makes this a counter over a fixed window.
pub fn increment(key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, HostError> {
    host::increment(key, by, ttl_ms)
}

/// Deletes a key; false if it did not exist.
pub fn delete(key: &str) -> Result<bool, HostError> {
    host::delete(key)
}
