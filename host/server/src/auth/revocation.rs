//! Ends answers that outlive their request within a second after their key was revoked.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::auth::model::{Credential, Scope};
use crate::auth::service::revoked;
use crate::background;

/// Twice a second, so that a revoked key's answers are over within one.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// The streams that are open under a key.
#[derive(Debug, Default)]
pub struct RevocationWatch {
    open: Mutex<Vec<Weak<WatchedStream>>>,
}

/// One stream that is watched, for as long as this is kept.
#[derive(Debug)]
pub(crate) struct WatchedStream {
    credential: Credential,
    scope: Scope,
    ended: CancellationToken,
}

impl WatchedStream {
    /// Cancelled when the key no longer allows the stream.
    pub(crate) fn revoked(&self) -> CancellationToken {
        self.ended.clone()
    }
}

impl RevocationWatch {
    /// Watches a stream that this credential is allowed because it has `scope`.
    pub(crate) fn watch(&self, credential: Credential, scope: Scope) -> Arc<WatchedStream> {
        let watched = Arc::new(WatchedStream { credential, scope, ended: CancellationToken::new() });
        self.open.lock().push(Arc::downgrade(&watched));
        watched
    }

    fn open(&self) -> Vec<Arc<WatchedStream>> {
        let mut open = self.open.lock();
        open.retain(|watched| watched.strong_count() > 0);
        open.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Checks until the hub stops.
pub(super) fn start(app: &App) {
    background::every(app, CHECK_EVERY, "check the keys of open streams", check_open);
}

async fn check_open(app: App) -> Result<(), hub_db::Error> {
    let open = app.revocations.open();
    for scope in Scope::ALL {
        let of_scope: Vec<_> = open.iter().filter(|watched| watched.scope == *scope).collect();
        let shown: HashSet<_> = of_scope.iter().map(|watched| &watched.credential).collect();
        let revoked = revoked(&app, shown, *scope).await?;
        let ended = of_scope.iter().filter(|watched| revoked.contains(&watched.credential));
        ended.for_each(|watched| watched.ended.cancel());
    }
    Ok(())
}
