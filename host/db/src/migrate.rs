//! The schema's history, embedded in the binary.

use std::sync::LazyLock;

use sqlx::{Connection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};

use crate::{
    Error,
    postgres::{self, Server},
};

static SQLITE: LazyLock<Migrator> = LazyLock::new(|| ignoring_newer(sqlx::migrate!("../../migrations/sqlite")));
static RELAXED: LazyLock<Migrator> = LazyLock::new(|| ignoring_newer(sqlx::migrate!("../../migrations/relaxed")));
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

/// An older hub may start on a newer one's schema: migrations only add.
fn ignoring_newer(mut migrations: Migrator) -> Migrator {
    migrations.set_ignore_missing(true);
    migrations
}

/// The schema's version: the number of its last migration, the same for both databases.
pub fn schema_version() -> i64 {
    POSTGRES.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// The texts of PostgreSQL's migrations, in their order.
pub(crate) fn postgres_texts() -> impl Iterator<Item = &'static str> {
    POSTGRES.iter().map(|migration| migration.sql.as_str())
}

/// Brings a SQLite file up to date in one transaction, for which a second process waits.
pub(crate) async fn sqlite(options: &SqliteConnectOptions) -> Result<(), Error> {
    run(options, &SQLITE).await
}

/// The same for a file of [`Db::connect_relaxed`](crate::Db::connect_relaxed).
pub(crate) async fn relaxed(options: &SqliteConnectOptions) -> Result<(), Error> {
    run(options, &RELAXED).await
}

async fn run(options: &SqliteConnectOptions, migrations: &Migrator) -> Result<(), Error> {
    let mut conn = SqliteConnection::connect_with(options).await?;
    let mut transaction = conn.begin_with("BEGIN IMMEDIATE").await?;
    migrations.run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(conn.close().await?)
}

/// Brings a PostgreSQL database up to date.
pub(crate) async fn postgres(server: &Server) -> Result<(), Error> {
    postgres::migrate(server, &POSTGRES).await
}
