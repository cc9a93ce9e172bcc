//! Compiled code on disk. A file here becomes native code of this process, so only files with this hub's own MAC are
//! loaded.

use crate::compile::Compiled;
use crate::sha256::Sha256Sum;
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

/// The cache's folder. Files are named by the component's SHA-256 inside a folder per engine compatibility.
pub(crate) struct ArtifactCache {
    folder: PathBuf,
    compatibility: String,
    key: [u8; 32],
    writes: AtomicU64,
}

/// What the cache has for a component.
pub(crate) enum Cached {
    /// Its code.
    Found(Component),
    /// Nothing.
    Missing,
    /// A file that this hub did not write, or that wasmtime does not accept. It has been removed.
    Rejected(String),
}

impl ArtifactCache {
    pub(crate) fn open(folder: &Path, compatibility: String, key: [u8; 32]) -> io::Result<Self> {
        let folder = folder.join(&compatibility);
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, compatibility, key, writes: AtomicU64::new(0) })
    }

    fn path(&self, id: Sha256Sum) -> PathBuf {
        self.folder.join(format!("{id}.bin"))
    }

    /// Reads a component's code. Blocks.
    pub(crate) fn load(&self, engine: &Engine, id: Sha256Sum) -> Cached {
        let path = self.path(id);
        let file = match std::fs::read(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Cached::Missing,
            Err(error) => return Cached::Rejected(format!("{}: {error}", path.display())),
        };
        match self.open_file(engine, id, &file) {
            Ok(component) => Cached::Found(component),
            Err(why) => {
                // Where it can't be removed it is overwritten later.
                let _ = std::fs::remove_file(&path);
                Cached::Rejected(format!("{}: {why}", path.display()))
            }
        }
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

    /// Loads and stores a compiled component. Blocks. The inner error says why wasmtime does not accept it.
    pub(crate) fn save(
        &self,
        engine: &Engine,
        id: Sha256Sum,
        compiled: &Compiled,
    ) -> io::Result<Result<Component, String>> {
        // SAFETY: A `Compiled` is made of what `Engine::precompile_component` gave, and of nothing else.
        #[allow(unsafe_code)]
        let component = unsafe { deserialize(engine, &compiled.artifact) };
        if component.is_ok() {
            self.store(id, &compiled.artifact)?;
        }
        Ok(component)
    }

    /// Writes a component's code, whole or not at all. Blocks.
    fn store(&self, id: Sha256Sum, artifact: &[u8]) -> io::Result<()> {
        let mac = self.mac(id, artifact).ok_or(io::ErrorKind::InvalidInput)?;
        let path = self.path(id);
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!("{id}.{}.{number}.tmp", std::process::id()));
        let mut file = std::fs::File::create_new(&unfinished)?;
        let written = file
            .write_all(&mac.finalize().into_bytes())
            .and_then(|()| artifact.chunks(CHUNK_BYTES).try_for_each(|chunk| file.write_all(chunk)))
            .and_then(|()| std::fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written
    }

    /// The MAC covers what the code is for, so that a file can't be passed off as another module's.
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
/// The artifact is what `Engine::precompile_component` gave.
#[allow(unsafe_code)]
unsafe fn deserialize(engine: &Engine, artifact: &[u8]) -> Result<Component, String> {
    // SAFETY: As the caller says; that it was for this engine is checked.
    unsafe { Component::deserialize(engine, artifact) }.map_err(|error| format!("{error:#}"))
}
