//! Balances in the databases of plugins.
//!
//! PlayerPoints: `playerpoints_points` with `uuid` and `points`, as `database/migrations/_1_Create_Tables.java` of
//! `Rosewood-Development/PlayerPoints` creates it. XConomy: `xconomy` with `UID`, `player` and `balance`, as
//! `data/sql/SQL.java` of `YiC200333/XConomy` does; accounts of no player are in another table.

use super::balance;
use super::number;
use crate::imports::database::{Read, Row, Skip, TableSpec, Wanted, read_tables};
use crate::imports::findings::NumberFormat;
use crate::imports::model::ImportOptions;
use crate::imports::record::{Category, ParseError, Sink};
use crate::imports::source::SourceFile;

const POINTS: [TableSpec; 1] =
    [TableSpec { name: "points", required: &["uuid", "points"], optional: &["id"], category: Category::Balances }];
const XCONOMY: [TableSpec; 1] =
    [TableSpec { name: "", required: &["uid", "balance"], optional: &["player"], category: Category::Balances }];

/// Reads the database of PlayerPoints.
pub(in crate::imports) fn read_player_points(
    file: &SourceFile,
    options: &ImportOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let wanted = Wanted { tool: "PlayerPoints", prefix: &options.prefix, tables: &POINTS };
    read_tables(file, &wanted, sink, |_, row| read_row(row, "uuid", "points"))
}

/// Reads the database of XConomy, whose table is named by the prefix alone.
pub(in crate::imports) fn read_xconomy(
    file: &SourceFile,
    options: &ImportOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let wanted = Wanted { tool: "XConomy", prefix: &options.prefix, tables: &XCONOMY };
    read_tables(file, &wanted, sink, |_, row| read_row(row, "uid", "balance"))
}

fn read_row(row: &Row<'_>, player: &str, amount: &str) -> Read {
    let Some(id) = row.player(player, &[])? else {
        return Err(Skip::Unreadable(format!("`{player}` is empty.")));
    };
    let text = row.text(amount)?.unwrap_or_default();
    let (amount, is_cut) = number::parse(&text, NumberFormat::Unknown).amount?;
    let item = balance(row.line, format!("player {id}"), id, amount, is_cut);
    Ok((item.record, item.notes))
}
