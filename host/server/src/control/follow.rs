//! Those who follow a server's log live.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{Stream, stream};
use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};

use crate::app::App;
use crate::control::model::LogLine;
use crate::control::store;
use crate::values::{Identifier, NetworkId};

/// Batches a follower may be behind; then it reads what it missed from the database.
const BEHIND: usize = 32;
/// Lines read from the database at once.
const CATCH_UP: i64 = 500;

type ServerKey = (NetworkId, Identifier);

/// The logs that somebody follows.
#[derive(Debug, Default)]
pub(super) struct Followers {
    logs: Mutex<HashMap<ServerKey, Sender<Arc<[LogLine]>>>>,
}

impl Followers {
    /// Hands lines that were just stored to who follows them. Batches of one server may come in any order.
    pub(super) fn tell(&self, network: NetworkId, server: &Identifier, lines: impl FnOnce() -> Vec<LogLine>) {
        let sender = self.logs.lock().get(&(network, server.clone())).cloned();
        if let Some(sender) = sender {
            // All may have gone meanwhile.
            let _ = sender.send(lines().into());
        }
    }

    fn subscribe(&self, key: &ServerKey) -> Receiver<Arc<[LogLine]>> {
        self.logs.lock().entry(key.clone()).or_insert_with(|| Sender::new(BEHIND)).subscribe()
    }

    /// One follower, who is still subscribed, goes.
    fn leave(&self, key: &ServerKey) {
        let mut logs = self.logs.lock();
        if logs.get(key).is_some_and(|sender| sender.receiver_count() <= 1) {
            logs.remove(key);
        }
    }
}

/// Where in the log to begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin {
    /// With this many of the newest lines.
    Newest(i64),
    /// Behind the line of this number.
    After(i64),
}

/// The log's lines from there on, in their order, each once, and those that come.
pub(super) async fn follow(
    app: &App,
    network: NetworkId,
    server: Identifier,
    from: Begin,
) -> Result<impl Stream<Item = LogLine> + use<>, hub_db::Error> {
    let key = (network, server);
    // First, so that what comes from now on is not missed.
    let coming = app.control.followers.subscribe(&key);
    let mut follower = Follower { app: app.clone(), key, coming, last: 0, behind: true, ready: VecDeque::new() };
    let newest = store::last_seq(&app.db, network, &follower.key.1).await?.unwrap_or(0);
    follower.last = match from {
        Begin::Newest(lines) => newest.saturating_sub(lines).max(0),
        // A number from the future is not this log's.
        Begin::After(seq) => {
            if seq > newest {
                0
            } else {
                seq.max(0)
            }
        }
    };
    Ok(stream::unfold(follower, async |mut follower| follower.next().await.map(|line| (line, follower))))
}

struct Follower {
    app: App,
    key: ServerKey,
    coming: Receiver<Arc<[LogLine]>>,
    /// The number of the last line handed out.
    last: i64,
    /// There may be stored lines that did not come.
    behind: bool,
    ready: VecDeque<LogLine>,
}

impl Follower {
    async fn next(&mut self) -> Option<LogLine> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                self.last = line.seq;
                return Some(line);
            }
            if self.behind {
                let (network, server) = &self.key;
                match store::lines_after(&self.app.db, *network, server, self.last, CATCH_UP).await {
                    Ok(lines) => {
                        self.behind = lines.len() as i64 == CATCH_UP;
                        self.ready.extend(lines);
                    }
                    Err(error) => {
                        // The client comes again, and says what it has.
                        tracing::warn!(%error, "could not read a log that is followed");
                        return None;
                    }
                }
                continue;
            }
            match self.coming.recv().await {
                Ok(lines) => match lines.first() {
                    // What is between is stored: numbers are given out in the order of the commits.
                    Some(first) if first.seq > self.last + 1 => self.behind = true,
                    _ => self.ready.extend(lines.iter().filter(|line| line.seq > self.last).cloned()),
                },
                Err(RecvError::Lagged(_)) => self.behind = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.app.control.followers.leave(&self.key);
    }
}
