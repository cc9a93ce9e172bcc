//! Refuses modules that import WASI, with instructions to build without it.

use crate::build::language::Language;
use wasmparser::{KnownCustom, Parser, Payload};

/// Refuses imports of WASI.
pub(crate) fn refuse<'a>(module: &[u8], imports: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let wasi: Vec<_> = imports.filter(|name| name.starts_with("wasi")).take(3).collect();
    if wasi.is_empty() {
        return Ok(());
    }
    let instead = language(module).map_or_else(
        || {
            let ways = [Language::Rust, Language::Js, Language::Python, Language::C];
            format!("Build it without WASI. {}", ways.map(|way| format!("{way}: {}", instead(way))).join(" "))
        },
        |language| instead(language).to_owned(),
    );
    Err(format!(
        "it imports WASI ({}), but a module has no files, sockets, clock or randomness of its own: the time and a seed \
         are in the call's context. {instead}",
        wasi.join(", "),
    ))
}

const fn instead(language: Language) -> &'static str {
    match language {
        Language::Rust => {
            "Build for the target wasm32-unknown-unknown instead of wasm32-wasip1 or wasm32-wasip2, as `hub module build` \
             does."
        }
        Language::Js | Language::Ts => {
            "Build with `hub module build`, or with componentize-js and all features disabled (`disableFeatures: \
             [\"stdio\", \"random\", \"clocks\", \"http\", \"fetch-event\"]`)."
        }
        Language::Python => "Build with `hub module build`, or with `componentize-py componentize --stub-wasi`.",
        Language::C => {
            "Build with `hub module build`, or with clang's `--target=wasm32-unknown-unknown -nostdlib` instead of the \
             WASI SDK."
        }
    }
}

/// Language of a module, if its tools left their names.
fn language(module: &[u8]) -> Option<Language> {
    let contains = |name: &[u8]| module.windows(name.len()).any(|bytes| bytes == name);
    let mut found = None;
    for payload in Parser::new(0).parse_all(module) {
        let Ok(Payload::CustomSection(section)) = payload else { continue };
        let KnownCustom::Producers(fields) = section.as_known() else { continue };
        let values = fields.into_iter().flatten().flat_map(|field| field.values.into_iter().flatten());
        let names: Vec<_> = values.map(|value| value.name).collect();
        let is_from = |tool: &str| names.iter().any(|name| name.starts_with(tool));
        if is_from("ComponentizeJS") {
            return Some(Language::Js);
        }
        // Rust's standard library contains a little C. In a component of C, the adapter to WASI is in Rust.
        if is_from("clang") && !is_from("rustc") {
            found = Some(Language::C);
        } else if is_from("rustc") {
            found = found.or(Some(Language::Rust));
        }
    }
    if contains(b"libpython") {
        Some(Language::Python)
    } else if contains(b"componentize_qjs") {
        Some(Language::Js)
    } else {
        found
    }
}
