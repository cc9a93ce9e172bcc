//! Progress of the work on hours. One process at a time does it.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::values::NetworkId;

/// Work of one process.
#[derive(Clone, Copy, Debug)]
pub(in crate::metering) enum Work {
    /// Closing hours.
    Close,
    /// Reporting closed hours.
    Report,
}

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Report => "report",
        }
    }
}

/// Position: an hour, and a network in it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::metering) struct Progress {
    pub(in crate::metering) hour: Millis,
    pub(in crate::metering) last_network: NetworkId,
}

/// Claims the work for a node until then, unless another node has it. Returns its progress.
pub(in crate::metering) async fn claim(
    db: &Db,
    work: Work,
    node: &str,
    now: Millis,
    until: Millis,
) -> Result<Option<Progress>, Error> {
    // Crosses networks: the hours are the same for all.
    db.write(
        "UPDATE usage_progress SET claimed_by = $2, claimed_until = $4
         WHERE work = $1 AND (claimed_by = $2 OR claimed_until <= $3) RETURNING hour, last_network",
    )
    .bind(work.name())
    .bind(node)
    .bind(now)
    .bind(until)
    .optional()
    .await
}

/// Releases the work, so that another node continues at once.
pub(in crate::metering) async fn release(db: &Db, work: Work, node: &str) -> Result<(), Error> {
    // Crosses networks: the hours are the same for all.
    let sql = "UPDATE usage_progress SET claimed_until = 0 WHERE work = $1 AND claimed_by = $2";
    db.write(sql).bind(work.name()).bind(node).execute().await?;
    Ok(())
}

/// Moves to a later position; false if another node has the claim by now.
pub(in crate::metering) async fn advance(
    db: &Db,
    work: Work,
    node: &str,
    to: &Progress,
    until: Millis,
) -> Result<bool, Error> {
    // Crosses networks: the hours are the same for all.
    let sql = "UPDATE usage_progress SET hour = $3, last_network = $4, claimed_until = $5
               WHERE work = $1 AND claimed_by = $2";
    let rows =
        db.write(sql).bind(work.name()).bind(node).bind(to.hour).bind(to.last_network).bind(until).execute().await?;
    Ok(rows > 0)
}

/// Progress of the work of any node.
pub(in crate::metering) async fn reached(db: &Db, work: Work) -> Result<Progress, Error> {
    // Crosses networks: the hours are the same for all.
    let sql = "SELECT hour, last_network FROM usage_progress WHERE work = $1";
    db.query(sql).bind(work.name()).one().await
}

/// Name of this hub in its reports; `new` if it has none yet.
pub(in crate::metering) async fn source(db: &Db, new: &str) -> Result<String, Error> {
    // Crosses networks: the name is the hub's.
    let sql = "UPDATE usage_progress SET source = COALESCE(source, $1) WHERE work = 'report' RETURNING source";
    let (source,) = db.write(sql).bind(new).one().await?;
    Ok(source)
}
