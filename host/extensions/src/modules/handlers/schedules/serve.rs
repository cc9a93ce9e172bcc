//! Finds networks with due schedules and timers, at their owners, and runs what is due.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, in_current_tenant};
use tokio::task::JoinSet;

use crate::app::App;
use crate::clock::{Settled, millis};
use crate::cluster::ShardRegistry;
use crate::modules::handlers::attempt::{Attempt, Ended, Handler};
use crate::modules::handlers::commit::Source;
use crate::modules::handlers::model::{LetterKind, QueueRow, QueuedEvent};
use crate::modules::handlers::registry::Handlers;
use crate::modules::handlers::schedules::links;
use crate::modules::handlers::schedules::model::{ScheduleRow, TimerRow};
use crate::modules::handlers::schedules::ticks::{self, Begun};
use crate::modules::handlers::store::{schedules, timers};
use crate::modules::open::is_open;
use crate::side_by_side;
use crate::values::NetworkId;

/// Calls of one network at once.
const CALLS_AT_ONCE: usize = 4;
/// Time after which a module that cannot run is tried again.
const DEFERRAL: Duration = Duration::from_secs(10);
/// Interval of looks for what has become due while calls are under way.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A due schedule or timer.
#[derive(Clone, Debug)]
enum Due {
    Schedule(ScheduleRow),
    Timer(TimerRow),
}

/// Kind, module, and name or key: two of one identity never run at the same time.
type Identity = (bool, String, String);

impl Due {
    fn module(&self) -> &str {
        match self {
            Self::Schedule(row) => &row.module,
            Self::Timer(row) => &row.module,
        }
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Schedule(row) => (true, row.module.clone(), row.name.clone()),
            Self::Timer(row) => (false, row.module.clone(), row.timer.clone()),
        }
    }
}

/// A call that has ended.
struct Finished {
    identity: Identity,
    ended: Result<Ended, Error>,
}

/// Wakes the networks with due schedules and timers that this node owns.
pub(in crate::modules::handlers) async fn find_due(app: App, settled: Settled) -> Result<(), Error> {
    let due = settled.before(0);
    let mut networks: BTreeSet<_> = schedules::due_networks(&app.db, due).await?.into_iter().collect();
    networks.extend(timers::due_networks(&app.db, due).await?);
    for network in networks {
        if app.state::<ShardRegistry>().owns(network) {
            wake(&app, network);
        }
    }
    Ok(())
}

/// Has a network's due schedules and timers run soon.
pub(super) fn wake(app: &App, network: NetworkId) {
    if app.state::<ShardRegistry>().is_draining() || !app.state::<Handlers>().begin_serving(network) {
        return;
    }
    let serving = app.clone();
    // The task ends soon after the hub stops.
    app.spawn_until_done(async move {
        loop {
            side_by_side::serve(network, "run schedules and timers", async { serve(&serving, network).await }).await;
            let is_over = serving.stopping().is_cancelled();
            if serving.state::<Handlers>().end_serving(network, is_over) {
                return;
            }
        }
    });
}

/// Due schedules and timers of one network, while they run.
struct Turn<'a> {
    app: &'a App,
    network: NetworkId,
    /// Read and not begun.
    waiting: VecDeque<Due>,
    calls: JoinSet<Finished>,
    running: HashSet<Identity>,
}

/// Runs what is due until nothing is, the network moves or is suspended, or the hub stops.
async fn serve(app: &App, network: NetworkId) -> Result<(), Error> {
    let stopping = app.stopping();
    let mut turn = Turn { app, network, waiting: VecDeque::new(), calls: JoinSet::new(), running: HashSet::new() };
    let mut is_over = false;
    loop {
        // For good: the network may come back, and then another task begins.
        is_over = is_over || !app.state::<ShardRegistry>().owns(network) || stopping.is_cancelled();
        // Calls that become due are missed, and made up for when the suspension has ended.
        is_over = is_over || !is_open(app, network).await?;
        if !is_over {
            turn.start_calls().await?;
        }
        if turn.calls.is_empty() {
            return Ok(());
        }
        tokio::select! {
            biased;
            // A call under way is dropped: nothing of it is committed, and it runs again.
            () = stopping.cancelled(), if !is_over => turn.calls.shutdown().await,
            Some(finished) = turn.calls.join_next() => {
                let Ok(Finished { identity, ended }) = finished else {
                    tracing::error!(%network, "a schedule's call was interrupted and will be repeated");
                    turn.calls.shutdown().await;
                    return Ok(());
                };
                turn.running.remove(&identity);
                match ended {
                    Ok(Ended::Done | Ended::RetryAfter(_)) => {}
                    Ok(Ended::PauseFor(pause)) => turn.defer(&identity.1, pause).await?,
                    Ok(Ended::Over) => is_over = true,
                    Err(error) => {
                        let module = &identity.1;
                        tracing::warn!(%network, module, %error, "could not run what is due; it is tried again");
                        turn.defer(module, Duration::ZERO).await?;
                    }
                }
            }
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
        }
    }
}

impl Turn<'_> {
    /// Reads what is due.
    async fn read(&mut self) -> Result<(), Error> {
        let (db, cutoff) = (&self.app.db, self.app.clock.cutoff());
        let schedules = schedules::due(db, self.network, cutoff).await?.into_iter().map(Due::Schedule);
        let timers = timers::due(db, self.network, cutoff).await?.into_iter().map(Due::Timer);
        let due = schedules.chain(timers).filter(|due| !self.running.contains(&due.identity()));
        self.waiting.extend(due);
        Ok(())
    }

    /// Begins as many calls as may run.
    async fn start_calls(&mut self) -> Result<(), Error> {
        if self.calls.len() >= CALLS_AT_ONCE {
            return Ok(());
        }
        if matches!(links::are_paused(self.app, self.network).await, Ok(true)) {
            // It stays due, and nothing is written for it.
            self.waiting.clear();
            return Ok(());
        }
        if self.waiting.is_empty() {
            self.read().await?;
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let handlers = match links::handlers(self.app, self.network).await {
            Ok(handlers) => handlers,
            Err(error) => {
                tracing::error!(network = %self.network, %error, "could not load a network's schedules");
                HashMap::new()
            }
        };
        while self.calls.len() < CALLS_AT_ONCE {
            let Some(due) = self.waiting.pop_front() else { return Ok(()) };
            let Some(handler) = handlers.get(due.module()).cloned().flatten() else {
                // Taken out meanwhile, or its code is not there.
                self.defer(due.module(), DEFERRAL).await?;
                continue;
            };
            self.running.insert(due.identity());
            let call = call(self.app.clone(), self.network, handler, due);
            self.calls.spawn(in_current_tenant(call));
        }
        Ok(())
    }

    /// Defers what is due of a module that cannot run now.
    async fn defer(&mut self, module: &str, pause: Duration) -> Result<(), Error> {
        self.waiting.retain(|due| due.module() != module);
        let (until, step) = (self.app.clock.now() + millis(pause), millis(DEFERRAL));
        // Calls that end at almost the same time defer to the same one, so that the rows are written once.
        let until = until.div_euclid(step).saturating_add(1).saturating_mul(step);
        schedules::defer(&self.app.db, self.network, module, until).await?;
        timers::defer(&self.app.db, self.network, module, until).await
    }
}

fn call(app: App, network: NetworkId, handler: Handler, due: Due) -> BoxFuture<'static, Finished> {
    async move {
        let identity = due.identity();
        let ended = match &due {
            Due::Schedule(row) => tick(&app, network, &handler, row).await,
            Due::Timer(row) => {
                let (kind, event) = ((LetterKind::Timer, Source::Timer), row.to_event(network));
                attempt(&app, network, &handler, kind, (&row.to_row(), event)).await
            }
        };
        Finished { identity, ended }
    }
    .boxed()
}

async fn tick(app: &App, network: NetworkId, handler: &Handler, row: &ScheduleRow) -> Result<Ended, Error> {
    if row.cron().is_none() {
        // Written by a newer hub.
        return Ok(Ended::PauseFor(DEFERRAL));
    }
    let (seq, run) = match ticks::begin(app, network, row).await? {
        Begun::Tick(seq, run) => (seq, run),
        Begun::Nothing => return Ok(Ended::Done),
        Begun::Stuck => return Ok(Ended::PauseFor(DEFERRAL)),
        Begun::NotOwner => return Ok(Ended::Over),
    };
    let event = run.to_event(network, &row.module, &row.name, seq);
    attempt(app, network, handler, (LetterKind::Tick, Source::Tick), (&run.to_row(&row.name, seq), event)).await
}

async fn attempt(
    app: &App,
    network: NetworkId,
    handler: &Handler,
    (kind, source): (LetterKind, Source),
    (row, event): (&QueueRow, QueuedEvent),
) -> Result<Ended, Error> {
    let figures = app.state::<Handlers>().network(network).module(&handler.link.config().name);
    let attempt = Attempt { app, network, handler, figures, kind, source, row };
    attempt.run(Some(event)).await
}
