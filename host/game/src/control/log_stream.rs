//! Live stream of a server's log.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{Stream, stream};
use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

use crate::app::App;
use crate::control::Control;
use crate::control::model::LogLine;
use crate::control::store::logs as store;
use crate::values::{Identifier, NetworkId};

/// Number of batches that a follower may lag behind; beyond that it reads the missed lines from the database.
const BACKLOG: usize = 32;
/// Number of lines read from the database at once.
const CATCH_UP_LINES: i64 = 500;

type ServerKey = (NetworkId, Identifier);

/// Logs with followers.
#[derive(Debug, Default)]
pub(super) struct LogFollowers {
    logs: Mutex<HashMap<ServerKey, Sender<Arc<[LogLine]>>>>,
}

impl LogFollowers {
    /// Passes stored lines to the followers. Batches of one server may arrive in any order.
    pub(super) fn publish(&self, network: NetworkId, server: &Identifier, lines: impl FnOnce() -> Vec<LogLine>) {
        let sender = self.logs.lock().get(&(network, server.clone())).cloned();
        if let Some(sender) = sender {
            // Fails if the last follower has gone meanwhile.
            let _ = sender.send(lines().into());
        }
    }

    fn subscribe(&self, key: &ServerKey) -> Receiver<Arc<[LogLine]>> {
        self.logs.lock().entry(key.clone()).or_insert_with(|| Sender::new(BACKLOG)).subscribe()
    }

    /// Drops the log if its last follower, which is still subscribed, leaves.
    fn leave(&self, key: &ServerKey) {
        let mut logs = self.logs.lock();
        if logs.get(key).is_some_and(|sender| sender.receiver_count() <= 1) {
            logs.remove(key);
        }
    }
}

/// Start of a log stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum StartAt {
    /// This many of the newest lines first.
    Newest(i64),
    /// Lines after this number.
    After(i64),
}

/// Streams the log's lines from there on, each once and in order, then the new ones.
pub(super) async fn follow(
    app: &App,
    network: NetworkId,
    server: Identifier,
    from: StartAt,
) -> Result<impl Stream<Item = LogLine> + use<>, hub_db::Error> {
    let key = (network, server);
    // Subscribed first, so that no line is missed.
    let receiver = app.state::<Control>().log_followers.subscribe(&key);
    let mut follower = Follower { app: app.clone(), key, receiver, last: 0, lags: true, ready: VecDeque::new() };
    let newest = store::last_seq(&app.db, network, &follower.key.1).await?.unwrap_or(0);
    follower.last = match from {
        StartAt::Newest(lines) => newest.saturating_sub(lines).max(0),
        // A number beyond the end belongs to another log.
        StartAt::After(seq) if seq > newest => 0,
        StartAt::After(seq) => seq.max(0),
    };
    Ok(stream::unfold(follower, async |mut follower| follower.next().await.map(|line| (line, follower))))
}

struct Follower {
    app: App,
    key: ServerKey,
    receiver: Receiver<Arc<[LogLine]>>,
    /// Number of the last line handed out.
    last: i64,
    /// True if there may be stored lines that were not received.
    lags: bool,
    ready: VecDeque<LogLine>,
}

impl Follower {
    async fn next(&mut self) -> Option<LogLine> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                self.last = line.seq;
                return Some(line);
            }
            if self.lags {
                let (network, server) = &self.key;
                match store::lines_after(&self.app.db, *network, server, self.last, CATCH_UP_LINES).await {
                    Ok(lines) => {
                        self.lags = lines.len() as i64 == CATCH_UP_LINES;
                        self.ready.extend(lines);
                    }
                    Err(error) => {
                        // The stream ends; the client resumes by `Last-Event-ID`.
                        tracing::warn!(%error, "could not read a log that is followed");
                        return None;
                    }
                }
                continue;
            }
            match self.receiver.recv().await {
                Ok(lines) => match lines.first() {
                    // The lines between are stored: line numbers follow the order of the commits.
                    Some(first) if first.seq > self.last + 1 => self.lags = true,
                    _ => self.ready.extend(lines.iter().filter(|line| line.seq > self.last).cloned()),
                },
                Err(RecvError::Lagged(_)) => self.lags = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.app.state::<Control>().log_followers.leave(&self.key);
    }
}
