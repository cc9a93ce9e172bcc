//! What a server says of itself.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::geo::Region;
use crate::servers::provisioned::ProvisionedServer;
use crate::servers::snapshot::LiveServer;
use crate::values::{Identifier, PlayerId, Text, blank_as_absent};

/// What a server is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Role {
    /// Players play on it.
    #[default]
    Game,
    /// Players go through it; never a match's target.
    Proxy,
}

impl Role {
    /// As the database writes it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Game => "GAME",
            Self::Proxy => "PROXY",
        }
    }

    /// As the database wrote it.
    pub(super) fn from_text(text: &str) -> Self {
        if text == Self::Proxy.as_str() { Self::Proxy } else { Self::Game }
    }
}

/// What is going on in a server or world: an upper-case word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct GameState(Arc<str>);

impl GameState {
    /// The word as it was sent.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a minigame in this state takes players.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&*self.0, "IDLE" | "WAITING" | "STARTING")
    }
}

impl TryFrom<String> for GameState {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
            return Err("must be 1 to 64 of the characters A-Z, 0-9, _ and -".to_owned());
        }
        Ok(Self(text.into()))
    }
}

impl<'de> Deserialize<'de> for GameState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl PartialSchema for GameState {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(64))
            .pattern(Some("^[A-Z0-9_-]*$"))
            .examples(["WAITING"])
            .into()
    }
}
impl ToSchema for GameState {}

/// How many: 0 to 2147483647.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(crate) struct Count(pub(crate) u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let count = i32::try_from(number).ok().and_then(|number| u32::try_from(number).ok());
        count.map(Self).ok_or_else(|| de::Error::custom("must be from 0 to 2147483647"))
    }
}

impl PartialSchema for Count {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i32::MAX)).into()
    }
}
impl ToSchema for Count {}

/// A world as its server reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorldReport {
    /// Unique on its server; of two with one id the later counts.
    #[schema(example = "arena-3")]
    pub(crate) world_id: Identifier,
    /// What players call it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) display_name: Option<Text<255>>,
    /// Players in it; absent: 0.
    #[serde(default)]
    pub(crate) current_players: Option<Count>,
    /// How many fit; absent or 0: no limit.
    #[serde(default)]
    pub(crate) max_players: Option<Count>,
    /// What is going on in it. A minigame takes players in IDLE, WAITING and STARTING.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) game_state: Option<GameState>,
    /// Players its game needs to start; absent or 0: it is no minigame.
    #[serde(default)]
    pub(crate) players_to_start: Option<Count>,
    /// What kind of world it is; players are matched by it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "duel")]
    pub(crate) world_type: Option<Identifier>,
}

/// A plugin that runs on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PluginReport {
    /// Its name.
    pub(crate) name: Text<255>,
    /// Its version.
    #[serde(default)]
    pub(crate) version: Option<Text<255>>,
    /// Whether it is switched on.
    #[serde(default)]
    pub(crate) enabled: Option<bool>,
}

/// What a server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Software {
    pub(crate) version: Option<String>,
    pub(crate) build: Option<i64>,
    pub(crate) commit: Option<String>,
    pub(crate) platform_name: Option<String>,
    pub(crate) platform_version: Option<String>,
    pub(crate) plugins: Vec<PluginReport>,
}

/// What a server says of its software this time; what it leaves out stays as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftwareReport {
    pub(crate) version: Option<String>,
    pub(crate) build: Option<i64>,
    pub(crate) commit: Option<String>,
    pub(crate) platform_name: Option<String>,
    pub(crate) platform_version: Option<String>,
    pub(crate) plugins: Option<Vec<PluginReport>>,
}

impl SoftwareReport {
    /// Whether it says anything new.
    pub(super) fn differs_from(&self, known: &Software) -> bool {
        fn differs<T: PartialEq>(said: Option<&T>, known: Option<&T>) -> bool {
            said.is_some() && said != known
        }
        differs(self.version.as_ref(), known.version.as_ref())
            || differs(self.build.as_ref(), known.build.as_ref())
            || differs(self.commit.as_ref(), known.commit.as_ref())
            || differs(self.platform_name.as_ref(), known.platform_name.as_ref())
            || differs(self.platform_version.as_ref(), known.platform_version.as_ref())
            || differs(self.plugins.as_ref(), Some(&known.plugins))
    }
}

impl Software {
    /// Takes over what is said.
    pub(super) fn update(&mut self, said: SoftwareReport) {
        self.version = said.version.or_else(|| self.version.take());
        self.build = said.build.or(self.build);
        self.commit = said.commit.or_else(|| self.commit.take());
        self.platform_name = said.platform_name.or_else(|| self.platform_name.take());
        self.platform_version = said.platform_version.or_else(|| self.platform_version.take());
        if let Some(plugins) = said.plugins {
            self.plugins = plugins;
        }
    }
}

impl From<SoftwareReport> for Software {
    fn from(said: SoftwareReport) -> Self {
        let mut software = Self::default();
        software.update(said);
        software
    }
}

/// What a server keeps from one register call to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) server_id: Identifier,
    pub(crate) server_type: Identifier,
    pub(crate) game_type: Option<String>,
    pub(crate) role: Role,
    pub(crate) display_name: Option<String>,
    /// 0: no limit.
    pub(crate) max_players: u32,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) region: Region,
    pub(crate) country: Option<String>,
    pub(crate) software: Software,
}

/// A register call, ready to count.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) facts: Facts,
    pub(crate) game_state: Option<GameState>,
    pub(crate) players_to_start: u32,
    pub(crate) worlds: Vec<WorldReport>,
}

/// A heartbeat; what it leaves out stays as it was.
#[derive(Clone, Debug)]
pub(crate) struct Heartbeat {
    pub(crate) server_id: Identifier,
    pub(crate) game_state: Option<GameState>,
    pub(crate) players_to_start: Option<u32>,
    pub(crate) worlds: Option<Vec<WorldReport>>,
    /// Everybody who is on it.
    pub(crate) players: Option<Vec<(PlayerId, Option<Identifier>)>>,
    pub(crate) software: SoftwareReport,
}

/// Where a player is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) player: PlayerId,
    pub(crate) player_name: Option<Identifier>,
    pub(crate) server_id: Identifier,
    pub(crate) server_type: Identifier,
    pub(crate) world_id: Option<Identifier>,
}

/// A registry row.
#[derive(Clone, Debug)]
pub(crate) struct RegistryRow {
    pub(crate) facts: Facts,
    pub(crate) first_seen: Millis,
    pub(crate) last_seen: Millis,
}

/// A server that has registered.
#[derive(Debug)]
pub(crate) struct RegisteredServer {
    pub(crate) row: RegistryRow,
    /// Its present state, while it is online.
    pub(crate) live: Option<LiveServer>,
    /// Its machine was made by a provisioner.
    pub(crate) provisioned: bool,
}

/// A server of the registry.
#[derive(Debug)]
pub(crate) enum KnownServer {
    /// It has registered.
    Registered(Box<RegisteredServer>),
    /// It has not: its machine is being made.
    Provisioning(Box<ProvisionedServer>),
}

impl KnownServer {
    /// Its id.
    pub(crate) fn id(&self) -> &Identifier {
        match self {
            Self::Registered(server) => &server.row.facts.server_id,
            Self::Provisioning(server) => &server.server_id,
        }
    }
}

/// Which servers a list is to have; what is none does not count.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) server_type: Option<String>,
    pub(crate) region: Option<Region>,
    /// A part of the id or display name.
    pub(crate) text: Option<String>,
    /// Only servers that are online, or only those that are not.
    pub(crate) online: Option<bool>,
}
