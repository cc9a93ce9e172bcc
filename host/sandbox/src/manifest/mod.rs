//! The manifest of a module: what it handles and what it needs, as JSON in the custom section `network-hub:manifest`.

mod check;
mod cron;
mod endpoints;
mod grants;
mod schema;
mod section;
#[cfg(test)]
mod tests;
mod text;

pub use check::is_shown_header;
pub use cron::Cron;
pub use endpoints::{Dedupe, Encoding, Endpoint, Method, Signature, Signed};
pub use grants::Grants;
pub use schema::Schema;
pub use section::{SECTION, embed, read};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum size of a manifest, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 64 << 10;

/// List of what a module handles and needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of this format: 1.
    pub manifest: u32,
    /// Version of the contract it was written for.
    pub contract: Option<String>,
    /// Name of the module.
    pub name: Option<String>,
    /// Purpose of the module, for people.
    pub description: Option<String>,
    /// Events it handles; there if it exports `events`.
    pub events: Option<Events>,
    /// Endpoints it answers; there if it exports `endpoints`.
    pub endpoints: Vec<Endpoint>,
    /// Its schedules; there if it exports `schedules`.
    pub schedules: Vec<Schedule>,
    /// True if it exports `timers`.
    pub timers: bool,
    /// Permissions it needs.
    #[serde(flatten)]
    pub needs: Grants,
    /// Schema of its configuration.
    pub config: Option<Schema>,
}

/// Events that a module handles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Their types, 1 to 64.
    pub types: Vec<String>,
    /// Order in which they are handed over.
    #[serde(default)]
    pub order: Order,
    /// True if it also handles events that it emitted itself.
    #[serde(default)]
    pub own: bool,
}

/// Key of the order in which events are handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Order {
    /// Events of one player come in order.
    #[default]
    Player,
    /// Events of one server come in order.
    Server,
    /// All events come in order.
    Network,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Its name in the module.
    pub name: String,
    /// Times of its ticks, in UTC.
    pub cron: Cron,
    /// Ticks that are made up for after a time without any.
    #[serde(default)]
    pub catch_up: CatchUp,
}

/// Ticks that are made up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CatchUp {
    /// None.
    Skip,
    /// The newest.
    #[default]
    Once,
    /// All, the newest 100 at most.
    All,
}

/// An invalid part of a manifest or of a value, by its JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// JSON pointer, such as `/endpoints/0/path`; empty for the whole.
    pub pointer: String,
    /// Description of what is wrong.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(pointer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), reason: reason.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "`{}`: {}", self.pointer, self.reason)
        }
    }
}

impl Manifest {
    /// Parses and checks the text of a manifest.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn parse(text: &[u8]) -> Result<Self, Invalid> {
        if text.len() > MAX_MANIFEST_BYTES {
            let reason = format!("the manifest has {} bytes, more than {MAX_MANIFEST_BYTES}", text.len());
            return Err(Invalid::new("", reason));
        }
        let mut json = serde_json::Deserializer::from_slice(text);
        let text: text::ManifestText = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let pointer = check::pointer(error.path());
            Invalid::new(pointer, error.into_inner().to_string())
        })?;
        json.end().map_err(|error| Invalid::new("", error.to_string()))?;
        let manifest = Self::from(text);
        check::check(&manifest)?;
        Ok(manifest)
    }

    /// Checks a configuration, the text of one JSON object, against the schema.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn check_config(&self, config: &str) -> Result<(), Invalid> {
        let Some(schema) = &self.config else { return Ok(()) };
        let config = serde_json::from_str(config).map_err(|error| Invalid::new("", error.to_string()))?;
        schema.check(&config)
    }
}
