//! Sets up the sandbox: its compiler, the folder of compiled code, and the secret that authenticates that code.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hub_sandbox::{Compiler, Sandbox, SandboxConfig};

use crate::config::Settings;
use crate::executable::own_executable;
use crate::ids::Ids;

/// Divisor of the disk space for compiled code: the share of one network.
const CACHE_SHARE: u64 = 4;

/// The sandbox of this hub.
pub(super) fn open_sandbox(settings: &Settings, ids: &Ids) -> anyhow::Result<Sandbox> {
    let compiler = match &settings.modules.compiler {
        Some(compiler) => compiler.clone(),
        None => own_executable()?,
    };
    let mut config = sandbox_config(&settings.data, compiler, ids)?;
    config.clock = settings.modules.clock.clone();
    config.disk_cache_bytes = settings.module_cache.saturating_mul(1 << 20);
    config.disk_cache_bytes_per_network = config.disk_cache_bytes / CACHE_SHARE;
    if let Some(cpus) = settings.module_cpus {
        config.cpus_per_network = usize::try_from(cpus).unwrap_or(usize::MAX);
    }
    started(config)
}

/// A sandbox with its compiled code and its secret in a folder.
pub fn open_sandbox_in(folder: &Path, compiler: PathBuf, ids: &Ids) -> anyhow::Result<Sandbox> {
    started(sandbox_config(folder, compiler, ids)?)
}

fn sandbox_config(folder: &Path, compiler: PathBuf, ids: &Ids) -> anyhow::Result<SandboxConfig> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let key = node_key(folder, ids)?;
    Ok(SandboxConfig::new(Compiler::Child(compiler), folder.join("modules-cache"), key))
}

fn started(config: SandboxConfig) -> anyhow::Result<Sandbox> {
    Sandbox::new(config).context("cannot set up the sandbox for modules")
}

/// Secret of this node, created at its first start.
fn node_key(folder: &Path, ids: &Ids) -> anyhow::Result<[u8; 32]> {
    let file = folder.join("node.key");
    if !file.exists() {
        create_node_key(folder, &file, ids).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let key = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    key.try_into().map_err(|_| anyhow::anyhow!("{} does not hold 32 bytes; remove it to get a new one", file.display()))
}

/// Writes a temporary file and links it, so that the key is never read half-written and never overwritten.
fn create_node_key(folder: &Path, file: &Path, ids: &Ids) -> std::io::Result<()> {
    let unfinished = folder.join(format!("node.key.{}", ids.token(12)));
    let mut key = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    for _ in 0..4 {
        key.write_all(&ids.seed().to_le_bytes())?;
    }
    key.sync_all()?;
    let linked = std::fs::hard_link(&unfinished, file);
    std::fs::remove_file(&unfinished)?;
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn node_key_is_created_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let key = node_key(folder.path(), &Ids::System).unwrap();
        assert_eq!(node_key(folder.path(), &Ids::System).unwrap(), key);
        assert_ne!(key, [0; 32]);
        let file = folder.path().join("node.key");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        std::fs::write(&file, "short").unwrap();
        assert!(node_key(folder.path(), &Ids::System).is_err());
    }
}
