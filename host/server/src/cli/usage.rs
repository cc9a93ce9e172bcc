//! `hub admin usage`: reads the database directly, even while a hub is running.

use clap::Args;
use hub_db::Db;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::format::{bytes, number, table, timestamp};
use crate::cli::open_database;
use crate::clock::Millis;
use crate::config::StorageArgs;
use crate::metering::UsageHour;
use crate::metering::service::{self, TimeRange, TotalRow};
use crate::networks;

/// Hours read at a time.
const BATCH: i64 = 1_000;

#[derive(Args, Debug)]
pub(super) struct Usage {
    /// Network id or name, for its hourly usage; otherwise the totals of all networks
    network: Option<String>,
    /// Only hours that end after this time, for example `2026-11-01T00:00:00Z` or milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<Millis>,
    /// Only hours that begin before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to: Option<Millis>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

fn parse_time(text: &str) -> Result<Millis, String> {
    let timestamp = || text.parse::<Timestamp>().map(Timestamp::as_millisecond);
    text.parse().or_else(|_| timestamp()).map_err(|_| "not a time; example: 2026-11-01T00:00:00Z".to_owned())
}

impl Usage {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let range = TimeRange { from: self.from.unwrap_or(0), to: self.to.unwrap_or(Millis::MAX) };
        anyhow::ensure!(range.from < range.to, "--from must be before --to");
        let db = open_database(&self.storage).await?;
        let printed = self.print(&db, range).await;
        db.close().await;
        printed
    }

    async fn print(&self, db: &Db, range: TimeRange) -> anyhow::Result<()> {
        let rows = match &self.network {
            Some(network) => {
                let network = networks::service::resolve_network(db, network).await?;
                let mut rows = vec![];
                loop {
                    let (hours, total) = service::hours(db, network, range, BATCH, rows.len() as i64).await?;
                    rows.extend(hours.iter().map(|row| json!(UsageHour::from(row))));
                    if hours.is_empty() || rows.len() as i64 >= total {
                        break rows;
                    }
                }
            }
            None => service::totals(db, range).await?.iter().map(total).collect(),
        };
        if self.json {
            print_json!(Value::Array(rows));
            return Ok(());
        }
        let first = if self.network.is_some() { "HOUR" } else { "NETWORK" };
        let headers = [first, "REQUESTS", "EVENTS", "CALLS", "CPU MS", "STORED", "FILES", "PLAYERS", "STREAMS"];
        print!("{}", table(headers, &rows.iter().map(cells).collect::<Vec<_>>()));
        Ok(())
    }
}

fn total(row: &TotalRow) -> Value {
    json!({
        "networkId": row.network_id,
        "name": row.name,
        "requests": row.requests,
        "events": row.events,
        "moduleCalls": row.module_calls,
        "moduleMillis": row.module_micros / 1_000,
        "fuel": row.fuel,
        "storageBytes": row.storage_bytes,
        "fileBytes": row.file_bytes,
        "peakPlayers": row.peak_players,
        "peakServers": row.peak_servers,
        "peakStreams": row.peak_streams,
    })
}

fn cells(row: &Value) -> [String; 9] {
    let count = |field: &str| number(row[field].as_u64().unwrap_or(0));
    let size = |field: &str| bytes(row[field].as_u64().and_then(|size| size.try_into().ok()).unwrap_or(0));
    let first = match row["name"].as_str().or_else(|| row["networkId"].as_str()) {
        Some(network) => network.to_owned(),
        None => timestamp(&row["hour"]),
    };
    let [requests, events, calls, millis] = ["requests", "events", "moduleCalls", "moduleMillis"].map(count);
    let [players, streams] = ["peakPlayers", "peakStreams"].map(count);
    [first, requests, events, calls, millis, size("storageBytes"), size("fileBytes"), players, streams]
}
