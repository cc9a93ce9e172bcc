//! How the store is laid out.

use std::fmt;

use object_store::path::Path;

use crate::values::NetworkId;

/// Where a blob is. The hash in it is that of its bytes, the name behind the hash that of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlobKey {
    pub(super) network: NetworkId,
    pub(super) path: Path,
}

impl BlobKey {
    pub(crate) fn artifact(network: NetworkId, sha256: &str, artifact_id: &str) -> Self {
        Self::new(network, &["artifacts", sha256, artifact_id])
    }

    pub(crate) fn bundle(network: NetworkId, sha256: &str, file_id: &str) -> Self {
        Self::new(network, &["bundles", sha256, file_id])
    }

    /// A file that is imported.
    pub(crate) fn import(network: NetworkId, sha256: &str, import_id: &str) -> Self {
        Self::new(network, &["imports", sha256, import_id])
    }

    /// A module as it was uploaded.
    pub(crate) fn module_upload(network: NetworkId, sha256: &str, name: &str, version: i64) -> Self {
        Self::new(network, &["modules", sha256, &format!("{name}-{version}")])
    }

    /// The component that a module was wrapped into.
    pub(crate) fn module_component(network: NetworkId, sha256: &str, name: &str, version: i64) -> Self {
        Self::new(network, &["modules", sha256, &format!("{name}-{version}")])
    }

    /// A snapshot of a world. Its name begins with the network and tells lease and fence, as a node may upload it by
    /// itself, before anybody knows its hash.
    pub(crate) fn snapshot(network: NetworkId, name: &str) -> Self {
        Self { network, path: Path::from(name) }
    }

    /// Whose it is.
    pub(crate) fn network(&self) -> NetworkId {
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
