//! Lines on their way to the database. They are written behind the relay, all of a network at once, so that a line costs
//! its sender next to nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::app::App;
use crate::chat::store::{self, NewLine};
use crate::clock::Millis;
use crate::cluster::NetworkState;
use crate::side_by_side::{SideBySide, for_each_network};
use crate::values::NetworkId;

/// Time for which lines wait for others.
const INTERVAL: Duration = Duration::from_millis(500);
/// Bytes of a network's lines that wait while the database is unreachable. Further ones are relayed and not kept.
const MAX_WAITING_BYTES: usize = 4 * 1_024 * 1_024;
/// Lines of one statement.
const BATCH: usize = 500;
const WHAT: &str = "write chat lines";

/// Waiting lines of all networks.
#[derive(Debug, Default)]
pub(super) struct ChatHistory {
    networks: Mutex<HashMap<NetworkId, Arc<NetworkHistory>>>,
    added: Notify,
}

/// Waiting lines of a network.
#[derive(Debug, Default)]
struct NetworkHistory {
    waiting: Mutex<Waiting>,
    /// Held while lines are written, so that whoever takes it knows that earlier ones are.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<NewLine>,
    bytes: usize,
    /// None until it was read from the database.
    last_id: Option<i64>,
}

impl Waiting {
    /// Next id: close to microseconds since the epoch, and larger than all before.
    fn next_id(&mut self, now: Millis) -> Option<i64> {
        let last = self.last_id.as_mut()?;
        *last = now.saturating_mul(1_000).max(*last + 1);
        Some(*last)
    }

    fn take(&mut self) -> Vec<NewLine> {
        self.bytes = 0;
        std::mem::take(&mut self.lines)
    }
}

impl ChatHistory {
    fn of(&self, network: NetworkId) -> Arc<NetworkHistory> {
        Arc::clone(self.networks.lock().entry(network).or_default())
    }

    fn find(&self, network: NetworkId) -> Option<Arc<NetworkHistory>> {
        self.networks.lock().get(&network).cloned()
    }

    /// Lets ids continue after those in the database, of which an older copy may have taken the place.
    pub(super) fn forget_ids(&self) {
        for history in self.networks.lock().values() {
            history.waiting.lock().last_id = None;
        }
    }

    fn waiting(&self) -> Vec<NetworkId> {
        let networks = self.networks.lock();
        networks.iter().filter(|(_, it)| !it.waiting.lock().lines.is_empty()).map(|(network, _)| *network).collect()
    }

    /// Keeps a line, unless too many wait.
    pub(super) fn add(&self, network: NetworkId, line: NewLine) {
        let history = self.of(network);
        let mut waiting = history.waiting.lock();
        let bytes = waiting.bytes + line.bytes();
        if bytes > MAX_WAITING_BYTES {
            tracing::debug!(%network, "a chat line is not kept: too many wait for the database");
            return;
        }
        waiting.bytes = bytes;
        let is_first = waiting.lines.is_empty();
        waiting.lines.push(line);
        drop(waiting);
        if is_first {
            self.added.notify_one();
        }
    }
}

/// Id of the network's next line.
pub(super) async fn next_id(app: &App, network: NetworkId) -> Result<i64, Error> {
    let (history, now) = (app.state::<ChatHistory>().of(network), app.clock.now());
    if let Some(id) = history.waiting.lock().next_id(now) {
        return Ok(id);
    }
    let last = store::last_id(&app.db, network).await?;
    let mut waiting = history.waiting.lock();
    waiting.last_id = waiting.last_id.max(last).or(Some(0));
    Ok(waiting.next_id(now).unwrap_or_default())
}

async fn write(app: &App, network: NetworkId, history: &NetworkHistory) -> Result<(), Error> {
    let _turn = history.writing.lock().await;
    let lines = history.waiting.lock().take();
    if lines.is_empty() {
        return Ok(());
    }
    let written = app.db.transaction(async |mut tx| {
        for lines in lines.chunks(BATCH) {
            store::insert(&mut tx, network, lines).await?;
        }
        Ok::<_, Error>(())
    });
    let written = written.await;
    if written.is_err() {
        let mut waiting = history.waiting.lock();
        waiting.bytes += lines.iter().map(NewLine::bytes).sum::<usize>();
        waiting.lines.splice(0..0, lines);
    }
    written
}

/// Writes the network's waiting lines. Returns once all that were added before are stored.
pub(super) async fn flush(app: &App, network: NetworkId) -> Result<(), Error> {
    let Some(history) = app.state::<ChatHistory>().find(network) else { return Ok(()) };
    if history.writing.try_lock().is_ok() && history.waiting.lock().lines.is_empty() {
        return Ok(());
    }
    // A task of its own: the lines belong to no request, which may end early or be rolled back.
    let app = app.clone();
    let writing = async move { write(&app, network, &history).await };
    tokio::spawn(hub_db::with_tenant(network.0, writing)).await.unwrap_or(Err(Error::Busy))
}

/// Drops waiting lines with a searched text, once those that are being written are, or wait again.
pub(super) async fn forget_texts(app: &App, network: NetworkId, is_looked_for: impl Fn(&str) -> bool) {
    let Some(history) = app.state::<ChatHistory>().find(network) else { return };
    let _turn = history.writing.lock().await;
    let mut waiting = history.waiting.lock();
    waiting.lines.retain(|line| !is_looked_for(&line.line));
    waiting.bytes = waiting.lines.iter().map(NewLine::bytes).sum();
}

/// Starts to write lines.
pub(super) fn start(app: &App) {
    let runs = app.clone();
    app.spawn(async move {
        let side_by_side = SideBySide::default();
        let history = runs.state::<ChatHistory>();
        loop {
            history.added.notified().await;
            runs.clock.sleep(INTERVAL).await;
            let work = |app: App, network| async move {
                match app.state::<ChatHistory>().find(network) {
                    Some(history) => write(&app, network, &history).await,
                    None => Ok(()),
                }
            };
            side_by_side.run(&runs, history.waiting(), WHAT, work).await;
            if !history.waiting().is_empty() {
                history.added.notify_one();
            }
        }
    });
}

/// Writes the waiting lines of all networks.
pub(super) async fn stop(app: &App) {
    let networks = app.state::<ChatHistory>().waiting().into_iter().map(|network| (network, ()));
    for_each_network(networks, WHAT, |network, ()| flush(app, network)).await;
}

/// Has lines written before their network moves to another node.
pub(super) struct WrittenHistory;

impl NetworkState for WrittenHistory {
    fn save<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        flush(app, network).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        let state = app.state::<ChatHistory>();
        let Some(history) = state.find(network) else { return };
        // Read from the database again if the network comes back: its next owner gives ids out.
        history.waiting.lock().last_id = None;
        let has_lines = !history.waiting.lock().lines.is_empty() || history.writing.try_lock().is_err();
        if !has_lines {
            state.networks.lock().remove(&network);
            return;
        }
        // The loop writes them. Until then an erasure finds them here. Lines of a network that has moved harm nobody: their
        // ids are their own.
        state.added.notify_one();
    }

    fn forget(&self, app: &App, network: NetworkId) {
        app.state::<ChatHistory>().networks.lock().remove(&network);
    }
}
