//! From the saved file to the running hub.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;

use crate::cli::module::push::Push;

/// How often it looks. An editor that writes in steps is waited for this long.
const EVERY: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
pub(in crate::cli) struct Watch {
    #[command(flatten)]
    push: Push,
}

/// What tells that something was saved: how many files there are, and when the latest was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    files: usize,
    latest: SystemTime,
}

impl Watch {
    /// Builds, uploads and activates now and after each change, until it is ended. What goes wrong is said, and tried
    /// again after the next change.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let path = self.push.path();
        anyhow::ensure!(path.exists(), "{} does not exist", path.display());
        loop {
            // Before the build, so that what is saved during it counts.
            let built = state(path);
            if let Err(error) = self.push.once().await {
                eprintln!("hub: {error:#}");
            }
            while state(path) == built {
                tokio::time::sleep(EVERY).await;
            }
            settle(path).await;
        }
    }
}

/// Waits until nothing more is written.
async fn settle(path: &Path) {
    let mut now = state(path);
    loop {
        tokio::time::sleep(EVERY).await;
        let later = state(path);
        if later == now {
            return;
        }
        now = later;
    }
}

/// What a build reads: not what it writes, nor what tools fetched.
fn is_source(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    let is_output = extension.is_some_and(|extension| ["wasm", "lock", "log"].contains(&extension));
    !is_output && !name.starts_with('.') && !["target", "node_modules", "build", "dist", "__pycache__"].contains(&name)
}

/// What there is now. What can't be read is not there.
fn state(path: &Path) -> State {
    let mut state = State { files: 0, latest: SystemTime::UNIX_EPOCH };
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
    fn what_a_build_writes_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        write("src/lib.rs");
        let before = state(folder.path());
        assert_eq!(before.files, 1);
        for name in ["m.wasm", "target/x", "node_modules/a/b.js", ".venv/x", "Cargo.lock"] {
            write(name);
            assert_eq!(state(folder.path()), before, "{name}");
        }
        write("src/more.rs");
        assert_ne!(state(folder.path()), before);
        assert_eq!(state(&folder.path().join("m.wasm")).files, 1);
    }
}
