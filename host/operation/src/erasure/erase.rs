//! Erases a player, table by table.

use std::time::Duration;

use hub_db::{Backend, Cell, Db};
use tokio::time::Instant;
use uuid::Uuid;

use crate::blobs::Blobs;
use crate::clock::{Clock, Millis};
use crate::component::{NetworkTable, Players, Tables};
use crate::compute::compute;
use crate::erasure::rules::{Change, Finding, examine};
use crate::erasure::service::RECENT;
use crate::erasure::store;
use crate::erasure::subject::Subject;
use crate::values::{NetworkId, PlayerId};
use crate::{cluster, modules, play_time, worlds};

/// Rows read at a time: a document has up to 256 KiB, and a network may erase several players concurrently.
pub(super) const BATCH: usize = 32;
/// Least time for hubs to read the player's data, including names, before it is deleted: one that is alone tells nobody
/// when it has.
const OTHER_HUBS: Duration = Duration::from_secs(3);
/// Maximum time for the nodes of a cluster.
const OTHER_NODES: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Erases players.
pub struct Eraser<'a> {
    pub db: &'a Db,
    pub module_store: &'a Db,
    pub blobs: &'a Blobs,
    pub clock: &'a Clock,
    pub tables: &'a Tables,
    /// True if hubs may have data of the player in memory.
    pub has_other_nodes: bool,
}

/// Erasure in progress.
struct Erasure<'a> {
    eraser: &'a Eraser<'a>,
    network: NetworkId,
    subject: Subject,
    /// UUID that replaces the player's in rows that stay.
    replacement: Uuid,
}

/// Database of a table.
pub(super) fn database<'d>(table: &NetworkTable, db: &'d Db, module_store: &'d Db) -> &'d Db {
    if table.rule.is_in_module_store && db.backend() == Backend::Sqlite { module_store } else { db }
}

/// Tables that may contain a player's data, identifying tables last.
pub(super) fn tables_of_players(tables: &Tables) -> impl Iterator<Item = &NetworkTable> {
    let with = |players| tables.of_networks().iter().filter(move |table| table.rule.players == players);
    with(Players::Searched).chain(with(Players::Identified))
}

impl Eraser<'_> {
    /// Deletes all data of a recorded player; `replacement` replaces the player's UUID in rows that stay.
    pub(super) async fn run(
        &self,
        network: NetworkId,
        player: PlayerId,
        replacement: Uuid,
    ) -> Result<(), hub_db::Error> {
        // The record is deleted with the network.
        let Some(recorded) = store::find(self.db, network, player).await? else { return Ok(()) };
        play_time::service::count_player(self.db, network, player, self.clock.now()).await?;
        let began = Instant::now();
        let subject = store::subject(self.db, network, player).await?;
        let erasure = Erasure { eraser: self, network, subject, replacement };
        let mut has_waited = !self.has_other_nodes;
        for table in tables_of_players(self.tables) {
            if !has_waited && table.rule.players == Players::Identified {
                self.wait_for_others(began, recorded.forgotten_at).await?;
                has_waited = true;
            }
            erasure.table(table).await?;
        }
        if store::finish(self.db, &recorded, self.clock.now()).await? {
            tracing::info!(%network, "forgot a player");
        }
        Ok(())
    }
}

impl Eraser<'_> {
    /// Waits until no other hub needs the names and addresses of a player to remove them from its memory.
    async fn wait_for_others(&self, began: Instant, forgotten_at: Millis) -> Result<(), hub_db::Error> {
        tokio::time::sleep(OTHER_HUBS.saturating_sub(began.elapsed())).await;
        // Of older ones nodes have nothing in memory.
        let is_recent = self.clock.now().saturating_sub(forgotten_at) < RECENT;
        while is_recent && !cluster::have_all_forgotten(self.db, forgotten_at).await? {
            if began.elapsed() > OTHER_NODES {
                tracing::warn!("a node has not removed an erased player from its memory in time");
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }
}

impl Erasure<'_> {
    async fn table(&self, table: &NetworkTable) -> Result<(), hub_db::Error> {
        let db = database(table, self.eraser.db, self.eraser.module_store);
        let mut after: Option<Vec<Cell>> = None;
        loop {
            let began = Instant::now();
            let rows = db.rows_after(table, self.network.0, after.as_deref(), BATCH).await?;
            let related = |row: &&Vec<Cell>| self.examine(table, row) != Finding::Unrelated;
            let related: Vec<_> = compute(|| rows.iter().filter(related).collect()).await;
            for row in related {
                self.change(db, table, row).await?;
            }
            if rows.len() < BATCH {
                return Ok(());
            }
            after = rows.last().map(|row| table.key_of(row).to_vec());
            // Pauses as long as this took, so that other work gets half of the time.
            tokio::time::sleep(began.elapsed()).await;
        }
    }

    fn examine(&self, table: &NetworkTable, row: &[Cell]) -> Finding {
        examine(table, row, &self.subject, self.replacement, self.eraser.clock.now())
    }

    async fn change(&self, db: &Db, table: &NetworkTable, row: &[Cell]) -> Result<(), hub_db::Error> {
        let key = table.key_of(row);
        if let ("worlds", Some(Cell::Integer(world))) = (table.name, key.first()) {
            return worlds::service::forget_world(self.eraser.db, self.eraser.blobs, self.network, *world).await;
        }
        db.transaction(async |mut tx| {
            // It may have changed since it was read.
            let Some(row) = tx.lock_row(table, self.network.0, key).await? else { return Ok(()) };
            match self.examine(table, &row) {
                Finding::Unrelated => {}
                Finding::Own(Change::Delete) | Finding::Mention(Change::Delete) => {
                    tx.delete_row(table, self.network.0, key).await?;
                    if let ("module_store", [Cell::Text(module), ..]) = (table.name, &*row) {
                        modules::service::recount_store(&mut tx, self.network, module).await?;
                    }
                    if let ("module_state", [Cell::Text(module), ..]) = (table.name, &*row) {
                        modules::service::recount_state(&mut tx, self.network, module).await?;
                    }
                }
                Finding::Own(Change::Update(changed)) | Finding::Mention(Change::Update(changed)) => {
                    tx.update_row(table, self.network.0, &row, &changed).await?;
                }
            }
            Ok(())
        })
        .await
    }
}
