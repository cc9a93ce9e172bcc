//! Networks that listen to events which streams must request: for other networks these are not published.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hub_db::{Backend, Error, Tx};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::events::model::{EventKind, EventTypes};
use crate::events::stream::OpenStream;
use crate::events::{Streams, Subscriptions, publish_resync_in, store};
use crate::side_by_side::for_each_network;
use crate::values::{Identifier, NetworkId};

/// Time a network counts as listening without renewal: longer than an ended stream can be resumed.
pub(super) const TTL: Duration = Duration::from_mins(10);
/// Time a stream waits for transactions that began before it listened.
const WRITES_TIMEOUT: Duration = Duration::from_secs(2);
/// Records renewed by one statement.
const RENEWED_AT_ONCE: usize = 1_000;
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Records that a stream of the network listens. Changes committed after this are published to it. False if that could
/// not be proven in time: the stream begins with a RESYNC.
pub(super) async fn listen(app: &App, network: NetworkId, types: EventTypes) -> Result<bool, Error> {
    let now = app.clock.now();
    let wanted: Vec<_> = types.needing_listener().collect();
    if wanted.is_empty() {
        return Ok(true);
    }
    let renewed = store::listeners(&app.db, network, now + millis(TTL) / 2).await?;
    let due: Vec<_> = wanted.into_iter().filter(|name| !renewed.contains(*name)).collect();
    if due.is_empty() {
        return Ok(true);
    }
    let known = store::listeners(&app.db, network, now).await?;
    store::add_listeners(&app.db, network, &due, now + millis(TTL)).await?;
    app.state::<Subscriptions>().forget();
    if due.iter().all(|name| known.contains(*name)) {
        return Ok(true);
    }
    earlier_writes_ended(app).await
}

/// Waits for uncommitted transactions that may have looked up listeners before this one was recorded; false if they take
/// too long. SQLite runs one transaction at a time.
pub async fn earlier_writes_ended(app: &App) -> Result<bool, Error> {
    if app.db.backend() == Backend::Sqlite {
        return Ok(true);
    }
    let deadline = Instant::now() + WRITES_TIMEOUT;
    let mut earlier = store::writing_transactions(&app.db).await?;
    while !earlier.is_empty() {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(POLL_INTERVAL).await;
        let still = store::writing_transactions(&app.db).await?;
        earlier.retain(|transaction| still.contains(transaction));
    }
    Ok(true)
}

/// Records for the other nodes if this stream of the server asks for [`EventKind::SessionRequested`].
pub(super) async fn record_server(app: &App, network: NetworkId, server: &str, types: EventTypes) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_single_node() {
        return Ok(());
    }
    if types.holds(EventKind::SessionRequested) {
        store::put_session_listener(&app.db, network, server, app.clock.now() + millis(TTL)).await
    } else {
        store::delete_session_listener(&app.db, network, server).await
    }
}

/// True if the server has an open stream, at any node, that asks for [`EventKind::SessionRequested`].
pub async fn is_session_listener(app: &App, network: NetworkId, server: &Identifier) -> Result<bool, Error> {
    let is_its = |stream: &OpenStream| stream.network == network && stream.server.as_ref() == Some(server);
    let here = app.state::<Streams>().find(|stream| stream.is_open() && is_its(stream));
    if here.as_ref().is_some_and(|stream| stream.types.holds(EventKind::SessionRequested)) {
        return Ok(true);
    }
    let is_elsewhere = here.is_none()
        && !app.state::<ShardRegistry>().is_single_node()
        && app.bus.is_connected(network.0.as_u128(), server.as_str());
    Ok(is_elsewhere && store::is_session_listener(&app.db, network, server.as_str(), app.clock.now()).await?)
}

/// Renews what the other nodes know of this node's streams, and forgets what was not renewed.
async fn renew_servers(app: &App) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_single_node() {
        return Ok(());
    }
    let now = app.clock.now();
    let streams = app.state::<Streams>().all().into_iter().filter(|it| it.types.holds(EventKind::SessionRequested));
    let mut servers: Vec<(NetworkId, Identifier)> =
        streams.filter_map(|it| Some((it.network, it.server.clone()?))).collect();
    servers.sort_unstable();
    servers.dedup();
    for servers in servers.chunks(RENEWED_AT_ONCE) {
        store::renew_session_listeners(&app.db, servers, now + millis(TTL)).await?;
    }
    store::delete_session_listeners(&app.db, now).await
}

/// Renews the records of networks with open streams, and waits for nobody. What was not renewed in time was not published
/// meanwhile: its streams get a RESYNC.
pub(super) async fn renew(app: App) -> Result<(), Error> {
    renew_servers(&app).await?;
    let mut networks: HashMap<NetworkId, HashSet<EventKind>> = HashMap::new();
    for stream in app.state::<Streams>().all() {
        networks.entry(stream.network).or_default().extend(stream.types.kinds());
    }
    let mut listened: Vec<(NetworkId, &'static str)> = networks
        .into_iter()
        .flat_map(|(network, kinds)| {
            let types: EventTypes = kinds.into_iter().collect();
            types.needing_listener().map(|name| (network, name)).collect::<Vec<_>>()
        })
        .collect();
    // Two nodes that lock rows in different orders wait for each other.
    listened.sort_unstable();
    let now = app.clock.now();
    for listened in listened.chunks(RENEWED_AT_ONCE) {
        let ended = store::renew_listeners(&app.db, listened, now, now + millis(TTL)).await?;
        let mut names: HashMap<NetworkId, Vec<String>> = HashMap::new();
        for (network, name) in ended {
            names.entry(network).or_default().push(name);
        }
        let until = now + millis(TTL);
        for_each_network(names, "renew what streams listen to", |network, names| lapsed(&app, network, names, until))
            .await;
    }
    Ok(())
}

/// Adds listeners again that ended meanwhile: the network's streams may lack events.
async fn lapsed(app: &App, network: NetworkId, names: Vec<String>, until: Millis) -> Result<(), Error> {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    store::add_listeners(&app.db, network, &names, until).await?;
    announce_gap(app, network).await
}

/// Tells the network's streams that they may lack events.
pub(super) async fn announce_gap(app: &App, network: NetworkId) -> Result<(), Error> {
    app.db.transaction(async |mut tx| publish_resync_in(app, &mut tx, network).await).await
}

/// True if a stream of the network requests the event.
pub async fn is_requested(app: &App, network: NetworkId, kind: EventKind) -> Result<bool, Error> {
    Ok(store::listeners(&app.db, network, app.clock.now()).await?.contains(kind.name()))
}

/// True if a stream or subscriber of the network requests one of these events. Publishing checks the same for each
/// event; this saves work for a change with many events.
pub async fn is_listening(app: &App, tx: &mut Tx, network: NetworkId, kinds: &[EventKind]) -> Result<bool, Error> {
    let mut wanted = store::listeners(&mut *tx, network, app.clock.now()).await?;
    wanted.extend(store::subscribed_names(tx, network).await?);
    Ok(kinds.iter().any(|kind| wanted.contains(kind.name())))
}
