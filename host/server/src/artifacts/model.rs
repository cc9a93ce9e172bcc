//! What an artifact is.

use std::fmt;
use std::str::FromStr;

use crate::clock::Millis;

/// A name or a version: it becomes a part of a file's name at the agent, so it can't be a way out of a folder.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Label(String);

impl Label {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+');
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins && text.len() <= 128 && text.bytes().all(fits) {
            return Ok(Self(text.to_owned()));
        }
        Err("must be 1 to 128 of A-Z, a-z, 0-9, _, ., - and +, and begin with a letter or digit".to_owned())
    }
}

/// One version of something that can be installed.
#[allow(clippy::struct_field_names, reason = "the columns' names")]
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Artifact {
    /// The hub's name for it.
    pub artifact_id: String,
    /// What its owner calls it.
    pub name: Label,
    /// Which version it is.
    pub version: Label,
    /// Of its bytes, in hex.
    pub sha256: String,
    /// How many bytes it has.
    pub size_bytes: i64,
    /// When it came.
    pub created_at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_no_path() {
        for good in ["a", "my-plugin", "1.4.0+build.7", "Essentials_X"] {
            assert_eq!(good.parse::<Label>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "é", "a\0", "-rf", &"x".repeat(129)] {
            assert!(bad.parse::<Label>().is_err(), "{bad:?}");
        }
    }
}
