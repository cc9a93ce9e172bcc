//! Checks of the database and of the hub's state in it.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use hub_db::{Backend, Db};

use crate::audit;
use crate::cluster;
use crate::config::Settings;
use crate::data_folder;
use crate::doctor::{Check, TIME_LIMIT, store};
use crate::networks;
use crate::timekeeping;
use crate::values::NetworkId;

/// Maximum difference between the clocks of machine and database, in milliseconds.
const MAX_DRIFT: i64 = 1_000;
/// A node that was silent for longer is stale, in milliseconds.
const STALE: i64 = 60_000;
/// Breakers that opened within this time are reported, in milliseconds.
const RECENT: i64 = 10 * 60 * 1000;
/// Networks asked at once.
const AT_ONCE: usize = 16;

/// Opens the database if possible.
pub(super) async fn connect(settings: &Settings) -> (Check, Option<Db>) {
    let name = "database";
    if let Err(error) = data_folder::require_hub(settings) {
        return (Check::failed(name, error.to_string(), "start the hub once, or set --data or --database"), None);
    }
    let advice = match settings.database {
        Some(_) => "check that PostgreSQL runs and is reachable, and check --database (HUB_DATABASE)",
        None => "check the disk; if the file is damaged, restore the latest backup",
    };
    let config = settings.database();
    match tokio::time::timeout(TIME_LIMIT, Db::connect(&config)).await {
        Ok(Ok(db)) => match db.ping().await {
            Ok(()) => (Check::ok(name, "the database answers"), Some(db)),
            Err(error) => (Check::failed(name, error.to_string(), advice), None),
        },
        Ok(Err(error)) => (Check::failed(name, error.to_string(), advice), None),
        Err(_) => (Check::failed(name, "no answer in time", advice), None),
    }
}

/// Checks that the schema is this version's.
pub(super) async fn migrations(db: &Db) -> Check {
    let name = "migrations";
    let ours = hub_db::schema_version();
    match store::schema_version(db).await {
        Ok(version) if version == ours => Check::ok(name, format!("schema up to date ({ours})")),
        Ok(version) if version < ours => Check::failed(
            name,
            format!("schema of an older version ({version}, this version has {ours})"),
            "make a backup, then start this version of the hub to migrate the schema",
        ),
        Ok(version) => Check::failed(
            name,
            format!("schema of a newer version ({version}, this version has {ours})"),
            "use the doctor of the running version and update older nodes",
        ),
        Err(error) => Check::failed(name, error.to_string(), "start the hub once on this database"),
    }
}

/// Compares the clocks of machine and database.
pub(super) async fn clock(db: &Db) -> Check {
    let name = "database-clock";
    if db.backend() == Backend::Sqlite {
        return Check::skipped(name, "SQLite has no clock of its own");
    }
    match timekeeping::clock_offset(db).await {
        Ok(offset) if offset.abs() > MAX_DRIFT => Check::failed(
            name,
            format!("this machine's clock differs from the database's by {offset} ms"),
            "synchronize the clocks of both machines with NTP; nodes with a wrong clock cannot own networks",
        ),
        Ok(offset) => Check::ok(name, format!("this machine's clock differs from the database's by {offset} ms")),
        Err(error) => Check::failed(name, error.to_string(), "check the database's log"),
    }
}

/// Checks for an unfinished restore.
pub(super) async fn restore(db: &Db) -> Check {
    match crate::archive::backup::refuse_incomplete(db).await {
        Ok(()) => Check::ok("restore", "no unfinished restore"),
        Err(error) => Check::failed("restore", error.to_string(), "run `hub admin restore` again with the same file"),
    }
}

/// Checks that all known nodes send heartbeats.
pub(super) async fn nodes(db: &Db) -> Check {
    let name = "nodes";
    let nodes = match cluster::silent_nodes(db).await {
        Ok(nodes) => nodes,
        Err(error) => return Check::failed(name, error.to_string(), "check the database's log"),
    };
    let stale: Vec<_> = nodes.iter().filter(|(_, silent)| *silent > STALE).collect();
    if stale.is_empty() {
        return Check::ok(name, format!("{} nodes of the cluster are alive", nodes.len()));
    }
    let shown = stale.iter().map(|(url, silent)| format!("{url} for {} s", silent / 1000)).collect::<Vec<_>>();
    Check::failed(
        name,
        format!("silent: {}", shown.join(", ")),
        "start the node or check its log; a removed node disappears after a while",
    )
}

/// Checks for module breakers that opened recently.
pub(super) async fn breakers(db: &Db) -> Check {
    let name = "breakers";
    let advice = "check the module's log (`hub module logs`) and roll back its chain (`hub module rollback`)";
    let opened = async {
        let since = crate::clock::Clock::System.now().saturating_sub(RECENT);
        let networks = networks::service::network_ids(db).await?;
        let of_network = async |network: NetworkId| {
            let opened = audit::service::breakers_opened_since(db, network, since).await?;
            Ok::<_, hub_db::Error>(
                opened.into_iter().map(|target| format!("{target} of {network}")).collect::<Vec<_>>(),
            )
        };
        let opened: Vec<_> = stream::iter(networks).map(of_network).buffered(AT_ONCE).try_collect().await?;
        Ok::<_, hub_db::Error>(opened.concat())
    };
    match opened.await {
        Ok(opened) if opened.is_empty() => Check::ok(name, "no module breaker opened in the last ten minutes"),
        Ok(opened) => Check::failed(name, format!("opened in the last ten minutes: {}", opened.join(", ")), advice),
        Err(error) => Check::failed(name, error.to_string(), "check the database's log"),
    }
}
