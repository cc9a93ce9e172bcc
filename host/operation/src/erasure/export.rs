//! Export of all data that a network stores about a player, as one JSON object.

use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::{self, Stream};
use hub_db::{Cell, Db, Error};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

use crate::clock::Millis;
use crate::component::{NetworkTable, Tables};
use crate::compute::compute;
use crate::erasure::erase::{BATCH, database, tables_of_players};
use crate::erasure::rules::{Finding, examine};
use crate::erasure::store;
use crate::erasure::subject::Subject;
use crate::values::{NetworkId, PlayerId};

/// State of an export in progress.
struct Export {
    db: Db,
    module_store: Db,
    network: NetworkId,
    subject: Subject,
    tables: Vec<&'static NetworkTable>,
    /// Last row read from the last of `tables`.
    after: Option<Vec<Cell>>,
    /// True if a row of that table was written, and if any row was written.
    has_row: bool,
    has_table: bool,
    /// Number of rows about others that mention the player, by table.
    mentions: BTreeMap<String, u64>,
    is_done: bool,
}

/// Exports in chunks while reading.
pub async fn export(
    db: &Db,
    module_store: &Db,
    tables: &'static Tables,
    network: NetworkId,
    player: PlayerId,
    now: Millis,
) -> Result<impl Stream<Item = Result<Bytes, Error>> + use<>, Error> {
    let subject = store::subject(db, network, player).await?;
    let head = json!({"playerUuid": player, "networkId": network, "exportedAt": now, "names": subject.names()});
    let mut head = head.to_string();
    head.pop();
    head.push_str(",\"tables\":{");
    let mut tables: Vec<_> = tables_of_players(tables).collect();
    tables.reverse();
    let export = Export {
        db: db.clone(),
        module_store: module_store.clone(),
        network,
        subject,
        tables,
        after: None,
        has_row: false,
        has_table: false,
        mentions: BTreeMap::new(),
        is_done: false,
    };
    let rest = stream::try_unfold(export, |mut export| async move {
        Ok(export.next().await?.map(|text| (Bytes::from(text), export)))
    });
    Ok(stream::StreamExt::chain(stream::iter([Ok(Bytes::from(head))]), rest))
}

impl Export {
    /// Next chunk of text, which may be empty; none at the end.
    async fn next(&mut self) -> Result<Option<String>, Error> {
        let Some(table) = self.tables.last().copied() else {
            if self.is_done {
                return Ok(None);
            }
            self.is_done = true;
            return Ok(Some(format!("}},\"mentions\":{}}}\n", json!(self.mentions))));
        };
        let (db, network) = (database(table, &self.db, &self.module_store), self.network.0);
        let reading = db.rows_after(table, network, self.after.as_deref(), BATCH);
        let rows = hub_db::with_tenant(network, reading).await?;
        let mut text = String::new();
        let writing = compute(|| {
            for row in &rows {
                match examine(table, row, &self.subject, Uuid::nil(), 0) {
                    Finding::Unrelated => {}
                    Finding::Mention(_) => *self.mentions.entry(camel_case(table.name)).or_default() += 1,
                    Finding::Own(_) => self.write(table, row, &mut text),
                }
            }
        });
        hub_db::with_tenant(network, writing).await;
        self.after = rows.last().map(|row| table.key_of(row).to_vec());
        if rows.len() < BATCH {
            if self.has_row {
                text.push(']');
            }
            self.tables.pop();
            (self.after, self.has_row) = (None, false);
        }
        Ok(Some(text))
    }

    fn write(&mut self, table: &NetworkTable, row: &[Cell], text: &mut String) {
        if self.has_row {
            text.push(',');
        } else {
            let comma = if self.has_table { "," } else { "" };
            text.extend([comma, "\"", &camel_case(table.name), "\":["]);
        }
        (self.has_row, self.has_table) = (true, true);
        let shown = table.columns.iter().zip(row).filter(|(column, _)| !table.rule.hides(column.name));
        let fields: Map<String, Value> = shown.map(|(column, cell)| (camel_case(column.name), to_json(cell))).collect();
        text.push_str(&Value::Object(fields).to_string());
    }
}

fn to_json(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(value) => json!(value),
        Cell::Integer(value) => json!(value),
        Cell::Float(value) => json!(value),
        Cell::Uuid(value) => json!(value),
        Cell::Text(text) if text.starts_with(['{', '[']) => {
            // Values stored as JSON are JSON.

            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        Cell::Text(text) => json!(text),
        Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({"base64": STANDARD.encode(bytes)}),
        },
    }
}

/// Converts a database name to the API's spelling.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}
