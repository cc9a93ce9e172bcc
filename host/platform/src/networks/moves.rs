//! Moves of networks to another hub, by `hub admin network move`.
//!
//! Two databases have no transaction in common. So the network is frozen here first, arrives suspended there, and *leaves* by
//! one change of a row that a cancelled move no longer has; only then may it *arrive*. At each moment at most one hub
//! serves it, and a command that was killed is run again or cancelled.

use hub_db::Db;
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::auth::moves::{ARRIVING, LEAVING, LEFT};
use crate::networks::admin_store;
use crate::networks::moves_store as store;
pub use crate::networks::moves_store::MoveRow;
use crate::networks::service::NetworksError;
use crate::values::NetworkId;

const ID_LENGTH: usize = 24;

/// Freezes a network: its requests are refused until it is served elsewhere, or the move is cancelled. A move that was
/// begun before is taken over; that of a network which has left is returned as it is.
pub async fn begin(db: &Db, origin: &Origin, network: NetworkId, url: &str) -> Result<MoveRow, NetworksError> {
    let move_id = origin.ids.token(ID_LENGTH);
    db.transaction(async |mut tx| {
        admin_store::lock(&mut tx, network).await?;
        let row = admin_store::find(&mut tx, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
        if row.delete_at.is_some() {
            return Err(NetworksError::BeingDeleted(network));
        }
        let before = store::find(&mut tx, network).await?;
        let resumes = match before {
            Some(row) if row.state == LEFT => return Ok(row),
            Some(row) if row.state == ARRIVING => return Err(NetworksError::Moving(network)),
            Some(row) => row.resumes,
            None => !row.suspended,
        };
        let state = LEAVING.to_owned();
        let row = MoveRow { move_id: move_id.clone(), state, url: url.to_owned(), resumes };
        store::put(&mut tx, network, &row, origin.clock.now()).await?;
        admin_store::update(&mut tx, network, None, None, Some(true)).await?;
        Ok(row)
    })
    .await
}

/// Ends the time of a network at this hub, from which on it is only forwarded. False if the move was cancelled or taken over.
pub async fn leave(db: &Db, origin: &Origin, network: NetworkId, of: &MoveRow) -> Result<bool, NetworksError> {
    db.transaction(async |mut tx| {
        if !store::leave(&mut tx, network, &of.move_id).await? {
            return Ok(false);
        }
        let change = Change::new(Action::NetworkChanged, network).after(json!({"movedTo": of.url}));
        audit::record(&mut tx, network, origin, change).await?;
        Ok(true)
    })
    .await
}

/// Forwards a network that has left, and that `of` brought to the other hub, to another address of that hub.
pub async fn readdress(db: &Db, origin: &Origin, network: NetworkId, of: &MoveRow) -> Result<(), NetworksError> {
    db.transaction(async |mut tx| {
        let row = store::find(&mut tx, network).await?;
        let row = row.filter(|row| row.state == LEFT && row.move_id == of.move_id);
        let row = row.ok_or(NetworksError::Moving(network))?;
        if row.url == of.url {
            return Ok(());
        }
        store::put(&mut tx, network, of, origin.clock.now()).await?;
        let change = Change::new(Action::NetworkChanged, network).before(json!({"movedTo": row.url}));
        audit::record(&mut tx, network, origin, change.after(json!({"movedTo": of.url}))).await?;
        Ok(())
    })
    .await
}

/// The move of a network, from this hub or to it.
pub async fn find(db: &Db, network: NetworkId) -> Result<Option<MoveRow>, NetworksError> {
    Ok(db.transaction(async |mut tx| store::find(&mut tx, network).await).await?)
}

/// Serves a frozen network here again, and returns the move. None if it does not leave, or has left. `of` is one move,
/// none any.
pub async fn cancel(db: &Db, network: NetworkId, of: Option<&str>) -> Result<Option<MoveRow>, NetworksError> {
    db.transaction(async |mut tx| {
        admin_store::lock(&mut tx, network).await?;
        let row = store::find(&mut tx, network).await?;
        let row = row.filter(|row| row.state == LEAVING && of.is_none_or(|of| of == row.move_id));
        let Some(row) = row else { return Ok(None) };
        store::delete(&mut tx, network).await?;
        admin_store::update(&mut tx, network, None, None, Some(!row.resumes)).await?;
        Ok(Some(row))
    })
    .await
}

/// Fails if the network cannot arrive here: it is here already, and not as what a move has left.
pub async fn check_arrival(db: &Db, network: NetworkId) -> Result<(), NetworksError> {
    db.transaction(async |mut tx| {
        let is_left_over = store::find(&mut tx, network).await?.is_some_and(|row| row.state != LEAVING);
        let is_here = admin_store::find(&mut tx, network).await?.is_some();
        if store::is_deleted_soon(&mut tx, network).await? {
            return Err(NetworksError::BeingDeleted(network));
        }
        if is_here && !is_left_over { Err(NetworksError::Exists(network)) } else { Ok(()) }
    })
    .await
}

/// Prepares the arrival of a network: its requests are no longer forwarded from here, and not yet served. Returns the move
/// that was here before.
pub async fn expect(
    db: &Db,
    origin: &Origin,
    network: NetworkId,
    of: &MoveRow,
) -> Result<Option<MoveRow>, NetworksError> {
    check_arrival(db, network).await?;
    db.transaction(async |mut tx| {
        let before = store::find(&mut tx, network).await?;
        // It would delete what has arrived.
        if store::is_deleted_soon(&mut tx, network).await? {
            return Err(NetworksError::BeingDeleted(network));
        }
        let row = MoveRow { state: ARRIVING.to_owned(), ..of.clone() };
        store::put(&mut tx, network, &row, origin.clock.now()).await?;
        Ok(before)
    })
    .await
}

/// Ends an arrival that failed at a hub which knew the network before. It is forwarded as before if its keys are here, and
/// otherwise stays expected: its keys would be unknown.
pub async fn reinstate(
    db: &Db,
    origin: &Origin,
    network: NetworkId,
    of: &MoveRow,
    before: &MoveRow,
) -> Result<(), NetworksError> {
    db.transaction(async |mut tx| {
        let row = store::find(&mut tx, network).await?;
        let is_this = row.is_some_and(|row| row.state == ARRIVING && row.move_id == of.move_id);
        if is_this && before.state == LEFT && admin_store::find(&mut tx, network).await?.is_some() {
            store::put(&mut tx, network, before, origin.clock.now()).await?;
        }
        Ok(())
    })
    .await
}

/// Makes what an earlier move has left here of an expected network no network any more; an import replaces it. Only once
/// all nodes know that it is expected: its keys become unknown. False if another move has it.
pub async fn clear(db: &Db, network: NetworkId, of: &MoveRow) -> Result<bool, NetworksError> {
    db.transaction(async |mut tx| {
        let row = store::find(&mut tx, network).await?;
        if row.is_none_or(|row| row.state != ARRIVING || row.move_id != of.move_id) {
            return Ok(false);
        }
        store::unpublish(&mut tx, network).await?;
        Ok(true)
    })
    .await
}

/// Removes what has arrived of a network by a move that failed, up to its rows. False if another move has it.
pub async fn unexpect(db: &Db, network: NetworkId, of: &str) -> Result<bool, NetworksError> {
    db.transaction(async |mut tx| {
        let row = store::find(&mut tx, network).await?;
        if row.is_none_or(|row| row.state != ARRIVING || row.move_id != of) {
            return Ok(false);
        }
        store::unpublish(&mut tx, network).await?;
        store::delete(&mut tx, network).await?;
        Ok(true)
    })
    .await
}

/// Serves a network here, after it has left the other hub. Does nothing if that was done before.
pub async fn arrive(db: &Db, network: NetworkId, of: &MoveRow) -> Result<(), NetworksError> {
    db.transaction(async |mut tx| {
        let arriving = store::find(&mut tx, network).await?;
        match arriving {
            Some(row) if row.state == ARRIVING && row.move_id == of.move_id => {
                store::delete(&mut tx, network).await?;
                admin_store::update(&mut tx, network, None, None, Some(!of.resumes)).await?;
                Ok(())
            }
            // It may have moved on since.
            None if admin_store::find(&mut tx, network).await?.is_some() => Ok(()),
            _ => Err(NetworksError::Moving(network)),
        }
    })
    .await
}

/// Ends forwarding; the network stays suspended here. Returns where it was forwarded to; none if it has not left.
pub async fn forget(db: &Db, network: NetworkId) -> Result<Option<String>, NetworksError> {
    db.transaction(async |mut tx| {
        let row = store::find(&mut tx, network).await?.filter(|row| row.state == LEFT);
        let Some(row) = row else { return Ok(None) };
        store::delete(&mut tx, network).await?;
        Ok(Some(row.url))
    })
    .await
}
