//! Sizes of rows, added up while they come.

use std::pin::pin;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::{Decode, Row, Sqlite, TypeInfo as _, ValueRef as _, postgres::PgRow, sqlite::SqliteRow};

use crate::Error;

/// Size of a value that is no text.
const NUMBER: usize = 8;

/// Rows of a statement, whose bytes are `most` at most. Further ones are read and not kept, so that the connection can
/// be used again.
pub(crate) async fn collect<R>(
    rows: impl Stream<Item = sqlx::Result<R>>,
    most: u64,
    size: impl Fn(&R) -> usize,
) -> Result<Vec<R>, Error> {
    let (mut rows, mut kept, mut bytes) = (pin!(rows), Vec::new(), 0_u64);
    while let Some(row) = rows.try_next().await? {
        bytes = bytes.saturating_add(size(&row) as u64);
        if bytes <= most {
            kept.push(row);
        } else {
            kept = Vec::new();
        }
    }
    if bytes <= most { Ok(kept) } else { Err(Error::TooLarge(most)) }
}

pub(crate) fn sqlite(row: &SqliteRow) -> usize {
    let values = (0..row.len()).filter_map(|at| row.try_get_raw(at).ok());
    let sizes = values.map(|value| {
        // SQLite would turn a number into a text.
        let is_text = matches!(value.type_info().name(), "TEXT" | "BLOB");
        if is_text { <&[u8] as Decode<Sqlite>>::decode(value).map_or(0, <[u8]>::len) } else { NUMBER }
    });
    sizes.sum()
}

pub(crate) fn postgres(row: &PgRow) -> usize {
    let values = (0..row.len()).filter_map(|at| row.try_get_raw(at).ok());
    values.map(|value| if value.is_null() { 0 } else { value.as_bytes().map_or(0, <[u8]>::len) }).sum()
}
