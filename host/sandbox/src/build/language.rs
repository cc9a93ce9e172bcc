//! The languages that modules are written in.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A language with an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// JavaScript.
    Js,
    /// TypeScript.
    Ts,
    /// Python.
    Python,
    /// C.
    C,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 5] = [Self::Rust, Self::Js, Self::Ts, Self::Python, Self::C];

    /// Its name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Js => "js",
            Self::Ts => "ts",
            Self::Python => "python",
            Self::C => "c",
        }
    }

    /// The language of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
