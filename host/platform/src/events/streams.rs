//! Open streams of this process, and their maintenance.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::app::App;
use crate::auth::{self, Scope};
use crate::events::stream::OpenStream;

/// Open streams of this process.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<HashMap<usize, Arc<OpenStream>>>,
}

impl Streams {
    /// Number of open streams.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    pub(super) fn add(&self, stream: Arc<OpenStream>) {
        self.open.lock().insert(Arc::as_ptr(&stream).addr(), stream);
    }

    pub(super) fn remove(&self, stream: &Arc<OpenStream>) {
        self.open.lock().remove(&Arc::as_ptr(stream).addr());
    }

    /// A stream that `is_it` accepts.
    pub(super) fn find(&self, is_it: impl Fn(&OpenStream) -> bool) -> Option<Arc<OpenStream>> {
        self.open.lock().values().find(|stream| is_it(stream)).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<OpenStream>> {
        self.open.lock().values().cloned().collect()
    }
}

/// One loop for all streams, so that a stream needs no timer: sweeps the bus and makes pings due.
pub(super) async fn tick(app: App) -> Result<(), Infallible> {
    let now = app.clock.moment();
    app.bus.sweep(app.clock.now());
    for stream in app.state::<Streams>().all() {
        stream.tick(now);
    }
    Ok(())
}

/// Ends streams whose key is no longer valid. Separate from `tick`, so that no ping waits for the database.
pub(super) async fn check_keys(app: App) -> Result<(), hub_db::Error> {
    let streams = app.state::<Streams>().all();
    for scope in [Scope::EventsRead, Scope::Plugin, Scope::ChatRead] {
        let of_scope = || streams.iter().filter(|stream| stream.needs(scope));
        let revoked = auth::revoked(&app, of_scope().map(|stream| &stream.credential).collect(), scope).await?;
        of_scope().filter(|stream| revoked.contains(&stream.credential)).for_each(|stream| stream.end());
    }
    Ok(())
}
