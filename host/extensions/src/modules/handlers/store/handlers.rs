//! Table `handlers`.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::{Cutoff, Millis};
use crate::modules::handlers::model::{HandlerCounts, HandlerRow};
use crate::values::NetworkId;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT module, event_order, events, handles_own, barrier, kept_until, delivered, retried, skipped, too_deep,
                 conflicts, dropped_dead_letters
             FROM handlers WHERE network_id = $1 ",
            $rest
        )
    };
}

/// All handlers of a network, kept ones among them.
pub(in crate::modules::handlers) async fn list(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
) -> Result<Vec<HandlerRow>, Error> {
    on.into().query(select!("ORDER BY module")).bind(network).all().await
}

pub(in crate::modules::handlers) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
) -> Result<Option<HandlerRow>, Error> {
    on.into().query(select!("AND module = $2")).bind(network).bind(module).optional().await
}

/// Definition of a handler.
pub(in crate::modules::handlers) struct Definition<'a> {
    pub(in crate::modules::handlers) module: &'a str,
    pub(in crate::modules::handlers) order: &'a str,
    /// JSON of the names of its events.
    pub(in crate::modules::handlers) events: &'a str,
    pub(in crate::modules::handlers) handles_own: bool,
    pub(in crate::modules::handlers) kept_until: Option<Millis>,
}

/// Adds a handler, or changes it. With another order all that is queued comes before what follows.
pub(in crate::modules::handlers) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    handler: &Definition<'_>,
    last_seq: i64,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO handlers (network_id, module, event_order, events, handles_own, kept_until, barrier)
         VALUES ($1, $2, $3, $4, $5, $6, 0)
         ON CONFLICT (network_id, module) DO UPDATE SET
             barrier = CASE WHEN handlers.event_order = excluded.event_order THEN handlers.barrier ELSE $7 END,
             event_order = excluded.event_order, events = excluded.events, handles_own = excluded.handles_own,
             kept_until = excluded.kept_until",
    )
    .bind(network)
    .bind(handler.module)
    .bind(handler.order)
    .bind(handler.events)
    .bind(handler.handles_own)
    .bind(handler.kept_until)
    .bind(last_seq)
    .execute()
    .await?;
    Ok(())
}

/// Keeps the events of a handler that was taken out until a time.
pub(in crate::modules::handlers) async fn keep_until(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    until: Millis,
) -> Result<(), Error> {
    tx.query("UPDATE handlers SET kept_until = $3 WHERE network_id = $1 AND module = $2 AND kept_until IS NULL")
        .bind(network)
        .bind(module)
        .bind(until)
        .execute()
        .await?;
    Ok(())
}

/// Deletes a kept handler, or one whose time ended before a cutoff; false if there is none.
pub(in crate::modules::handlers) async fn delete_kept(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    ended: Option<Cutoff>,
) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM handlers WHERE network_id = $1 AND module = $2 AND kept_until < $3")
        .bind(network)
        .bind(module)
        .bind(ended.map_or(Millis::MAX, Cutoff::at))
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Kept handlers whose time has ended. Crosses networks: their time alone decides, by a `Cutoff`.
pub(in crate::modules::handlers) async fn ended(db: &Db, at: Cutoff) -> Result<Vec<(NetworkId, String)>, Error> {
    db.query("SELECT network_id, module FROM handlers WHERE kept_until IS NOT NULL AND kept_until < $1 LIMIT 1000")
        .bind(at.at())
        .readable()
        .await
}

/// Adds to a handler's counts.
pub(in crate::modules::handlers) async fn count(
    db: &Db,
    network: NetworkId,
    module: &str,
    counts: &HandlerCounts,
) -> Result<(), Error> {
    db.write(
        "UPDATE handlers SET delivered = delivered + $3, retried = retried + $4, skipped = skipped + $5,
             too_deep = too_deep + $6, conflicts = conflicts + $7, dropped_dead_letters = dropped_dead_letters + $8
         WHERE network_id = $1 AND module = $2",
    )
    .bind(network)
    .bind(module)
    .bind(counts.delivered)
    .bind(counts.retried)
    .bind(counts.skipped)
    .bind(counts.too_deep)
    .bind(counts.conflicts)
    .bind(counts.dropped_dead_letters)
    .execute()
    .await?;
    Ok(())
}

/// Takes numbers for events of a network. Returns the last one.
pub(in crate::modules::handlers) async fn take_seqs(tx: &mut Tx, network: NetworkId, count: i64) -> Result<i64, Error> {
    let (last,) = tx
        .query(
            "INSERT INTO handler_positions (network_id, last_seq) VALUES ($1, $2)
             ON CONFLICT (network_id) DO UPDATE SET last_seq = handler_positions.last_seq + excluded.last_seq
             RETURNING last_seq",
        )
        .bind(network)
        .bind(count)
        .one()
        .await?;
    Ok(last)
}
