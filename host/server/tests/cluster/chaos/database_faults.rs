//! Faults that others cause in the database: transactions, locks, connections, its clock, and an older copy in its place.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use super::client::answer_limit;
use super::site::Site;

/// Tables whose rows name their network.
pub const TABLES: [&str; 12] = [
    "servers",
    "server_players",
    "balances",
    "player_data",
    "player_sessions",
    "deliveries",
    "waiting_tickets",
    "outbox",
    "punishments",
    "world_leases",
    "idempotency_keys",
    "api_keys",
];
/// Clients that take connections side by side.
const TAKERS: usize = 8;

/// Keeps a transaction open that has written something: in the hub's database, or in another of the same server.
pub async fn foreign_transaction(site: &Site, elsewhere: bool, lasting: Duration) {
    let url = if elsewhere { site.other_database().await } else { Some(site.database.clone()) };
    let Some(url) = url else { return };
    hold(&url, "CREATE TABLE IF NOT EXISTS foreign_rows (number INT)", "INSERT INTO foreign_rows VALUES (1)", lasting)
        .await;
}

/// Locks a network's rows of a table, or the table.
pub async fn lock(site: &Site, network: usize, table: &str, whole: bool, lasting: Duration) {
    let statement = if whole {
        format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    } else {
        format!(
            "SELECT 1 FROM {table} WHERE network_id =
             (SELECT network_id FROM networks WHERE name = 'chaos-{network}') FOR UPDATE"
        )
    };
    hold(&site.database, "", &statement, lasting).await;
}

/// Executes a statement in a transaction that stays open. Another fault may keep the database away.
async fn hold(url: &str, before: &str, statement: &str, lasting: Duration) {
    let holding = async {
        let mut connection = PgConnection::connect(url).await?;
        connection.execute(AssertSqlSafe(before.to_owned())).await?;
        connection.execute("BEGIN").await?;
        connection.execute(AssertSqlSafe(statement.to_owned())).await?;
        tokio::time::sleep(lasting).await;
        connection.execute("ROLLBACK").await?;
        connection.close().await
    };
    let _ = tokio::time::timeout(lasting + answer_limit(), holding).await;
}

/// Takes all connections that the database has left, and each that comes free.
pub async fn take_connections(site: &Site, lasting: Duration) {
    let (taken, until) = (Mutex::new(vec![]), Instant::now() + lasting);
    let taking = (0..TAKERS).map(async |_| {
        while Instant::now() < until {
            match PgConnection::connect(&site.database).await {
                Ok(connection) => taken.lock().unwrap().push(connection),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    });
    join_all(taking).await;
    join_all(taken.into_inner().unwrap().into_iter().map(PgConnection::close_hard)).await;
}
