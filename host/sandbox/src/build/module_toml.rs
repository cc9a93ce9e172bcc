//! `module.toml` beside a module's source, which becomes the manifest in its component.

use super::error::BuildError;
use super::manifest::{self, Manifest as Package, is_name};
use crate::contract::{Point, TIMERS};
use crate::manifest::{Manifest, embed};
use crate::versions;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The file.
pub(super) const FILE: &str = "module.toml";

/// Version of the contract that a module with a manifest is built for.
const CONTRACT: &str = "1.1.0";

/// The text of the manifest of a module in a folder; `None` if the folder has no such file. What the file leaves out is
/// filled in: the name, the version of the contract, and the schema of the configuration if it is named as a file.
pub(super) fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, BuildError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let file =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| BuildError::Io { path: path.to_owned(), error });
    let wrong = |why: String| BuildError::Package { folder: folder.into(), why: format!("its {FILE} {why}") };
    let mut fields: Map<String, Value> =
        toml::from_str(&file(&path)?).map_err(|error| wrong(format!("is invalid: {error}")))?;
    for (field, value) in [("manifest", json!(1)), ("contract", json!(CONTRACT)), ("name", json!(name))] {
        fields.entry(field).or_insert(value);
    }
    if fields["name"].as_str().is_some_and(|named| named != name && is_name(named)) {
        return Err(wrong(format!("has the name {}, but the module is {name}", fields["name"])));
    }
    if let Some(schema) = fields.get("config").and_then(Value::as_str) {
        let text = file(&folder.join(schema))?;
        let schema = serde_json::from_str(&text).map_err(|error| wrong(format!("names {schema}: {error}")))?;
        fields.insert("config".to_owned(), schema);
    }
    let text = Value::Object(fields).to_string().into_bytes();
    Manifest::parse(&text).map_err(|error| wrong(format!("is invalid: {error}")))?;
    Ok(Some(text))
}

/// A built core module or component with its manifest.
pub(super) fn add(built: &[u8], manifest: Option<&[u8]>) -> Vec<u8> {
    match manifest {
        Some(manifest) => embed(built.to_vec(), manifest),
        None => built.to_vec(),
    }
}

/// Variant of [`read`] for a module in another language than Rust. Refuses, before anything is built, points that its SDK
/// does not have, points that need a manifest where there is none, and a manifest that its contract does not have.
pub(super) fn read_for(folder: &Path, package: &Package) -> Result<Option<Vec<u8>>, BuildError> {
    let wrong = |why: String| Err(BuildError::Package { folder: folder.into(), why });
    if let Some(point) = package.points.iter().find(|point| !package.language.serves(**point)) {
        return wrong(only_in_rust(*point));
    }
    let declared = read(folder, &package.name)?;
    let handled = package.points.iter().find(|point| !point.is_override());
    if let (Some(point), None) = (handled, &declared) {
        return wrong(format!("there is no {FILE}, in which a module for {point} declares what it handles"));
    }
    if declared.is_some() && !has_manifests(&package.contract) {
        let (file, contract) = (manifest::FILE, &package.contract);
        return wrong(format!("its {FILE} needs `contract` {CONTRACT} in its {file}, which has {contract}"));
    }
    let has_schedules = package.points.contains(&Point::Schedules);
    if has_schedules && interfaces(&[Point::Schedules], declared.as_deref()).is_empty() {
        return wrong(format!("its {FILE} declares neither `schedules` nor `timers`"));
    }
    Ok(declared)
}

/// Interfaces that a module of these points exports: of a point with several, those that its manifest declares.
pub(super) fn interfaces(points: &[Point], manifest: Option<&[u8]>) -> Vec<&'static str> {
    let manifest = manifest.and_then(|text| Manifest::parse(text).ok()).unwrap_or_default();
    let is_exported = |point: Point, name: &str| match (point, name) {
        (Point::Schedules, TIMERS) => manifest.timers,
        (Point::Schedules, _) => !manifest.schedules.is_empty(),
        _ => true,
    };
    let of = |&point: &Point| point.interfaces().iter().map(move |(name, _)| (point, *name));
    points.iter().flat_map(of).filter(|(point, name)| is_exported(*point, name)).map(|(_, name)| name).collect()
}

fn has_manifests(contract: &str) -> bool {
    versions::find(contract).is_some_and(|version| version.has_point(Point::Events))
}

pub(super) fn only_in_rust(point: Point) -> String {
    format!("a module for {point} is written in Rust; the SDKs of other languages do not have it yet")
}
