//! Runs the jobs of a kind at this node.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::Error;

use crate::app::App;
use crate::auth::OPERATOR_NETWORK;
use crate::background::every_settled;
use crate::clock::{Millis, Settled, millis};
use crate::cluster::ShardRegistry;
use crate::jobs::kind::{JobError, JobKind, JobOutcome, RunsAt};
use crate::jobs::lease::{lease_end, renew_until_lost};
use crate::jobs::model::Job;
use crate::jobs::state::{Jobs, Queue};
use crate::jobs::store::{self, Lease};
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::JOBS_FAILED;
use crate::panics::catch_panic;
use crate::steps::within_steps;
use crate::values::NetworkId;

/// Interval of searches for jobs that other nodes queued or left.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Pause after an outcome that could not be stored.
const STORE_RETRY: Duration = Duration::from_secs(1);
/// Maximum length of a stored error, in characters.
const LONGEST_ERROR: usize = 1_000;
/// Retention of jobs that were given up.
const DEAD_RETENTION: Duration = Duration::from_hours(30 * 24);
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

type Runner = Arc<dyn Fn(App, Job) -> BoxFuture<'static, Result<JobOutcome, JobError>> + Send + Sync>;

/// Ends the leases of a process that ran here before, if this hub has a single node.
pub(super) async fn end_leases(app: &App) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_single_node() {
        store::end_leases(&app.db, app.clock.now()).await?;
    }
    Ok(())
}

/// Deletes jobs that were given up long ago.
pub(super) fn start_sweep(app: &App) {
    every_settled(app, SWEEP_INTERVAL, "delete jobs that were given up", async |app: App, settled: Settled| {
        let before = settled.before(millis(DEAD_RETENTION));
        for kind in app.state::<Jobs>().kinds() {
            store::forget_dead(&app.db, kind, before).await?;
        }
        Ok::<_, Error>(())
    });
}

/// Runs jobs of a kind until the hub stops.
pub fn work<F>(app: &App, kind: &'static JobKind, run: impl Fn(App, Job) -> F + Send + Sync + 'static)
where
    F: Future<Output = Result<JobOutcome, JobError>> + Send + 'static,
{
    let worker = Worker {
        app: app.clone(),
        kind,
        queue: app.state::<Jobs>().queue(kind.name),
        run: Arc::new(move |app, job| run(app, job).boxed()),
    };
    app.spawn(async move {
        loop {
            let next = worker.app.clock.moment() + POLL_INTERVAL;
            if let Some(Err(error)) = catch_panic("look for due jobs", worker.start_due()).await {
                tracing::warn!(%error, kind = kind.name, "could not look for due jobs");
            }
            tokio::select! {
                () = worker.queue.woken() => {}
                () = worker.app.clock.sleep_until(next) => {}
            }
        }
    });
}

#[derive(Clone)]
struct Worker {
    app: App,
    kind: &'static JobKind,
    queue: Arc<Queue>,
    run: Runner,
}

/// End of an attempt.
enum Attempt {
    Ended(Result<JobOutcome, JobError>),
    /// The hub stops, or the job is another node's.
    Interrupted,
}

impl Worker {
    /// Starts due jobs until no slot is free or none is left: one of each network in turn.
    async fn start_due(&self) -> Result<(), Error> {
        loop {
            let shards = self.app.state::<ShardRegistry>();
            if shards.is_draining() {
                return Ok(());
            }
            let mut networks = store::due_networks(&self.app.db, self.kind.name, self.app.clock.now()).await?;
            networks.retain(|network| self.may_run(*network));
            {
                let mut slots = self.queue.slots();
                slots.begin_search();
                slots.order(&mut networks);
            }
            let mut has_started = false;
            // In turn: a claim skips locked rows, and the job runs by itself.
            for network in networks {
                match self.start_one(network).await {
                    Ok(is_started) => has_started |= is_started,
                    Err(error) => tracing::warn!(%error, kind = self.kind.name, %network, "could not take a job"),
                }
            }
            if !has_started {
                return Ok(());
            }
        }
    }

    fn may_run(&self, network: NetworkId) -> bool {
        if self.kind.is_of_hub && network != OPERATOR_NETWORK {
            return false;
        }
        self.kind.runs_at == RunsAt::AnyNode || self.app.state::<ShardRegistry>().owns(network)
    }

    /// Starts the longest due job of a network, if a slot is free.
    async fn start_one(&self, network: NetworkId) -> Result<bool, Error> {
        let Some(mut slot) = JobSlot::acquire(&self.queue, network, self.kind.concurrency) else { return Ok(false) };
        let (app, now) = (&self.app, self.app.clock.now());
        let lease = Lease { node: app.state::<Jobs>().node(), id: app.ids.uuid(), until: lease_end(&app.clock) };
        let run_here = self.queue.slots().keys(network);
        let claimed = store::claim(&app.db, self.kind.name, (network, &run_here), now, &lease).await?;
        let Some(job) = claimed else { return Ok(false) };
        slot.assign(&job.key, now);
        let worker = self.clone();
        // Ends soon after the hub stops, with the lease.
        app.spawn_until_done(async move {
            let attempt = worker.attempt(&job).await;
            worker.settle(&job, &attempt).await;
            slot.has_turn_ended = matches!(attempt, Attempt::Ended(Ok(JobOutcome::NextTurn)));
            drop(slot);
            worker.queue.wake();
        });
        Ok(true)
    }

    async fn attempt(&self, job: &Job) -> Attempt {
        let stopping = self.app.stopping();
        // A panic may come from the call or from its future.
        let work = within_steps(job.network, async { (self.run)(self.app.clone(), job.clone()).await });
        tokio::select! {
            biased;
            () = stopping.cancelled() => Attempt::Interrupted,
            ended = AssertUnwindSafe(work).catch_unwind() => Attempt::Ended(match ended {
                Ok(within) => within.unwrap_or_else(|over| Err(over.into())),
                Err(_) => Err(JobError::new(&"the hub failed in this job; see its log")),
            }),
            () = renew_until_lost(&self.app.db, &self.app.clock, job, || self.may_run(job.network)) => Attempt::Interrupted,
        }
    }

    /// Stores the end of an attempt. The job keeps its slot until that succeeds.
    async fn settle(&self, job: &Job, attempt: &Attempt) {
        if let Attempt::Ended(Err(error)) = attempt {
            tracing::warn!(error = error.message, kind = job.kind, network = %job.network, attempt = job.attempts, "a job failed");
            self.app.state::<MetricRecorder>().counter(&JOBS_FAILED, &[self.kind.name]).increment(1);
        }
        while let Err(error) = self.store_end(job, attempt).await {
            tracing::warn!(%error, kind = job.kind, "could not store the end of a job");
            if self.app.stopping().is_cancelled() {
                return;
            }
            self.app.clock.sleep(STORE_RETRY).await;
        }
    }

    async fn store_end(&self, job: &Job, attempt: &Attempt) -> Result<(), Error> {
        let (db, now) = (&self.app.db, self.app.clock.now());
        match attempt {
            Attempt::Interrupted => store::interrupt(db, job, now).await,
            Attempt::Ended(Ok(outcome)) => store::end(db, job, now, *outcome).await,
            Attempt::Ended(Err(error)) => {
                let is_last = self.kind.max_attempts.is_some_and(|most| job.attempts >= most);
                let pause = self.kind.backoff.pause(job.attempts, self.app.ids.seed());
                let due_at = (!is_last && !error.is_permanent).then(|| now.saturating_add(pause));
                let message: String = error.message.chars().take(LONGEST_ERROR).collect();
                store::fail(db, job, now, due_at, &message).await
            }
        }
    }
}

/// A slot that is released when this is dropped.
struct JobSlot {
    queue: Arc<Queue>,
    network: NetworkId,
    key: Option<String>,
    is_further: bool,
    has_turn_ended: bool,
}

impl JobSlot {
    fn acquire(queue: &Arc<Queue>, network: NetworkId, concurrency: usize) -> Option<Self> {
        let is_further = queue.slots().acquire(network, concurrency)?;
        Some(Self { queue: Arc::clone(queue), network, key: None, is_further, has_turn_ended: false })
    }

    fn assign(&mut self, key: &str, now: Millis) {
        self.queue.slots().assign(self.network, key, now);
        self.key = Some(key.to_owned());
    }
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        self.queue.slots().release(self.network, self.key.take(), self.is_further, self.has_turn_ended);
    }
}
