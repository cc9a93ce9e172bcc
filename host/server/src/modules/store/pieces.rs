//! Bytes that are too many for one row.
//!
//! A database that writes tens of megabytes at once keeps others waiting: SQLite has one writer, which 60 MiB kept for more than a
//! second. So they are written piece by piece, before there is a row that tells of them.

use std::time::Duration;

use bytes::Bytes;
use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::values::NetworkId;

/// Bytes that are stored as a value of `module_code` itself.
const ONE_ROW: usize = 256 * 1024;
/// Bytes of a piece: another network's write that comes just then waits for no more to get to the disk.
const PIECE: usize = 16 * 1024;
/// Between two pieces others have the database and its disk for themselves.
const PAUSE: Duration = Duration::from_millis(2);
/// Pieces that are read, or deleted, at once.
const AT_ONCE: i64 = 64;

/// Pieces of all networks are stored one after the other, each network's in its turn, however many there are at it.
#[derive(Default)]
pub(in crate::modules) struct Turns(tokio::sync::Mutex<()>);

/// Whose version's bytes they are.
#[derive(Clone, Copy)]
pub(in crate::modules) struct Whose<'a> {
    pub(in crate::modules) network: NetworkId,
    pub(in crate::modules) name: &'a str,
    pub(in crate::modules) version: i64,
}

/// Which of a version's bytes they are.
#[derive(Clone, Copy)]
pub(in crate::modules) enum Part {
    Upload,
    Component,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Upload => "UPLOAD",
            Self::Component => "COMPONENT",
        }
    }
}

/// Whether so many bytes are stored in pieces.
pub(in crate::modules) fn needed(bytes: &[u8]) -> bool {
    bytes.len() > ONE_ROW
}

/// What `module_code` itself holds: the bytes, or nothing where they are in pieces.
pub(super) fn value(bytes: &[u8]) -> Vec<u8> {
    if needed(bytes) { Vec::new() } else { bytes.to_vec() }
}

/// Stores bytes that need it in pieces, as long as they are wanted.
pub(in crate::modules) async fn put(
    db: &Db,
    turns: &Turns,
    whose: Whose<'_>,
    part: Part,
    bytes: &Bytes,
    now: Millis,
    wanted: impl Fn() -> bool,
) -> Result<(), Error> {
    if !needed(bytes) {
        return Ok(());
    }
    for (piece, bytes) in (0_i64..).zip(bytes.chunks(PIECE)) {
        let turn = turns.0.lock().await;
        // Not by dropping this: a piece that is on its way would come after its version's were deleted.
        if !wanted() {
            return Ok(());
        }
        // Where it was begun before, that may have been in other pieces.
        db.write(
            "INSERT INTO module_pieces (network_id, name, version, part, piece, created_at, bytes)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (network_id, name, version, part, piece) DO UPDATE SET bytes = excluded.bytes",
        )
        .bind(whose.network)
        .bind(whose.name.to_owned())
        .bind(whose.version)
        .bind(part.as_str().to_owned())
        .bind(piece)
        .bind(now)
        .bind(bytes.to_vec())
        .execute()
        .await?;
        tokio::time::sleep(PAUSE).await;
        drop(turn);
    }
    Ok(())
}

/// The pieces of a part, put together.
pub(super) async fn read(db: &Db, whose: Whose<'_>, part: Part) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for first in (0_i64..).step_by(AT_ONCE as usize) {
        let pieces: Vec<(Vec<u8>,)> = db
            .query(
                "SELECT bytes FROM module_pieces
                 WHERE network_id = $1 AND name = $2 AND version = $3 AND part = $4 AND piece >= $5 AND piece < $6
                 ORDER BY piece",
            )
            .bind(whose.network)
            .bind(whose.name.to_owned())
            .bind(whose.version)
            .bind(part.as_str().to_owned())
            .bind(first)
            .bind(first + AT_ONCE)
            .all()
            .await?;
        let last = pieces.len() < AT_ONCE as usize;
        for (piece,) in &pieces {
            bytes.extend_from_slice(piece);
        }
        if last {
            break;
        }
    }
    Ok(bytes)
}

/// Deletes all pieces of a version.
pub(in crate::modules) async fn delete(db: &Db, whose: Whose<'_>) -> Result<(), Error> {
    for part in [Part::Upload, Part::Component] {
        for first in (0_i64..).step_by(AT_ONCE as usize) {
            let deleted = db
                .write(
                    "DELETE FROM module_pieces
                     WHERE network_id = $1 AND name = $2 AND version = $3 AND part = $4 AND piece >= $5 AND piece < $6",
                )
                .bind(whose.network)
                .bind(whose.name.to_owned())
                .bind(whose.version)
                .bind(part.as_str().to_owned())
                .bind(first)
                .bind(first + AT_ONCE)
                .execute()
                .await?;
            if deleted < AT_ONCE as u64 {
                break;
            }
        }
    }
    Ok(())
}

/// Versions that were begun before then and of which there are only pieces: nobody is at work on them any more.
pub(in crate::modules) async fn left_behind(
    db: &Db,
    network: NetworkId,
    before: Millis,
) -> Result<Vec<(String, i64)>, Error> {
    db.query(
        "SELECT DISTINCT p.name, p.version FROM module_pieces p
         WHERE p.network_id = $1 AND p.piece = 0 AND p.created_at < $2
           AND NOT EXISTS (SELECT 1 FROM modules m
                           WHERE m.network_id = p.network_id AND m.name = p.name AND m.version = p.version)",
    )
    .bind(network)
    .bind(before)
    .all()
    .await
}
