//! Kind of an upload, by its imports and exports, before anything is compiled.

use crate::contract::{HOST_INTERFACES, PACKAGE, Point};
use crate::versions;
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
        let (interface, version) = contract_name(import).ok_or_else(|| {
            format!(
                "it imports `{import}`, which the hub does not offer. A module may import {} of \
                 {PACKAGE}@{}",
                HOST_INTERFACES.join(", "),
                versions::numbers(),
            )
        })?;
        check_version(import, version)?;
        if interface != "types" && !HOST_INTERFACES.contains(&interface) {
            return Err(format!(
                "it imports `{import}`, which is not part of the contract. A module may import {}",
                HOST_INTERFACES.join(", "),
            ));
        }
        versions.push(version);
    }
    let mut points = Vec::new();
    for (export, is_interface) in &surface.exports {
        let point = contract_name(export)
            .filter(|_| *is_interface)
            .map(|(interface, version)| (Point::from_name(interface), version));
        let Some((Some(point), version)) = point else {
            return Err(format!(
                "it exports `{export}`, which is no extension point. The points are {}. (`hub module build` removes \
                 other exports of a language's tools.)",
                point_names(),
            ));
        };
        check_version(export, version)?;
        points.push(point);
        versions.push(version);
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
    Ok(ModuleInfo { points, world_version })
}

/// True if an import or export has the name of an item of the contract.
pub(crate) fn is_of_contract(name: &str) -> bool {
    contract_name(name).is_some()
}

/// Splits `network-hub:module/chat@1.0.0` into interface and version.
pub(crate) fn contract_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PACKAGE)?.strip_prefix('/')?.split_once('@')
}

fn check_version(name: &str, version: &str) -> Result<(), String> {
    if versions::find(version).is_some() {
        return Ok(());
    }
    Err(format!("`{name}` has version {version} of the contract; this hub supports {}", versions::numbers()))
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
    }

    #[test]
    fn a_refusal_has_a_reason() {
        let chat = "network-hub:module/chat@1.0.0";
        for (imports, exports, reason) in [
            (&[][..], &[][..], "exports no extension point"),
            (&["network-hub:module/log@1.0.0"], &[], "exports no extension point"),
            (&["network-hub:module/log@1.9.0"], &[chat], "version 1.9.0"),
            (&["network-hub:module/log@1.1.0"], &[chat], "mixes versions of the contract: 1.0.0, 1.1.0"),
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
