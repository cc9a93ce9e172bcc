//! The watch over answers that outlive their request: each ends within a second after its key was withdrawn.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::clock::millis;
use crate::networks::model::{Credential, Scope};
use crate::networks::service::withdrawn;

/// Twice a second, so that a withdrawn key's answers are over within one.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug, Default)]
pub struct Watch {
    open: Mutex<Vec<Weak<Watched>>>,
}

/// One answer that is watched, for as long as this is kept.
#[derive(Debug)]
pub(crate) struct Watched {
    credential: Credential,
    scope: Scope,
    ended: CancellationToken,
}

impl Watched {
    /// Ends when the key no longer allows the answer.
    pub(crate) fn withdrawn(&self) -> CancellationToken {
        self.ended.clone()
    }
}

impl Watch {
    /// Watches an answer that this credential is allowed because it has `scope`.
    pub(crate) fn over(&self, credential: Credential, scope: Scope) -> Arc<Watched> {
        let watched = Arc::new(Watched { credential, scope, ended: CancellationToken::new() });
        self.open.lock().push(Arc::downgrade(&watched));
        watched
    }

    fn open(&self) -> Vec<Arc<Watched>> {
        let mut open = self.open.lock();
        open.retain(|watched| watched.strong_count() > 0);
        open.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Runs until the hub stops.
pub(crate) async fn keep(app: App) {
    loop {
        let now = app.clock.now();
        let open = app.watch.open();
        for scope in Scope::ALL {
            let of_scope: Vec<_> = open.iter().filter(|watched| watched.scope == *scope).collect();
            let shown: HashSet<_> = of_scope.iter().map(|watched| &watched.credential).collect();
            match withdrawn(&app, shown, *scope).await {
                Ok(withdrawn) => {
                    let ended = of_scope.iter().filter(|watched| withdrawn.contains(&watched.credential));
                    ended.for_each(|watched| watched.ended.cancel());
                }
                // Nothing is known against them.
                Err(error) => tracing::warn!(%error, "could not judge the keys of open answers again"),
            }
        }
        drop(open);
        app.clock.sleep_until(now.saturating_add(millis(LOOK_EVERY))).await;
    }
}
