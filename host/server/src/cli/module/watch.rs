//! Pushes a module whenever one of its files is saved.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::cli::module::push::Push;

/// Poll interval, and quiet time before a build: editors write in steps. Polling also sees changes that notifications
/// miss, for example on network file systems and in containers.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
pub(in crate::cli) struct Watch {
    #[command(flatten)]
    push: Push,
}

/// Number of source files and latest modification time: enough to detect a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SourceState {
    files: usize,
    latest: SystemTime,
}

impl Watch {
    /// Builds, uploads and activates, now and after each change. Errors are printed.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let path = self.push.path();
        anyhow::ensure!(path.exists(), "{} does not exist", path.display());
        loop {
            // Taken before the build, so that a file saved meanwhile counts as a change.
            let built = source_state(path);
            if let Err(error) = self.push.run().await {
                eprintln!("hub: {error:#}");
            }
            while source_state(path) == built {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            wait_until_unchanged(path).await;
        }
    }
}

async fn wait_until_unchanged(path: &Path) {
    let mut now = source_state(path);
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let later = source_state(path);
        if later == now {
            return;
        }
        now = later;
    }
}

/// True for files that a build reads: neither build output nor downloaded dependencies.
fn is_source(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    let is_output = extension.is_some_and(|extension| ["wasm", "lock", "log"].contains(&extension));
    !is_output && !name.starts_with('.') && !["target", "node_modules", "build", "dist", "__pycache__"].contains(&name)
}

/// Skips unreadable files.
fn source_state(path: &Path) -> SourceState {
    let mut state = SourceState { files: 0, latest: SystemTime::UNIX_EPOCH };
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.metadata() else { continue };
        if metadata.is_dir() {
            let entries = path.read_dir().into_iter().flatten().flatten();
            left.extend(entries.filter(|entry| is_source(&entry.file_name())).map(|entry| entry.path()));
        } else {
            state.files += 1;
            state.latest = state.latest.max(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_build_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        write("src/lib.rs");
        let before = source_state(folder.path());
        assert_eq!(before.files, 1);
        for name in ["m.wasm", "target/x", "node_modules/a/b.js", ".venv/x", "Cargo.lock"] {
            write(name);
            assert_eq!(source_state(folder.path()), before, "{name}");
        }
        write("src/more.rs");
        assert_ne!(source_state(folder.path()), before);
        assert_eq!(source_state(&folder.path().join("m.wasm")).files, 1);
    }
}
