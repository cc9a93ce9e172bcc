//! Config documents that are kept current.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::watch;

use crate::{HubClient, HubError};

/// A config document that is kept current. Before the first answer of the hub it is the plugin's default; while the hub is away it is
/// what was known last.
#[derive(Clone, Debug)]
pub struct CachedConfig {
    doc: watch::Receiver<Arc<Value>>,
}

impl CachedConfig {
    /// The document now.
    pub fn get(&self) -> Arc<Value> {
        Arc::clone(&self.doc.borrow())
    }

    /// Waits for another document than the last one that this answered (at first: than there was when this was made or cloned).
    /// None when the connector is gone.
    pub async fn changed(&mut self) -> Option<Arc<Value>> {
        self.doc.changed().await.ok()?;
        Some(Arc::clone(&self.doc.borrow_and_update()))
    }
}

/// The connector's side of it.
#[derive(Debug)]
pub(super) struct ConfigSource {
    group: String,
    namespace: String,
    default: Value,
    doc: watch::Sender<Arc<Value>>,
    reads: AtomicU64,
    /// Number of the read whose answer is kept; that of an earlier one that comes late is dropped.
    kept: AtomicU64,
}

impl ConfigSource {
    pub(super) fn new(group: &str, namespace: &str, default: Value) -> (Self, CachedConfig) {
        let (sender, doc) = watch::channel(Arc::new(default.clone()));
        let (group, namespace) = (group.to_owned(), namespace.to_owned());
        let (reads, kept) = (AtomicU64::new(0), AtomicU64::new(0));
        (Self { group, namespace, default, doc: sender, reads, kept }, CachedConfig { doc })
    }

    pub(super) fn is(&self, group: Option<&str>, namespace: Option<&str>) -> bool {
        group == Some(&self.group) && namespace == Some(&self.namespace)
    }

    /// Registers the default, which returns the effective document.
    pub(super) async fn read(&self, client: &HubClient) -> Result<(), HubError> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        let read = client.register_config_document(&self.group, &self.namespace, &self.default).await?;
        self.doc.send_if_modified(|doc| {
            let is_newest = self.kept.fetch_max(number, Ordering::Relaxed) <= number;
            let is_another = is_newest && **doc != read.doc;
            if is_another {
                *doc = Arc::new(read.doc);
            }
            is_another
        });
        Ok(())
    }
}
