//! C: clang and lld, without a C library.

use super::error::BuildError;
use super::job::BuildJob;
use super::symbols::Symbols;
use super::tools::{is_installed, read, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use wit_component::StringEncoding;
use wit_parser::Resolve;

const NEEDS: &str = "a module in C needs clang 14 or newer and its linker for WebAssembly (Debian: clang-14, lld-14)";

const FLAGS: &[&str] = &[
    "--target=wasm32-unknown-unknown",
    "-std=c17",
    "-Os",
    "-flto",
    "-mbulk-memory",
    "-Wall",
    "-Wextra",
    // The SDK contains the needed parts of a C library.
    "-ffreestanding",
    "-nostdlibinc",
    "-nostdlib",
    "-Wl,--no-entry,-z,stack-size=131072,--stack-first",
];

const fn symbols_flag(symbols: Symbols) -> &'static str {
    match symbols {
        Symbols::Names => "-Wl,--strip-debug",
        Symbols::Lines => "-gline-tables-only",
    }
}

/// Builds the core module, with its component type.
pub(super) fn build(job: &BuildJob<'_>, symbols: Symbols) -> Result<Vec<u8>, BuildError> {
    let output = job.work.join("module.wasm");
    let source_folder = Path::new(&job.manifest.entry).parent().unwrap_or(Path::new(""));
    let mut command = Command::new(compiler()?);
    command.args(FLAGS).arg(symbols_flag(symbols)).args(["-Isdk", "-Isdk/include"]).current_dir(job.folder);
    // The SDK has functions that serve in their place.
    command.args(job.absent().map(|name| format!("-DHUB_NO_{}", name.to_uppercase())));
    // Every .c file in the entry's folder belongs to the module.
    command.args(sources(job.folder, source_folder)?).args(sources(job.folder, Path::new("sdk"))?);
    run(command.arg("-o").arg(&output), NEEDS)?;
    let mut core = std::fs::read(&output).map_err(|error| BuildError::Io { path: output, error })?;
    embed_type(job, &mut core).map_err(|error| BuildError::Invalid(format!("its world can't be used: {error}")))?;
    Ok(core)
}

/// Embeds its component type into a core module.
fn embed_type(job: &BuildJob<'_>, core: &mut Vec<u8>) -> Result<(), String> {
    let message = |error| format!("{error:#}");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(job.wit()).map_err(message)?;
    let world = resolve.select_world(&[package], Some("module")).map_err(message)?;
    wit_component::embed_component_metadata(core, &resolve, world, StringEncoding::UTF8).map_err(message)
}

/// Version of the compiler, which affects the output of a build.
pub(super) fn version() -> Result<Vec<u8>, BuildError> {
    read(Command::new(compiler()?).arg("--version"), NEEDS)
}

fn compiler() -> Result<&'static str, BuildError> {
    let missing = || BuildError::Tool(format!("clang or wasm-ld is missing: {NEEDS}"));
    let compiler = ["clang-14", "clang"].into_iter().find(|name| is_installed(name)).ok_or_else(missing)?;
    let linker = read(Command::new(compiler).arg("-print-prog-name=wasm-ld"), NEEDS)?;
    // Clang prints the bare name if it finds none.
    if is_installed(String::from_utf8_lossy(&linker).trim()) { Ok(compiler) } else { Err(missing()) }
}

/// The C sources in one of the module's folders, in the order of their names.
fn sources(folder: &Path, subfolder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let path = folder.join(subfolder);
    let entries = std::fs::read_dir(&path).map_err(|error| BuildError::Io { path, error })?;
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    let mut sources: Vec<_> =
        entries.flatten().map(|entry| subfolder.join(entry.file_name())).filter(is_source).collect();
    sources.sort();
    Ok(sources)
}
