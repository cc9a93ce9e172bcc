//! Work that one loop does for all networks, so that none waits for another.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::app::App;
use crate::panics::catch_panic;
use crate::steps::within_steps;
use crate::values::NetworkId;

/// Networks served at once.
const PLACES: usize = 8;
/// Time after which a network gives its place to the next, and goes on by itself.
const PATIENCE: Duration = Duration::from_millis(250);

/// Does `work` for each item of a network, as its own: one after the other, and a few networks at once. Returns once all
/// have ended; a failure is logged as "could not {what}" and ends no other, nor does a panic.
pub async fn for_each_network<T, E, F>(
    items: impl IntoIterator<Item = (NetworkId, T)>,
    what: &'static str,
    work: impl Fn(NetworkId, T) -> F,
) where
    E: Display,
    F: Future<Output = Result<(), E>>,
{
    let mut networks = BTreeMap::<NetworkId, Vec<T>>::new();
    for (network, item) in items {
        networks.entry(network).or_default().push(item);
    }
    stream::iter(networks)
        .for_each_concurrent(PLACES, |(network, items)| {
            let work = &work;
            async move {
                for item in items {
                    serve(network, what, async { work(network, item).await }).await;
                }
            }
        })
        .await;
}

/// Does `work` as a network's, within [the budget of its steps](hub_base::steps). A failure is logged as "could not {what}"
/// and ends nothing else, nor does a panic.
pub fn serve<E: Display>(
    network: NetworkId,
    what: &'static str,
    work: impl Future<Output = Result<(), E>>,
) -> impl Future<Output = ()> {
    let work = within_steps(network, work);
    async move {
        match catch_panic(what, work).await {
            Some(Ok(Err(error))) => tracing::warn!(%error, %network, "could not {what}"),
            Some(Err(error)) => tracing::warn!(%error, %network, "could not {what}"),
            Some(Ok(Ok(()))) | None => {}
        }
    }
}

/// Networks in one loop. A network whose rows are locked, or whose receiver is slow, delays the others by a moment, and is
/// left out until it has ended.
#[derive(Debug, Default)]
pub struct SideBySide {
    running: Arc<Mutex<HashSet<NetworkId>>>,
}

/// A network in the loop, until it is dropped.
struct Running {
    running: Arc<Mutex<HashSet<NetworkId>>>,
    network: NetworkId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.lock().remove(&self.network);
    }
}

impl SideBySide {
    /// Does `work` for each network, as its own. Returns once each has ended or given its place away. A failure is logged
    /// as "could not {what}".
    pub async fn run<E, F>(
        &self,
        app: &App,
        networks: impl IntoIterator<Item = NetworkId>,
        what: &'static str,
        work: impl Fn(App, NetworkId) -> F,
    ) where
        E: Display + Send,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        stream::iter(networks)
            .for_each_concurrent(PLACES, |network| {
                let ended = self.begin(app, network, what, &work);
                async move {
                    if let Some(ended) = ended {
                        let _ = timeout(PATIENCE, ended).await;
                    }
                }
            })
            .await;
    }

    /// None if the network has not ended since an earlier pass.
    fn begin<E, F>(
        &self,
        app: &App,
        network: NetworkId,
        what: &'static str,
        work: impl Fn(App, NetworkId) -> F,
    ) -> Option<oneshot::Receiver<()>>
    where
        E: Display + Send,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        if !self.running.lock().insert(network) {
            return None;
        }
        let running = Running { running: Arc::clone(&self.running), network };
        let (ends, ended) = oneshot::channel();
        let work = work(app.clone(), network);
        app.spawn(async move {
            serve(network, what, work).await;
            drop(running);
            drop::<oneshot::Sender<()>>(ends);
        });
        Some(ended)
    }
}
