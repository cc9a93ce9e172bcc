//! Versions of modules and the chains that use them.

use std::fmt;

use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::auth::Actor;
use crate::clock::Millis;
use crate::modules::limits::LinkLimits;

/// Maximum size of a module's configuration in a chain, as JSON text in bytes.
pub(super) const MAX_CONFIG_BYTES: usize = 64 * 1024;

/// A module's name: 1 to 64 of `[a-z0-9-]`, beginning with a letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub(super) struct ModuleName(String);

impl ModuleName {
    /// The name as text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for ModuleName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        if begins && text.len() <= 64 && text.bytes().all(allowed) {
            return Ok(Self(text.to_owned()));
        }
        Err("a module's name is 1 to 64 of a-z, 0-9 and -, and begins with a letter".to_owned())
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Progress of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum ModuleState {
    /// Still being compiled and tried.
    Compiling,
    /// Ready for use in a chain.
    Ready,
    /// Not a valid module; `reason` explains it.
    Rejected,
}

impl ModuleState {
    /// Form in the database.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Compiling => "COMPILING",
            Self::Ready => "READY",
            Self::Rejected => "REJECTED",
        }
    }
}

impl TryFrom<String> for ModuleState {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let all = [Self::Compiling, Self::Ready, Self::Rejected];
        all.into_iter().find(|state| state.as_str() == text).ok_or_else(|| format!("unknown module state {text}"))
    }
}

/// A version's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct ModuleRow {
    pub(super) name: String,
    pub(super) version: i64,
    pub(super) sha256: String,
    /// The SHA-256 of the component that runs; none until it is READY.
    pub(super) component_id: Option<String>,
    pub(super) size_bytes: i64,
    #[sqlx(try_from = "String")]
    pub(super) points: Points,
    pub(super) world_version: Option<String>,
    /// JSON of its manifest.
    pub(super) manifest: Option<String>,
    #[sqlx(try_from = "String")]
    pub(super) state: ModuleState,
    /// Reason for the rejection.
    pub(super) reason: Option<String>,
    pub(super) created_at: Millis,
    /// Key or person that uploaded it.
    pub(super) created_by: Option<String>,
}

/// Extension points that a module serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Points(pub(super) Vec<Point>);

impl Points {
    /// Form in the database.
    pub(super) fn to_text(&self) -> String {
        self.0.iter().map(|point| point.name()).collect::<Vec<_>>().join(" ")
    }
}

impl From<String> for Points {
    fn from(text: String) -> Self {
        Self(text.split(' ').filter_map(Point::from_name).collect())
    }
}

/// Execution mode of a module in a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ModuleMode)]
pub(super) enum Mode {
    /// For every call.
    #[default]
    Active,
    /// For `percent` of the players, always the same ones; replaces the ACTIVE version of that name for them.
    Canary,
    /// In parallel, without effect: `shadow` shows how its answers differ.
    Shadow,
}

/// Effect of a module's failed call on its chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = FailurePolicy)]
pub(super) enum OnFailure {
    /// The chain continues without the module.
    #[default]
    Skip,
    /// The request is refused.
    Refuse,
}

impl From<OnFailure> for hub_sandbox::OnFailure {
    fn from(on_failure: OnFailure) -> Self {
        match on_failure {
            OnFailure::Skip => Self::Skip,
            OnFailure::Refuse => Self::Refuse,
        }
    }
}

/// Lifetime of a module's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ModuleInstances)]
pub(super) enum Instances {
    /// Each call has its own instance.
    #[default]
    Fresh,
    /// Calls of this link, at one hub node, share instances, which is much quicker for languages with a runtime. An
    /// instance may be discarded at any time: keep only caches in its memory.
    Reused,
}

impl From<Instances> for hub_sandbox::Instances {
    fn from(instances: Instances) -> Self {
        match instances {
            Instances::Fresh => Self::Fresh,
            Instances::Reused => Self::Reused,
        }
    }
}

/// A module in a chain, as requested, stored and shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainLink)]
pub(super) struct LinkSpec {
    #[schema(example = "region-first")]
    pub(super) name: String,
    #[schema(minimum = 1, example = 1)]
    pub(super) version: i64,
    /// Passed to the module with every call; at most 64 KiB of JSON.
    #[serde(default, deserialize_with = "or_default")]
    #[schema(value_type = Option<Object>)]
    pub(super) config: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(value_type = Option<Mode>)]
    pub(super) mode: Mode,
    /// Share of players for CANARY, in percent.
    #[serde(default = "all", deserialize_with = "or_all")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 100)]
    pub(super) percent: i64,
    /// SKIP by default. Ignored at `events` and `schedules`, where a failed call is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<OnFailure>)]
    pub(super) on_failure: Option<OnFailure>,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(value_type = Option<Instances>)]
    pub(super) instances: Instances,
    /// Limits of each call below those of the network's plan.
    #[serde(default, deserialize_with = "none_if_default", skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<LinkLimits>,
    /// Only at `events` and `schedules`: what the owner allows the module.
    #[serde(default, deserialize_with = "none_if_default", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ModuleGrants>)]
    pub(super) grants: Option<Grants>,
    /// Only at `events`: the first event. Default: `KEPT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Beginning>)]
    pub(super) from: Option<Beginning>,
    /// True if the module's activation made the link. Ignored in requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) activation: Option<bool>,
    /// Key or person that gave the grants. Ignored in requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Actor>)]
    pub(super) granted_by: Option<Actor>,
    /// Time of the grants. Ignored in requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) granted_at: Option<Millis>,
}

/// Rights that an owner gives a module.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "the schema of `Grants`, which is a type of the sandbox")]
pub(super) struct ModuleGrants {
    /// Scopes of its effects and of the events it reads.
    #[schema(value_type = Option<Vec<String>>, example = json!(["events:read", "economy:write"]))]
    scopes: Vec<String>,
    /// Hosts it fetches from.
    #[schema(value_type = Option<Vec<String>>, example = json!(["discord.com"]))]
    hosts: Vec<String>,
    /// Names of secrets.
    #[schema(value_type = Option<Vec<String>>, example = json!(["TEBEX"]))]
    secrets: Vec<String>,
    /// Patterns of permission nodes that it sets.
    #[schema(value_type = Option<Vec<String>>, example = json!(["rank.*"]))]
    permission_nodes: Vec<String>,
    /// First words of commands that it runs; `*` is all.
    #[schema(value_type = Option<Vec<String>>, example = json!(["say"]))]
    commands: Vec<String>,
}

/// First event of a handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = HandlerBeginning)]
pub(super) enum Beginning {
    /// The first that was kept since the module was taken out; without one, as NOW.
    #[default]
    Kept,
    /// The next one: what was kept is dropped.
    Now,
}

const fn all() -> i64 {
    100
}

impl LinkSpec {
    /// True if the module's activation made the link.
    pub(super) fn is_of_activation(&self) -> bool {
        self.activation == Some(true)
    }

    /// Execution mode in the sandbox's terms.
    pub(super) fn sandbox_mode(&self) -> hub_sandbox::Mode {
        match self.mode {
            Mode::Active => hub_sandbox::Mode::Active,
            Mode::Canary => hub_sandbox::Mode::Canary { percent: u8::try_from(self.percent).unwrap_or(100) },
            Mode::Shadow => hub_sandbox::Mode::Shadow,
        }
    }
}

/// Treats null as absent.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Treats an empty value as absent.
fn none_if_default<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    Ok(Option::deserialize(deserializer)?.filter(|value| *value != T::default()))
}

fn or_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(all))
}

/// A point's row: its current and its previous chain, as JSON.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct PointRow {
    pub(super) point: String,
    pub(super) revision: i64,
    pub(super) chain: String,
    pub(super) previous: String,
    /// True after a restore, until it is activated again.
    pub(super) paused: bool,
}

/// A point's chain at one of its revisions, as JSON.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct RevisionRow {
    pub(super) revision: i64,
    pub(super) chain: String,
    /// Key or person that changed it.
    pub(super) actor: String,
    pub(super) created_at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "region-first", "x9", &"a".repeat(64)] {
            assert!(good.parse::<ModuleName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "9a", "A", "a_b", "a b", "ä", "a/b", &"a".repeat(65)] {
            assert!(bad.parse::<ModuleName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_link_has_defaults() {
        let link: LinkSpec = serde_json::from_str(r#"{"name": "a", "version": 2, "mode": null}"#).unwrap();
        assert_eq!(link.percent, 100);
        assert_eq!((link.mode, link.on_failure, link.instances), (Mode::Active, None, Instances::Fresh));
        assert!(serde_json::from_str::<LinkSpec>(r#"{"name": "a", "version": 2, "config": []}"#).is_err());
        assert!(serde_json::from_str::<LinkSpec>(r#"{"name": "a", "version": 2, "mode": "LOUD"}"#).is_err());
        assert_eq!(link.limits, None);
        let same = serde_json::from_str(r#"{"name": "a", "version": 2, "limits": {"fuel": null, "more": 1}}"#).unwrap();
        assert_eq!(link, same);
        let text = serde_json::to_string(&link).unwrap();
        assert_eq!(serde_json::from_str::<LinkSpec>(&text).unwrap(), link);
    }
}
