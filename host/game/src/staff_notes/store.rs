//! All SQL of notes.

use hub_db::{Db, Error, Tx};

use crate::auth::Actor;
use crate::clock::Millis;
use crate::limits::Rows;
use crate::staff_notes::STAFF_NOTES;
use crate::values::{NetworkId, PlayerId};

/// All notes of a network.
pub(super) const ROWS: Rows = Rows::many(
    STAFF_NOTES,
    "SELECT COUNT(*) FROM (SELECT note_id FROM staff_notes WHERE network_id = $1 LIMIT $2) AS counted",
);

/// A note.
#[derive(Clone, Debug)]
pub(super) struct StaffNote {
    pub(super) note_id: String,
    pub(super) text: String,
    pub(super) pinned: bool,
    pub(super) at: Millis,
    /// None if its author is unknown to this hub.
    pub(super) actor: Option<Actor>,
}

#[derive(sqlx::FromRow)]
struct Row {
    note_id: String,
    text: String,
    pinned: bool,
    at: Millis,
    actor: String,
}

impl From<Row> for StaffNote {
    fn from(row: Row) -> Self {
        let Row { note_id, text, pinned, at, actor } = row;
        Self { note_id, text, pinned, at, actor: serde_json::from_str(&actor).ok() }
    }
}

/// Number of notes about a player.
pub(super) async fn count_of(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<i64, Error> {
    let (count,): (i64,) = tx
        .query("SELECT COUNT(*) FROM staff_notes WHERE network_id = $1 AND player_uuid = $2")
        .bind(network)
        .bind(player)
        .one()
        .await?;
    Ok(count)
}

pub(super) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    note: &StaffNote,
    actor: &str,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO staff_notes (network_id, player_uuid, note_id, text, pinned, at, actor)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(network)
    .bind(player)
    .bind(&note.note_id)
    .bind(&note.text)
    .bind(note.pinned)
    .bind(note.at)
    .bind(actor)
    .execute()
    .await?;
    Ok(())
}

/// Pinned ones first, then the newest, and their number.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    (limit, offset): (i64, i64),
) -> Result<(Vec<StaffNote>, i64), Error> {
    let (rows, total): (Vec<Row>, i64) = db
        .page(
            "SELECT COUNT(*) FROM staff_notes WHERE network_id = $1 AND player_uuid = $2",
            "SELECT note_id, text, pinned, at, actor FROM staff_notes WHERE network_id = $1 AND player_uuid = $2
             ORDER BY pinned DESC, at DESC, note_id DESC LIMIT $3 OFFSET $4",
            |statement| statement.bind(network).bind(player),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(StaffNote::from).collect(), total))
}

/// Deletes a note and returns it; none if there is none.
pub(super) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    id: &str,
) -> Result<Option<StaffNote>, Error> {
    let row: Option<Row> = tx
        .query(
            "DELETE FROM staff_notes WHERE network_id = $1 AND player_uuid = $2 AND note_id = $3
             RETURNING note_id, text, pinned, at, actor",
        )
        .bind(network)
        .bind(player)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(StaffNote::from))
}
