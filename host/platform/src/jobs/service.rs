//! Queueing of jobs, and the operator's view of them.

use hub_db::{Db, Error, Tx};

use crate::app::App;
use crate::clock::Millis;
use crate::jobs::kind::JobKind;
use crate::jobs::model::{JobId, JobStats, NewJob, StoredJob};
use crate::jobs::state::Jobs;
use crate::jobs::store;
use crate::values::NetworkId;

/// Queues a job for now, once the transaction is committed. One that waits under the same key keeps its time; one that
/// runs will run once more; one that was given up is tried again.
pub async fn enqueue(tx: &mut Tx, job: &NewJob, now: Millis) -> Result<(), Error> {
    store::enqueue(tx, job, now).await
}

/// The same, and wakes this node: others find the job within a second.
pub async fn enqueue_and_wake(app: &App, tx: &mut Tx, job: &NewJob) -> Result<(), Error> {
    store::enqueue(tx, job, app.clock.now()).await?;
    wake_at_end(app, tx, job.kind);
    Ok(())
}

/// Queues a job for a time, which replaces the time of one that waits under the same key.
pub async fn reschedule(tx: &mut Tx, job: &NewJob, now: Millis, due_at: Millis) -> Result<(), Error> {
    store::reschedule(tx, job, now, due_at).await
}

fn wake_at_end(app: &App, tx: &Tx, kind: &'static str) {
    let queue = app.state::<Jobs>().queue(kind);
    tx.on_end(move || queue.wake());
}

/// Makes this node look for due jobs of a kind now.
pub fn wake(app: &App, kind: &'static JobKind) {
    app.state::<Jobs>().queue(kind.name).wake();
}

/// True if a job has had its turn, and another network's waits for a slot at this node. The job should end then as
/// [`NextTurn`](crate::jobs::JobOutcome::NextTurn). Each of its turns is twice as long as the last.
pub fn is_turn_over(app: &App, kind: &'static JobKind, network: NetworkId) -> bool {
    app.state::<Jobs>().queue(kind.name).is_turn_over(network, app.clock.now())
}

/// Deletes a job. If a node runs it, it is interrupted within some seconds.
pub async fn cancel(tx: &mut Tx, network: NetworkId, kind: &JobKind, key: &str) -> Result<(), Error> {
    store::cancel(tx, network, kind.name, key).await
}

/// Kinds that have jobs.
pub async fn kinds(db: &Db) -> Result<Vec<String>, Error> {
    store::kinds(db).await
}

/// Numbers of jobs of a kind, counting `most` at most.
pub async fn stats(db: &Db, kind: &str, most: i64) -> Result<JobStats, Error> {
    store::stats(db, kind, most).await
}

/// Jobs of a kind: first those that were given up, then by the time of their next attempt.
pub async fn list(db: &Db, kind: &str, limit: i64) -> Result<Vec<StoredJob>, Error> {
    store::list(db, kind, limit).await
}

/// Makes a job due now, unless it runs. Returns it; none if there is none.
pub async fn retry(db: &Db, id: &JobId, now: Millis) -> Result<Option<StoredJob>, Error> {
    store::retry(db, id, now).await?;
    store::find(db, id).await
}
