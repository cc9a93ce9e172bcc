//! Databases for tests: each test gets its own.

use std::{env, path::PathBuf};

use hub_db::{Config, Db, Error};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;
use uuid::Uuid;

/// Failure of a test's own code.
#[derive(Debug)]
pub(crate) enum Failure {
    Db(Error),
    /// The test rolled its transaction back.
    Cancelled,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Db(error)
    }
}

/// A database for one test, removed at the end.
pub(crate) struct Fixture {
    pub(crate) db: Db,
    pub(crate) config: Config,
    location: Location,
}

enum Location {
    Folder(TempDir),
    Server { url: String, name: String },
}

impl Fixture {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::Sqlite { path: folder.path().join("data/hub.db") };
        Self { db: Db::connect(&config).await.unwrap(), config, location: Location::Folder(folder) }
    }

    pub(crate) async fn postgres() -> Self {
        let url = env::var("HUB_TEST_POSTGRES").expect(
            "HUB_TEST_POSTGRES must name a PostgreSQL server to test against, \
             as postgres://postgres@127.0.0.1:5432/postgres does",
        );
        let name = format!("hub_db_{}", unique());
        admin(&url, format!("CREATE DATABASE {name}")).await;
        let (server, _) = url.rsplit_once('/').expect("HUB_TEST_POSTGRES must name a database");
        let config = Config::postgres(format!("{server}/{name}"));
        Self { db: Db::connect(&config).await.unwrap(), config, location: Location::Server { url, name } }
    }

    /// The SQLite file.
    pub(crate) fn path(&self) -> PathBuf {
        match &self.config {
            Config::Sqlite { path } => path.clone(),
            Config::Postgres { .. } => panic!("PostgreSQL has no file"),
        }
    }

    /// The same database through one PostgreSQL connection at a time.
    pub(crate) fn narrow(&self) -> Config {
        match self.config.clone() {
            Config::Postgres { url, statement_timeout, .. } => {
                Config::Postgres { url, max_connections: 1, statement_timeout }
            }
            sqlite @ Config::Sqlite { .. } => sqlite,
        }
    }

    /// Runs set-up statements of a test.
    pub(crate) async fn set_up(&self, statements: &[&'static str]) {
        for statement in statements {
            self.db.write(*statement).execute().await.unwrap();
        }
    }

    pub(crate) async fn remove(self) {
        self.db.close().await;
        match self.location {
            Location::Folder(folder) => folder.close().unwrap(),
            Location::Server { url, name } => admin(&url, format!("DROP DATABASE {name}")).await,
        }
    }

    /// Removes a database despite a pooler's connections.
    pub(crate) async fn remove_by_force(self) {
        self.db.close().await;
        let Location::Server { url, name } = self.location else { panic!("SQLite has no pooler") };
        admin(&url, format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "no other test run may ever choose the same")]
fn unique() -> String {
    Uuid::new_v4().simple().to_string()
}

async fn admin(url: &str, sql: String) {
    let mut conn = PgConnection::connect(url).await.expect("the server in HUB_TEST_POSTGRES must answer");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

/// Runs a test on either database.
pub(crate) async fn on_both(test: impl AsyncFn(&Fixture)) {
    for fixture in [Fixture::sqlite().await, Fixture::postgres().await] {
        test(&fixture).await;
        fixture.remove().await;
    }
}

/// Number of rows of a table `t`.
pub(crate) async fn count(db: &Db) -> i64 {
    let (count,): (i64,) = db.query("SELECT COUNT(*) FROM t").one().await.unwrap();
    count
}
