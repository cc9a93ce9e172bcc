//! Embeds the files that `hub module new` and `hub module build` need in the crate: the contract, the SDKs, the
//! templates.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SDK: &str = "../../plugins-sdk";
const EMBEDDED: [&str; 7] = ["wit/1.0", "wit/1.1", "rust", "js", "python", "c", "examples"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(SDK).canonicalize()?;
    let mut list = String::from("&[\n");
    for folder in EMBEDDED {
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(&root).map_err(io::Error::other)?;
            let (name, file) = (name.to_string_lossy(), file.to_string_lossy());
            writeln!(list, "    ({name:?}, include_bytes!({file:?})),").map_err(io::Error::other)?;
        }
        println!("cargo:rerun-if-changed={SDK}/{folder}");
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("sdk.rs"), list)
}

/// All files in a folder, except for files left by tools.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    const LEFT_BEHIND: [&str; 5] = ["target", "Cargo.lock", "node_modules", "__pycache__", "tests"];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_BEHIND.iter().any(|left| name == *left) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}
