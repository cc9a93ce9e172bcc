//! Modules on their author's machine.

use crate::error::PrepareError;
use crate::manifest::{self, Manifest};
use crate::module::ModuleHandle;
use crate::network::LOCAL_NETWORK;
use crate::sandbox::Sandbox;
use crate::sha256::Sha256Sum;
use crate::trial;
use bytes::Bytes;
use std::sync::Arc;

impl Sandbox {
    /// Makes a module callable, like [`Sandbox::prepare`] and [`Sandbox::load`] together, without storing it anywhere.
    /// A module in this sandbox's cache is not compiled again, but tried again.
    ///
    /// # Errors
    /// [`PrepareError::Invalid`] with a reason for the author if it is not a valid module.
    pub async fn open(&self, module: Vec<u8>) -> Result<ModuleHandle, PrepareError> {
        let internal = |error: &dyn std::error::Error| PrepareError::Internal(error.to_string());
        let id = Sha256Sum::of(&module);
        let cached = self.load_from_disk(LOCAL_NETWORK, id).await.map_err(|error| internal(&error))?;
        let (id, component) = if let Some(loaded) = cached {
            let manifest = manifest::read(&module).ok().flatten().and_then(|text| Manifest::parse(text).ok());
            trial::run(self, LOCAL_NETWORK, &loaded, &loaded.points(), manifest.as_ref()).await?;
            (id, Bytes::from(module))
        } else {
            let prepared = self.prepare(module).await?;
            (prepared.id, prepared.component)
        };
        self.load(id, Arc::new(component)).await.map_err(|error| internal(&error))
    }
}
