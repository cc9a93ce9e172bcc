//! Deletes data older than a network's plan allows: addresses, console lines, ledger entries and statistics.

use std::time::Duration;

use hub_db::{Cell, Error};
use tokio::time::Instant;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Cutoff, Millis, Settled};
use crate::component::{Aging, NetworkTable};
use crate::limits;
use crate::networks;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

const WHAT: &str = "delete expired data";
const INTERVAL: Duration = Duration::from_hours(24);
const DAY: Millis = 24 * 60 * 60 * 1000;
/// Rows read at a time.
const BATCH: usize = 500;

/// Deletes expired rows once a day.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| run(&app, settled).await);
}

async fn run(app: &App, settled: Settled) -> Result<(), Error> {
    let networks = networks::service::network_ids(&app.db).await?.into_iter().map(|network| (network, ()));
    for_each_network(networks, WHAT, |network, ()| delete_expired(app, network, settled)).await;
    Ok(())
}

async fn delete_expired(app: &App, network: NetworkId, settled: Settled) -> Result<(), Error> {
    let days = limits::of(app, network).await?.retention_days();
    for table in app.components().tables().moved() {
        if let Some(aging) = &table.rule.aging
            && let Some(days) = (aging.days)(&days)
        {
            let before = settled.before(days.saturating_mul(DAY));
            delete_before(app, network, table, aging, before).await?;
        }
    }
    Ok(())
}

fn is_old(aging: &Aging, table: &NetworkTable, row: &[Cell], before: Cutoff) -> bool {
    let cell = |column: &str| row.get(table.columns.iter().position(|it| it.name == column)?);
    let stays =
        aging.except.is_some_and(|(column, value)| matches!(cell(column), Some(Cell::Text(text)) if text == value));
    !stays && matches!(cell(aging.at), Some(Cell::Integer(at)) if *at < before.at())
}

async fn delete_before(
    app: &App,
    network: NetworkId,
    table: &NetworkTable,
    aging: &Aging,
    before: Cutoff,
) -> Result<(), Error> {
    let mut after: Option<Vec<Cell>> = None;
    loop {
        let began = Instant::now();
        let rows = app.db.rows_after(table, network.0, after.as_deref(), BATCH).await?;
        let old: Vec<_> = rows.iter().filter(|row| is_old(aging, table, row, before)).collect();
        if !old.is_empty() {
            app.db
                .transaction(async |mut tx| {
                    for row in &old {
                        // A row seen or changed meanwhile stays.
                        let key = table.key_of(row);
                        let row = tx.lock_row(table, network.0, key).await?;
                        if row.is_some_and(|row| is_old(aging, table, &row, before)) {
                            tx.delete_row(table, network.0, key).await?;
                        }
                    }
                    Ok::<_, Error>(())
                })
                .await?;
        }
        if rows.len() < BATCH {
            return Ok(());
        }
        after = rows.last().map(|row| table.key_of(row).to_vec());
        // Pauses as long as this took, so that other work gets half of the time.
        tokio::time::sleep(began.elapsed()).await;
    }
}
