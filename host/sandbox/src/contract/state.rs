//! `state.wit`: the module's state, which is committed with the effects of its calls.

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lower};

/// An entry of a module's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
pub struct StateEntry {
    /// 1 to 256 bytes.
    #[component(name = "key")]
    pub key: String,
    /// Up to 64 KiB; a number is its decimal text.
    #[component(name = "value")]
    pub value: String,
}

/// A read of a call, with the answer it got. At the commit the same read must give the same answer; otherwise nothing is
/// committed, and the call runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StateRead {
    /// The value of a key, at most once per key.
    Key {
        /// The key.
        key: String,
        /// Its value; `None` if it was missing or expired.
        value: Option<String>,
    },
    /// A list of entries.
    List {
        /// Beginning of the keys.
        prefix: String,
        /// Keys after this one.
        after: Option<String>,
        /// Maximum number of entries.
        limit: u32,
        /// The entries, in the order of their keys' bytes.
        entries: Vec<StateEntry>,
    },
}

/// The change of one key, at most one per key and call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StateWrite {
    /// Sets the key and its expiry.
    Set {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// Expires this long after the call's `now_ms`; `None`: never.
        ttl_ms: Option<u64>,
    },
    /// Adds to the number of the key. A missing or expired key counts as 0 and is created with the expiry; the expiry
    /// of an existing one stays. Where the value is no whole number or the sum overflows, the call fails as
    /// `refused_effect` with the reason `not_a_number`.
    Increment {
        /// The key.
        key: String,
        /// May be negative.
        by: i64,
        /// Applies only if the key is created.
        ttl_ms: Option<u64>,
    },
    /// Deletes the key, if it is there.
    Delete {
        /// The key.
        key: String,
    },
}

impl StateWrite {
    /// The key that changes.
    pub fn key(&self) -> &str {
        match self {
            Self::Set { key, .. } | Self::Increment { key, .. } | Self::Delete { key } => key,
        }
    }

    /// Bytes that it counts with in the bound of a call's writes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Set { key, value, .. } => key.len() + value.len(),
            Self::Increment { key, .. } => key.len() + size_of::<i64>(),
            Self::Delete { key } => key.len(),
        }
    }
}

/// Reads and writes of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChanges {
    /// To be checked at the commit.
    pub reads: Vec<StateRead>,
    /// To be applied at the commit, in the order of the keys' first writes.
    pub writes: Vec<StateWrite>,
}
