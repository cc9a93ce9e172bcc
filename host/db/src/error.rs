//! Errors of the database.

use std::{io, path::PathBuf, sync::Arc};

use sqlx::{
    error::DatabaseError,
    migrate::MigrateError,
    postgres::{PgDatabaseError, PgSeverity},
};

/// Error of a database operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// [`one`](crate::Statement::one) found no row.
    #[error("no row where one was expected")]
    NotFound,
    /// The database was closed by [`Db::close`](crate::Db::close).
    #[error("the database is closed")]
    Closed,
    /// A statement of the transaction failed and its work continued nevertheless. Nothing of it is kept, on either
    /// database. Statements that may meet an existing row need `ON CONFLICT`.
    #[error("a statement of the transaction had failed")]
    Aborted,
    /// Serialization failure after all retries; nothing is kept.
    #[error("serialization failure after all retries")]
    Conflict,
    /// A write or a transaction was started inside a transaction, which would wait for itself.
    #[error("a transaction runs its statements on its own handle only")]
    Nested,
    /// The [ambient transaction](crate::Db::ambient_transaction) of this statement was cancelled when it began.
    #[error("the transaction was cancelled")]
    Cancelled,
    /// A statement or transaction exceeded its [time limit](crate::TimeLimits); nothing of it is kept.
    #[error("time limit of the database exceeded")]
    TimedOut,
    /// A statement's rows have more bytes than [its work may read](crate::with_tenant_reading).
    #[error("a statement reads more than {} MiB at once", .0 >> 20)]
    TooLarge(u64),
    /// The database's disk is full or failing, and SQLite has rolled back the whole transaction. Nothing of it is kept.
    #[error("the database's disk is full or failing")]
    StorageFull,
    /// The tenant has too many writes queued.
    #[error("too many writes of this tenant are waiting")]
    Busy,
    /// The commit shared with other writers failed; nothing of it is kept.
    #[error("commit failed: {0}")]
    Commit(#[source] Arc<sqlx::Error>),
    /// A pooler between this node and the server gives every transaction another session.
    #[error("{0} (behind PgBouncer in transaction mode, add pgbouncer=true to the database's URL)")]
    Pooler(#[source] sqlx::Error),
    /// The database on the server cannot keep every text.
    #[error(
        "the database `{database}` has the encoding {encoding}, which cannot keep every name; the hub needs UTF8, as made by \
         `createdb --encoding=UTF8 --template=template0 NAME`"
    )]
    Encoding {
        /// Its encoding.
        encoding: String,
        /// Its name.
        database: String,
    },
    /// The transaction's work refused to go on, for a reason that is not the database's; nothing of it is kept.
    #[error("{0}")]
    Refused(Box<dyn std::error::Error + Send + Sync>),
    /// The schema could not be brought up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// The folder of the database file could not be created.
    #[error("cannot create the database's folder: {0}")]
    Folder(#[source] std::io::Error),
    /// The database file could not be opened: it is none of SQLite's, is damaged, or may not be read.
    #[error("cannot open the database {}: {}", .path.display(), reason(.error))]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the driver.
        error: sqlx::Error,
    },
    /// An error of the driver or the database server.
    #[error(transparent)]
    Driver(sqlx::Error),
}

/// Words of the database for an error, without the driver's around them.
fn reason(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::RowNotFound => Self::NotFound,
            other => Self::Driver(other),
        }
    }
}

impl Error {
    fn driver(&self) -> Option<&sqlx::Error> {
        match self {
            Self::Driver(error) => Some(error),
            Self::Commit(error) => Some(error),
            _ => None,
        }
    }

    fn database(&self) -> Option<&dyn DatabaseError> {
        self.driver()?.as_database_error()
    }

    /// True if a row with the same unique key exists.
    pub fn is_unique_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_unique_violation)
    }

    /// True if a referenced row does not exist or would be deleted.
    pub fn is_foreign_key_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_foreign_key_violation)
    }

    /// True if a value breaks a `CHECK` of its table.
    pub fn is_check_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_check_violation)
    }

    /// True if the database can't be reached or has no capacity for one more request; a later retry may help.
    pub fn is_unavailable(&self) -> bool {
        use sqlx::Error::{Database, Io, PoolTimedOut, Protocol, Tls, WorkerCrashed};
        match self.driver() {
            Some(Protocol(message)) => is_unanswered_greeting(message),
            Some(Io(_) | PoolTimedOut | Tls(_) | WorkerCrashed) => true,
            Some(Database(error)) => error.code().is_some_and(|code| is_transient(&code)) || ends_session(&**error),
            Some(_) => false,
            None => matches!(self, Self::Closed | Self::Conflict | Self::TimedOut | Self::Busy | Self::StorageFull),
        }
    }

    /// True if a time limit was exceeded.
    pub fn is_timeout(&self) -> bool {
        // PostgreSQL cancelled the statement.
        matches!(self, Self::TimedOut) || self.has_code(&["57014"])
    }

    /// True if the database's disk is full.
    pub fn is_storage_full(&self) -> bool {
        matches!(self, Self::StorageFull) || self.has_code(&["13", "53100"])
    }

    /// True if SQLite could not write, for which it may have rolled back the whole transaction.
    pub(crate) fn is_sqlite_disk_failure(&self) -> bool {
        let code = self.database().and_then(DatabaseError::code);
        code.and_then(|code| sqlite_primary(&code)).is_some_and(|primary| SQLITE_DISK.contains(&primary))
    }

    /// True if PostgreSQL aborted this transaction in favour of another, by a serialization failure (40001) or a
    /// deadlock (40P01), or did not start it. The same again may succeed.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict) || self.is_stale() || self.has_code(&["40001", "40P01"])
    }

    /// True if PostgreSQL refused, without any effect, a statement that was prepared before a migration changed its
    /// result.
    pub(crate) fn is_stale(&self) -> bool {
        // Nothing else of this code ("feature not supported") is about plans, in any language.
        let by_name = |error: &PgDatabaseError| {
            error.routine() == Some("RevalidateCachedQuery") || error.message().contains("cached plan")
        };
        self.has_code(&["0A000"]) && self.database().and_then(|error| error.try_downcast_ref()).is_some_and(by_name)
    }

    /// True if the connection is unusable, and likely those opened before it: it is lost, its prepared statements are
    /// stale, or it leads to a server that was made read-only (25006), like the old primary in a failover.
    pub(crate) fn breaks_connection(&self) -> bool {
        use sqlx::Error::{Io, WorkerCrashed};
        matches!(self.driver(), Some(Io(_) | WorkerCrashed))
            || self.is_stale()
            || self.has_code(&["25006"])
            || self.database().is_some_and(ends_session)
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        self.database().and_then(DatabaseError::code).is_some_and(|code| codes.contains(&&*code))
    }

    /// The server did not answer in time.
    pub(crate) fn no_answer() -> Self {
        Self::Driver(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the database does not answer")))
    }
}

/// True if a connection ended before the server answered the first message on it. The driver reads that as an unknown
/// answer; nothing was sent yet.
fn is_unanswered_greeting(message: &str) -> bool {
    message.contains("unexpected response from SSLRequest: 0x00")
}

/// True if PostgreSQL ended the session, or did not begin it, for any reason: a full disk on which it could not write
/// its init file is an internal error (XX000) of its own.
fn ends_session(error: &dyn DatabaseError) -> bool {
    let error = error.try_downcast_ref::<PgDatabaseError>();
    error.is_some_and(|error| matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}

/// True if a database's error code is about its own state, not about the statement.
fn is_transient(code: &str) -> bool {
    // PostgreSQL's five characters: lost connections, lacking resources, a stopping server, a transaction that idled
    // for too long, a read-only server; a statement or a wait for a lock that took too long; an unknown outcome.
    const POSTGRES: [&str; 9] = ["08", "53", "57P0", "25P03", "25P04", "25006", "57014", "55P03", "40003"];
    let postgres = code.len() == 5 && POSTGRES.iter().any(|class| code.starts_with(class));
    // SQLite: 5 is BUSY, another process holds the file for long; the others are the disk's.
    let is_sqlite = |primary| primary == 5 || SQLITE_DISK.contains(&primary);
    postgres || sqlite_primary(code).is_some_and(is_sqlite)
}

/// SQLite's codes for a disk that is read-only, fails, is full, or has a file that cannot be opened.
const SQLITE_DISK: [u32; 4] = [8, 10, 13, 14];

/// Low byte of SQLite's number, without its details.
fn sqlite_primary(code: &str) -> Option<u32> {
    if code.len() < 5 { code.parse::<u32>().ok().map(|code| code & 0xff) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{Error, is_transient};

    #[test]
    fn a_connection_that_ends_before_its_first_answer_is_transient() {
        let error = |message: &str| Error::Driver(sqlx::Error::Protocol(message.to_owned()));
        assert!(
            error("unexpected response from SSLRequest: 0x00 (sqlx_postgres::connection::tls:95)").is_unavailable()
        );
        assert!(!error("unexpected message").is_unavailable());
    }

    #[test]
    fn only_errors_of_the_databases_own_state_are_transient() {
        for code in
            ["08006", "53100", "53300", "57P01", "57P03", "25P03", "57014", "5", "261", "517", "13", "778", "14"]
        {
            assert!(is_transient(code), "{code}");
        }
        for code in ["23505", "40001", "25001", "00005", "2067", "19", "1", "11"] {
            assert!(!is_transient(code), "{code}");
        }
    }
}
