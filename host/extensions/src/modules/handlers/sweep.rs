//! Stores figures of handlers, and deletes what is old.

use std::time::Duration;

use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::{Cutoff, Settled, millis};
use crate::modules::handlers::links;
use crate::modules::handlers::registry::{Handlers, ModuleHandlers};
use crate::modules::handlers::store::{cascades, dead_letters, handlers as store, queue};
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Retention of dead letters.
const DEAD_LETTER_RETENTION: Duration = Duration::from_hours(30 * 24);
/// Retention of the sums of cascades, which have long ended.
const CASCADE_RETENTION: Duration = Duration::from_hours(24);

/// Stores what was counted since the last time.
pub(super) async fn store_counts(app: App) -> Result<(), Error> {
    let counted = app.state::<Handlers>().counted();
    let items = counted.into_iter().map(|(network, module, figures)| (network, (module, figures)));
    for_each_network(items, "store the figures of a handler", |network, (module, figures)| {
        let app = app.clone();
        async move { store_counts_of(&app, network, &module, &figures).await }
    })
    .await;
    Ok(())
}

async fn store_counts_of(app: &App, network: NetworkId, module: &str, figures: &ModuleHandlers) -> Result<(), Error> {
    let _storing = figures.storing.lock().await;
    let counts = figures.take_counts();
    store::count(&app.db, network, module, &counts).await.inspect_err(|_| {
        figures.count(|since| *since = since.plus(&counts));
    })
}

/// Deletes old dead letters, kept handlers whose time has ended, and events that no handler waits for.
pub(super) async fn delete_old(app: App, settled: Settled) -> Result<(), Error> {
    dead_letters::delete_old(&app.db, settled.before(millis(DEAD_LETTER_RETENTION))).await?;
    cascades::delete_old(&app.db, settled.before(millis(CASCADE_RETENTION))).await?;
    let ended = store::ended(&app.db, settled.before(0)).await?;
    let until = settled.before(0);
    for_each_network(ended, "end a kept handler", |network, module| end_kept(app.clone(), network, module, until))
        .await;
    let queued = queue::networks_with_events(&app.db).await?.into_iter().map(|network| (network, ()));
    for_each_network(queued, "delete events that no handler waits for", |network, ()| {
        delete_unused(app.clone(), network)
    })
    .await;
    Ok(())
}

async fn end_kept(app: App, network: NetworkId, module: String, until: Cutoff) -> Result<(), Error> {
    app.db.transaction(async |mut tx| links::revoke(&app, &mut tx, network, &module, Some(until)).await).await.map(drop)
}

async fn delete_unused(app: App, network: NetworkId) -> Result<(), Error> {
    app.db.transaction(async |mut tx| delete_unused_in(&mut tx, network).await).await
}

/// Deletes the events of a network that no handler waits for.
pub(super) async fn delete_unused_in(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    // Before the queues are read: the rows of an event that is there are there, too.
    let Some(last) = queue::last_event(tx, network).await? else { return Ok(()) };
    let mut first = None;
    for row in store::list(&mut *tx, network).await? {
        let of_module = queue::first(&mut *tx, network, &row.module).await?.map(|(seq, _)| seq);
        first = first.into_iter().chain(of_module).min();
    }
    queue::delete_unused(tx, network, first.unwrap_or(last + 1)).await
}
