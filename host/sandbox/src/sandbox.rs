//! The sandbox itself: what is shared by all modules of all networks.

use crate::cache::{ArtifactCache, Cached};
use crate::compile::{Compile, Compiled, Compiler};
use crate::contract::Point;
use crate::limits::{CompileLimits, half_of_the_cpus};
use crate::module::{ComponentSource, Module, ModuleHandle, Ready, Sha256Sum};
use crate::network::{Network, Networks, UploadPermit};
use crate::reuse::{Bounds, Idle};
use crate::state::State;
use crate::threads::{Pace, Threads};
use crate::ticker::Ticker;
use crate::{engine, trial, versions};
use bytes::Bytes;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

/// The network of those who have none: tools and tests.
pub(crate) const LOCAL: &str = "local";

/// How a [`Sandbox`] is set up.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// How modules are compiled.
    pub compiler: Compiler,
    /// What compiling one may cost.
    pub compile_limits: CompileLimits,
    /// Modules compiled at once, over all networks; each network's one after the other.
    pub compiles_at_once: usize,
    /// The folder for compiled code. It is created where it is missing, and may be deleted at any time.
    pub cache_dir: PathBuf,
    /// The secret by which compiled code is recognised as this hub's own. Keep it out of `cache_dir`.
    pub mac_key: [u8; 32],
    /// Compiled code kept in memory, in bytes.
    pub cache_bytes: u64,
    /// Calls that run at once, over all networks; those that wait for the hub's answer included.
    pub calls_at_once: u32,
    /// Instances that are kept for further calls, over all networks; see [`crate::Instances::Reused`].
    pub reused_instances: u32,
    /// The memory they may have in all, in bytes.
    pub reused_bytes: usize,
    /// How long one is kept without a call.
    pub reused_for: Duration,
    /// Calls of one network that compute at once.
    pub cpus_per_network: usize,
    /// The most memory any call may have, in bytes, whatever its limits say.
    pub max_memory_bytes: usize,
    /// The first bytes of an instance's memory are cleared in place for the next call, the rest is given back to the
    /// system. Small modules never get to the rest.
    pub keep_resident_bytes: usize,
}

impl SandboxConfig {
    /// The usual sizes.
    pub fn new(compiler: Compiler, cache_dir: PathBuf, mac_key: [u8; 32]) -> Self {
        Self {
            compiler,
            compile_limits: CompileLimits::default(),
            compiles_at_once: 2,
            cache_dir,
            mac_key,
            cache_bytes: 512 << 20,
            calls_at_once: 64,
            reused_instances: 64,
            reused_bytes: 1 << 30,
            reused_for: Duration::from_mins(1),
            cpus_per_network: half_of_the_cpus(),
            max_memory_bytes: 64 << 20,
            keep_resident_bytes: 256 << 10,
        }
    }
}

/// Runs modules. Cheap to clone; all clones are the same sandbox.
#[derive(Clone)]
pub struct Sandbox(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) ticker: Ticker,
    /// One place per call that the pool can hold.
    pub(crate) places: Arc<Semaphore>,
    /// Those of them that shadows may take.
    pub(crate) shadow_places: Arc<Semaphore>,
    /// Beside the places, the pool can hold these.
    pub(crate) idle: Idle,
    pub(crate) networks: Networks,
    pub(crate) threads: Threads,
    pub(crate) max_memory_bytes: usize,
    linker: Linker<State>,
    compile: Compile,
    artifacts: ArtifactCache,
    ready: moka::sync::Cache<Sha256Sum, Arc<Ready>>,
}

/// The sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The engine refused its settings, or its pool does not fit the address space.
    #[error("the WebAssembly engine did not start: {0}")]
    Engine(String),
    /// The folder for compiled code, or a thread, could not be had.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// An upload did not become a module.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// It can't be a module; the reason is for its author.
    #[error("{0}")]
    Invalid(String),
    /// The hub failed; the reason is for its operator.
    #[error("{0}")]
    Internal(String),
}

/// A module could not be loaded; the reason is for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// An upload that is a module.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The SHA-256 of the bytes as they were uploaded.
    pub sha256: Sha256Sum,
    /// The component to store: the upload itself, or what a core module was wrapped into.
    pub component: Bytes,
    /// The SHA-256 of the component, by which it is loaded.
    pub id: Sha256Sum,
    /// The points it serves.
    pub points: Vec<Point>,
    /// The version of the contract it is written against.
    pub world_version: String,
}

impl Sandbox {
    /// Sets a sandbox up: reserves its pool of instances, opens the cache, starts the clock of deadlines.
    ///
    /// # Errors
    /// See [`SandboxError`].
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let started = |error: wasmtime::Error| SandboxError::Engine(format!("{error:#}"));
        let instances = config.calls_at_once.saturating_add(config.reused_instances);
        let engine =
            engine::running(instances, config.max_memory_bytes, config.keep_resident_bytes).map_err(started)?;
        let compatibility = engine::compatibility(&engine);
        Ok(Self(Arc::new(Inner {
            ticker: Ticker::start(&engine)?,
            places: Arc::new(Semaphore::new(config.calls_at_once as usize)),
            shadow_places: Arc::new(Semaphore::new((config.calls_at_once as usize / 4).max(1))),
            idle: Idle::new(Bounds {
                instances: config.reused_instances as usize,
                bytes: config.reused_bytes,
                idle: config.reused_for,
            }),
            networks: Networks::new(config.cpus_per_network),
            threads: Threads::default(),
            max_memory_bytes: config.max_memory_bytes,
            linker: versions::linker(&engine).map_err(started)?,
            compile: Compile::new(config.compiler, config.compile_limits, config.compiles_at_once),
            artifacts: ArtifactCache::open(&config.cache_dir, compatibility, config.mac_key)?,
            ready: moka::sync::Cache::builder()
                .max_capacity(config.cache_bytes)
                .weigher(|_, ready: &Arc<Ready>| ready.size())
                .build(),
            engine,
        })))
    }

    /// Makes an upload a module: validates it, wraps a core module, compiles it, keeps the compiled code, and
    /// tries every function it exports once. Takes as long as compiling does; drop the future to give up.
    ///
    /// # Errors
    /// [`PrepareError::Invalid`] with a reason for the author where it can't be a module.
    pub async fn prepare(&self, upload: impl Into<Bytes>) -> Result<Prepared, PrepareError> {
        self.prepare_in(&self.0.networks.get(LOCAL), upload.into()).await
    }

    /// Waits until the network has fewer than four uploads in memory. Take the permit before the upload is read.
    pub async fn upload_permit(&self, network: &str) -> UploadPermit {
        UploadPermit::acquire(self.0.networks.get(network)).await
    }

    /// As [`Sandbox::prepare`], for the permit's network: its uploads are prepared one after the other.
    ///
    /// # Errors
    /// As [`Sandbox::prepare`].
    pub async fn prepare_for(&self, permit: &UploadPermit, upload: impl Into<Bytes>) -> Result<Prepared, PrepareError> {
        self.prepare_in(&permit.network, upload.into()).await
    }

    async fn prepare_in(&self, network: &Network, upload: Bytes) -> Result<Prepared, PrepareError> {
        let _preparing = network.preparing.lock().await;
        let _compiling = network.compiling.lock().await;
        let (prepared, ready) = self.compile(upload).await?;
        let tried = trial::run(self, &network.name, &ready, &prepared.points, "{}").await;
        tried.map_err(|failed| PrepareError::Invalid(failed.in_full()))?;
        Ok(prepared)
    }

    /// Makes a stored component ready to be called: from memory, else from disk, else compiled from its source.
    ///
    /// # Errors
    /// [`LoadError`] where none of these works.
    pub async fn load(&self, id: Sha256Sum, source: Arc<dyn ComponentSource>) -> Result<ModuleHandle, LoadError> {
        let mut module = Module { id, points: Vec::new(), source, loading: tokio::sync::Mutex::default() };
        module.points = self.ready(&module).await?.points();
        Ok(ModuleHandle(Arc::new(module)))
    }

    /// The SHA-256 of an upload, at background priority.
    ///
    /// # Errors
    /// [`PrepareError::Internal`] where there is no thread for it.
    pub async fn sum(&self, upload: Bytes) -> Result<Sha256Sum, PrepareError> {
        self.run_background(move || Sha256Sum::of(&upload)).await
    }

    /// Compiles a module, and saves the outcome.
    async fn compile(&self, module: Bytes) -> Result<(Prepared, Arc<Ready>), PrepareError> {
        let inner = Arc::clone(&self.0);
        let compiled = inner.compile.compile(&inner.engine, &inner.threads, &module).await?;
        self.run_background(move || inner.keep(module, compiled)).await?
    }

    /// Runs work on a module's bytes at background priority: hashing and copying tens of megabytes takes as many
    /// milliseconds.
    ///
    /// # Errors
    /// [`PrepareError::Internal`] where there is no thread for it.
    async fn run_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PrepareError> {
        self.0.threads.run(Pace::GivesWay, work).await.map_err(PrepareError::Internal)
    }

    /// How many calls are on a thread now.
    pub fn running(&self) -> usize {
        self.0.ticker.running()
    }

    /// A module's code, if it is in memory.
    pub(crate) fn ready_now(&self, module: &Module) -> Option<Arc<Ready>> {
        self.0.ready.get(&module.id)
    }

    /// A module's code, from wherever it is.
    pub(crate) async fn ready(&self, module: &Module) -> Result<Arc<Ready>, LoadError> {
        if let Some(ready) = self.ready_now(module) {
            return Ok(ready);
        }
        let _turn = module.loading.lock().await;
        if let Some(ready) = self.ready_now(module) {
            return Ok(ready);
        }
        let (inner, id) = (Arc::clone(&self.0), module.id);
        let cached = blocking(move || inner.bring_back(id)).await.map_err(LoadError::from)?;
        if let Some(ready) = cached? {
            return Ok(ready);
        }
        let component = module.source.component().await.map_err(LoadError)?;
        let network = self.0.networks.get(&module.source.network());
        let _compiling = network.compiling.lock().await;
        let (prepared, ready) = self.compile(component).await?;
        if prepared.id != module.id {
            return Err(LoadError(format!("the stored component is {}, not {}", prepared.id, module.id)));
        }
        Ok(ready)
    }
}

impl Inner {
    /// Brings compiled code from disk into memory.
    pub(crate) fn bring_back(&self, id: Sha256Sum) -> Result<Option<Arc<Ready>>, LoadError> {
        match self.artifacts.load(&self.engine, id) {
            Cached::Found(component) => {
                self.resolve(id, &component).map(Some).map_err(|error| LoadError(format!("{error:#}")))
            }
            Cached::Missing => Ok(None),
            Cached::Refused(why) => {
                tracing::warn!(%why, "compiled code was refused and will be compiled again");
                Ok(None)
            }
        }
    }

    /// Keeps what was compiled, on disk and in memory.
    fn keep(&self, upload: Bytes, compiled: Compiled) -> Result<(Prepared, Arc<Ready>), PrepareError> {
        let sha256 = Sha256Sum::of(&upload);
        let id = compiled.wrapped.as_deref().map_or(sha256, Sha256Sum::of);
        let kept = self.artifacts.keep(&self.engine, id, &compiled);
        let kept = kept.map_err(|error| PrepareError::Internal(format!("compiled code could not be kept: {error}")))?;
        let loaded = kept.map_err(|why| PrepareError::Invalid(format!("it can't be run: {why}")))?;
        let ready = self
            .resolve(id, &loaded)
            .map_err(|error| PrepareError::Invalid(format!("it does not fit the contract: {error:#}")))?;
        let prepared = Prepared {
            sha256,
            component: compiled.wrapped.map_or(upload, Bytes::from),
            id,
            points: compiled.offer.points,
            world_version: compiled.offer.world_version,
        };
        Ok((prepared, ready))
    }

    fn resolve(&self, id: Sha256Sum, component: &Component) -> wasmtime::Result<Arc<Ready>> {
        let ready = Arc::new(Ready::new(&self.linker, component)?);
        self.ready.insert(id, Arc::clone(&ready));
        Ok(ready)
    }
}

/// Runs work that reads or writes files off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, PrepareError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| PrepareError::Internal(format!("a task failed: {error}")))
}

impl From<PrepareError> for LoadError {
    fn from(error: PrepareError) -> Self {
        Self(error.to_string())
    }
}
