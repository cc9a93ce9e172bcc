//! Reports of servers.

use serde::{Deserialize, Deserializer, Serialize, de};
use strum::{AsRefStr, EnumString};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::geo::Region;
use crate::text_type::text_type;
use crate::values::{Identifier, PlayerId, Text, blank_as_absent};

/// Role of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, AsRefStr, EnumString)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = ServerRole)]
pub enum Role {
    /// Players play on it.
    #[default]
    Game,
    /// Players pass through it; never a match's target.
    Proxy,
}

text_type! {
    /// State of a server's or world's game: an upper-case word.
    pub struct GameState;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
            return Err("must be 1 to 64 of the characters A-Z, 0-9, _ and -");
        }
        Ok(())
    };
    schema: |text| text.max_length(Some(64)).pattern(Some("^[A-Z0-9_-]*$")).examples(["WAITING"]);
}

impl GameState {
    /// True if a minigame in this state accepts players.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.as_str(), "IDLE" | "WAITING" | "STARTING")
    }
}

/// A count, from 0 to 2147483647.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Count(pub(crate) u32);

impl Count {
    /// The number.
    pub(crate) fn value(self) -> u32 {
        self.0
    }
}

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

/// A world as reported by its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorldReport {
    /// Unique on its server; of two with one id the later counts.
    #[schema(example = "arena-3")]
    pub world_id: Identifier,
    /// Display name for players.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub display_name: Option<Text<255>>,
    /// Players in it. Default: 0.
    #[serde(default)]
    pub current_players: Option<Count>,
    /// Maximum number of players; absent or 0: no limit.
    #[serde(default)]
    pub max_players: Option<Count>,
    /// State of its game. A minigame accepts players in IDLE, WAITING and STARTING.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub game_state: Option<GameState>,
    /// Number of players its game needs to start; absent or 0: not a minigame.
    #[serde(default)]
    pub players_to_start: Option<Count>,
    /// Type of the world; matches select by it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "duel")]
    pub world_type: Option<Identifier>,
}

/// A plugin on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    pub name: Text<255>,
    /// Its version.
    #[serde(default)]
    pub version: Option<Text<255>>,
    /// True if it is enabled.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// Software of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Software {
    pub version: Option<String>,
    pub build: Option<i64>,
    pub commit: Option<String>,
    pub(crate) platform_name: Option<String>,
    pub(crate) platform_version: Option<String>,
    pub plugins: Vec<PluginReport>,
}

/// A request's report about a server's software; absent fields keep their values.
#[derive(Clone, Debug, Default)]
pub struct SoftwareReport {
    pub version: Option<String>,
    pub build: Option<i64>,
    pub commit: Option<String>,
    pub(crate) platform_name: Option<String>,
    pub(crate) platform_version: Option<String>,
    pub plugins: Option<Vec<PluginReport>>,
}

impl SoftwareReport {
    pub fn new(
        version: Option<Text<255>>,
        build: Option<i64>,
        commit: Option<Text<255>>,
        platform_name: Option<Text<255>>,
        platform_version: Option<Text<255>>,
        plugins: Option<Vec<PluginReport>>,
    ) -> Self {
        Self {
            version: version.map(Text::into_string),
            build,
            commit: commit.map(Text::into_string),
            platform_name: platform_name.map(Text::into_string),
            platform_version: platform_version.map(Text::into_string),
            plugins,
        }
    }

    /// True if it would change anything.
    pub(super) fn differs_from(&self, known: &Software) -> bool {
        fn differs<T: PartialEq>(reported: Option<&T>, known: Option<&T>) -> bool {
            reported.is_some() && reported != known
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
    /// Applies a report.
    pub(super) fn update(&mut self, report: SoftwareReport) {
        self.version = report.version.or_else(|| self.version.take());
        self.build = report.build.or(self.build);
        self.commit = report.commit.or_else(|| self.commit.take());
        self.platform_name = report.platform_name.or_else(|| self.platform_name.take());
        self.platform_version = report.platform_version.or_else(|| self.platform_version.take());
        if let Some(plugins) = report.plugins {
            self.plugins = plugins;
        }
    }
}

impl From<SoftwareReport> for Software {
    fn from(report: SoftwareReport) -> Self {
        let mut software = Self::default();
        software.update(report);
        software
    }
}

/// Data of a server's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    pub server_id: Identifier,
    pub server_type: Identifier,
    pub(crate) game_type: Option<String>,
    pub role: Role,
    pub display_name: Option<String>,
    /// 0: no limit.
    pub max_players: u32,
    pub host: String,
    pub port: u16,
    pub region: Region,
    pub country: Option<String>,
    pub software: Software,
}

/// A validated register call.
#[derive(Clone, Debug)]
pub struct Registration {
    pub info: ServerInfo,
    pub game_state: Option<GameState>,
    pub players_to_start: u32,
    pub worlds: Vec<WorldReport>,
}

/// A heartbeat; absent fields keep their values.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    pub server_id: Identifier,
    pub game_state: Option<GameState>,
    pub players_to_start: Option<u32>,
    pub worlds: Option<Vec<WorldReport>>,
    /// All its players.
    pub players: Option<Vec<(PlayerId, Option<Identifier>)>>,
    pub software: SoftwareReport,
}

impl Heartbeat {
    /// A heartbeat without any report.
    pub(crate) fn sign_of_life(server_id: Identifier) -> Self {
        let software = SoftwareReport::default();
        Self { server_id, game_state: None, players_to_start: None, worlds: None, players: None, software }
    }
}

/// Location of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerLocation {
    pub player: PlayerId,
    pub player_name: Option<Identifier>,
    pub server_id: Identifier,
    pub server_type: Identifier,
    pub world_id: Option<Identifier>,
}

/// Text that searches look through.
pub(super) fn search_text(id: &Identifier, display_name: Option<&str>) -> String {
    format!("{id}\n{}", display_name.unwrap_or_default()).to_lowercase()
}

/// Players in the form of statements' parameters.
pub(crate) fn player_ids(players: &[PlayerId]) -> String {
    let ids: serde_json::Value = players.iter().map(|player| player.0.simple().to_string()).collect();
    ids.to_string()
}
