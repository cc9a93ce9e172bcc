//! Background work: lost claims, deliveries that become due or are over, and old ones.

use std::collections::BTreeMap;
use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Cutoff, Millis, Settled, millis};
use crate::cluster::ShardRegistry;
use crate::deliveries::model::Lapse;
use crate::deliveries::ready::publish;
use crate::deliveries::service::resolve_in;
use crate::deliveries::store::{self, due};
use crate::panics::catch_panic;
use crate::side_by_side::{SideBySide, for_each_network};
use crate::values::NetworkId;

/// Interval of looking for due deliveries, since other nodes change them too.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const PURGE_INTERVAL: Duration = Duration::from_hours(1);
/// Retention of settled deliveries.
const RETENTION: Duration = Duration::from_hours(400 * 24);
/// Maximum number of deliveries of a network, or of a deletion, in one pass.
const BATCH: i64 = 1_000;
/// Maximum number of such batches that one run deletes.
const PURGED_BATCHES: usize = 1_000;
/// Maximum number of deliveries that one transaction changes.
const CHUNK: usize = 100;
const WHAT: &str = "record due deliveries";

/// Starts the background work.
pub(super) fn start(app: &App) {
    app.spawn(watch(app.clone()));
    every_settled(app, PURGE_INTERVAL, "delete old deliveries", purge);
}

/// Runs until the hub stops.
async fn watch(app: App) {
    let side_by_side = SideBySide::default();
    loop {
        let poll = app.clock.moment() + POLL_INTERVAL;
        let next = match app.clock.settled() {
            Some(settled) => match catch_panic(WHAT, pass(&app, &side_by_side, settled.before(0))).await {
                Some(Ok(next)) => next,
                Some(Err(error)) => {
                    tracing::warn!(%error, "could not {WHAT}");
                    Next::Again
                }
                None => Next::Again,
            },
            None => Next::At(None),
        };
        match next {
            Next::At(due) => app.clock.sleep_until(due.map_or(poll, |due| app.clock.moment_of(due).min(poll))).await,
            Next::Again => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

/// Time of the next pass.
enum Next {
    /// Next delivery's time, if one waits for a time.
    At(Option<Millis>),
    /// Soon, by whatever clock: what was due may have been left out, because a request was changing it.
    Again,
}

/// Records what is due in the networks of this node, which knows where their players are.
async fn pass(app: &App, side_by_side: &SideBySide, now: Cutoff) -> Result<Next, Error> {
    let next = due::next_due(&app.db).await?;
    if next.is_none_or(|at| now.at() < at) {
        return Ok(Next::At(next));
    }
    let mut networks = due::due_networks(&app.db, now).await?;
    networks.retain(|network| app.state::<ShardRegistry>().owns(*network));
    let work = |app: App, network: NetworkId| async move {
        for ids in due::due(&app.db, network, now, BATCH).await?.chunks(CHUNK) {
            lapse(&app, network, now, ids).await?;
        }
        Ok::<_, Error>(())
    };
    side_by_side.run(app, networks, WHAT, work).await;
    Ok(Next::Again)
}

/// Records what is due of these deliveries. Each is changed in the transaction that found it due, so that of several
/// nodes, or of two runs of one, only one publishes it.
async fn lapse(app: &App, network: NetworkId, now: Cutoff, ids: &[i64]) -> Result<(), Error> {
    app.db
        .transaction(async |mut tx| {
            let mut changed = vec![];
            for mut delivery in due::lock_due(&mut tx, network, now, ids).await? {
                let lapse = delivery.lapse(now.at());
                if let (None, Some(name), Lapse::Pending) = (delivery.player_uuid, &delivery.player_name, lapse) {
                    delivery.player_uuid = resolve_in(&mut tx, network, name).await?;
                }
                store::save(&mut tx, &delivery).await?;
                if lapse != Lapse::Unchanged {
                    changed.push(delivery);
                }
            }
            for delivery in &changed {
                publish(app, &mut tx, delivery).await?;
            }
            Ok(())
        })
        .await
}

/// Deletes deliveries that were settled long ago; their references stay.
async fn purge(app: App, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(RETENTION));
    for _ in 0..PURGED_BATCHES {
        let old = due::old(&app.db, before, BATCH).await?;
        let count = old.len() as i64;
        let mut networks = BTreeMap::<NetworkId, Vec<i64>>::new();
        for (network, id) in old {
            networks.entry(network).or_default().push(id);
        }
        for_each_network(networks, "delete old deliveries", |network, ids| {
            let app = &app;
            async move {
                app.db.transaction(async |mut tx| due::delete_old(&mut tx, network, before, &ids).await).await
            }
        })
        .await;
        if count < BATCH {
            break;
        }
    }
    Ok(())
}
