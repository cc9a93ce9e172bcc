//! All SQL of usage.

use std::collections::BTreeMap;

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};

use crate::clock::{Cutoff, Millis};
use crate::metering::amounts::Amounts;
use crate::metering::flush::Batch;
use crate::metering::peaks::STREAMS_TTL;
use crate::values::NetworkId;

pub(super) mod progress;
pub(super) mod read;

/// Adds a batch once; a repeated batch changes nothing.
pub(super) async fn add(db: &Db, node: &str, batch: &Batch, now: Millis) -> Result<(), Error> {
    db.transaction(async |mut tx| {
        if !begin_batch(&mut tx, node, batch.sequence, now).await? {
            return Ok(());
        }
        let open_from = open_from(&mut tx).await?;
        let mut rows = BTreeMap::<_, Amounts>::new();
        for (network, hour, amounts) in &batch.rows {
            rows.entry((*network, *hour.max(&open_from))).or_default().add(amounts);
        }
        let row = |((network, hour), amounts): (&(NetworkId, Millis), &Amounts)| {
            json!([
                network,
                hour,
                amounts.requests,
                amounts.events,
                amounts.module_calls,
                amounts.module_micros,
                amounts.fuel,
                amounts.peak_players,
                amounts.peak_servers
            ])
        };
        add_rows(&mut tx, &rows.iter().map(row).collect()).await
    })
    .await
}

/// True if the batch is new.
async fn begin_batch(tx: &mut Tx, node: &str, sequence: i64, now: Millis) -> Result<bool, Error> {
    // Crosses networks: a batch has rows of many networks.
    let statement = "INSERT INTO usage_nodes (node, sequence, seen_at) VALUES ($1, $2, $3)
         ON CONFLICT (node) DO UPDATE SET sequence = excluded.sequence, seen_at = excluded.seen_at
         WHERE usage_nodes.sequence < excluded.sequence";
    Ok(tx.query(statement).bind(node).bind(sequence).bind(now).execute().await? > 0)
}

/// First open hour, which stays open until the transaction ends.
async fn open_from(tx: &mut Tx) -> Result<Millis, Error> {
    // Crosses networks: all have the same hours.
    let (hour,) = tx
        .query(Sql {
            sqlite: "SELECT hour FROM usage_progress WHERE work = 'close'",
            postgres: "SELECT hour FROM usage_progress WHERE work = 'close' FOR SHARE",
        })
        .one()
        .await?;
    Ok(hour)
}

/// Adds counts to their rows, ordered by network so that nodes do not deadlock.
async fn add_rows(tx: &mut Tx, rows: &Value) -> Result<(), Error> {
    // Crosses networks: a batch has rows of many networks.
    tx.query(Sql {
        sqlite: "INSERT INTO usage_hours (network_id, hour, requests, events, module_calls, module_micros, fuel,
                     peak_players, peak_servers)
                 SELECT unhex(replace(value ->> 0, '-', '')), value ->> 1, value ->> 2, value ->> 3, value ->> 4,
                        value ->> 5, value ->> 6, value ->> 7, value ->> 8
                 FROM json_each($1) WHERE true
                 ON CONFLICT (network_id, hour) DO UPDATE SET
                     requests = requests + excluded.requests, events = events + excluded.events,
                     module_calls = module_calls + excluded.module_calls,
                     module_micros = module_micros + excluded.module_micros, fuel = fuel + excluded.fuel,
                     peak_players = max(peak_players, excluded.peak_players),
                     peak_servers = max(peak_servers, excluded.peak_servers)",
        postgres:
            "INSERT INTO usage_hours AS old (network_id, hour, requests, events, module_calls, module_micros, fuel,
                       peak_players, peak_servers)
                   SELECT CAST(r ->> 0 AS UUID), CAST(r ->> 1 AS BIGINT), CAST(r ->> 2 AS BIGINT),
                          CAST(r ->> 3 AS BIGINT), CAST(r ->> 4 AS BIGINT), CAST(r ->> 5 AS BIGINT),
                          CAST(r ->> 6 AS BIGINT), CAST(r ->> 7 AS BIGINT), CAST(r ->> 8 AS BIGINT)
                   FROM jsonb_array_elements(CAST($1 AS JSONB)) WITH ORDINALITY AS rows (r, at) ORDER BY at
                   ON CONFLICT (network_id, hour) DO UPDATE SET
                       requests = old.requests + excluded.requests, events = old.events + excluded.events,
                       module_calls = old.module_calls + excluded.module_calls,
                       module_micros = old.module_micros + excluded.module_micros, fuel = old.fuel + excluded.fuel,
                       peak_players = greatest(old.peak_players, excluded.peak_players),
                       peak_servers = greatest(old.peak_servers, excluded.peak_servers)",
    })
    .bind(rows.to_string())
    .execute()
    .await?;
    Ok(())
}

/// Notes a node's number of open streams, and the sum over all nodes.
pub(super) async fn note_streams(
    db: &Db,
    node: &str,
    streams: &[(NetworkId, i64)],
    hour: Millis,
    now: Millis,
) -> Result<(), Error> {
    let mut streams = streams.to_vec();
    streams.sort_unstable();
    let rows = streams.iter().map(|(network, streams)| json!([network, streams])).collect::<Value>().to_string();
    db.transaction(async |mut tx| {
        let hour = open_from(&mut tx).await?.max(hour);
        // Crosses networks: one statement is for all.
        tx.query(Sql {
            sqlite: "INSERT INTO usage_streams (network_id, node, streams, seen_at)
                     SELECT unhex(replace(value ->> 0, '-', '')), $2, value ->> 1, $3 FROM json_each($1) WHERE true
                     ON CONFLICT (network_id, node) DO UPDATE SET streams = excluded.streams, seen_at = excluded.seen_at",
            postgres: "INSERT INTO usage_streams (network_id, node, streams, seen_at)
                       SELECT CAST(r ->> 0 AS UUID), $2, CAST(r ->> 1 AS BIGINT), $3
                       FROM jsonb_array_elements(CAST($1 AS JSONB)) AS rows (r)
                       ON CONFLICT (network_id, node) DO UPDATE SET streams = excluded.streams, seen_at = excluded.seen_at",
        })
        .bind(&rows)
        .bind(node)
        .bind(now)
        .execute()
        .await?;
        tx.query(Sql {
            sqlite: "INSERT INTO usage_hours (network_id, hour, peak_streams)
                     SELECT s.network_id, $2, SUM(s.streams) FROM json_each($1) AS r
                     JOIN usage_streams s ON s.network_id = unhex(replace(r.value ->> 0, '-', ''))
                     WHERE s.seen_at > $3 AND r.value ->> 1 > 0 GROUP BY s.network_id
                     ON CONFLICT (network_id, hour) DO UPDATE SET peak_streams = max(peak_streams, excluded.peak_streams)",
            postgres: "INSERT INTO usage_hours AS old (network_id, hour, peak_streams)
                       SELECT s.network_id, $2, CAST(SUM(s.streams) AS BIGINT)
                       FROM jsonb_array_elements(CAST($1 AS JSONB)) AS rows (r)
                       JOIN usage_streams s ON s.network_id = CAST(r ->> 0 AS UUID)
                       WHERE s.seen_at > $3 AND CAST(r ->> 1 AS BIGINT) > 0
                       GROUP BY s.network_id ORDER BY s.network_id
                       ON CONFLICT (network_id, hour) DO UPDATE SET
                           peak_streams = greatest(old.peak_streams, excluded.peak_streams)
                       WHERE old.peak_streams < excluded.peak_streams",
        })
        .bind(&rows)
        .bind(hour)
        .bind(now.saturating_sub(STREAMS_TTL))
        .execute()
        .await?;
        Ok(())
    })
    .await
}

/// Deletes a node that stops.
pub(super) async fn remove_node(db: &Db, node: &str) -> Result<(), Error> {
    // Crosses networks: a node has streams of many.
    db.write("DELETE FROM usage_streams WHERE node = $1").bind(node).execute().await?;
    // Crosses networks: nodes belong to no network.
    db.write("DELETE FROM usage_nodes WHERE node = $1").bind(node).execute().await?;
    Ok(())
}

/// Deletes nodes not seen for long: their batches and streams.
pub(super) async fn remove_old_nodes(db: &Db, batches: Cutoff, streams: Cutoff) -> Result<(), Error> {
    // Crosses networks: nodes belong to no network.
    db.write("DELETE FROM usage_nodes WHERE seen_at < $1").bind(batches.at()).execute().await?;
    // Crosses networks: nodes have streams of many.
    db.write("DELETE FROM usage_streams WHERE seen_at < $1").bind(streams.at()).execute().await?;
    Ok(())
}

/// Storage of a network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    pub(super) documents: i64,
    pub(super) storage_bytes: i64,
    pub(super) module_store_bytes: i64,
    pub(super) file_bytes: i64,
}

impl Stored {
    /// True if nothing is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.storage_bytes == 0 && self.file_bytes == 0
    }
}

/// Notes the current storage where it is the hour's maximum.
pub(super) async fn note_stored(db: &Db, stored: &[(NetworkId, Stored)], hour: Millis) -> Result<(), Error> {
    let row = |(network, stored): &(NetworkId, Stored)| {
        json!([network, stored.documents, stored.storage_bytes, stored.module_store_bytes, stored.file_bytes])
    };
    let rows = stored.iter().map(row).collect::<Value>().to_string();
    db.transaction(async |mut tx| {
        let hour = open_from(&mut tx).await?.max(hour);
        // Crosses networks: one statement is for many.
        tx.query(Sql {
            sqlite:
                "INSERT INTO usage_hours (network_id, hour, documents, storage_bytes, module_store_bytes, file_bytes)
                     SELECT unhex(replace(value ->> 0, '-', '')), $2, value ->> 1, value ->> 2, value ->> 3, value ->> 4
                     FROM json_each($1) WHERE true
                     ON CONFLICT (network_id, hour) DO UPDATE SET documents = max(documents, excluded.documents),
                         storage_bytes = max(storage_bytes, excluded.storage_bytes),
                         module_store_bytes = max(module_store_bytes, excluded.module_store_bytes),
                         file_bytes = max(file_bytes, excluded.file_bytes)",
            postgres: "INSERT INTO usage_hours AS old
                           (network_id, hour, documents, storage_bytes, module_store_bytes, file_bytes)
                       SELECT CAST(r ->> 0 AS UUID), $2, CAST(r ->> 1 AS BIGINT), CAST(r ->> 2 AS BIGINT),
                              CAST(r ->> 3 AS BIGINT), CAST(r ->> 4 AS BIGINT)
                       FROM jsonb_array_elements(CAST($1 AS JSONB)) WITH ORDINALITY AS rows (r, at) ORDER BY at
                       ON CONFLICT (network_id, hour) DO UPDATE SET
                           documents = greatest(old.documents, excluded.documents),
                           storage_bytes = greatest(old.storage_bytes, excluded.storage_bytes),
                           module_store_bytes = greatest(old.module_store_bytes, excluded.module_store_bytes),
                           file_bytes = greatest(old.file_bytes, excluded.file_bytes)",
        })
        .bind(&rows)
        .bind(hour)
        .execute()
        .await?;
        Ok(())
    })
    .await
}
