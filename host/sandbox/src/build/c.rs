//! C: clang and lld, without a C library.

use super::{BuildError, Job, Symbols, is_installed, run};
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
    // Nothing of this machine's C library: the SDK has what there is.
    "-ffreestanding",
    "-nostdlibinc",
    "-nostdlib",
    "-Wl,--no-entry,-z,stack-size=131072,--stack-first",
];

/// What stays in for backtraces.
const fn symbols_flag(symbols: Symbols) -> &'static str {
    match symbols {
        Symbols::Names => "-Wl,--strip-debug",
        Symbols::Lines => "-gline-tables-only",
    }
}

/// Builds the core module, with its component type.
pub(super) fn build(job: &Job<'_>, symbols: Symbols) -> Result<Vec<u8>, BuildError> {
    let output = job.work.join("module.wasm");
    let beside = Path::new(&job.manifest.entry).parent().unwrap_or(Path::new(""));
    let mut command = Command::new(compiler()?);
    command.args(FLAGS).arg(symbols_flag(symbols)).args(["-Isdk", "-Isdk/include"]).current_dir(job.folder);
    // Every .c beside the entry belongs to the module.
    command.args(sources(job.folder, beside)?).args(sources(job.folder, Path::new("sdk"))?);
    run(command.arg("-o").arg(&output), NEEDS)?;
    let mut core = std::fs::read(&output).map_err(|error| BuildError::Io { path: output, error })?;
    describe(job, &mut core).map_err(|error| BuildError::Invalid(format!("its world can't be used: {error}")))?;
    Ok(core)
}

/// Writes into a core module what component it is to be.
fn describe(job: &Job<'_>, core: &mut Vec<u8>) -> Result<(), String> {
    let words = |error| format!("{error:#}");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(job.wit()).map_err(words)?;
    let world = resolve.select_world(&[package], Some("module")).map_err(words)?;
    wit_component::embed_component_metadata(core, &resolve, world, StringEncoding::UTF8).map_err(words)
}

fn compiler() -> Result<&'static str, BuildError> {
    let missing = || BuildError::Tool(format!("clang or wasm-ld is missing: {NEEDS}"));
    let compiler = ["clang-14", "clang"].into_iter().find(|name| is_installed(name)).ok_or_else(missing)?;
    let linker = run(Command::new(compiler).arg("-print-prog-name=wasm-ld"), NEEDS)?;
    // Where clang knows none of its own it says the bare name.
    if is_installed(String::from_utf8_lossy(&linker.stdout).trim()) { Ok(compiler) } else { Err(missing()) }
}

/// The C sources in one of the module's folders, in the order of their names.
fn sources(folder: &Path, beside: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let path = folder.join(beside);
    let entries = std::fs::read_dir(&path).map_err(|error| BuildError::Io { path, error })?;
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    let mut sources: Vec<_> = entries.flatten().map(|entry| beside.join(entry.file_name())).filter(is_source).collect();
    sources.sort();
    Ok(sources)
}
