//! From a module's Rust source to its component, with the author's own cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;
use wit_component::ComponentEncoder;

const TARGET: &str = "wasm32-unknown-unknown";

/// A built component.
pub(super) struct Built {
    /// `<name>.wasm` in the module's folder.
    pub(super) file: PathBuf,
    pub(super) bytes: usize,
}

/// Builds the module in `dir`.
pub(super) fn build(dir: &Path) -> anyhow::Result<Built> {
    let manifest = dir.join("Cargo.toml");
    anyhow::ensure!(manifest.is_file(), "{} has no Cargo.toml; only modules in Rust are built by this", dir.display());
    let manifest = manifest.canonicalize()?;
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--lib", "--target", TARGET, "--message-format", "json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(&manifest)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo can't be run")?;
    anyhow::ensure!(
        output.status.success(),
        "cargo failed; if it lacks the target, `rustup target add {TARGET}` brings it"
    );
    let (name, core) = artifact(&String::from_utf8_lossy(&output.stdout), &manifest)
        .context("cargo built no WebAssembly; the crate needs `crate-type = [\"cdylib\"]`")?;
    let core = std::fs::read(&core).with_context(|| format!("{} can't be read", core.display()))?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&core)
        .and_then(|mut encoder| encoder.encode())
        .context("what cargo built is no module; does it use the SDK?")?;
    let file = dir.join(format!("{name}.wasm"));
    std::fs::write(&file, &component).with_context(|| format!("{} can't be written", file.display()))?;
    Ok(Built { file, bytes: component.len() })
}

/// The package's name and its WebAssembly among what cargo says it built.
fn artifact(messages: &str, manifest: &Path) -> Option<(String, PathBuf)> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = messages.filter(|message| {
        message["reason"] == "compiler-artifact" && message["manifest_path"].as_str() == manifest.to_str()
    });
    let mut found = ours.filter_map(|message| {
        let files = message["filenames"].as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from);
        let wasm = files.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "wasm"))?;
        let name = message["target"]["name"].as_str()?.replace('_', "-");
        Some((name, wasm))
    });
    found.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_own_artifact_is_found_among_its_dependencies() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/d/Cargo.toml","target":{"name":"d"},"filenames":["/t/d.wasm"]}
{"reason":"compiler-artifact","manifest_path":"/m/Cargo.toml","target":{"name":"my_module"},"filenames":["/t/my.rlib","/t/my_module.wasm"]}
{"reason":"build-finished","success":true}"#;
        let found = artifact(messages, Path::new("/m/Cargo.toml"));
        assert_eq!(found, Some(("my-module".to_owned(), PathBuf::from("/t/my_module.wasm"))));
        assert_eq!(artifact(messages, Path::new("/x/Cargo.toml")), None);
    }
}
