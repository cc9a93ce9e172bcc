//! All SQL of jobs.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::json;
use uuid::Uuid;

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::jobs::kind::JobOutcome;
use crate::jobs::lease::LEASE;
use crate::jobs::model::{Job, JobId, JobStats, NewJob, StoredJob};
use crate::values::NetworkId;

const ENQUEUE: &str = "INSERT INTO jobs
         (network_id, kind, job_key, payload, created_at, due_at, attempts, kills, again)
     VALUES ($1, $2, $3, $4, $5, $5, 0, 0, FALSE)
     ON CONFLICT (network_id, kind, job_key) DO UPDATE SET
         due_at = COALESCE(jobs.due_at, excluded.due_at), again = jobs.lease_id IS NOT NULL,
         attempts = CASE WHEN jobs.due_at IS NULL THEN 0 ELSE jobs.attempts END";

/// Queues a job for now. One that waits under the same key keeps its time.
pub(super) async fn enqueue(tx: &mut Tx, job: &NewJob, now: Millis) -> Result<(), Error> {
    tx.query(ENQUEUE)
        .bind(job.network)
        .bind(job.kind)
        .bind(&job.key)
        .bind(job.payload.to_string())
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

const RESCHEDULE: &str = "INSERT INTO jobs
         (network_id, kind, job_key, payload, created_at, due_at, attempts, kills, again)
     VALUES ($1, $2, $3, $4, $5, $6, 0, 0, FALSE)
     ON CONFLICT (network_id, kind, job_key) DO UPDATE SET
         due_at = CASE WHEN jobs.lease_id IS NULL THEN excluded.due_at ELSE jobs.due_at END,
         again = jobs.lease_id IS NOT NULL, attempts = 0";

/// Queues a job for `due_at`, replacing the time of one that waits under the same key.
pub(super) async fn reschedule(tx: &mut Tx, job: &NewJob, now: Millis, due_at: Millis) -> Result<(), Error> {
    tx.query(RESCHEDULE)
        .bind(job.network)
        .bind(job.kind)
        .bind(&job.key)
        .bind(job.payload.to_string())
        .bind(now)
        .bind(due_at)
        .execute()
        .await?;
    Ok(())
}

/// Deletes a job.
pub(super) async fn cancel(tx: &mut Tx, network: NetworkId, kind: &str, key: &str) -> Result<(), Error> {
    tx.query("DELETE FROM jobs WHERE network_id = $1 AND kind = $2 AND job_key = $3")
        .bind(network)
        .bind(kind)
        .bind(key)
        .execute()
        .await?;
    Ok(())
}

// Leaps from network to network: those with many jobs cost no more than others.
const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM jobs WHERE kind = $1 AND due_at IS NOT NULL ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT j.network_id FROM jobs j
                 WHERE j.kind = $1 AND j.due_at IS NOT NULL AND j.network_id > n.network_id
                 ORDER BY j.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM jobs j WHERE j.kind = $1 AND j.network_id = n.network_id AND j.due_at <= $2)";

/// Networks with due jobs of a kind. Crosses networks: they take turns.
pub(super) async fn due_networks(db: &Db, kind: &str, now: Millis) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(kind).bind(now).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Counts up as far as a number from an imported file allows.
macro_rules! one_more {
    ($column:literal) => {
        concat!("CASE WHEN ", $column, " < 1000000000 THEN ", $column, " + 1 ELSE ", $column, " END")
    };
}

/// Leases the network's job with this key.
macro_rules! lease {
    ($key:literal) => {
        concat!(
            "UPDATE jobs SET node = $4, lease_id = $5, due_at = $6, attempts = ",
            one_more!("attempts"),
            ", kills = CASE WHEN node IS NULL THEN kills ELSE ",
            one_more!("kills"),
            " END WHERE network_id = $2 AND kind = $1 AND job_key = ",
            $key,
            " RETURNING job_key, payload, attempts, kills"
        )
    };
}

const CLAIM: Sql = Sql {
    sqlite: lease!(
        "(SELECT job_key FROM jobs
          WHERE network_id = $2 AND kind = $1 AND due_at <= $3
            AND job_key NOT IN (SELECT value FROM json_each($7))
          ORDER BY due_at LIMIT 1)"
    ),
    postgres: lease!(
        "(SELECT job_key FROM jobs
          WHERE network_id = $2 AND kind = $1 AND due_at <= $3
            AND job_key <> ALL (ARRAY(SELECT jsonb_array_elements_text(CAST($7 AS JSONB))))
          ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)"
    ),
};

const CLAIM_KEY: &str = lease!("$7 AND due_at <= $3");

/// Lease of a job: by a node, under an id of its own, until a time.
pub(super) struct Lease<'n> {
    pub(super) node: &'n str,
    pub(super) id: Uuid,
    pub(super) until: Millis,
}

/// Leases the longest due job of a network but for those that `run_here`: their leases may be renewed late.
pub(super) async fn claim(
    db: &Db,
    kind: &'static str,
    (network, run_here): (NetworkId, &[String]),
    now: Millis,
    lease: &Lease<'_>,
) -> Result<Option<Job>, Error> {
    claim_by(db, CLAIM, kind, (network, &json!(run_here).to_string()), now, lease).await
}

/// Leases the job with this key, if it is due.
pub(super) async fn claim_key(
    db: &Db,
    kind: &'static str,
    (network, key): (NetworkId, &str),
    now: Millis,
    lease: &Lease<'_>,
) -> Result<Option<Job>, Error> {
    claim_by(db, CLAIM_KEY.into(), kind, (network, key), now, lease).await
}

/// Runs one of the claims, whose last parameter is `choice`.
async fn claim_by(
    db: &Db,
    sql: Sql,
    kind: &'static str,
    (network, choice): (NetworkId, &str),
    now: Millis,
    lease: &Lease<'_>,
) -> Result<Option<Job>, Error> {
    let row: Option<LeasedRow> = db
        .write(sql)
        .bind(kind)
        .bind(network)
        .bind(now)
        .bind(lease.node)
        .bind(lease.id)
        .bind(lease.until)
        .bind(choice)
        .optional()
        .await?;
    Ok(row.map(|LeasedRow { job_key: key, payload, attempts, kills }| {
        // One that is not JSON, from an imported file, is none: the kind of job refuses it.
        let payload = serde_json::from_str(&payload).unwrap_or_default();
        Job { network, key, payload, attempts, kills, kind, lease: lease.id }
    }))
}

#[derive(sqlx::FromRow)]
struct LeasedRow {
    job_key: String,
    payload: String,
    attempts: i64,
    kills: i64,
}

/// Runs a statement about a leased job; false if the lease is lost.
macro_rules! of_lease {
    ($db:expr, $job:expr, $sql:expr $(, $value:expr)*) => {{
        let Job { network, kind, key, lease, .. } = $job;
        let rows = $db.write($sql).bind(*network).bind(*kind).bind(key).bind(*lease)$(.bind($value))*.execute().await;
        rows.map(|rows| rows > 0)
    }};
}

/// Leases, whose ends are corrected with the clock.
pub(super) const LEASES: Term =
    Term::new(renew_term!("jobs", "network_id, kind, job_key", "due_at", "node IS NOT NULL"), |_| LEASE);

// Never shorter: another node may have set the clock forwards, and renewed it by that.
const RENEW: &str = "UPDATE jobs SET due_at = CASE WHEN due_at > $5 THEN due_at ELSE $5 END
     WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND lease_id = $4";

/// Renews a lease; false if it is lost.
pub(super) async fn renew(db: &Db, job: &Job, until: Millis) -> Result<bool, Error> {
    of_lease!(db, job, RENEW, until)
}

const FINISH: &str =
    "DELETE FROM jobs WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND lease_id = $4 AND NOT again";

/// Deletes a job that is done; false if it was queued again meanwhile.
async fn finish(db: &Db, job: &Job) -> Result<bool, Error> {
    of_lease!(db, job, FINISH)
}

const RELEASE: &str = "UPDATE jobs SET node = NULL, lease_id = NULL, again = FALSE, last_error = NULL, attempts = 0,
         due_at = CASE WHEN again THEN $5 ELSE $6 END
     WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND lease_id = $4";

/// Ends a lease after a success; the job runs again at `due_at`, or now if it was queued again.
async fn run_again(db: &Db, job: &Job, now: Millis, due_at: Millis) -> Result<bool, Error> {
    of_lease!(db, job, RELEASE, now, due_at)
}

/// Stores the end of an attempt that did not fail.
pub(super) async fn end(db: &Db, job: &Job, now: Millis, outcome: JobOutcome) -> Result<(), Error> {
    match outcome {
        JobOutcome::RunAt(due_at) => run_again(db, job, now, due_at).await?,
        JobOutcome::NextTurn => run_again(db, job, now, now).await?,
        // Otherwise it was queued again meanwhile.
        JobOutcome::Done => finish(db, job).await? || run_again(db, job, now, now).await?,
    };
    Ok(())
}

const INTERRUPT: &str = "UPDATE jobs SET node = NULL, lease_id = NULL, attempts = attempts - 1, due_at = $5
     WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND lease_id = $4";

/// Ends a lease without an attempt.
pub(super) async fn interrupt(db: &Db, job: &Job, now: Millis) -> Result<(), Error> {
    of_lease!(db, job, INTERRUPT, now).map(|_: bool| ())
}

const FAIL: &str = "UPDATE jobs SET node = NULL, lease_id = NULL, again = FALSE, last_error = $7,
         due_at = CASE WHEN again AND CAST($6 AS BIGINT) IS NULL THEN $5 ELSE $6 END
     WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND lease_id = $4";

/// Ends a lease after a failed attempt. Without `due_at` the job is given up, unless it was queued again.
pub(super) async fn fail(db: &Db, job: &Job, now: Millis, due_at: Option<Millis>, message: &str) -> Result<(), Error> {
    of_lease!(db, job, FAIL, now, due_at, message).map(|_: bool| ())
}

/// Ends all leases.
pub(super) async fn end_leases(db: &Db, now: Millis) -> Result<(), Error> {
    // Crosses networks: the only node ends those of its predecessor.
    db.write(concat!(
        "UPDATE jobs SET node = NULL, lease_id = NULL, due_at = $1, kills = ",
        one_more!("kills"),
        " WHERE node IS NOT NULL"
    ))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

// Crosses networks: the age of a job alone decides, by a `Cutoff`.
const FORGET_DEAD: &str = "DELETE FROM jobs WHERE kind = $1 AND due_at IS NULL AND created_at < $2";

/// Deletes jobs of a kind that were given up.
pub(super) async fn forget_dead(db: &Db, kind: &str, created_before: Cutoff) -> Result<(), Error> {
    db.write(FORGET_DEAD).bind(kind).bind(created_before.at()).execute().await?;
    Ok(())
}

/// Kinds of the stored jobs. Crosses networks: the list is the operator's.
pub(super) async fn kinds(db: &Db) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = db.query("SELECT DISTINCT kind FROM jobs ORDER BY kind").all().await?;
    Ok(rows.into_iter().map(|(kind,)| kind).collect())
}

// Crosses networks: the numbers are the operator's.
const STATS: &str = "SELECT CAST(COUNT(*) - COUNT(node) AS BIGINT) AS waiting, CAST(COUNT(node) AS BIGINT) AS running,
         CAST(COUNT(CASE WHEN node IS NULL THEN last_error END) AS BIGINT) AS failing,
         (SELECT COUNT(*) FROM jobs WHERE kind = $1 AND due_at IS NULL) AS dead,
         MIN(CASE WHEN node IS NULL THEN due_at END) AS next_at,
         COALESCE(MAX(last_error), (SELECT MAX(last_error) FROM jobs WHERE kind = $1 AND due_at IS NULL)) AS last_error
     FROM (SELECT node, due_at, last_error FROM jobs WHERE kind = $1 AND due_at IS NOT NULL LIMIT $2) AS counted";

/// Numbers of jobs of a kind, counting `most` at most.
pub(super) async fn stats(db: &Db, kind: &str, most: i64) -> Result<JobStats, Error> {
    db.query(STATS).bind(kind).bind(most).one().await
}

macro_rules! select_job {
    ($rest:literal) => {
        concat!(
            "SELECT network_id, kind, job_key, created_at, due_at, attempts, last_error, node IS NOT NULL AS is_running
             FROM jobs ",
            $rest
        )
    };
}

/// Jobs of a kind: first those that were given up, then by the time of their next attempt.
pub(super) async fn list(db: &Db, kind: &str, limit: i64) -> Result<Vec<StoredJob>, Error> {
    // Crosses networks: the list is the operator's.
    db.query(select_job!("WHERE kind = $1 ORDER BY due_at IS NOT NULL, due_at, network_id, job_key LIMIT $2"))
        .bind(kind)
        .bind(limit)
        .readable()
        .await
}

pub(super) async fn find(db: &Db, id: &JobId) -> Result<Option<StoredJob>, Error> {
    db.query(select_job!("WHERE network_id = $1 AND kind = $2 AND job_key = $3"))
        .bind(id.network)
        .bind(&id.kind)
        .bind(&id.key)
        .optional()
        .await
}

/// Makes a job due now, as if it had never failed; false if a node has it, or there is none.
pub(super) async fn retry(db: &Db, id: &JobId, now: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE jobs SET due_at = $4, attempts = 0, kills = 0
             WHERE network_id = $1 AND kind = $2 AND job_key = $3 AND node IS NULL",
        )
        .bind(id.network)
        .bind(&id.kind)
        .bind(&id.key)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn jobs_are_found_by_their_indexes() {
        let by_lease = [RENEW, FINISH, RELEASE, INTERRUPT, FAIL];
        let statements = [&[DUE_NETWORKS, CLAIM.sqlite, CLAIM_KEY, FORGET_DEAD, STATS][..], &by_lease].concat();
        for (sql, plan) in statements.iter().zip(query_plans(&statements).await) {
            assert!(plan.iter().all(|step| !step.contains("SCAN jobs")), "{sql}: {plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{sql}: {plan:#?}");
        }
    }
}
