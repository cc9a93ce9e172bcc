//! Worlds, leases and requests.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::text_type::text_type;
use crate::values::{Identifier, NetworkId, Text};

/// Time a lease waits for the previous one.
pub(super) const MAX_WAIT: Millis = 600_000;

text_type! {
    /// A name of an owner or of one of their worlds: an [`Identifier`] of at most 128 characters. Four names are one
    /// key of an index, and PostgreSQL's keys are of limited size.
    pub(super) struct WorldName;
    check: |text| match text {
        _ if text.trim().is_empty() => Err("must not be blank"),
        _ if text.chars().count() > 128 => Err("must be at most 128 characters"),
        _ if text.chars().any(char::is_control) => Err("must not contain control characters"),
        _ => Ok(()),
    };
    schema: |text| text.min_length(Some(1)).max_length(Some(128));
}

/// Reference to a world of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorldRef {
    pub(super) game_id: Identifier,
    pub(super) owner_scope: WorldName,
    pub(super) owner_id: WorldName,
    pub(super) world_key: WorldName,
}

/// Persistence of a world after it is unloaded.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::EnumString,
    strum::IntoStaticStr,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = WorldPersistence)]
pub(super) enum Persistence {
    /// It is snapshot, and boots from its newest snapshot.
    #[default]
    Persistent,
    /// It starts empty each time.
    Ephemeral,
}

impl Persistence {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Source of a new world; passed to the node unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldSeed)]
pub(super) struct Seed {
    /// Initial content, such as a template's name or a URL.
    #[schema(example = "islands/desert")]
    r#ref: Option<Text<1000>>,
    /// Format of `ref`.
    #[schema(example = "schematic")]
    format: Option<Text<255>>,
    /// Position in the world.
    #[schema(example = 0.0)]
    x: Option<f64>,
    #[schema(example = 64.0)]
    y: Option<f64>,
    #[schema(example = 0.0)]
    z: Option<f64>,
}

/// A request to open a world.
#[derive(Clone, Debug)]
pub(super) struct OpenWorldRequest {
    pub(super) world: WorldRef,
    pub(super) prefer_node: Option<Identifier>,
    pub(super) seed: Option<Seed>,
    pub(super) persistence: Persistence,
    pub(super) world_gen: Option<String>,
}

/// State of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = WorldLeaseState)]
pub(super) enum LeaseState {
    /// Its node boots the world, or it waits for the previous lease to end.
    Loading,
    /// The world is up.
    Ready,
    /// Its node saves and unloads the world.
    Draining,
    /// The world was unloaded.
    Unloaded,
    /// Its time ran out, or its node restarted.
    Lost,
}

impl TryFrom<String> for LeaseState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// Time-limited right to run a world: a row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Lease {
    pub(super) network_id: NetworkId,
    pub(super) id: i64,
    pub(super) world_no: i64,
    pub(super) fence: i64,
    #[sqlx(try_from = "String")]
    pub(super) state: LeaseState,
    pub(super) node_server_id: Option<Identifier>,
    pub(super) prefer_node: Option<Identifier>,
    pub(super) persistence: String,
    pub(super) world_gen: Option<String>,
    pub(super) seed: Option<String>,
    pub(super) hub_url: String,
    pub(super) players: i64,
    pub(super) idle_since: Option<Millis>,
    pub(super) uploads: i64,
    pub(super) blob_key: Option<String>,
    pub(super) expires_at: Millis,
}

impl Lease {
    /// The lease at `now`: lost if its time has run out, even if that is not recorded yet.
    pub(super) fn at(mut self, now: Millis) -> Self {
        if self.is_live() && self.expires_at <= now {
            self.state = LeaseState::Lost;
        }
        self
    }

    /// True if it has not ended, according to its row.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, LeaseState::Loading | LeaseState::Ready | LeaseState::Draining)
    }

    /// True if its world is persistent.
    pub(super) fn is_persistent(&self) -> bool {
        self.persistence == Persistence::Persistent.as_str()
    }
}

/// A world's row.
#[derive(Clone, Debug, sqlx::FromRow)]
#[allow(clippy::struct_field_names, reason = "the columns' names")]
pub(super) struct World {
    pub(super) world_no: i64,
    pub(super) game_id: Identifier,
    pub(super) owner_scope: WorldName,
    pub(super) owner_id: WorldName,
    pub(super) world_key: WorldName,
    pub(super) fence: i64,
    pub(super) blob_key: Option<String>,
    /// Node that keeps it in its own store.
    pub(super) blob_node: Option<Identifier>,
}

/// A snapshot's row, or that of an upload that may become one. `file` is its name in the store if the hub itself
/// received it; one that a node stored itself is named by `blob_key`.
#[derive(Clone, Debug, sqlx::FromRow)]
#[allow(clippy::struct_field_names, reason = "the columns' names")]
pub(super) struct WorldSnapshot {
    pub(super) blob_key: String,
    pub(super) world_no: i64,
    pub(super) lease_id: i64,
    pub(super) fence: i64,
    pub(super) seq: i64,
    pub(super) size_bytes: Option<i64>,
    pub(super) file: Option<String>,
}

/// Sender of a callback: a node, with its view of the lease.
#[derive(Clone, Debug)]
pub(super) struct LeaseHolder {
    pub(super) id: i64,
    pub(super) node: Identifier,
    pub(super) fence: i64,
}

/// Reason for a node to save or unload a world.
#[derive(Clone, Debug)]
pub(super) enum SaveReason {
    /// No players were in it for a while.
    Idle,
    /// A caller released it.
    Released,
    /// A caller requested a save point, for this reason.
    Requested(String),
}

impl fmt::Display for SaveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "IDLE",
            Self::Released => "RELEASED",
            Self::Requested(reason) => reason,
        })
    }
}
