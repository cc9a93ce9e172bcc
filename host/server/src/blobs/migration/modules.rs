//! Modules in the database: in chunks, or, of a still older hub, in one large row.

use futures_util::stream;

use super::{KEPT_FOR, copy, finish_move, store};
use crate::app::App;
use crate::blobs::BlobError;
use crate::clock::millis;

pub(super) async fn run(app: &App) -> Result<(), BlobError> {
    let abandoned = app.clock.now().saturating_sub(millis(KEPT_FOR));
    for found in store::modules(&app.db).await? {
        let Some(item) = found.item() else { continue };
        if store::is_moved(&app.db, &item).await? {
            continue;
        }
        match item.key(app).await? {
            Some((key, Some(sha256))) => {
                let (network, version) = (found.network_id, found.version);
                let bytes = store::read_module(&app.db, network, &found.name, version, item.kind).await?;
                if let Some(copied) = copy(app, stream::iter([Ok(bytes.into())]), &sha256).await? {
                    finish_move(app, &item, &key, copied).await?;
                }
            }
            // Chunks of an upload that never became a version.
            _ if found.created_at < abandoned => {
                store::delete_chunks(&app.db, found.network_id, &found.name, found.version, item.kind).await?;
            }
            _ => {}
        }
    }
    Ok(())
}
