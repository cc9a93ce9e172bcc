//! Hands the queued events of one network over, several side by side.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, in_current_tenant};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::app::App;
use crate::clock::Moment;
use crate::cluster::ShardRegistry;
use crate::modules::handlers::attempt::{Attempt, Ended, Handler};
use crate::modules::handlers::commit::Source;
use crate::modules::handlers::key_queues::{BATCH, KeyQueues};
use crate::modules::handlers::links;
use crate::modules::handlers::model::{LetterKind, QueueRow};
use crate::modules::handlers::registry::NetworkHandlers;
use crate::modules::handlers::store::{handlers, queue};
use crate::modules::open::is_open;
use crate::values::NetworkId;

/// Calls of one network at once.
const CALLS_AT_ONCE: usize = 8;
/// Pause after a failure of the database.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// Time after which a turn without work ends.
const IDLE: Duration = Duration::from_secs(1);
/// Pause after a read of the queue, as a multiple of its time: a long queue of one key, which is read over, takes no more
/// than a twentieth of a processor.
const READ_PAUSE: u32 = 20;
/// Time of a read that needs no pause.
const SHORT_READ: Duration = Duration::from_millis(5);

/// A call that has ended.
struct Finished {
    module: String,
    key: String,
    ended: Result<Ended, Error>,
}

/// Handlers of one network, while their events are handed over.
struct Turn<'a> {
    app: &'a App,
    network: NetworkId,
    shared: &'a NetworkHandlers,
    handlers: HashMap<String, Served>,
    calls: JoinSet<Finished>,
}

/// One handler.
struct Served {
    handler: Handler,
    queues: KeyQueues,
    /// End of a pause of the whole handler.
    paused_until: Option<Moment>,
    /// Earliest time of the next read.
    read_after: Instant,
    /// True if it is in the chain no more: its calls under way end, and no other begins.
    has_left: bool,
}

impl Served {
    /// True if rows of the queue are to be read.
    fn wants_rows(&self) -> bool {
        !self.has_left && self.paused_until.is_none() && self.queues.wants_rows(CALLS_AT_ONCE)
    }
}

/// Hands events over until none is left that may be, the network moves or is suspended, or the hub stops.
pub(super) async fn run(app: &App, network: NetworkId, shared: &NetworkHandlers) -> Result<(), Error> {
    let mut turn = Turn { app, network, shared, handlers: HashMap::new(), calls: JoinSet::new() };
    let stopping = app.stopping();
    let (mut is_marked, mut is_over) = (true, false);
    loop {
        // For good: the network may come back, and then another turn begins.
        is_over = is_over || !app.state::<ShardRegistry>().owns(network) || stopping.is_cancelled();
        // It is looked at again each second, and begins when the suspension has ended.
        is_over = is_over || !is_open(app, network).await?;
        if !is_over {
            if is_marked {
                turn.follow_chain().await?;
                turn.mark_stale();
                is_marked = false;
            }
            turn.start_calls().await?;
        }
        if turn.calls.is_empty() && (is_over || turn.is_idle()) {
            return Ok(());
        }
        let next = turn.next_due().filter(|_| !is_over);
        let is_busy = !turn.calls.is_empty();
        let next_look = turn.next_read().min(Instant::now() + IDLE);
        tokio::select! {
            biased;
            // A call under way is dropped: nothing of it is committed, and it runs again.
            () = stopping.cancelled(), if !is_over => turn.calls.shutdown().await,
            Some(finished) = turn.calls.join_next(), if is_busy => {
                if !turn.finish(finished) {
                    turn.calls.shutdown().await;
                    return Ok(());
                }
            }
            () = shared.wake.notified() => is_marked = true,
            () = async {
                match next {
                    Some(next) => app.clock.sleep_until(next).await,
                    None => std::future::pending().await,
                }
            } => {}
            // The network may have moved, or rows may be read again.
            () = tokio::time::sleep_until(next_look) => {}
        }
    }
}

impl Turn<'_> {
    /// Takes up the handlers of the chain as it is now.
    async fn follow_chain(&mut self) -> Result<(), Error> {
        let found = match links::handlers(self.app, self.network).await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(network = %self.network, %error, "could not load a network's handlers");
                return Ok(());
            }
        };
        // One that left the chain is forgotten; its calls under way end by themselves.
        self.handlers.retain(|name, served| {
            served.has_left = !found.contains_key(name);
            served.queues.is_busy() || !served.has_left
        });
        for (name, handler) in found {
            if let Some(served) = self.handlers.get_mut(&name) {
                served.handler = handler;
                continue;
            }
            let queues = KeyQueues::default();
            let read_after = Instant::now();
            self.handlers.insert(name, Served { handler, queues, paused_until: None, read_after, has_left: false });
        }
        Ok(())
    }

    fn mark_stale(&mut self) {
        self.handlers.values_mut().for_each(|served| served.queues.mark_stale());
    }

    /// Begins as many calls as may run: of each handler in turn.
    async fn start_calls(&mut self) -> Result<(), Error> {
        let moment = self.app.clock.moment();
        for (name, served) in self.handlers.iter_mut().filter(|(_, served)| !served.has_left) {
            if served.paused_until.is_some_and(|until| until <= moment) {
                served.paused_until = None;
            }
            served.queues.end_pauses(moment);
            let begun = Instant::now();
            if served.wants_rows() && begun >= served.read_after {
                read_rows(self.app, self.network, name, &mut served.queues).await?;
                let taken = begun.elapsed();
                if taken > SHORT_READ {
                    served.read_after = Instant::now() + (taken * READ_PAUSE).min(IDLE);
                }
            }
        }
        loop {
            let mut has_started = false;
            for (name, served) in &mut self.handlers {
                if self.calls.len() >= CALLS_AT_ONCE {
                    return Ok(());
                }
                if served.paused_until.is_some() || served.has_left {
                    continue;
                }
                let Some(row) = served.queues.take() else { continue };
                let call = call(self.app, self.network, self.shared, name.clone(), served.handler.clone(), row);
                self.calls.spawn(in_current_tenant(call));
                has_started = true;
            }
            if !has_started {
                return Ok(());
            }
        }
    }

    /// Takes a call's end into account. False if the turn is over.
    fn finish(&mut self, finished: Result<Finished, tokio::task::JoinError>) -> bool {
        let now = self.app.clock.moment();
        let Ok(Finished { module, key, ended }) = finished else {
            tracing::error!(network = %self.network, "a handler's call was interrupted and will be repeated");
            return false;
        };
        let Some(served) = self.handlers.get_mut(&module) else { return true };
        match ended {
            Ok(Ended::Done) => served.queues.done(&key),
            Ok(Ended::RetryAfter(pause)) => served.queues.pause(&key, now + pause),
            Ok(Ended::PauseFor(pause)) => {
                served.queues.pause(&key, now + pause);
                served.paused_until = Some(now + pause);
            }
            Ok(Ended::Over) => return false,
            Err(error) => {
                tracing::warn!(network = %self.network, module, %error, "could not hand an event over; it is tried again");
                served.queues.pause(&key, now + FAILURE_PAUSE);
            }
        }
        true
    }

    fn next_due(&self) -> Option<Moment> {
        let of = |served: &Served| served.paused_until.into_iter().chain(served.queues.next_due()).min();
        self.handlers.values().filter(|served| !served.has_left).filter_map(of).min()
    }

    /// End of the first pause after a read; without one a time that is far away.
    fn next_read(&self) -> Instant {
        let now = Instant::now();
        let pausing = self.handlers.values().filter(|served| served.wants_rows() && served.read_after > now);
        pausing.map(|served| served.read_after).min().unwrap_or(now + IDLE)
    }

    fn is_idle(&self) -> bool {
        self.handlers.values().all(|served| served.has_left || served.queues.is_empty())
    }
}

async fn read_rows(app: &App, network: NetworkId, module: &str, queues: &mut KeyQueues) -> Result<(), Error> {
    let barrier = handlers::find(&app.db, network, module).await?.map_or(0, |row| row.barrier);
    let mut up_to = i64::MAX;
    if barrier > 0 && queue::first(&app.db, network, module).await?.is_some_and(|(seq, _)| seq <= barrier) {
        // Queued under another order: it is finished first.
        up_to = barrier;
    }
    let known = queues.known_keys();
    let rows = queue::waiting(&app.db, network, module, up_to, &known, BATCH).await?;
    let is_all = (rows.len() as i64) < BATCH && up_to == i64::MAX;
    queues.add(rows, (app.clock.now(), app.clock.moment()), is_all);
    Ok(())
}

fn call(
    app: &App,
    network: NetworkId,
    shared: &NetworkHandlers,
    module: String,
    handler: Handler,
    row: QueueRow,
) -> BoxFuture<'static, Finished> {
    let (app, figures) = (app.clone(), shared.module(&module));
    async move {
        let ended = async {
            let event = queue::event(&app.db, network, row.seq).await?;
            let attempt = Attempt {
                app: &app,
                network,
                handler: &handler,
                figures: Arc::clone(&figures),
                kind: LetterKind::Event,
                source: Source::Queue,
                row: &row,
            };
            attempt.run(event).await
        };
        Finished { module, ended: ended.await, key: row.event_key.clone() }
    }
    .boxed()
}
