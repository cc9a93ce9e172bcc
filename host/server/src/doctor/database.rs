//! Checks of the database, and of what it says about the hub.

use hub_db::{Backend, Db};

use crate::audit;
use crate::cluster;
use crate::config::Settings;
use crate::data_folder;
use crate::doctor::{Check, TIME_LIMIT, store};
use crate::networks;

/// How far the machine's clock may be off the database's, in milliseconds.
const MAX_DRIFT: i64 = 1_000;
/// A node that was silent for longer is stale, in milliseconds.
const STALE: i64 = 60_000;
/// Breakers that opened within this time are reported, in milliseconds.
const RECENT: i64 = 10 * 60 * 1000;

/// Opens the database, if it can be.
pub(super) async fn connect(settings: &Settings) -> (Check, Option<Db>) {
    let name = "database";
    if let Err(error) = data_folder::require_hub(settings) {
        return (Check::failed(name, error.to_string(), "start the hub once, or name its folder or database"), None);
    }
    let advice = match settings.database {
        Some(_) => "start PostgreSQL, let this machine reach it, and correct --database (HUB_DATABASE)",
        None => "restore the newest backup where the file is damaged; check the disk",
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

/// Whether the tables are those of this version.
pub(super) async fn migrations(db: &Db) -> Check {
    let name = "migrations";
    let ours = hub_db::schema_version();
    match store::schema_version(db).await {
        Ok(version) if version == ours => Check::ok(name, format!("the tables are up to date (schema {ours})")),
        Ok(version) if version < ours => Check::failed(
            name,
            format!("the tables are of an older version (schema {version}, this one has {ours})"),
            "back up, then start this version of the hub, which brings them up to date",
        ),
        Ok(version) => Check::failed(
            name,
            format!("a newer version has changed the tables (schema {version}, this one has {ours})"),
            "use the doctor of the version that serves, and update nodes that are older",
        ),
        Err(error) => Check::failed(name, error.to_string(), "start the hub once on this database"),
    }
}

/// Whether the machine's clock agrees with the database's.
pub(super) async fn clock(db: &Db) -> Check {
    let name = "database-clock";
    if db.backend() == Backend::Sqlite {
        return Check::skipped(name, "SQLite has no clock of its own");
    }
    match cluster::clock_offset(db).await {
        Ok(offset) if offset.abs() > MAX_DRIFT => Check::failed(
            name,
            format!("the machine's clock is {offset} ms off the database's"),
            "let NTP set the clocks of this machine and of the database's; nodes that are off own no networks",
        ),
        Ok(offset) => Check::ok(name, format!("the machine's clock is {offset} ms off the database's")),
        Err(error) => Check::failed(name, error.to_string(), "look at the database's log"),
    }
}

/// Whether a restore was left in the middle.
pub(super) async fn restore(db: &Db) -> Check {
    match crate::archive::backup::refuse_incomplete(db).await {
        Ok(()) => Check::ok("restore", "no restore is incomplete"),
        Err(error) => Check::failed("restore", error.to_string(), "run `hub restore` again with the same file"),
    }
}

/// Whether all nodes that are known report themselves.
pub(super) async fn nodes(db: &Db) -> Check {
    let name = "nodes";
    let nodes = match cluster::silent_nodes(db).await {
        Ok(nodes) => nodes,
        Err(error) => return Check::failed(name, error.to_string(), "look at the database's log"),
    };
    let stale: Vec<_> = nodes.iter().filter(|(_, silent)| *silent > STALE).collect();
    if stale.is_empty() {
        return Check::ok(name, format!("{} nodes of a cluster report themselves", nodes.len()));
    }
    let shown = stale.iter().map(|(url, silent)| format!("{url} for {} s", silent / 1000)).collect::<Vec<_>>();
    Check::failed(
        name,
        format!("silent: {}", shown.join(", ")),
        "start the node, or look into its log; one that is gone for good is forgotten after a while",
    )
}

/// Whether breakers of modules opened lately.
pub(super) async fn breakers(db: &Db) -> Check {
    let name = "breakers";
    let advice = "look at the module's log (`hub module logs`), and roll its chain back (`hub module rollback`)";
    let opened = async {
        let mut opened = vec![];
        let since = crate::clock::Clock::System.now().saturating_sub(RECENT);
        for network in networks::service::network_ids(db).await? {
            for target in audit::service::breakers_opened_since(db, network, since).await? {
                opened.push(format!("{target} of {network}"));
            }
        }
        Ok::<_, hub_db::Error>(opened)
    };
    match opened.await {
        Ok(opened) if opened.is_empty() => Check::ok(name, "no breaker of a module opened in the last ten minutes"),
        Ok(opened) => Check::failed(name, format!("opened in the last ten minutes: {}", opened.join(", ")), advice),
        Err(error) => Check::failed(name, error.to_string(), "look at the database's log"),
    }
}
