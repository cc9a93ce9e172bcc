//! Checks uploads against the contract, and wraps core modules that carry their component type.

use crate::engine::FEATURES;
use crate::inspect::{ModuleInfo, Surface, Upload, check_surface, inspect, with_manifest};
use crate::wasi;
use std::borrow::Cow;
use wasmparser::Validator;
use wit_component::ComponentEncoder;

/// Refuses most invalid uploads without wrapping or compiling them.
pub(crate) fn precheck(bytes: &[u8]) -> Result<(), String> {
    match inspect(bytes)? {
        Upload::Component(surface) => check_component(bytes, &surface).map(drop)?,
        Upload::Core { has_type, imports } => check_core(bytes, has_type, &imports)?,
    }
    let mut validator = Validator::new_with_features(FEATURES);
    validator.validate_all(bytes).map_err(|error| format!("it is not valid WebAssembly: {error}"))?;
    Ok(())
}

/// Checks an upload and returns its component, wrapped if needed.
pub(crate) fn componentize(bytes: &[u8]) -> Result<(Cow<'_, [u8]>, ModuleInfo), String> {
    match inspect(bytes)? {
        Upload::Component(surface) => Ok((Cow::Borrowed(bytes), check_component(bytes, &surface)?)),
        Upload::Core { has_type, imports } => {
            check_core(bytes, has_type, &imports)?;
            let component = wrap(bytes)?;
            let Upload::Component(surface) = inspect(&component)? else {
                return Err("wrapping it did not give a component".into());
            };
            let info = with_manifest(bytes, &surface, check_surface(&surface)?)?;
            Ok((Cow::Owned(component), info))
        }
    }
}

fn check_component(bytes: &[u8], surface: &Surface) -> Result<ModuleInfo, String> {
    wasi::refuse(bytes, surface.imports.iter().map(String::as_str))?;
    with_manifest(bytes, surface, check_surface(surface)?)
}

fn check_core(bytes: &[u8], has_type: bool, imports: &[String]) -> Result<(), String> {
    wasi::refuse(bytes, imports.iter().map(String::as_str))?;
    if has_type {
        return Ok(());
    }
    Err("it is a core WebAssembly module that does not say which extension points it serves: it has no component type. \
         Build it with an SDK of the hub, or wrap it with `wasm-tools component embed` and `wasm-tools component new`"
        .into())
}

fn wrap(core: &[u8]) -> Result<Vec<u8>, String> {
    ComponentEncoder::default()
        .validate(true)
        .module(core)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| format!("it can't be wrapped as a component: {error:#}"))
}
