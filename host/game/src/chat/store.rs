//! All SQL of the chat history.

use hub_db::{Db, Error, Sql, Statement, Tx};
use serde_json::{Value, json};

use crate::chat::line::{ChatLine, ChatVerdict};
use crate::clock::{Cutoff, Millis};
use crate::values::{Identifier, NetworkId, PlayerId};

/// A line to be stored.
#[derive(Clone, Debug)]
pub(super) struct NewLine {
    pub(super) chat_id: i64,
    pub(super) at: Millis,
    pub(super) player: PlayerId,
    pub(super) server: Identifier,
    pub(super) search_text: String,
    pub(super) line: String,
}

impl NewLine {
    /// Approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.server.as_str().len() + self.search_text.len() + self.line.len()
    }
}

/// Id before which lines are older than a time.
pub(super) fn first_id(at: Millis) -> i64 {
    at.saturating_mul(1_000)
}

/// Adds lines, except those whose id another node has used.
pub(super) async fn insert(tx: &mut Tx, network: NetworkId, lines: &[NewLine]) -> Result<(), Error> {
    let row = |line: &NewLine| json!([line.chat_id, line.at, line.player, line.server, line.search_text, line.line]);
    tx.query(Sql {
        sqlite: "INSERT INTO chat_lines (network_id, chat_id, at, player_uuid, server_id, search_text, line)
                 SELECT $1, value ->> 0, value ->> 1, unhex(replace(value ->> 2, '-', '')), value ->> 3, value ->> 4,
                     value ->> 5
                 FROM json_each($2) WHERE true ON CONFLICT (network_id, chat_id) DO NOTHING",
        postgres: "INSERT INTO chat_lines (network_id, chat_id, at, player_uuid, server_id, search_text, line)
                   SELECT $1, CAST(row ->> 0 AS BIGINT), CAST(row ->> 1 AS BIGINT), CAST(row ->> 2 AS UUID), row ->> 3,
                       row ->> 4, row ->> 5
                   FROM jsonb_array_elements(CAST($2 AS JSONB)) AS rows (row)
                   ON CONFLICT (network_id, chat_id) DO NOTHING",
    })
    .bind(network)
    .bind(lines.iter().map(row).collect::<Value>().to_string())
    .execute()
    .await?;
    Ok(())
}

/// Id of the network's newest line.
pub(super) async fn last_id(db: &Db, network: NetworkId) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .query("SELECT chat_id FROM chat_lines WHERE network_id = $1 ORDER BY chat_id DESC LIMIT 1")
        .bind(network)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Requested lines.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) player: Option<PlayerId>,
    pub(super) server: Option<Identifier>,
    /// In lower case.
    pub(super) search: Option<String>,
    /// First id.
    pub(super) from: i64,
    /// Id after the last one.
    pub(super) before: i64,
}

#[derive(sqlx::FromRow)]
struct Row {
    at: Millis,
    line: String,
}

/// Lines of rows; one that this hub cannot read is left out.
fn read(rows: Vec<Row>) -> Vec<ChatLine> {
    let read = |row: Row| match serde_json::from_str::<ChatVerdict>(&row.line) {
        Ok(line) => Some(ChatLine { at: row.at, line }),
        Err(error) => {
            tracing::warn!(%error, "cannot read a chat line");
            None
        }
    };
    rows.into_iter().filter_map(read).collect()
}

/// Statements with a filter.
struct Texts {
    count: Sql,
    newest: Sql,
    oldest: Sql,
}

macro_rules! count {
    ($filter:literal) => {
        // Lines beyond are reached by `before`.
        concat!(
            "SELECT COUNT(*) FROM (SELECT chat_id FROM chat_lines
             WHERE network_id = $1 AND chat_id >= $2 AND chat_id < $3",
            $filter,
            " LIMIT 100000) AS counted"
        )
    };
}

macro_rules! lines {
    ($filter:literal, $order:literal, $page:literal) => {
        concat!(
            "SELECT at, line FROM chat_lines WHERE network_id = $1 AND chat_id >= $2 AND chat_id < $3",
            $filter,
            " ORDER BY chat_id ",
            $order,
            $page
        )
    };
}

macro_rules! texts {
    ($sqlite:literal, $postgres:literal, $page:literal) => {
        Texts {
            count: Sql { sqlite: count!($sqlite), postgres: count!($postgres) },
            newest: Sql { sqlite: lines!($sqlite, "DESC", $page), postgres: lines!($postgres, "DESC", $page) },
            oldest: Sql { sqlite: lines!($sqlite, "ASC", $page), postgres: lines!($postgres, "ASC", $page) },
        }
    };
    ($both:literal, $page:literal) => {
        texts!($both, $both, $page)
    };
}

/// A literal search, as `LIKE` would read wildcards.
fn texts(filter: &Filter) -> Texts {
    match (filter.player.is_some(), filter.server.is_some(), filter.search.is_some()) {
        (false, false, false) => texts!("", " LIMIT $4 OFFSET $5"),
        (true, false, false) => texts!(" AND player_uuid = $4", " LIMIT $5 OFFSET $6"),
        (false, true, false) => texts!(" AND server_id = $4", " LIMIT $5 OFFSET $6"),
        (true, true, false) => texts!(" AND player_uuid = $4 AND server_id = $5", " LIMIT $6 OFFSET $7"),
        (false, false, true) => {
            texts!(" AND instr(search_text, $4) > 0", " AND strpos(search_text, $4) > 0", " LIMIT $5 OFFSET $6")
        }
        (true, false, true) => texts!(
            " AND player_uuid = $4 AND instr(search_text, $5) > 0",
            " AND player_uuid = $4 AND strpos(search_text, $5) > 0",
            " LIMIT $6 OFFSET $7"
        ),
        (false, true, true) => texts!(
            " AND server_id = $4 AND instr(search_text, $5) > 0",
            " AND server_id = $4 AND strpos(search_text, $5) > 0",
            " LIMIT $6 OFFSET $7"
        ),
        (true, true, true) => texts!(
            " AND player_uuid = $4 AND server_id = $5 AND instr(search_text, $6) > 0",
            " AND player_uuid = $4 AND server_id = $5 AND strpos(search_text, $6) > 0",
            " LIMIT $7 OFFSET $8"
        ),
    }
}

fn bind<'s>(statement: Statement<'s>, network: NetworkId, filter: &Filter) -> Statement<'s> {
    let mut statement = statement.bind(network).bind(filter.from).bind(filter.before);
    if let Some(player) = filter.player {
        statement = statement.bind(player);
    }
    if let Some(server) = &filter.server {
        statement = statement.bind(server);
    }
    if let Some(search) = &filter.search {
        statement = statement.bind(search);
    }
    statement
}

/// A page of the lines, newest first, and their number up to 100,000.
pub(super) async fn page(
    db: &Db,
    network: NetworkId,
    filter: &Filter,
    (limit, offset): (i64, i64),
) -> Result<(Vec<ChatLine>, i64), Error> {
    let texts = texts(filter);
    let bind = |statement| bind(statement, network, filter);
    let (rows, total): (Vec<Row>, i64) = db.page(texts.count, texts.newest, bind, limit, offset).await?;
    Ok((read(rows), total))
}

/// The oldest of the lines, newest first.
pub(super) async fn oldest(db: &Db, network: NetworkId, filter: &Filter, limit: i64) -> Result<Vec<ChatLine>, Error> {
    let rows: Vec<Row> = bind(db.query(texts(filter).oldest), network, filter).bind(limit).bind(0_i64).all().await?;
    let mut lines = read(rows);
    lines.reverse();
    Ok(lines)
}

/// Deletes lines from before a time, at most so many. Returns their number.
pub(super) async fn delete_before(db: &Db, network: NetworkId, before: Cutoff, most: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM chat_lines WHERE network_id = $1 AND chat_id IN (
             SELECT chat_id FROM chat_lines WHERE network_id = $1 AND chat_id < $2 ORDER BY chat_id LIMIT $3)",
    )
    .bind(network)
    .bind(first_id(before.at()))
    .bind(most)
    .execute()
    .await
}

/// Id of the newest line that has so many newer ones.
pub(super) async fn nth_newest(db: &Db, network: NetworkId, newer: i64) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .query("SELECT chat_id FROM chat_lines WHERE network_id = $1 ORDER BY chat_id DESC LIMIT 1 OFFSET $2")
        .bind(network)
        .bind(newer)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Deletes lines up to this id, at most so many. Returns their number.
pub(super) async fn delete_up_to(db: &Db, network: NetworkId, last: i64, most: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM chat_lines WHERE network_id = $1 AND chat_id IN (
             SELECT chat_id FROM chat_lines WHERE network_id = $1 AND chat_id <= $2 ORDER BY chat_id LIMIT $3)",
    )
    .bind(network)
    .bind(last)
    .bind(most)
    .execute()
    .await
}
