//! Turns uploads into modules: validated, compiled, saved, tried.

use crate::error::PrepareError;
use crate::module::Prepared;
use crate::network::LOCAL_NETWORK;
use crate::network::{Network, UploadPermit};
use crate::sandbox::Sandbox;
use crate::sha256::Sha256Sum;
use crate::trial;
use bytes::Bytes;

impl Sandbox {
    /// Turns an upload into a module: validates it, wraps a core module, compiles it, saves the compiled code, and
    /// tries every function it exports once. Takes as long as compiling does; drop the future to cancel it.
    ///
    /// # Errors
    /// [`PrepareError::Invalid`] with a reason for the author if it is not a valid module.
    pub async fn prepare(&self, upload: impl Into<Bytes>) -> Result<Prepared, PrepareError> {
        self.prepare_in(&self.0.networks.get(LOCAL_NETWORK), upload.into()).await
    }

    /// Waits until the network has fewer than four uploads in memory. Take the permit before the upload is read.
    pub async fn upload_permit(&self, network: &str) -> UploadPermit {
        UploadPermit::acquire(self.0.networks.get(network)).await
    }

    /// Variant of [`Sandbox::prepare`] for the permit's network: its uploads are prepared one after the other.
    ///
    /// # Errors
    /// Same as for [`Sandbox::prepare`].
    pub async fn prepare_for(&self, permit: &UploadPermit, upload: impl Into<Bytes>) -> Result<Prepared, PrepareError> {
        self.prepare_in(&permit.network, upload.into()).await
    }

    async fn prepare_in(&self, network: &Network, upload: Bytes) -> Result<Prepared, PrepareError> {
        let _preparing = network.preparing.lock().await;
        let _compiling = network.compiling.lock().await;
        let compiled = self.compile(upload).await?;
        let Prepared { points, manifest, .. } = &compiled.prepared;
        trial::run(self, &network.name, &compiled.loaded, points, manifest.as_ref()).await?;
        // Only now, so that no trace stays of a refused module.
        Ok(self.keep(&network.name, compiled).await?.0)
    }

    /// The SHA-256 of an upload, at background priority.
    ///
    /// # Errors
    /// [`PrepareError::Internal`] if there is no thread for it.
    pub async fn sha256(&self, upload: Bytes) -> Result<Sha256Sum, PrepareError> {
        self.run_background(move || Sha256Sum::of(&upload)).await
    }
}
