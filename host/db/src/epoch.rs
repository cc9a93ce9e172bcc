//! The database's epoch: higher each time an older copy takes the database's place, such as a standby without the last
//! second, a restored snapshot or a restored backup.
//!
//! Changes that the copy lacks had been told. Numbers that order something (fences, versions, revisions) would be given out a
//! second time, so [`next_number!`](crate::next_number) continues above those of all earlier epochs.
//!
//! On PostgreSQL each new connection compares the server, its timeline and the table with those of the copy it is from,
//! before anything is written over it. Any other older copy is noticed by the position that a node remembers.

use sqlx::PgConnection;

use crate::{Db, Error, Sql};

/// SQL of the number after a column's, or after `"0"` for a new row.
#[macro_export]
macro_rules! next_number {
    ($last:literal) => {
        concat!(
            "(SELECT CASE WHEN e.floor > ",
            $last,
            " THEN e.floor ELSE ",
            $last,
            " + 1 END FROM database_epoch e WHERE e.one = 1)"
        )
    };
}

/// The number of an epoch: seconds since 2025 at its beginning, so that two restores of one backup differ, and at least
/// one more than the last. No clock brings it above 2^30.
macro_rules! number {
    (postgres, $last:literal) => {
        concat!(
            "GREATEST(",
            $last,
            " + 1, LEAST(CAST(EXTRACT(EPOCH FROM statement_timestamp()) AS BIGINT) - 1735689600, 1073741824))"
        )
    };
    (sqlite, $last:literal) => {
        concat!("MAX(", $last, " + 1, MIN(CAST(strftime('%s', 'now') AS INTEGER) - 1735689600, 1073741824))")
    };
}

/// Numbers for each second of an epoch: 2^22, so that all stay below 2^53, which JSON holds.
macro_rules! floor {
    ($epoch:expr) => {
        concat!($epoch, " * 4194304")
    };
}

/// Begins an epoch if this connection is to a copy. Of several connections one does.
const NOTICE_COPY: &str = concat!(
    "WITH present AS (
         SELECT (SELECT system_identifier FROM pg_control_system()) || ' '
             || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || ' '
             || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' '
             || CAST(CAST('database_epoch' AS regclass) AS oid) AS lineage
     )
     UPDATE database_epoch e SET
         epoch = CASE WHEN e.lineage = '' THEN e.epoch ELSE ",
    number!(postgres, "e.epoch"),
    " END,
         floor = CASE WHEN e.lineage = '' THEN e.floor ELSE ",
    floor!(number!(postgres, "e.epoch")),
    " END,
         lineage = present.lineage
     FROM present WHERE e.one = 1 AND e.lineage <> present.lineage"
);

/// Begins an epoch above `$1`, unless there is one already.
const RAISE: Sql = Sql {
    sqlite: concat!(
        "UPDATE database_epoch SET epoch = ",
        number!(sqlite, "$1"),
        ", floor = ",
        floor!(number!(sqlite, "$1")),
        " WHERE one = 1 AND epoch <= $1"
    ),
    postgres: concat!(
        "UPDATE database_epoch SET epoch = ",
        number!(postgres, "$1"),
        ", floor = ",
        floor!(number!(postgres, "$1")),
        " WHERE one = 1 AND epoch <= $1"
    ),
};

/// Errors of a server that says nothing about itself: there is no schema yet, it is a standby, or the function is not
/// there for everybody.
const SILENT: [&str; 6] = ["42P01", "25006", "55000", "42501", "42883", "0A000"];

/// A database in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Number of the epoch; 0 for a database that never went back.
    pub number: i64,
    /// Higher at each reading of one node, unless the copy is older than the last.
    pub position: i64,
}

impl Db {
    /// The database's epoch, and this node's next position in it.
    pub async fn epoch(&self, node: &str) -> Result<Epoch, Error> {
        let sql = "INSERT INTO database_positions (node, position) VALUES ($1, 1)
                   ON CONFLICT (node) DO UPDATE SET position = database_positions.position + 1
                   RETURNING (SELECT epoch FROM database_epoch WHERE one = 1), position";
        let (number, position) = self.reserved().write(sql).bind(node).one().await?;
        Ok(Epoch { number, position })
    }

    /// The number of the database's epoch.
    pub async fn epoch_number(&self) -> Result<i64, Error> {
        let (number,) = self.query("SELECT epoch FROM database_epoch WHERE one = 1").one().await?;
        Ok(number)
    }

    /// Begins an epoch after `last`, unless one has begun since.
    pub async fn begin_epoch(&self, last: i64) -> Result<(), Error> {
        self.reserved().write(RAISE).bind(last).execute().await?;
        Ok(())
    }
}

/// Begins an epoch if the connection, which is new, is to a copy.
pub(crate) async fn notice_copy(connection: &mut PgConnection) -> sqlx::Result<()> {
    match sqlx::raw_sql(NOTICE_COPY).execute(connection).await {
        Ok(done) => {
            if done.rows_affected() > 0 {
                tracing::debug!("this server is another than that of the last connection");
            }
            Ok(())
        }
        Err(sqlx::Error::Database(error)) if error.code().is_some_and(|code| SILENT.contains(&code.as_ref())) => {
            tracing::debug!(%error, "the server does not say which copy of the database it has");
            Ok(())
        }
        Err(error) => Err(error),
    }
}
