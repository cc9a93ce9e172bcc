//! JavaScript and TypeScript: npm's tools, a bundle, and `QuickJS` around it.

use super::error::BuildError;
use super::job::{BuildJob, read_sealed};
use super::tools::{read, require, run};
use std::path::Path;
use std::process::Command;

const NEEDS: &str = "a module in JavaScript or TypeScript needs Node.js 18 or newer and npm (Debian: nodejs, npm)";
const SDK: &str = "node_modules/network-hub-module";
const COMPILER: &str = "node_modules/typescript/bin/tsc";

/// Builds the component.
pub(super) fn build(job: &BuildJob<'_>) -> Result<Vec<u8>, BuildError> {
    if job.folder.join("tsconfig.json").exists() {
        run(Command::new("node").args([COMPILER, "--noEmit"]).current_dir(job.folder), NEEDS)?;
    }
    let absent: Vec<_> = job.absent().collect();
    let output = job.work.join("module.wasm");
    let mut command = Command::new("node");
    command.arg(format!("{SDK}/build.mjs")).arg(&job.manifest.entry).arg(job.wit()).arg("module");
    command.args([job.interfaces.join(","), absent.join(",")]);
    run(command.arg(&output).current_dir(job.folder), NEEDS)?;
    read_sealed(&output)
}

/// Version of Node.js, which affects the output of a build.
pub(super) fn version() -> Result<Vec<u8>, BuildError> {
    read(Command::new("node").arg("--version"), NEEDS)
}

/// Installs the packages of package.json, if they are missing.
pub(super) fn install(folder: &Path) -> Result<(), BuildError> {
    require("node", NEEDS)?;
    let modified = |file: &str| folder.join(file).metadata().and_then(|metadata| metadata.modified()).ok();
    let installed = modified("node_modules/.package-lock.json");
    if installed.is_some() && modified("package.json") <= installed {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    run(npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(folder), NEEDS)
}
