//! Worlds, leases and what is asked for.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::values::{Identifier, NetworkId, Text};

/// A name of an owner or of one of their worlds: as an [`Identifier`], of at most 128 characters. Four names are one
/// key of an index, and PostgreSQL's keys are of limited size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub(super) struct Name(String);

impl Name {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = Identifier::try_from(text)?.into_string();
        if text.chars().count() > 128 {
            return Err("must be at most 128 characters".to_owned());
        }
        Ok(Self(text))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl PartialSchema for Name {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(128)).into()
    }
}
impl ToSchema for Name {
    fn name() -> std::borrow::Cow<'static, str> {
        "WorldName".into()
    }
}

/// Which world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorldName {
    pub(super) game_id: Identifier,
    pub(super) owner_scope: Name,
    pub(super) owner_id: Name,
    pub(super) world_key: Name,
}

/// Whether a world is kept when it is unloaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Persistence {
    /// It is snapshot, and boots from its newest snapshot.
    #[default]
    Persistent,
    /// It begins anew each time.
    Ephemeral,
}

impl Persistence {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Persistent => "PERSISTENT",
            Self::Ephemeral => "EPHEMERAL",
        }
    }
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
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

/// What who opens a world wants.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) name: WorldName,
    pub(super) prefer_node: Option<Identifier>,
    pub(super) seed: Option<Seed>,
    pub(super) persistence: Persistence,
    pub(super) world_gen: Option<String>,
}

/// Where a lease is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum State {
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

impl State {
    /// As the database writes it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Loading => "LOADING",
            Self::Ready => "READY",
            Self::Draining => "DRAINING",
            Self::Unloaded => "UNLOADED",
            Self::Lost => "LOST",
        }
    }
}

impl TryFrom<String> for State {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let all = [Self::Loading, Self::Ready, Self::Draining, Self::Unloaded, Self::Lost];
        all.into_iter().find(|state| state.as_str() == text).ok_or_else(|| format!("no lease is ever {text}"))
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
    pub(super) state: State,
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
            self.state = State::Lost;
        }
        self
    }

    /// Whether it has not ended as far as its row says.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Loading | State::Ready | State::Draining)
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
    pub(super) owner_scope: Name,
    pub(super) owner_id: Name,
    pub(super) world_key: Name,
    pub(super) fence: i64,
    pub(super) blob_key: Option<String>,
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

/// Who calls back: a node, for a lease as it knows it.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) id: i64,
    pub(super) node: Identifier,
    pub(super) fence: i64,
}

/// Why a node is to save a world or let go of it.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    /// Nobody was in it for a while.
    Idle,
    /// Somebody released it.
    Released,
    /// Somebody asked for a save point, for this reason.
    Asked(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "IDLE",
            Self::Released => "RELEASED",
            Self::Asked(reason) => reason,
        })
    }
}
