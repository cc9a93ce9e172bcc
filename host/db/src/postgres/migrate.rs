//! Brings a database up to date while other nodes, also those of the previous version, use it.
//!
//! The row that marks a migration as applied is written first, in the migration's own transaction: a second node waits
//! for it and then finds it there. That needs no session lock, which a pooler would lose.

use std::collections::HashMap;

use sqlx::{
    ConnectOptions, Connection, PgConnection,
    error::DatabaseError,
    migrate::{MigrateError, Migration, Migrator},
};

use super::connect::Server;
use crate::{Error, retry::back_off};

/// Maximum number of attempts of a migration that does not get its locks.
const MAX_ATTEMPTS: u32 = 30;

/// Short, because other users of the table wait behind the migration, and an index that another node builds
/// concurrently waits for all that wait.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '1s'";

/// Same table as sqlx itself creates.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version        BIGINT      PRIMARY KEY,
    description    TEXT        NOT NULL,
    installed_on   TIMESTAMPTZ NOT NULL DEFAULT now(),
    success        BOOLEAN     NOT NULL,
    checksum       BYTEA       NOT NULL,
    execution_time BIGINT      NOT NULL
)";

/// Applies missing migrations. Unknown ones belong to a newer binary beside this one.
pub(crate) async fn migrate(server: &Server, migrations: &Migrator) -> Result<(), Error> {
    let mut conn = server.options.connect().await?;
    let applied = match applied(&mut conn).await {
        // Another node created the table just now.
        Err(error) if has_code(&error, &["23505", "42710", "42P07"]) => applied(&mut conn).await?,
        result => result?,
    };
    for migration in migrations.iter() {
        match applied.get(&migration.version) {
            Some(checksum) if **checksum == *migration.checksum => {}
            Some(_) => return Err(MigrateError::VersionMismatch(migration.version).into()),
            None => apply(server, &mut conn, migration).await?,
        }
    }
    Ok(conn.close().await?)
}

fn has_code(error: &sqlx::Error, codes: &[&str]) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| codes.contains(&&*code))
}

/// Applied versions and the checksums of their texts.
async fn applied(conn: &mut PgConnection) -> sqlx::Result<HashMap<i64, Vec<u8>>> {
    let mut tx = conn.begin().await?;
    let table = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL").persistent(false);
    if !table.fetch_one(&mut *tx).await? {
        sqlx::raw_sql(TABLE).execute(&mut *tx).await?;
    }
    let rows = sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations").persistent(false);
    let rows: Vec<(i64, Vec<u8>)> = rows.fetch_all(&mut *tx).await?;
    tx.commit().await?;
    Ok(rows.into_iter().collect())
}

async fn apply(server: &Server, conn: &mut PgConnection, migration: &Migration) -> Result<(), Error> {
    let mut attempt = 1;
    loop {
        match apply_once(server, conn, migration).await {
            Ok(true) => return Ok(()),
            // Another node is applying it, for as long as it takes.
            Ok(false) => {}
            // Others hold its locks or write the same rows.
            Err(error) if attempt < MAX_ATTEMPTS && has_code(&error, &["55P03", "40001", "40P01"]) => {
                tracing::info!(%error, migration = migration.version, "a migration is tried again");
                attempt += 1;
            }
            Err(error) => return Err(MigrateError::ExecuteMigration(error, migration.version).into()),
        }
        back_off(attempt).await;
    }
}

/// Returns true if it is applied now, by this node or another.
async fn apply_once(server: &Server, conn: &mut PgConnection, migration: &Migration) -> sqlx::Result<bool> {
    let mut tx = conn.begin().await?;
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *tx).await?;
    let record = sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES ($1, $2, TRUE, $3, -1) ON CONFLICT (version) DO NOTHING",
    );
    let record = record.persistent(false).bind(migration.version).bind(&*migration.description);
    let is_mine = match record.bind(&*migration.checksum).execute(&mut *tx).await {
        Err(error) if has_code(&error, &["55P03"]) => return Ok(false),
        recorded => recorded?.rows_affected() == 1,
    };
    if is_mine && migration.no_tx {
        // A statement that no transaction may hold, such as CREATE INDEX CONCURRENTLY, runs on a connection of its own.
        let mut own = server.options.connect().await?;
        sqlx::raw_sql(migration.sql.clone()).execute(&mut own).await?;
        own.close().await?;
    } else if is_mine {
        sqlx::raw_sql(migration.sql.clone()).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use sqlx::migrate::MigrationType;

    use super::*;

    fn migration(version: i64, sql: &'static str) -> Migration {
        Migration::new(version, "test".into(), MigrationType::Simple, sqlx::SqlSafeStr::into_sql_str(sql), false)
    }

    /// A column is added while a transaction of the previous binary uses the table. Others read it meanwhile.
    #[tokio::test]
    async fn a_table_that_a_migration_waits_for_stays_readable() {
        let url = std::env::var("HUB_TEST_POSTGRES").unwrap();
        let (base, _) = url.rsplit_once('/').unwrap();
        let name = format!("hub_db_migrate_{}", std::process::id());
        let mut admin = PgConnection::connect(&url).await.unwrap();
        for sql in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
        }
        let url = format!("{base}/{name}");
        let server = Server::new(&url).unwrap();
        let first = migration(1, "CREATE TABLE t (id BIGINT)");
        migrate(&server, &Migrator::with_migrations(vec![first.clone()])).await.unwrap();
        let [mut busy, mut reader] =
            [PgConnection::connect(&url).await.unwrap(), PgConnection::connect(&url).await.unwrap()];
        let mut transaction = busy.begin().await.unwrap();
        sqlx::raw_sql("SELECT id FROM t").execute(&mut *transaction).await.unwrap();
        let second = migration(2, "ALTER TABLE t ADD n BIGINT");
        let migrating =
            tokio::spawn(async move { migrate(&server, &Migrator::with_migrations(vec![first, second])).await });
        let waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database
            WHERE datname = current_database())";
        while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut reader).await.unwrap() == 0 {}
        sqlx::raw_sql("SET lock_timeout = '5s'; SELECT id FROM t").execute(&mut reader).await.unwrap();
        assert!(!migrating.is_finished());
        transaction.commit().await.unwrap();
        migrating.await.unwrap().unwrap();
        let index = "-- no-transaction\nCREATE INDEX CONCURRENTLY t_by_n ON t (n)";
        let third = Migration { no_tx: true, ..migration(3, index) };
        let twice = Migrator::with_migrations(vec![third]);
        let server = Server::new(&url).unwrap();
        let (one, other) = tokio::join!(migrate(&server, &twice), migrate(&server, &twice));
        one.and(other).unwrap();
        sqlx::raw_sql("SELECT n FROM t").execute(&mut reader).await.unwrap();
        // The previous binary may start again.
        let before = migration(1, "CREATE TABLE t (id BIGINT)");
        migrate(&server, &Migrator::with_migrations(vec![before])).await.unwrap();
        drop((busy, reader));
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)")))
            .execute(&mut admin)
            .await
            .unwrap();
    }
}
