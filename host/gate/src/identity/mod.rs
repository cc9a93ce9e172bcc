//! Proof that the parts of a hub belong together.
//!
//! A random cluster id is made with the schema. It is in the names of everything that the hub has on the bus, and in
//! the blob store, so that two hubs on one NATS do not hear each other, and a blob store of another hub is noticed. A
//! restored backup gets another id unless the operator says otherwise.
//!
//! A node without `--bus` is alone: on PostgreSQL it holds a lease, so that no second one serves the same database from
//! a memory of its own. Nodes with `--bus` call the roll: see [`crate::cluster`].
//! Table: `hub_identity`.

mod sole;
mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hub_db::{Backend, Db, Error};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::background::every;
use crate::clock::{Clock, Uptime, millis};
use crate::component::{Component, TableRule};
use crate::config::Settings;
use crate::fault::{Fault, FaultKind};
use crate::ids::Ids;

pub use sole::SoleLease;
pub use store::{find_id, has_blob_mark, probe_write, set_blob_mark};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "proves that database, bus and blob store belong together",
    tables: &[TableRule::hub("hub_identity")],
    background: start,
    stop: |app| Box::pin(release(app)),
    ..Component::new(module_path!())
};

/// Duration of the lease of a node that is alone.
const LEASE: Duration = Duration::from_secs(4);
const RENEW_INTERVAL: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// This process in its hub.
#[derive(Debug)]
pub struct Identity {
    /// The same for all nodes of the hub.
    pub cluster: String,
    /// Name of this process.
    pub(crate) node: String,
    /// False on SQLite, and with a test's clock.
    is_shared: bool,
    /// Lease of the only node of a shared database.
    pub(crate) sole: Option<Arc<SoleLease>>,
    /// True while another hub's database is in the place of this one's.
    is_foreign: AtomicBool,
}

impl Identity {
    /// Joins the hub of this database. Fails if another process serves it alone, or this one would.
    pub async fn join(settings: &Settings, clock: &Clock, ids: &Ids, db: &Db) -> anyhow::Result<Self> {
        let cluster = store::id(db, &new_id(ids)).await?;
        let node = ids.token(10);
        let is_shared = db.backend() == Backend::Postgres && !matches!(clock, Clock::Manual(_));
        let is_alone = is_shared && settings.bus.is_none();
        let sole = if is_shared { wait_for_others(db, &node, is_alone).await? } else { None };
        Ok(Self { cluster, node, is_shared, sole: sole.map(Arc::new), is_foreign: AtomicBool::new(false) })
    }

    /// The fault, once this process should not serve the database.
    pub fn fault(&self) -> Option<Fault> {
        let message = if self.is_foreign.load(Ordering::Relaxed) {
            "The database is another hub's now; see --database."
        } else if self.sole.as_ref().is_some_and(|sole| sole.is_lost()) {
            "Another hub serves this database; this one ends."
        } else {
            return None;
        };
        Some(Fault::disabling(FaultKind::Cluster, message))
    }
}

/// Waits until nobody serves the database against this node's options. A lease of a process that died ends meanwhile.
async fn wait_for_others(db: &Db, node: &str, is_alone: bool) -> anyhow::Result<Option<SoleLease>> {
    let deadline = Instant::now() + LEASE + RENEW_INTERVAL;
    loop {
        let asked_at = Uptime::now();
        let other = match is_alone {
            true if store::claim(db, node, millis(LEASE)).await? => return Ok(Some(SoleLease::new(asked_at, LEASE))),
            true => "another hub serves this database",
            false if store::is_free(db, millis(LEASE)).await? => return Ok(None),
            false => "a hub without --bus serves this database",
        };
        anyhow::ensure!(
            Instant::now() < deadline,
            "{other}; stop it first, or give all of them the same --bus (HUB_BUS)"
        );
        sleep(RETRY_INTERVAL).await;
    }
}

fn new_id(ids: &Ids) -> String {
    format!("{:016x}", ids.seed())
}

/// Makes a copied database a hub of its own. Returns its id.
pub async fn separate(db: &Db, ids: &Ids) -> Result<String, Error> {
    let id = new_id(ids);
    store::set_id(db, &id).await?;
    Ok(id)
}

/// Prepares a restored database for its first start: as a hub of its own, or in the place of the one that was backed up.
pub async fn restored(db: &Db, ids: &Ids, is_same: bool) -> Result<(), Error> {
    let id = store::id(db, &new_id(ids)).await?;
    store::set_id(db, &if is_same { id } else { new_id(ids) }).await?;
    // Streams were told more than the backup has.
    db.begin_epoch(db.epoch_number().await?).await
}

/// Starts renewing the lease and comparing the id.
fn start(app: &App) {
    let identity = app.state::<Identity>();
    if identity.sole.is_some() {
        every(app, RENEW_INTERVAL, "renew the lease of the only node", async |app: App| renew(&app).await);
    }
    if identity.is_shared {
        every(app, RENEW_INTERVAL, "compare the id of the database", async |app: App| compare(&app).await);
    }
}

async fn compare(app: &App) -> Result<(), Error> {
    let identity = app.state::<Identity>();
    let is_foreign = find_id(&app.db).await?.is_some_and(|id| id != identity.cluster);
    if is_foreign && !identity.is_foreign.swap(is_foreign, Ordering::Relaxed) {
        tracing::error!("the database is another hub's now");
    }
    identity.is_foreign.store(is_foreign, Ordering::Relaxed);
    Ok(())
}

async fn renew(app: &App) -> Result<(), Error> {
    let identity = app.state::<Identity>();
    let Some(sole) = &identity.sole else { return Ok(()) };
    let asked_at = Uptime::now();
    let claimed = store::claim(&app.db, &identity.node, millis(LEASE)).await;
    if sole.record(claimed.as_ref().ok().copied(), asked_at, LEASE) {
        tracing::error!("another hub serves this database; this one ends");
        app.stop_listening();
        app.bus.close();
        app.begin_stop();
    }
    claimed.map(drop)
}

async fn release(app: &App) {
    let identity = app.state::<Identity>();
    if identity.sole.is_some()
        && let Err(error) = store::release(&app.db, &identity.node).await
    {
        tracing::warn!(%error, "could not release the lease of the only node; it ends by itself");
    }
}
