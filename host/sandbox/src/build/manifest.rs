//! The manifest of a module.

use super::error::BuildError;
use super::language::Language;
use crate::contract::{PACKAGE, Point};
use crate::versions;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The manifest's file. A module in Rust has a `Cargo.toml` instead.
pub(super) const FILE: &str = "hub-module.json";

/// Version of the contract for a new module: the oldest that has the point, so that older hubs take it, too.
pub(super) const fn contract(point: Point) -> &'static str {
    if point.is_of_first_version() { "1.0.0" } else { "1.1.0" }
}

/// Name of the folder of a version of the contract: its first two numbers.
pub(super) fn folder(contract: &str) -> &str {
    contract.rsplit_once('.').map_or("", |(version, _)| version)
}

/// The manifest of a module in another language than Rust.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) language: Language,
    /// The points it serves.
    pub(super) points: Vec<Point>,
    /// Version of the contract of this module.
    pub(super) contract: String,
    /// Its main source file.
    pub(super) entry: String,
}

impl Manifest {
    /// Reads the manifest in a folder; `None` if it does not exist.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, BuildError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(|error| BuildError::Io { path: path.clone(), error })?;
        let wrong = |why: String| BuildError::Package { folder: folder.into(), why: format!("its {FILE} {why}") };
        let manifest: Self = serde_json::from_str(&text).map_err(|error| wrong(format!("is invalid: {error}")))?;
        if !is_name(&manifest.name) {
            return Err(wrong(format!("has an invalid `name`: a name {NAME_RULE}")));
        }
        let number = &manifest.contract;
        let Some(version) = versions::find(number) else {
            return Err(wrong(format!("has `contract` {number}; this hub supports {}", versions::numbers())));
        };
        if manifest.points.is_empty() {
            return Err(wrong("has no `points`".into()));
        }
        if let Some(point) = manifest.points.iter().find(|point| !version.has_point(**point)) {
            let needed = contract(*point);
            return Err(wrong(format!("has `contract` {number}, which has no {point}: it needs {needed}")));
        }
        if !folder.join(&manifest.entry).is_file() {
            return Err(wrong(format!("has `entry` {}, which does not exist", manifest.entry)));
        }
        Ok(Some(manifest))
    }

    /// The world of the module with these interfaces, as WIT in the contract's package.
    pub(super) fn world(&self, interfaces: &[&str]) -> String {
        let includes: Vec<_> = interfaces.iter().map(|name| format!("    include {name}-module;\n")).collect();
        format!("package {PACKAGE}@{};\n\nworld module {{\n{}}}\n", self.contract, includes.concat())
    }
}

pub(super) const NAME_RULE: &str = "has 1 to 64 of a-z, 0-9 and -, beginning with a letter";

/// True if the hub accepts a module of this name.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= 64 && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && name.bytes().all(allowed)
}
