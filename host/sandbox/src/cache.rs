//! Compiled code on disk. A file here becomes native code of this process, so only files with this hub's own MAC are
//! loaded.
//!
//! Each network has a folder of its own, so that none can evict another's code. The least recently used files are
//! deleted when a network, or all of them, exceed their bound; the time of use is that of the file, so that it survives
//! restarts.

mod files;

use crate::clock::system_time;
use crate::compile::Compiled;
use crate::sha256::Sha256Sum;
use files::CachedFile;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use wasmtime::Engine;
use wasmtime::component::Component;

const MAC_BYTES: usize = 32;
/// Bytes per write: the system does not preempt a write for others that wait for the CPU.
const CHUNK_BYTES: usize = 64 << 10;

/// Maximum size of compiled code on disk, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheBounds {
    pub(crate) all: u64,
    pub(crate) per_network: u64,
}

/// The cache's folder. It has a folder per engine compatibility, which has one per network, with a file per component,
/// named by its SHA-256.
pub(crate) struct ArtifactCache {
    folder: PathBuf,
    compatibility: String,
    key: [u8; 32],
    bounds: CacheBounds,
    writes: AtomicU64,
}

/// Result of a cache lookup.
pub(crate) enum Cached {
    /// Its code.
    Found(Component),
    /// No file.
    Missing,
    /// A file that was not written by this hub, or not accepted by wasmtime. It has been removed.
    Rejected(String),
}

impl ArtifactCache {
    pub(crate) fn open(folder: &Path, compatibility: String, key: [u8; 32], bounds: CacheBounds) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let cache = Self { folder: folder.to_owned(), compatibility, key, bounds, writes: AtomicU64::new(0) };
        // The bounds may be lower than before.
        cache.evict(None)?;
        Ok(cache)
    }

    fn network_folder(&self, network: &str) -> PathBuf {
        // A name that is not plain, unlike a network's id, is replaced by a plain one.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let name = match network {
            "" => "local".to_owned(),
            _ if network.len() <= 64 && network.bytes().all(is_plain) => network.to_owned(),
            _ => Sha256Sum::of(network.as_bytes()).to_string(),
        };
        self.folder.join(&self.compatibility).join(name)
    }

    fn path(&self, network: &str, id: Sha256Sum) -> PathBuf {
        self.network_folder(network).join(format!("{id}.bin"))
    }

    /// Reads a component's code. Blocks.
    pub(crate) fn load(&self, engine: &Engine, network: &str, id: Sha256Sum) -> Cached {
        let path = self.path(network, id);
        let file = match std::fs::read(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Cached::Missing,
            Err(error) => return Cached::Rejected(format!("{}: {error}", path.display())),
        };
        match self.open_file(engine, id, &file) {
            Ok(component) => {
                self.touch(network, id);
                Cached::Found(component)
            }
            Err(why) => {
                // A file that can't be removed is overwritten later.
                let _ = std::fs::remove_file(&path);
                Cached::Rejected(format!("{}: {why}", path.display()))
            }
        }
    }

    /// Notes that a component's code is in use. Blocks.
    pub(crate) fn touch(&self, network: &str, id: Sha256Sum) {
        let file = std::fs::File::options().append(true).open(self.path(network, id));
        // A missing file is written again when its code is compiled again.
        let _ = file.and_then(|file| file.set_modified(system_time()));
    }

    fn open_file(&self, engine: &Engine, id: Sha256Sum, file: &[u8]) -> Result<Component, String> {
        let (mac, artifact) = file.split_at_checked(MAC_BYTES).ok_or("it is cut short")?;
        self.mac(id, artifact)
            .and_then(|expected| expected.verify_slice(mac).ok())
            .ok_or("its MAC is not this hub's")?;
        // SAFETY: The MAC has just shown that this hub wrote exactly these bytes, for this component and this engine, in
        // `save`.
        #[allow(unsafe_code)]
        unsafe {
            deserialize(engine, artifact)
        }
    }

    /// Makes compiled code ready to run. Nothing is written.
    #[allow(clippy::unused_self)]
    pub(crate) fn open_compiled(&self, engine: &Engine, compiled: &Compiled) -> Result<Component, String> {
        // SAFETY: A `Compiled` only holds output of `Engine::precompile_component`.
        #[allow(unsafe_code)]
        unsafe {
            deserialize(engine, &compiled.artifact)
        }
    }

    /// Writes a component's code, atomically, and then evicts files over the bounds. Code that alone exceeds them is
    /// not written. Blocks.
    pub(crate) fn store(&self, network: &str, id: Sha256Sum, artifact: &[u8]) -> io::Result<()> {
        if (artifact.len() + MAC_BYTES) as u64 > self.bounds.per_network.min(self.bounds.all) {
            return Ok(());
        }
        let mac = self.mac(id, artifact).ok_or(io::ErrorKind::InvalidInput)?;
        let (folder, path) = (self.network_folder(network), self.path(network, id));
        std::fs::create_dir_all(&folder)?;
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let unfinished = folder.join(format!("{id}.{}.{number}.tmp", std::process::id()));
        let mut file = std::fs::File::create_new(&unfinished)?;
        let written = file
            .write_all(&mac.finalize().into_bytes())
            .and_then(|()| artifact.chunks(CHUNK_BYTES).try_for_each(|chunk| file.write_all(chunk)))
            .and_then(|()| std::fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written?;
        self.evict(Some((&folder, &path)))
    }

    /// Deletes the least recently used files while all files, or those of this network's folder, exceed their bounds;
    /// but not the file that has just been written.
    fn evict(&self, written: Option<(&Path, &Path)>) -> io::Result<()> {
        let mut files = files::list(&self.folder)?;
        files.sort_by_key(|file| file.used_at);
        let mut evict = |bound: u64, belongs: &dyn Fn(&CachedFile) -> bool| {
            let mut bytes: u64 = files.iter().filter(|file| belongs(file)).map(|file| file.bytes).sum();
            files.retain(|file| {
                let goes = bytes > bound && belongs(file) && written.is_none_or(|(_, path)| path != file.path);
                if goes {
                    bytes -= file.bytes;
                    // It may be gone already: commands share their cache.
                    let _ = std::fs::remove_file(&file.path);
                }
                !goes
            });
        };
        if let Some((folder, _)) = written {
            evict(self.bounds.per_network, &|file| file.path.starts_with(folder));
        }
        evict(self.bounds.all, &|_| true);
        Ok(())
    }

    /// The MAC covers the component's id, so that a file can't be passed off as another module's.
    fn mac(&self, id: Sha256Sum, artifact: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(b"network-hub compiled module 1\0");
        mac.update(self.compatibility.as_bytes());
        mac.update(&id.0);
        mac.update(artifact);
        Some(mac)
    }
}

/// Compiled code, ready to run.
///
/// # Safety
/// The artifact was returned by `Engine::precompile_component`.
#[allow(unsafe_code)]
unsafe fn deserialize(engine: &Engine, artifact: &[u8]) -> Result<Component, String> {
    // SAFETY: Guaranteed by the caller; that it was made for this engine is checked.
    unsafe { Component::deserialize(engine, artifact) }.map_err(|error| format!("{error:#}"))
}
