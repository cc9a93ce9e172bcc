//! Keeps the component of a module until an input of its build changes: some languages take half a minute to build.
//! Cargo does that by itself for Rust.

use super::embedded;
use super::error::BuildError;
use super::manifest::Manifest;
use super::symbols::Symbols;
use crate::sha256::Sha256Sum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::Path;

/// File beside the component with the checksum of its inputs.
const FILE: &str = ".hub-build.json";

/// Files written by the tools and read by no build.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// Files that represent the installed packages.
const PACKAGES: [&str; 3] = ["node_modules/.package-lock.json", ".venv/installed.txt", ".venv/pyvenv.cfg"];

#[derive(PartialEq, Serialize, Deserialize)]
struct Record {
    inputs: String,
    component: String,
}

impl Record {
    fn new(inputs: Sha256Sum, component: &[u8]) -> Self {
        Self { inputs: inputs.to_string(), component: Sha256Sum::of(component).to_string() }
    }
}

/// Checksum of all inputs of a build: sources, packages, tools, options and this program. `None` if it cannot be
/// determined, such as for packages in folders elsewhere.
pub(super) fn inputs(folder: &Path, manifest: &Manifest, symbols: Symbols, tools: &[u8]) -> Option<Sha256Sum> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let mut sum = Sum(Sha256::new());
    sum.add(format!("{symbols:?} {} {:?}", program.len(), program.modified().ok()?).as_bytes());
    sum.add(tools);
    for file in ["package.json", "requirements.txt"] {
        if fs::read_to_string(folder.join(file)).is_ok_and(|text| text.contains("../")) {
            return None;
        }
    }
    for file in PACKAGES {
        sum.add(&fs::read(folder.join(file)).unwrap_or_default());
    }
    let output = format!("{}.wasm", manifest.name);
    // A test case is no source.
    sum.add_folder(folder, &|name| name == output || name == "cases.json").ok()?;
    Some(Sha256Sum(sum.0.finalize().into()))
}

struct Sum(Sha256);

impl Sum {
    /// Adds some bytes with their length, so that no two lists of them collide.
    fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn add_folder(&mut self, folder: &Path, is_skipped: &dyn Fn(&str) -> bool) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || SKIPPED.contains(&&*name) || is_skipped(&name) {
                continue;
            }
            self.add(name.as_bytes());
            if entry.file_type()?.is_dir() {
                self.add_folder(&entry.path(), &|_| false)?;
                self.add(b"end of folder");
            } else {
                // An error for a link to a folder.
                self.add(&fs::read(entry.path())?);
            }
        }
        Ok(())
    }
}

/// The component in a folder, if it was built from the same inputs.
pub(super) fn find(folder: &Path, name: &str, inputs: Option<Sha256Sum>) -> Option<Vec<u8>> {
    let record: Record = serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()?;
    let component = fs::read(folder.join(name).with_extension("wasm")).ok()?;
    (record == Record::new(inputs?, &component)).then_some(component)
}

/// Records the inputs of the component in a folder.
pub(super) fn record(folder: &Path, inputs: Option<Sha256Sum>, component: &[u8]) -> Result<(), BuildError> {
    let Some(inputs) = inputs else { return Ok(()) };
    let text = serde_json::to_vec(&Record::new(inputs, component)).unwrap_or_default();
    embedded::write(&folder.join(FILE), &text)
}
