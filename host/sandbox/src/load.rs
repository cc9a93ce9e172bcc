//! Brings a module's code into memory: from disk, else by compiling it.

use crate::cache::Cached;
use crate::compile::Compiled;
use crate::error::{LoadError, PrepareError};
use crate::module::{ComponentSource, LoadedModule, Module, ModuleHandle, Prepared};
use crate::sandbox::{Inner, Sandbox};
use crate::sha256::Sha256Sum;
use bytes::Bytes;
use std::sync::Arc;
use wasmtime::component::Component;

impl Sandbox {
    /// Makes a stored component ready to be called: from memory, else from disk, else compiled from its source.
    ///
    /// # Errors
    /// [`LoadError`] where none of these works.
    pub async fn load(&self, id: Sha256Sum, source: Arc<dyn ComponentSource>) -> Result<ModuleHandle, LoadError> {
        let mut module = Module { id, points: Vec::new(), source, loading: tokio::sync::Mutex::default() };
        module.points = self.load_code(&module).await?.points();
        Ok(ModuleHandle(Arc::new(module)))
    }

    /// A module's code, if it is in memory.
    pub(crate) fn cached_code(&self, module: &Module) -> Option<Arc<LoadedModule>> {
        self.0.loaded.get(&module.id)
    }

    /// A module's code, from wherever it is.
    pub(crate) async fn load_code(&self, module: &Module) -> Result<Arc<LoadedModule>, LoadError> {
        if let Some(loaded) = self.cached_code(module) {
            return Ok(loaded);
        }
        let _loading = module.loading.lock().await;
        if let Some(loaded) = self.cached_code(module) {
            return Ok(loaded);
        }
        if let Some(loaded) = self.load_from_disk(module.id).await? {
            return Ok(loaded);
        }
        let component = module.source.component().await.map_err(LoadError)?;
        let network = self.0.networks.get(&module.source.network());
        let _compiling = network.compiling.lock().await;
        let (prepared, loaded) = self.compile(component).await?;
        if prepared.id != module.id {
            return Err(LoadError(format!("the stored component is {}, not {}", prepared.id, module.id)));
        }
        Ok(loaded)
    }

    /// Loads compiled code from disk, where it is there.
    pub(crate) async fn load_from_disk(&self, id: Sha256Sum) -> Result<Option<Arc<LoadedModule>>, LoadError> {
        let inner = Arc::clone(&self.0);
        let loading = tokio::task::spawn_blocking(move || match inner.artifacts.load(&inner.engine, id) {
            Cached::Found(component) => {
                inner.resolve(id, &component).map(Some).map_err(|error| LoadError(format!("{error:#}")))
            }
            Cached::Missing => Ok(None),
            Cached::Rejected(why) => {
                tracing::warn!(%why, "compiled code was refused and will be compiled again");
                Ok(None)
            }
        });
        loading.await.map_err(|error| LoadError(format!("a task failed: {error}")))?
    }

    /// Compiles a module, and saves the outcome.
    pub(crate) async fn compile(&self, module: Bytes) -> Result<(Prepared, Arc<LoadedModule>), PrepareError> {
        let inner = Arc::clone(&self.0);
        let compiled = inner.compiler.compile(&inner.engine, &inner.threads, &module).await?;
        self.run_background(move || inner.save(module, compiled)).await?
    }
}

impl Inner {
    /// Saves compiled code, on disk and in memory.
    fn save(&self, upload: Bytes, compiled: Compiled) -> Result<(Prepared, Arc<LoadedModule>), PrepareError> {
        let sha256 = Sha256Sum::of(&upload);
        let id = compiled.wrapped.as_deref().map_or(sha256, Sha256Sum::of);
        let saved = self.artifacts.save(&self.engine, id, &compiled);
        let saved =
            saved.map_err(|error| PrepareError::Internal(format!("compiled code could not be kept: {error}")))?;
        let component = saved.map_err(|why| PrepareError::Invalid(format!("it can't be run: {why}")))?;
        let loaded = self
            .resolve(id, &component)
            .map_err(|error| PrepareError::Invalid(format!("it does not fit the contract: {error:#}")))?;
        let prepared = Prepared {
            sha256,
            component: compiled.wrapped.map_or(upload, Bytes::from),
            id,
            points: compiled.info.points,
            world_version: compiled.info.world_version,
        };
        Ok((prepared, loaded))
    }

    fn resolve(&self, id: Sha256Sum, component: &Component) -> wasmtime::Result<Arc<LoadedModule>> {
        let loaded = Arc::new(LoadedModule::new(&self.linker, component)?);
        self.loaded.insert(id, Arc::clone(&loaded));
        Ok(loaded)
    }
}
