//! Kind of an upload, by its imports and exports, before anything is compiled.

use crate::contract::{PACKAGE, Point, TYPE_INTERFACES};
use crate::manifest;
use crate::versions::{self, Version};
use wasmparser::{ComponentExternName, ComponentExternalKind, Parser, Payload};

/// Kind of an upload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Upload {
    /// A component.
    Component(Surface),
    /// A core module.
    Core {
        /// True if it carries its component type.
        has_type: bool,
        imports: Vec<String>,
    },
}

/// The imports and exports of a component.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surface {
    pub(crate) imports: Vec<String>,
    /// Names, and true for an export that is an interface.
    pub(crate) exports: Vec<(String, bool)>,
}

/// The hub's information about a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleInfo {
    pub(crate) points: Vec<Point>,
    pub(crate) world_version: String,
    /// Text of its valid manifest.
    pub(crate) manifest: Option<String>,
}

const NOT_WASM: &str = "this is not a WebAssembly module";

/// Reads the outline of an upload.
pub(crate) fn inspect(bytes: &[u8]) -> Result<Upload, String> {
    if Parser::is_component(bytes) {
        surface(bytes).map(Upload::Component)
    } else if Parser::is_core_wasm(bytes) {
        core(bytes)
    } else {
        Err(format!("{NOT_WASM}: it starts with neither a component's nor a core module's header"))
    }
}

fn unreadable(error: &wasmparser::BinaryReaderError) -> String {
    format!("{NOT_WASM} that can be read: {error}")
}

fn surface(bytes: &[u8]) -> Result<Surface, String> {
    let mut surface = Surface::default();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(|error| unreadable(&error))? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let import = import.map_err(|error| unreadable(&error))?;
                    surface.imports.push(full_name(&import.name));
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let export = export.map_err(|error| unreadable(&error))?;
                    let is_interface = export.kind == ComponentExternalKind::Instance;
                    surface.exports.push((full_name(&export.name), is_interface));
                }
            }
            _ => {}
        }
    }
    Ok(surface)
}

/// A name with its whole version, part of which may be encoded separately.
fn full_name(name: &ComponentExternName<'_>) -> String {
    format!("{}{}", name.name, name.version_suffix.unwrap_or_default())
}

fn core(bytes: &[u8]) -> Result<Upload, String> {
    let mut has_type = false;
    let mut imports = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(|error| unreadable(&error))? {
            Payload::CustomSection(section) if section.name().starts_with("component-type") => {
                has_type = true;
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import.map_err(|error| unreadable(&error))?;
                    if imports.last().is_none_or(|last| last != import.module) {
                        imports.push(import.module.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(Upload::Core { has_type, imports })
}

/// Checks a component's imports and exports against the contract.
pub(crate) fn check_surface(surface: &Surface) -> Result<ModuleInfo, String> {
    let mut versions = Vec::new();
    for import in &surface.imports {
        let (interface, number) = contract_name(import).ok_or_else(|| {
            let newest = versions::newest();
            format!(
                "it imports `{import}`, which the hub does not offer. A module may import {} of {PACKAGE}@{}",
                newest.interfaces().join(", "),
                versions::numbers(),
            )
        })?;
        let version = check_version(import, number)?;
        if !TYPE_INTERFACES.contains(&interface) && !version.interfaces().contains(&interface) {
            return Err(format!(
                "it imports `{import}`, which is not part of the contract. A module may import {}",
                version.interfaces().join(", "),
            ));
        }
        versions.push(number);
    }
    let mut points = Vec::new();
    for (export, is_interface) in &surface.exports {
        let named = contract_name(export).filter(|_| *is_interface);
        let point = named.map(|(interface, number)| (Point::of_interface(interface), number));
        let Some((Some(point), number)) = point else {
            return Err(format!(
                "it exports `{export}`, which is no extension point. The points are {}. (`hub module build` removes \
                 other exports of a language's tools.)",
                point_names(),
            ));
        };
        if !check_version(export, number)?.has_point(point) {
            return Err(format!("it exports `{export}`, but version {number} of the contract has no {point}"));
        }
        points.push(point);
        versions.push(number);
    }
    versions.sort_unstable();
    versions.dedup();
    let world_version = match versions.as_slice() {
        [version] => (*version).to_owned(),
        [] => return Err(no_point()),
        _ => {
            return Err(format!("it mixes versions of the contract: {}", versions.join(", ")));
        }
    };
    if points.is_empty() {
        return Err(no_point());
    }
    points.sort_unstable();
    points.dedup();
    Ok(ModuleInfo { points, world_version, manifest: None })
}

/// Reads the manifest of an upload, and checks that it declares what the module exports. A module of 1.0 has none.
pub(crate) fn with_manifest(upload: &[u8], surface: &Surface, mut info: ModuleInfo) -> Result<ModuleInfo, String> {
    if !versions::find(&info.world_version).is_some_and(|version| version.has_point(Point::Events)) {
        return Ok(info);
    }
    let invalid = |error: manifest::Invalid| format!("its manifest is invalid: {error}");
    let Some(text) = manifest::read(upload).map_err(invalid)? else {
        return match info.points.iter().find(|point| !point.is_override()) {
            Some(point) => Err(format!(
                "it exports {point} and has no manifest that declares what it handles: it needs a module.toml beside its \
                 source when `hub module build` builds it, or a custom section {}",
                manifest::SECTION
            )),
            None => Ok(info),
        };
    };
    let manifest = manifest::Manifest::parse(text).map_err(invalid)?;
    let exports: Vec<_> = surface.exports.iter().filter_map(|(name, _)| Some(contract_name(name)?.0)).collect();
    manifest.check_exports(&exports).map_err(invalid)?;
    info.manifest = Some(String::from_utf8_lossy(text).into_owned());
    Ok(info)
}

/// True if an import or export has the name of an item of the contract.
pub(crate) fn is_of_contract(name: &str) -> bool {
    contract_name(name).is_some()
}

/// Splits `network-hub:module/chat@1.0.0` into interface and version.
pub(crate) fn contract_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PACKAGE)?.strip_prefix('/')?.split_once('@')
}

fn check_version(name: &str, version: &str) -> Result<&'static dyn Version, String> {
    versions::find(version).ok_or_else(|| {
        format!("`{name}` has version {version} of the contract; this hub supports {}", versions::numbers())
    })
}

fn no_point() -> String {
    format!("it exports no extension point. A module exports one or more of {}", point_names())
}

fn point_names() -> String {
    let names: Vec<_> = Point::ALL.iter().map(|point| format!("{PACKAGE}/{point}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(imports: &[&str], exports: &[&str]) -> Surface {
        Surface {
            imports: imports.iter().map(ToString::to_string).collect(),
            exports: exports.iter().map(|name| ((*name).to_owned(), true)).collect(),
        }
    }

    #[test]
    fn a_component_may_export_any_subset_of_the_points() {
        let info = check_surface(&surface(
            &["network-hub:module/types@1.0.0", "network-hub:module/log@1.0.0"],
            &["network-hub:module/punishment@1.0.0", "network-hub:module/chat@1.0.0"],
        ))
        .unwrap();
        assert_eq!(info.points, [Point::Chat, Point::Punishment]);
        assert_eq!(info.world_version, "1.0.0");
        let both = &["network-hub:module/timers@1.1.0", "network-hub:module/schedules@1.1.0"];
        assert_eq!(check_surface(&surface(&[], both)).unwrap().points, [Point::Schedules]);
    }

    #[test]
    fn a_refusal_has_a_reason() {
        let chat = "network-hub:module/chat@1.0.0";
        for (imports, exports, reason) in [
            (&[][..], &[][..], "exports no extension point"),
            (&["network-hub:module/log@1.0.0"], &[], "exports no extension point"),
            (&["network-hub:module/log@1.9.0"], &[chat], "version 1.9.0"),
            (&["network-hub:module/log@1.1.0"], &[chat], "mixes versions of the contract: 1.0.0, 1.1.0"),
            (&["network-hub:module/state@1.0.0"], &[chat], "not part of the contract"),
            (&[], &["network-hub:module/events@1.0.0"], "version 1.0.0 of the contract has no events"),
            (&[], &["network-hub:module/timers@1.0.0"], "version 1.0.0 of the contract has no schedules"),
            (&[], &["network-hub:module/login@1.0.0"], "version 1.0.0 of the contract has no login"),
            (&["network-hub:module/http@1.0.0"], &[chat], "not part of the contract"),
            (&["acme:tools/log@1.0.0"], &[chat], "does not offer"),
            (&[], &[chat, "run"], "no extension point"),
            (&[], &["network-hub:module/chat@2.0.0"], "version 2.0.0"),
        ] {
            let error = check_surface(&surface(imports, exports)).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        for bytes in [&b""[..], b"PK\x03\x04", b"\0asm\x01\0\0\0\xff", b"\0asm\x0d\0\x01\0\xff"] {
            let error = inspect(bytes).unwrap_err();
            assert!(error.contains(NOT_WASM), "{error}");
        }
    }
}
