//! Python: componentize-py in a virtual environment of the module's own.

use super::embedded;
use super::error::BuildError;
use super::job::{BuildJob, read_sealed};
use super::tools::{require, run};
use std::path::{Path, PathBuf};
use std::process::Command;

const NEEDS: &str = "a module in Python needs Python 3.10 or newer with venv (Debian: python3, python3-venv)";
const ENTRY: &str = "hub_entry";

/// Builds the component.
pub(super) fn build(job: &BuildJob<'_>) -> Result<Vec<u8>, BuildError> {
    let environment = environment(job.folder)?;
    let (folder, entry) = (job.folder, job.folder.join(&job.manifest.entry));
    let module = entry.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let entries = job.work.join("entry");
    embedded::write(&entries.join(ENTRY).with_extension("py"), entry_module(module, job).as_bytes())?;
    let output = job.work.join("module.wasm");
    let mut command = Command::new(environment.join("bin/componentize-py"));
    command.args(["--quiet", "--world", "module", "--wit-path"]).arg(job.wit()).args(["componentize", "--stub-wasi"]);
    for path in [&entries, entry.parent().unwrap_or(folder), &folder.join("sdk")] {
        command.arg("--python-path").arg(path);
    }
    command.arg(ENTRY).arg("--output").arg(&output);
    // Packages are found there, too. The seed of Python's hashes ends up in the component.
    command.env("VIRTUAL_ENV", &environment).env("PYTHONHASHSEED", "0").env("RUST_BACKTRACE", "0");
    run(command.current_dir(folder), NEEDS)?;
    read_sealed(&output)
}

/// The Python module that becomes the component: the author's classes, wrapped.
fn entry_module(module: &str, job: &BuildJob<'_>) -> String {
    let imports = [format!("import {module}"), "from network_hub_module._entry import refuse, wrapped".into()];
    let classes = job.interfaces.iter().map(|name| class_of(name)).map(|it| format!("{it} = wrapped({module}.{it})"));
    let refused = job.absent().map(|name| format!("refuse({module}, \"{}\", \"{name}\")", class_of(name)));
    imports.into_iter().chain(classes).chain(refused).collect::<Vec<_>>().join("\n")
}

/// The class of an interface.
fn class_of(interface: &str) -> String {
    let (first, rest) = interface.split_at(1);
    first.to_uppercase() + rest
}

/// The virtual environment with the packages of requirements.txt, created if it is missing.
pub(super) fn environment(folder: &Path) -> Result<PathBuf, BuildError> {
    let environment = folder.join(".venv");
    let (requirements, installed) = (folder.join("requirements.txt"), environment.join("installed.txt"));
    let wanted = std::fs::read(&requirements).map_err(|error| BuildError::Io { path: requirements.clone(), error })?;
    if std::fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(environment);
    }
    require("python3", NEEDS)?;
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment), NEEDS)?;
    let mut pip = Command::new(environment.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(&requirements), NEEDS)?;
    embedded::write(&installed, &wanted)?;
    Ok(environment)
}
