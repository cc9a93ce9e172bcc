//! The sandbox itself: state shared by all modules of all networks.

use crate::cache::{ArtifactCache, CacheBounds};
use crate::clock::CallClock;
use crate::compile::{Compiler, ModuleCompiler};
use crate::engine;
use crate::error::{PrepareError, SandboxError};
use crate::instance_pool::{InstancePool, PoolLimits};
use crate::limits::{CompileLimits, half_the_cpus};
use crate::module::LoadedModule;
use crate::network::Networks;
use crate::priority::Priority;
use crate::sha256::Sha256Sum;
use crate::state::CallState;
use crate::threads::ThreadPool;
use crate::ticker::Ticker;
use crate::versions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Linker;

/// Configuration of a [`Sandbox`].
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Method of compiling modules.
    pub compiler: Compiler,
    /// Limits of compiling one module.
    pub compile_limits: CompileLimits,
    /// Concurrent compilations, over all networks; one network always has one at a time.
    pub max_compiles: usize,
    /// Folder for compiled code. It is created if it is missing, and may be deleted at any time.
    pub cache_dir: PathBuf,
    /// Secret for the MAC of compiled code. Keep it out of `cache_dir`.
    pub mac_key: [u8; 32],
    /// Maximum bytes of compiled code on disk; the least recently used is deleted first.
    pub disk_cache_bytes: u64,
    /// Maximum of one network.
    pub disk_cache_bytes_per_network: u64,
    /// Maximum bytes of compiled code in memory.
    pub cache_bytes: u64,
    /// Concurrent calls, over all networks, including those that wait for the hub's answer.
    pub max_calls: u32,
    /// Instances that are kept for further calls, over all networks; see [`crate::Instances::Reused`].
    pub reused_instances: u32,
    /// Maximum total memory of kept instances, in bytes.
    pub reused_bytes: usize,
    /// Maximum idle time of a kept instance.
    pub reused_idle_timeout: Duration,
    /// Concurrently computing calls of one network.
    pub cpus_per_network: usize,
    /// Maximum memory of any call, in bytes, regardless of its limits.
    pub max_memory_bytes: usize,
    /// Number of first bytes of an instance's memory that are cleared in place for the next call; the rest is returned
    /// to the system. Small modules never reach the rest.
    pub keep_resident_bytes: usize,
    /// Source of the time of calls.
    pub clock: CallClock,
}

impl SandboxConfig {
    /// Default sizes.
    pub fn new(compiler: Compiler, cache_dir: PathBuf, mac_key: [u8; 32]) -> Self {
        Self {
            compiler,
            compile_limits: CompileLimits::default(),
            max_compiles: 2,
            cache_dir,
            mac_key,
            disk_cache_bytes: 4 << 30,
            disk_cache_bytes_per_network: 1 << 30,
            cache_bytes: 512 << 20,
            max_calls: 64,
            reused_instances: 64,
            reused_bytes: 1 << 30,
            reused_idle_timeout: Duration::from_mins(1),
            cpus_per_network: half_the_cpus(),
            max_memory_bytes: 64 << 20,
            keep_resident_bytes: 256 << 10,
            clock: CallClock::System,
        }
    }
}

/// Runs modules. Cheap to clone; all clones are the same sandbox.
#[derive(Clone)]
pub struct Sandbox(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) ticker: Ticker,
    /// One permit per call that the engine's pool can hold.
    pub(crate) call_permits: Arc<Semaphore>,
    /// Permits for the part of those calls that may be shadows.
    pub(crate) shadow_permits: Arc<Semaphore>,
    /// Has room in the engine's pool beside the calls.
    pub(crate) instances: InstancePool,
    pub(crate) networks: Networks,
    pub(crate) threads: ThreadPool,
    pub(crate) max_memory_bytes: usize,
    pub(crate) clock: CallClock,
    pub(crate) linker: Linker<CallState>,
    pub(crate) compiler: ModuleCompiler,
    pub(crate) artifacts: ArtifactCache,
    pub(crate) loaded: moka::sync::Cache<Sha256Sum, Arc<LoadedModule>>,
}

impl Sandbox {
    /// Sets a sandbox up: reserves its pool of instances, opens the cache, starts the ticker.
    ///
    /// # Errors
    /// See [`SandboxError`].
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let engine_error = |error: wasmtime::Error| SandboxError::Engine(format!("{error:#}"));
        let instances = config.max_calls.saturating_add(config.reused_instances);
        let engine =
            engine::running(instances, config.max_memory_bytes, config.keep_resident_bytes).map_err(engine_error)?;
        let compatibility = engine::compatibility(&engine);
        let bounds = CacheBounds { all: config.disk_cache_bytes, per_network: config.disk_cache_bytes_per_network };
        Ok(Self(Arc::new(Inner {
            ticker: Ticker::start(&engine)?,
            call_permits: Arc::new(Semaphore::new(config.max_calls as usize)),
            shadow_permits: Arc::new(Semaphore::new((config.max_calls as usize / 4).max(1))),
            instances: InstancePool::new(PoolLimits {
                instances: config.reused_instances as usize,
                bytes: config.reused_bytes,
                idle_timeout: config.reused_idle_timeout,
            }),
            networks: Networks::new(config.cpus_per_network),
            threads: ThreadPool::default(),
            max_memory_bytes: config.max_memory_bytes,
            clock: config.clock,
            linker: versions::linker(&engine).map_err(engine_error)?,
            compiler: ModuleCompiler::new(config.compiler, config.compile_limits, config.max_compiles),
            artifacts: ArtifactCache::open(&config.cache_dir, compatibility, config.mac_key, bounds)?,
            loaded: moka::sync::Cache::builder()
                .max_capacity(config.cache_bytes)
                .weigher(|_, loaded: &Arc<LoadedModule>| loaded.size())
                .build(),
            engine,
        })))
    }

    /// Runs work on a module's bytes at background priority: hashing and copying a large one takes tens of milliseconds.
    ///
    /// # Errors
    /// [`PrepareError::Internal`] if there is no thread for it.
    pub(crate) async fn run_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PrepareError> {
        self.0.threads.run(Priority::Background, work).await.map_err(PrepareError::Internal)
    }

    /// Number of running calls.
    pub fn running(&self) -> usize {
        self.0.ticker.running()
    }
}
