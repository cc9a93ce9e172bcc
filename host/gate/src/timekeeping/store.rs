//! All SQL of timekeeping. It belongs to no network.

use hub_db::{Backend, Db, Error, Sql};

use crate::clock::Millis;
use crate::timekeeping::trust::Anchor;

/// Time of the database's clock; none on SQLite.
pub(super) async fn clock(db: &Db) -> Result<Option<Millis>, Error> {
    if db.backend() == Backend::Sqlite {
        return Ok(None);
    }
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    let (now,): (Millis,) = db.time_critical().query(sql).one().await?;
    Ok(Some(now))
}

/// The last proven times, one for each start of a machine.
pub(super) async fn anchors(db: &Db) -> Result<Vec<Anchor>, Error> {
    db.query("SELECT boot, uptime, at FROM clock_anchors").all().await
}

/// Stores a proven time, deletes those of machines that have not run for `age`, and a confirmation of another time than
/// this one by more than `confirmed`.
pub(super) async fn put_anchor(db: &Db, anchor: &Anchor, age: Millis, confirmed: Millis) -> Result<(), Error> {
    let (boot, at) = (anchor.boot.as_str(), anchor.at);
    db.transaction(async |mut tx| {
        let put = "INSERT INTO clock_anchors (boot, uptime, at) VALUES ($1, $2, $3)
                   ON CONFLICT (boot) DO UPDATE SET uptime = excluded.uptime, at = excluded.at";
        tx.query(put).bind(boot).bind(anchor.uptime).bind(at).execute().await?;
        // Not for good: the time that deletes is proven.
        tx.query("DELETE FROM clock_anchors WHERE boot <> $1 AND at < $2")
            .bind(boot)
            .bind(at.saturating_sub(age))
            .execute()
            .await?;
        // Not for good: nobody follows it any more.
        tx.query("DELETE FROM clock_confirmation WHERE at < $1 OR at > $2")
            .bind(at.saturating_sub(confirmed))
            .bind(at.saturating_add(confirmed))
            .execute()
            .await?;
        Ok::<_, Error>(())
    })
    .await
}

/// Records that this time was right when it was: the operator says so, or the first node that is sure of it.
pub async fn confirm(db: &Db, at: Millis) -> Result<(), Error> {
    let sql =
        "INSERT INTO clock_confirmation (one, at) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET at = excluded.at";
    db.write(sql).bind(at).execute().await?;
    Ok(())
}

/// The last time that was confirmed. It stays for all nodes to follow.
pub(super) async fn confirmation(db: &Db) -> Result<Option<Millis>, Error> {
    let row: Option<(Millis,)> = db.query("SELECT at FROM clock_confirmation WHERE one = 1").optional().await?;
    Ok(row.map(|(at,)| at))
}

/// Gives live rows with an end between `after` and `before` the end `end`.
pub(super) async fn renew_term(db: &Db, renew: Sql, end: Millis, after: Millis, before: Millis) -> Result<(), Error> {
    db.write(renew).bind(end).bind(after).bind(before).execute().await?;
    Ok(())
}
