//! Modules on their author's machine.

use crate::module::{ModuleHandle, Sha256Sum};
use crate::sandbox::{LOCAL, PrepareError, Sandbox, blocking};
use crate::trial;
use bytes::Bytes;
use std::sync::Arc;

impl Sandbox {
    /// Makes a module ready to be called, as [`Sandbox::prepare`] and [`Sandbox::load`] do together, without storing it
    /// anywhere. What is in this sandbox's cache is not compiled again, but tried again.
    ///
    /// # Errors
    /// [`PrepareError::Invalid`] with a reason for the author where it can't be a module.
    pub async fn open(&self, module: Vec<u8>) -> Result<ModuleHandle, PrepareError> {
        let internal = |error: &dyn std::error::Error| PrepareError::Internal(error.to_string());
        let (inner, id) = (Arc::clone(&self.0), Sha256Sum::of(&module));
        let cached = blocking(move || inner.bring_back(id)).await?.map_err(|error| internal(&error))?;
        let (id, component) = if let Some(ready) = cached {
            let tried = trial::run(self, LOCAL, &ready, &ready.points(), "{}").await;
            tried.map_err(|failed| PrepareError::Invalid(failed.in_full()))?;
            (id, Bytes::from(module))
        } else {
            let prepared = self.prepare(module).await?;
            (prepared.id, prepared.component)
        };
        self.load(id, Arc::new(component)).await.map_err(|error| internal(&error))
    }
}
