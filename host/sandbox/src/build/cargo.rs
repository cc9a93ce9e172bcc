//! Builds modules in Rust with Cargo.

use super::error::BuildError;
use super::symbols::Symbols;
use super::toolchain::{NEEDS, TARGET, ensure_target};
use super::tools::read;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Overrides of the release profile of the module's workspace: small and reproducible.
const PROFILE: &[&str] = &[
    "opt-level = 's'",
    "lto = true",
    "codegen-units = 1",
    "panic = 'abort'",
    "debug-assertions = false",
    "overflow-checks = false",
];

/// Symbols that stay in. The code is the same.
const fn symbols_profile(symbols: Symbols) -> [&'static str; 2] {
    match symbols {
        Symbols::Names => ["debug = false", "strip = 'debuginfo'"],
        Symbols::Lines => ["debug = 'line-tables-only'", "strip = 'none'"],
    }
}

/// Bytes of a module's stack. Rust's default megabyte would have to be cleared after each call.
const STACK_BYTES: u32 = 128 << 10;

/// Builds the module in a folder; returns its name and the core module.
pub(super) fn compile(folder: &Path, symbols: Symbols) -> Result<(String, Vec<u8>), BuildError> {
    let package = package(folder)?;
    ensure_target(folder)?;
    let path = build(folder, &package, symbols)?;
    let core = std::fs::read(&path).map_err(|error| BuildError::Io { path, error })?;
    Ok((package.name, core))
}

struct Package {
    name: String,
    workspace: PathBuf,
    target_folder: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<MetadataTarget>,
}

#[derive(Deserialize)]
struct MetadataTarget {
    crate_types: Vec<String>,
}

/// Reads the package of a folder.
fn package(folder: &Path) -> Result<Package, BuildError> {
    let wrong = |why: &str| BuildError::Package { folder: folder.into(), why: why.into() };
    let manifest = folder
        .join("Cargo.toml")
        .canonicalize()
        .map_err(|_| wrong("there is neither a Cargo.toml nor a hub-module.json; try `hub module new`"))?;
    let output = read(
        Command::new("cargo").args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(folder),
        NEEDS,
    )?;
    let metadata: Metadata = serde_json::from_slice(&output)
        .map_err(|error| BuildError::Tool(format!("unexpected output of `cargo metadata`: {error}")))?;
    let is_here = |package: &MetadataPackage| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest);
    let package =
        metadata.packages.into_iter().find(is_here).ok_or_else(|| wrong("its Cargo.toml is not that of a package"))?;
    let is_cdylib = |target: &MetadataTarget| target.crate_types.iter().any(|kind| kind == "cdylib");
    if !package.targets.iter().any(is_cdylib) {
        return Err(wrong("a module's Cargo.toml needs `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]`"));
    }
    Ok(Package { name: package.name, workspace: metadata.workspace_root, target_folder: metadata.target_directory })
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    manifest_path: PathBuf,
}

/// The heap that every instance begins with, so that calls need not grow their memory.
const HEAP_BYTES: u32 = 64 << 10;

/// Builds the package; returns the core module's path.
fn build(folder: &Path, package: &Package, symbols: Symbols) -> Result<PathBuf, BuildError> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--lib", "--target", TARGET])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(folder)
        // The same source is built to the same bytes, whatever the author's settings are.
        .env("CARGO_INCREMENTAL", "0")
        // Overrides configured flags.
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(package).join("\u{1f}"));
    for setting in PROFILE.iter().copied().chain(symbols_profile(symbols)) {
        command.arg("--config").arg(format!("profile.release.{setting}"));
    }
    let output = read(&mut command, NEEDS)?;
    let manifest = folder.join("Cargo.toml").canonicalize().unwrap_or_default();
    let stdout = String::from_utf8_lossy(&output);
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter(|message| message.manifest_path.canonicalize().is_ok_and(|path| path == manifest))
        .flat_map(|message| message.filenames)
        .find(|path| path.extension().is_some_and(|extension| extension == "wasm"))
        .ok_or_else(|| BuildError::Tool("Cargo built no WebAssembly module".into()))
}

fn rustflags(package: &Package) -> Vec<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![
        format!("-Clink-arg=-zstack-size={STACK_BYTES}"),
        format!("-Clink-arg=--initial-heap={HEAP_BYTES}"),
        remap(&package.workspace, "/module"),
        remap(&package.target_folder, "/target"),
    ];
    flags.extend(cargo_home().map(|home| remap(&home, "/cargo")));
    flags
}

fn cargo_home() -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}
