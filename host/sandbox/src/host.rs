//! A module's calls to the hub while it runs. A host call is a value, and so is its answer: they are counted in one
//! place, recorded, and answered from a record in a replay.

use crate::contract::HostError;
use crate::contract::state::StateEntry;
use crate::contract::players::{Location, Period, PermissionState, Punishment, PunishmentFilter};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;

/// A boxed future, so that the traits of this crate can be used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers the data calls of one module in one network. An implementor is bound to both, so that no module can reach
/// another's data.
///
/// Arguments are inside the bounds the contract states (lengths, counts, a ttl of 1 or more) when they arrive.
/// The sandbox stops waiting at the call's deadline and drops the future.
pub trait Host: Send + Sync {
    /// Answers one call with the [`HostAnswer`] for its [`HostCall`].
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>>;
}

/// A call of a host function that touches data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HostCall {
    /// The value of a key. Answer: [`HostAnswer::Value`].
    StoreGet {
        /// 1 to 256 bytes.
        key: String,
    },
    /// Sets a key and its expiry. Answer: [`HostAnswer::Done`].
    StoreSet {
        /// 1 to 256 bytes.
        key: String,
        /// Up to 64 KiB.
        value: String,
        /// Expires after this time; `None`: never.
        ttl_ms: Option<u64>,
    },
    /// Adds to a number; a missing key counts as 0 and is created with the expiry. Answer: [`HostAnswer::Number`].
    StoreIncrement {
        /// 1 to 256 bytes.
        key: String,
        /// May be negative.
        by: i64,
        /// Applies only if the key is created.
        ttl_ms: Option<u64>,
    },
    /// Deletes a key. Answer: [`HostAnswer::Deleted`].
    StoreDelete {
        /// 1 to 256 bytes.
        key: String,
    },
    /// Values of keys of the module's `state`, as committed: the call's own writes are the sandbox's. Answer:
    /// [`HostAnswer::Values`].
    StateGet {
        /// 1 to 32 keys of 1 to 256 bytes.
        keys: Vec<String>,
    },
    /// Entries of the module's `state` in the order of their keys' bytes, as committed. Answer:
    /// [`HostAnswer::Entries`].
    StateList {
        /// Beginning of the keys; may be empty.
        prefix: String,
        /// Keys after this one alone.
        after: Option<String>,
        /// 1 to 132: what the module asks for, and as many as the call itself deleted or may have added.
        limit: u32,
    },
    /// One statistic of several players, in their order. Answer: [`HostAnswer::Statistics`].
    Statistics {
        /// UUIDs from the module, at most 100.
        players: Vec<String>,
        /// The statistic's name.
        name: String,
        /// `global` by default.
        game_mode: String,
        /// Period of the statistic.
        period: Period,
    },
    /// A balance. Answer: [`HostAnswer::Balance`].
    Balance {
        /// UUID from the module.
        player: String,
        /// The currency's name.
        currency: String,
    },
    /// A permission, resolved. Answer: [`HostAnswer::Permission`].
    Permission {
        /// UUID from the module.
        player: String,
        /// Requested node.
        node: String,
        /// In this context.
        context: Option<String>,
        /// In this world.
        world: Option<String>,
    },
    /// A player's punishments, newest first. Answer: [`HostAnswer::Punishments`].
    Punishments {
        /// UUID or name from the module.
        player: String,
        /// Filter of the list.
        filter: PunishmentFilter,
    },
    /// Location of a player. Answer: [`HostAnswer::Online`].
    Online {
        /// UUID from the module.
        player: String,
    },
    /// Online players in the order of their UUIDs. Answer: [`HostAnswer::Players`].
    OnlinePlayers {
        /// Those after this UUID alone.
        after: Option<String>,
        /// 1 to 200.
        limit: u32,
    },
    /// Players on a candidate of this matchmaking call. Answer: [`HostAnswer::PlayersOn`].
    PlayersOn {
        /// The server.
        server_id: String,
        /// The world, if the candidate is one.
        world_id: Option<String>,
    },
}

impl HostCall {
    /// True for calls of `store`, the store of overrides.
    pub(crate) const fn is_of_store(&self) -> bool {
        matches!(
            self,
            Self::StoreGet { .. } | Self::StoreSet { .. } | Self::StoreIncrement { .. } | Self::StoreDelete { .. }
        )
    }
}

/// The answer to a [`HostCall`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostAnswer {
    /// A key's value, if it has one.
    Value(Option<String>),
    /// The value is set.
    Done,
    /// The sum.
    Number(i64),
    /// True if there was something to delete.
    Deleted(bool),
    /// One per requested key of `state`, in their order.
    Values(Vec<Option<String>>),
    /// Entries of `state`.
    Entries(Vec<StateEntry>),
    /// One per requested player, in their order.
    Statistics(Vec<Option<f64>>),
    /// In ten-thousandths; `None` if there is no such currency.
    Balance(Option<i64>),
    /// Resolution of the permission.
    Permission(PermissionState),
    /// Newest first.
    Punishments(Vec<Punishment>),
    /// `None` when offline.
    Online(Option<Location>),
    /// UUIDs, at most 200.
    Players(Vec<String>),
}

/// A recorded data call. With the input and the context these are all that a replay needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCallRecord {
    /// The call.
    #[serde(flatten)]
    pub call: HostCall,
    /// The answer.
    pub answer: Result<HostAnswer, HostError>,
}

/// A host without data: every list is empty, every key missing, every player unknown. Used by trial calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyHost;

impl Host for EmptyHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        let answer = match call {
            HostCall::StoreGet { .. } => HostAnswer::Value(None),
            HostCall::StoreSet { .. } => HostAnswer::Done,
            HostCall::StoreIncrement { by, .. } => HostAnswer::Number(*by),
            HostCall::StoreDelete { .. } => HostAnswer::Deleted(false),
            HostCall::StateGet { keys } => HostAnswer::Values(vec![None; keys.len()]),
            HostCall::StateList { .. } => HostAnswer::Entries(Vec::new()),
            HostCall::Statistics { players, .. } => HostAnswer::Statistics(vec![None; players.len()]),
            HostCall::Balance { .. } => HostAnswer::Balance(None),
            HostCall::Permission { .. } => HostAnswer::Permission(PermissionState::Undefined),
            HostCall::Punishments { .. } => HostAnswer::Punishments(Vec::new()),
            HostCall::Online { .. } => HostAnswer::Online(None),
            HostCall::OnlinePlayers { .. } | HostCall::PlayersOn { .. } => HostAnswer::Players(Vec::new()),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}
