//! Networks that listen to events which streams must request: for other networks these are not published.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hub_db::{Backend, Error, Tx};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::clock::millis;
use crate::events::model::{EventKind, EventTypes};
use crate::events::{Streams, store};
use crate::values::NetworkId;

/// Time a network counts as listening without renewal: longer than an ended stream can be resumed.
const TTL: Duration = Duration::from_mins(10);
/// Time a stream waits for transactions that began before it listened.
const WRITES_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Records that a stream of the network listens. Changes committed after this are published to it.
pub(super) async fn listen(app: &App, network: NetworkId, types: EventTypes) -> Result<(), Error> {
    let now = app.clock.now();
    let wanted: Vec<_> = types.needing_listener().collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let renewed = store::listeners(&app.db, network, now + millis(TTL) / 2).await?;
    let due: Vec<_> = wanted.into_iter().filter(|name| !renewed.contains(*name)).collect();
    if due.is_empty() {
        return Ok(());
    }
    store::add_listeners(&app.db, network, &due, now + millis(TTL)).await?;
    earlier_writes_ended(app).await
}

/// Waits for uncommitted transactions that may have looked up listeners before this one was recorded. SQLite runs one
/// transaction at a time.
async fn earlier_writes_ended(app: &App) -> Result<(), Error> {
    if app.db.backend() == Backend::Sqlite {
        return Ok(());
    }
    let deadline = Instant::now() + WRITES_TIMEOUT;
    let next = store::next_transaction(&app.db).await?;
    while store::oldest_transaction(&app.db).await? < next && Instant::now() < deadline {
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

/// Renews the records of networks with open streams.
pub(super) async fn renew(app: App) -> Result<(), Error> {
    let mut networks: HashMap<NetworkId, HashSet<EventKind>> = HashMap::new();
    for stream in app.state::<Streams>().all() {
        networks.entry(stream.network).or_default().extend(stream.types.kinds());
    }
    for (network, kinds) in networks {
        hub_db::with_tenant(network.0, listen(&app, network, kinds.into_iter().collect())).await?;
    }
    Ok(())
}

/// True if a stream or subscriber of the network requests one of these events. Publishing checks the same for each
/// event; this saves work for a change with many events.
pub async fn is_listening(app: &App, tx: &mut Tx, network: NetworkId, kinds: &[EventKind]) -> Result<bool, Error> {
    let mut wanted = store::listeners(&mut *tx, network, app.clock.now()).await?;
    wanted.extend(store::subscribed_names(tx, network).await?);
    Ok(kinds.iter().any(|kind| wanted.contains(kind.name())))
}
