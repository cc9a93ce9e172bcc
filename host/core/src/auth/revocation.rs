//! Ends streams within a second after the revocation of their key.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use strum::VariantArray as _;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::auth::model::{Credential, Scope};
use crate::auth::service::{invalid, revoked};
use crate::auth::{Caller, session};
use crate::background;

/// Short enough to end streams of a revoked key within a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Open streams.
#[derive(Debug, Default)]
pub struct RevocationWatch {
    open: Mutex<Vec<Weak<WatchedStream>>>,
}

/// Open stream, registered until this is dropped.
#[derive(Debug)]
pub struct WatchedStream {
    credential: Credential,
    scope: Scope,
    revoked: CancellationToken,
}

impl WatchedStream {
    /// Cancelled when the key no longer permits the stream.
    pub fn revoked(&self) -> CancellationToken {
        self.revoked.clone()
    }

    /// Refuses the next piece of an export whose caller may no longer read it. As an error, which cuts the answer off: an
    /// orderly end would look like all there is.
    pub fn check(&self) -> Result<(), hub_db::Error> {
        if self.revoked.is_cancelled() {
            let refusal = invalid(session::is_session(&self.credential.id));
            return Err(hub_db::Error::Refused(Box::new(refusal)));
        }
        Ok(())
    }
}

impl RevocationWatch {
    /// Registers a stream that requires `scope` of this credential.
    pub fn watch(&self, credential: Credential, scope: Scope) -> Arc<WatchedStream> {
        let watched = Arc::new(WatchedStream { credential, scope, revoked: CancellationToken::new() });
        self.open.lock().push(Arc::downgrade(&watched));
        watched
    }

    /// Registers a stream that requires any of these scopes of its caller, by the first that they have.
    pub fn watch_caller(&self, caller: &Caller, any: &[Scope]) -> Arc<WatchedStream> {
        let scope = any.iter().find(|scope| caller.scopes.allow(**scope)).or(any.first());
        self.watch(caller.credential.clone(), scope.copied().unwrap_or(Scope::Operator))
    }

    fn open(&self) -> Vec<Arc<WatchedStream>> {
        let mut open = self.open.lock();
        open.retain(|watched| watched.strong_count() > 0);
        open.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Checks open streams until the hub stops.
pub(super) fn start(app: &App) {
    background::every(app, CHECK_INTERVAL, "look for revoked keys", check_open);
}

async fn check_open(app: App) -> Result<(), hub_db::Error> {
    let open = app.state::<RevocationWatch>().open();
    for scope in Scope::VARIANTS {
        let of_scope: Vec<_> = open.iter().filter(|watched| watched.scope == *scope).collect();
        let credentials: HashSet<_> = of_scope.iter().map(|watched| &watched.credential).collect();
        let revoked = revoked(&app, credentials, *scope).await?;
        let ended = of_scope.iter().filter(|watched| revoked.contains(&watched.credential));
        ended.for_each(|watched| watched.revoked.cancel());
    }
    Ok(())
}
