//! Commands and their outcomes, agents' reports, log lines.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use strum::EnumString;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::clock::Millis;
use crate::values::{Identifier, NetworkId};

/// Action for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "UPPERCASE")]
pub enum Action {
    /// Starts the server unless it runs.
    Start,
    /// Shuts the server down cleanly.
    Stop,
    /// Clean stop, then start.
    Restart,
    /// Kills the server immediately.
    Kill,
    /// Writes a line to the server's standard input.
    Console {
        /// Line without its end.
        line: String,
    },
    /// Requests the newest output lines.
    Logs {
        /// Maximum number of lines.
        lines: i64,
    },
    /// Installs a plugin.
    Install {
        /// Download URL; requires no key.
        url: String,
        /// Plugin name.
        name: String,
        /// Plugin version.
        version: String,
        /// SHA-256 of the file, in hexadecimal.
        sha256: String,
    },
}

/// Command for an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentCommand {
    #[serde(rename = "commandId")]
    pub(super) id: Uuid,
    #[serde(flatten)]
    pub(super) action: Action,
    pub(super) issued_at: Millis,
}

impl AgentCommand {
    /// JSON for agents and for the database.
    pub(super) fn to_json(&self) -> String {
        // Strings and numbers can always be serialized.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Key of a command.
pub(super) type CommandKey = (NetworkId, Identifier, Uuid);

/// Outcome of a command, reported by its agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AgentReply {
    pub(super) ok: bool,
    pub(super) error: Option<String>,
    pub(super) result: Option<Value>,
}

/// Outcome of a console command, reported by its connector.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandOutcome {
    pub(super) success: bool,
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
}

/// One console line: not blank, at most 4,096 characters. A trailing line break is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConsoleLine(pub(super) String);

impl ConsoleLine {
    const MAX: usize = 4096;
}

impl TryFrom<String> for ConsoleLine {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let line = text.trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() {
            return Err("must not be blank".to_owned());
        }
        if line.contains(['\r', '\n']) {
            return Err("must be a single line".to_owned());
        }
        if line.chars().count() > Self::MAX {
            return Err(format!("must be at most {} characters", Self::MAX));
        }
        Ok(Self(line.to_owned()))
    }
}

impl<'de> Deserialize<'de> for ConsoleLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl PartialSchema for ConsoleLine {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(Self::MAX))
            .pattern(Some(r"^[^\r\n]*[^\s][^\r\n]*$"))
            .examples(["say The server restarts in five minutes"])
            .into()
    }
}
impl ToSchema for ConsoleLine {}

/// Timeout of a console command: 1 ms or more, capped at one minute; 10 s if absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeoutMs(pub(super) Millis);

impl TimeoutMs {
    const MAX: Millis = 60_000;

    pub(super) fn of(number: Millis) -> Result<Self, &'static str> {
        if number < 1 { Err("must be at least 1") } else { Ok(Self(number.min(Self::MAX))) }
    }
}

impl Default for TimeoutMs {
    fn default() -> Self {
        Self(10_000)
    }
}

impl<'de> Deserialize<'de> for TimeoutMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl de::Visitor<'_> for Number {
            type Value = TimeoutMs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<TimeoutMs, E> {
                TimeoutMs::of(number).map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<TimeoutMs, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
        deserializer.deserialize_i64(Number)
    }
}

impl PartialSchema for TimeoutMs {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).default(Some(10_000.into())).into()
    }
}
impl ToSchema for TimeoutMs {}

/// Output stream of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum OutputStream {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
}

/// A line of a server's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewLogLine {
    pub(super) at: Millis,
    pub(super) stream: OutputStream,
    pub(super) text: String,
}

/// Lowest level of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = ServerLogLevel)]
pub(super) enum LogLevel {
    /// All lines.
    #[default]
    Info,
    /// Lines whose beginning names a warning or an error, and those of standard error.
    Warn,
    /// Lines whose beginning names an error, and those of standard error.
    Error,
}

/// Filter of a log; a field that is none matches all.
#[derive(Clone, Debug, Default)]
pub(super) struct LogFilter {
    /// Only lines after this number.
    pub(super) after: Option<i64>,
    /// Only lines before this number.
    pub(super) before: Option<i64>,
    pub(super) level: LogLevel,
    /// Part of the text, in any case.
    pub(super) text: Option<String>,
}

impl LogFilter {
    /// True if it matches all lines.
    pub(super) fn is_empty(&self) -> bool {
        self.after.is_none() && self.before.is_none() && self.level == LogLevel::Info && self.text.is_none()
    }
}

/// A line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ServerLogLine)]
pub(super) struct LogLine {
    /// Line number per server, from 1 without gaps.
    #[schema(example = 4711)]
    pub(super) seq: i64,
    /// Time at which the agent read the line.
    #[schema(example = 1_804_680_000_000_i64)]
    pub(super) at: Millis,
    pub(super) stream: OutputStream,
    #[schema(example = "[12:00:00 INFO]: Done (3.2s)! For help, type \"help\"")]
    pub(super) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_line_is_one_line() {
        assert_eq!(ConsoleLine::try_from("say hi\r\n".to_owned()).unwrap().0, "say hi");
        for wrong in ["", " ", "\n", "say a\nstop", "a\rb"] {
            assert!(ConsoleLine::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
        assert!(ConsoleLine::try_from("ä".repeat(4096)).is_ok());
        assert!(ConsoleLine::try_from("x".repeat(4097)).is_err());
    }

    #[test]
    fn a_timeout_is_cut_to_a_minute() {
        for (sent, kept) in [("1", 1), ("60000", 60_000), ("60001", 60_000), ("18446744073709551615", 60_000)] {
            assert_eq!(serde_json::from_str::<TimeoutMs>(sent).unwrap().0, kept);
        }
        for wrong in ["0", "-1", "1.5", "\"10\"", "true"] {
            assert!(serde_json::from_str::<TimeoutMs>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_reads_as_agents_expect() {
        let text = |action| AgentCommand { id: Uuid::nil(), action, issued_at: 7 }.to_json();
        let id = "00000000-0000-0000-0000-000000000000";
        assert_eq!(text(Action::Stop), format!(r#"{{"commandId":"{id}","action":"STOP","issuedAt":7}}"#));
        let console = Action::Console { line: "say \"x\"".to_owned() };
        let expected = format!(r#"{{"commandId":"{id}","action":"CONSOLE","line":"say \"x\"","issuedAt":7}}"#);
        assert_eq!(text(console), expected);
    }
}
