//! Worlds, leases and what is asked for.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::text_type::text_type;
use crate::values::{Identifier, NetworkId, Text};

text_type! {
    /// A name of an owner or of one of their worlds: as an [`Identifier`], of at most 128 characters. Four names are one
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

/// Names a world of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorldRef {
    pub(super) game_id: Identifier,
    pub(super) owner_scope: WorldName,
    pub(super) owner_id: WorldName,
    pub(super) world_key: WorldName,
}

/// Whether a world is kept when it is unloaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = WorldPersistence)]
pub(super) enum Persistence {
    /// It is snapshot, and boots from its newest snapshot.
    #[default]
    Persistent,
    /// It begins anew each time.
    Ephemeral,
}

impl Persistence {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldSeed)]
pub(super) struct Seed {
    /// What to begin with, such as a template's name or a URL.
    #[schema(example = "islands/desert")]
    r#ref: Option<Text<1000>>,
    /// What `ref` is written in.
    #[schema(example = "schematic")]
    format: Option<Text<255>>,
    /// Where in the world it goes.
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

/// Where a lease is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = WorldLeaseState)]
pub(super) enum LeaseState {
    /// Its node boots the world, or it waits for the lease before it to end.
    Loading,
    /// The world is up.
    Ready,
    /// Its node saves and unloads the world.
    Draining,
    /// The world was unloaded.
    Unloaded,
    /// Its time ran out, or its node started anew.
    Lost,
}

impl TryFrom<String> for LeaseState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// The right to run a world, for a while: a row.
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
    /// The lease as it stands at `now`: one whose time has run out is lost, noted or not.
    pub(super) fn at(mut self, now: Millis) -> Self {
        if self.is_live() && self.expires_at <= now {
            self.state = LeaseState::Lost;
        }
        self
    }

    /// Whether it has not ended, as far as its row says.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, LeaseState::Loading | LeaseState::Ready | LeaseState::Draining)
    }

    /// Whether its world is to be kept.
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
    /// The node that keeps it in a store of its own.
    pub(super) blob_node: Option<Identifier>,
}

/// A snapshot's row, or that of an upload that may yet become one. `file` is its name in the store where the hub itself
/// received it; one that a node put there by itself is named by `blob_key`.
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

/// Who calls back: a node, with a lease as it knows it.
#[derive(Clone, Debug)]
pub(super) struct LeaseHolder {
    pub(super) id: i64,
    pub(super) node: Identifier,
    pub(super) fence: i64,
}

/// Why a node is to save a world or unload it.
#[derive(Clone, Debug)]
pub(super) enum SaveReason {
    /// Nobody was in it for a while.
    Idle,
    /// Somebody released it.
    Released,
    /// Somebody requested a save point, for this reason.
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
