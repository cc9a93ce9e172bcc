//! Proof that the parts of a hub belong together.
//!
//! A random cluster id is made with the schema. It is in the names of everything that the hub has on the bus, and in
//! the blob store, so that two hubs on one NATS do not hear each other, and a blob store of another hub is noticed. A
//! restored backup gets another id unless the operator says otherwise.
//!
//! A node without `--bus` is alone: on PostgreSQL it holds a lease, so that no second one serves the same database from
//! a memory of its own. Nodes with `--bus` call the roll: see [`crate::cluster`].
//! Table: `hub_identity`.

mod store;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hub_db::{Backend, Db, Error};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::background::every;
use crate::clock::{Clock, millis};
use crate::component::{Component, TableRule};
use crate::config::Settings;
use crate::fault::{Fault, FaultKind};
use crate::ids::Ids;

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
    node: String,
    /// False for nodes of a cluster, on SQLite, and with a test's clock.
    is_alone: bool,
    /// True once another process holds the lease, or the database is another hub's.
    is_lost: AtomicBool,
}

impl Identity {
    /// Joins the hub of this database. Fails if another process serves it alone, or this one would.
    pub async fn join(settings: &Settings, clock: &Clock, ids: &Ids, db: &Db) -> anyhow::Result<Self> {
        let cluster = store::id(db, &new_id(ids)).await?;
        let node = ids.token(10);
        let is_shared = db.backend() == Backend::Postgres && !matches!(clock, Clock::Manual(_));
        let is_alone = is_shared && settings.bus.is_none();
        let identity = Self { cluster, node, is_alone, is_lost: AtomicBool::new(false) };
        if is_shared {
            identity.wait_for_others(db).await?;
        }
        Ok(identity)
    }

    /// A lease of a process that died ends meanwhile.
    async fn wait_for_others(&self, db: &Db) -> anyhow::Result<()> {
        let deadline = Instant::now() + LEASE + RENEW_INTERVAL;
        loop {
            let other = match self.is_alone {
                true if store::claim(db, &self.node, millis(LEASE)).await? => return Ok(()),
                true => "another hub serves this database",
                false if store::is_free(db).await? => return Ok(()),
                false => "a hub without --bus serves this database",
            };
            anyhow::ensure!(
                Instant::now() < deadline,
                "{other}; stop it first, or give all of them the same --bus (HUB_BUS)"
            );
            sleep(RETRY_INTERVAL).await;
        }
    }

    /// The fault, once this process should not serve the database.
    pub fn fault(&self) -> Option<Fault> {
        let message = "Another hub serves this database; stop one of them.";
        self.is_lost.load(Ordering::Relaxed).then(|| Fault::disabling(FaultKind::Cluster, message))
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

/// Starts renewing the lease.
fn start(app: &App) {
    if app.state::<Identity>().is_alone {
        every(app, RENEW_INTERVAL, "renew the lease of the only node", async |app: App| renew(&app).await);
    }
}

async fn renew(app: &App) -> Result<(), Error> {
    let identity = app.state::<Identity>();
    let is_held = store::claim(&app.db, &identity.node, millis(LEASE)).await?;
    if identity.is_lost.swap(!is_held, Ordering::Relaxed) == is_held && !is_held {
        tracing::error!("another hub serves this database; stop one of them");
    }
    Ok(())
}

async fn release(app: &App) {
    let identity = app.state::<Identity>();
    if identity.is_alone
        && let Err(error) = store::release(&app.db, &identity.node).await
    {
        tracing::warn!(%error, "could not release the lease of the only node; it ends by itself");
    }
}
