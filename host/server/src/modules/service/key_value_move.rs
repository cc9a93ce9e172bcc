//! Location of the modules' key-value stores, and their move from an older hub's file.

use hub_db::{Backend, Db};

use crate::config::Settings;
use crate::modules::store::key_value_move as store;

/// Rows moved in one transaction.
const BATCH: i64 = 200;

/// Opens the database of the modules' key-value stores: on SQLite a separate file, with the entries that the hub's file
/// held before.
pub(crate) async fn open_store(settings: &Settings, db: &Db) -> Result<Db, hub_db::Error> {
    if db.backend() == Backend::Postgres {
        return Ok(db.clone());
    }
    let own = Db::connect_relaxed(&settings.data.join("module-store.db")).await?;
    move_entries(db, &own).await?;
    Ok(own)
}

/// After any interruption it continues at the next start: nothing is deleted before its copy is on the disk, and no
/// copy overwrites an existing entry.
async fn move_entries(from: &Db, to: &Db) -> Result<(), hub_db::Error> {
    let usage = store::usage(from).await?;
    if usage.is_empty() {
        return Ok(());
    }
    tracing::info!("moving the modules' stores into a separate file");
    to.transaction(async |mut tx| store::insert_usage(&mut tx, &usage).await).await?;
    loop {
        let entries = store::entries(from, BATCH).await?;
        if entries.is_empty() {
            break;
        }
        to.transaction(async |mut tx| store::insert_entries(&mut tx, &entries).await).await?;
        to.flush().await?;
        from.transaction(async |mut tx| store::delete_entries(&mut tx, &entries).await).await?;
    }
    from.transaction(async |mut tx| store::delete_usage(&mut tx).await).await
}
