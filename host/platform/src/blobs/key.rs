//! Layout of the store.

use std::fmt;

use object_store::path::Path;

use crate::values::NetworkId;

/// Location of a blob. The hash in it is of its bytes; the name after the hash is from its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobKey {
    pub(super) network: NetworkId,
    pub(super) path: Path,
}

impl BlobKey {
    pub fn artifact(network: NetworkId, sha256: &str, artifact_id: &str) -> Self {
        Self::new(network, &["artifacts", sha256, artifact_id])
    }

    pub fn bundle(network: NetworkId, sha256: &str, file_id: &str) -> Self {
        Self::new(network, &["bundles", sha256, file_id])
    }

    /// File of an import.
    pub fn import(network: NetworkId, sha256: &str, import_id: &str) -> Self {
        Self::new(network, &["imports", sha256, import_id])
    }

    /// Module as uploaded.
    pub fn module_upload(network: NetworkId, sha256: &str, name: &str, version: i64) -> Self {
        Self::new(network, &["modules", sha256, &format!("{name}-{version}")])
    }

    /// Component built from a module.
    pub fn module_component(network: NetworkId, sha256: &str, name: &str, version: i64) -> Self {
        Self::new(network, &["modules", sha256, &format!("{name}-{version}")])
    }

    /// Snapshot of a world. Its name begins with the network and contains lease and fence, because a node may upload
    /// it by itself before its hash is known.
    pub fn snapshot(network: NetworkId, name: &str) -> Self {
        Self { network, path: Path::from(name) }
    }

    /// Network that owns the blob.
    pub fn network(&self) -> NetworkId {
        self.network
    }

    fn new(network: NetworkId, names: &[&str]) -> Self {
        let network_name = network.to_string();
        let path = [network_name.as_str()].iter().chain(names).copied().collect();
        Self { network, path }
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}
