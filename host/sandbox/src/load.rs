//! Brings a module's code into memory: from disk, otherwise by compiling it.

use crate::cache::Cached;
use crate::compile::Compiled;
use crate::error::{LoadError, PrepareError};
use crate::inspect::ModuleInfo;
use crate::manifest::Manifest;
use crate::module::{ComponentSource, LoadedModule, Module, ModuleHandle, Prepared};
use crate::sandbox::{Inner, Sandbox};
use crate::sha256::Sha256Sum;
use bytes::Bytes;
use std::sync::Arc;
use wasmtime::component::Component;

impl Sandbox {
    /// Makes a stored component callable: from memory, otherwise from disk, otherwise compiled from its source.
    ///
    /// # Errors
    /// [`LoadError`] if none of these works.
    pub async fn load(&self, id: Sha256Sum, source: Arc<dyn ComponentSource>) -> Result<ModuleHandle, LoadError> {
        let mut module = Module { id, points: Vec::new(), source, loading: tokio::sync::Mutex::default() };
        module.points = self.load_code(&module).await?.points();
        Ok(ModuleHandle(Arc::new(module)))
    }

    /// A module's code, if it is in memory.
    pub(crate) fn cached_code(&self, module: &Module) -> Option<Arc<LoadedModule>> {
        let loaded = self.0.loaded.get(&module.id)?;
        self.note_use(module, &loaded);
        Some(loaded)
    }

    /// Code of a module, from memory, disk or its source.
    pub(crate) async fn load_code(&self, module: &Module) -> Result<Arc<LoadedModule>, LoadError> {
        if let Some(loaded) = self.cached_code(module) {
            return Ok(loaded);
        }
        let _loading = module.loading.lock().await;
        if let Some(loaded) = self.cached_code(module) {
            return Ok(loaded);
        }
        let network = module.source.network();
        if let Some(loaded) = self.load_from_disk(&network, module.id).await? {
            return Ok(loaded);
        }
        let network = self.0.networks.get(&network);
        let _compiling = network.compiling.lock().await;
        // Others that wanted the same code had their turn meanwhile.
        if let Some(loaded) = self.cached_code(module) {
            return Ok(loaded);
        }
        let component = module.source.component().await.map_err(LoadError)?;
        let compiled = self.compile(component).await?;
        let id = compiled.prepared.id;
        if id != module.id {
            return Err(LoadError(format!("the stored component is {id}, not {}", module.id)));
        }
        Ok(self.keep(&network.name, compiled).await?.1)
    }

    /// Loads compiled code from disk, if it exists.
    pub(crate) async fn load_from_disk(
        &self,
        network: &str,
        id: Sha256Sum,
    ) -> Result<Option<Arc<LoadedModule>>, LoadError> {
        let (inner, network) = (Arc::clone(&self.0), network.to_owned());
        let loading = tokio::task::spawn_blocking(move || match inner.artifacts.load(&inner.engine, &network, id) {
            Cached::Found(component) => {
                let loaded = inner.resolve(&component).map_err(|error| LoadError(format!("{error:#}")))?;
                inner.loaded.insert(id, Arc::clone(&loaded));
                Ok(Some(loaded))
            }
            Cached::Missing => Ok(None),
            Cached::Rejected(why) => {
                tracing::warn!(%why, "compiled code was refused and will be compiled again");
                Ok(None)
            }
        });
        loading.await.map_err(|error| LoadError(format!("a task failed: {error}")))?
    }

    /// Compiles a module without keeping the result.
    pub(crate) async fn compile(&self, module: Bytes) -> Result<CompiledModule, PrepareError> {
        let inner = Arc::clone(&self.0);
        let compiled = inner.compiler.compile(&inner.engine, &inner.threads, &module).await?;
        self.run_background(move || inner.open_compiled(module, compiled)).await?
    }

    /// Keeps a network's compiled module, on disk and in memory. Without room on the disk, in memory alone.
    pub(crate) async fn keep(
        &self,
        network: &str,
        compiled: CompiledModule,
    ) -> Result<(Prepared, Arc<LoadedModule>), PrepareError> {
        let (inner, network) = (Arc::clone(&self.0), network.to_owned());
        let CompiledModule { prepared, loaded, artifact } = compiled;
        let kept = self.run_background(move || {
            if let Err(error) = inner.artifacts.store(&network, prepared.id, &artifact) {
                tracing::warn!(%error, "compiled code could not be kept on disk, and will be compiled again");
            }
            inner.loaded.insert(prepared.id, Arc::clone(&loaded));
            (prepared, loaded)
        });
        kept.await
    }

    /// Records occasionally that a module is in use, so that its code stays on disk.
    fn note_use(&self, module: &Module, loaded: &LoadedModule) {
        if loaded.is_to_be_noted() {
            let (inner, network, id) = (Arc::clone(&self.0), module.source.network(), module.id);
            tokio::task::spawn_blocking(move || inner.artifacts.touch(&network, id));
        }
    }
}

/// A compiled module, ready for its trial.
pub(crate) struct CompiledModule {
    pub(crate) prepared: Prepared,
    pub(crate) loaded: Arc<LoadedModule>,
    artifact: Vec<u8>,
}

impl Inner {
    fn open_compiled(&self, upload: Bytes, compiled: Compiled) -> Result<CompiledModule, PrepareError> {
        let sha256 = Sha256Sum::of(&upload);
        let id = compiled.wrapped.as_deref().map_or(sha256, Sha256Sum::of);
        let component = self.artifacts.open_compiled(&self.engine, &compiled);
        let component = component.map_err(|why| PrepareError::Invalid(format!("it can't be loaded: {why}")))?;
        let loaded = self
            .resolve(&component)
            .map_err(|error| PrepareError::Invalid(format!("it does not fit the contract: {error:#}")))?;
        let Compiled { wrapped, artifact, info } = compiled;
        let component = wrapped.map_or(upload, Bytes::from);
        let ModuleInfo { points, world_version, manifest } = info;
        // The child has checked it, but its answer is not trusted further than that.
        let manifest = manifest.map(|text| Manifest::parse(text.as_bytes())).transpose();
        let manifest = manifest.map_err(|why| PrepareError::Invalid(format!("its manifest is invalid: {why}")))?;
        let prepared = Prepared { sha256, component, id, points, world_version, manifest };
        Ok(CompiledModule { prepared, loaded, artifact })
    }

    fn resolve(&self, component: &Component) -> wasmtime::Result<Arc<LoadedModule>> {
        Ok(Arc::new(LoadedModule::new(&self.linker, component)?))
    }
}
