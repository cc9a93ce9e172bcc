//! What can go wrong.

use std::{io, sync::Arc};

use sqlx::{error::DatabaseError, migrate::MigrateError, postgres::PgDatabaseError};

/// Why the database did not do as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// [`one`](crate::Statement::one) found no row.
    #[error("no row where one was expected")]
    NotFound,
    /// The database was closed by [`Db::close`](crate::Db::close).
    #[error("the database is closed")]
    Closed,
    /// A statement of the transaction failed and its work went on all the same. Nothing of it is
    /// kept, on either database. Statements that may meet an existing row say `ON CONFLICT`.
    #[error("a statement of the transaction had failed")]
    Aborted,
    /// Concurrent transactions won again and again; nothing is kept.
    #[error("lost against concurrent transactions")]
    Conflict,
    /// A write or a transaction was asked for inside a transaction, which would wait for itself.
    #[error("a transaction runs its statements on its own handle only")]
    Nested,
    /// The opening of the [unit](crate::Db::unit) this belongs to gave it up.
    #[error("the unit of work was given up")]
    Refused,
    /// The commit shared with other writers failed; nothing of it is kept.
    #[error("commit failed: {0}")]
    Commit(#[source] Arc<sqlx::Error>),
    /// There is a pooler between this node and the server that gives every transaction another session.
    #[error("{0} (behind PgBouncer in transaction mode, add pgbouncer=true to the database's URL)")]
    Pooler(#[source] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// The folder of the database file could not be created.
    #[error("cannot create the database's folder: {0}")]
    Folder(#[source] std::io::Error),
    /// What the driver or the database server says.
    #[error(transparent)]
    Driver(sqlx::Error),
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

    /// A row with the same unique key exists.
    pub fn is_unique_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_unique_violation)
    }

    /// A row that is referred to does not exist, or one that is referred to would go.
    pub fn is_foreign_key_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_foreign_key_violation)
    }

    /// A value breaks a `CHECK` of its table.
    pub fn is_check_violation(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_check_violation)
    }

    /// The database can't be reached, or has no room for one more request; trying again later may
    /// help.
    pub fn is_unavailable(&self) -> bool {
        use sqlx::Error::{Database, Io, PoolTimedOut, Tls, WorkerCrashed};
        match self.driver() {
            Some(Io(_) | PoolTimedOut | Tls(_) | WorkerCrashed) => true,
            Some(Database(error)) => error.code().is_some_and(|code| is_passing(&code)),
            Some(_) => false,
            None => matches!(self, Self::Closed | Self::Conflict),
        }
    }

    /// PostgreSQL gave this transaction up in favour of another, by a serialization failure (40001)
    /// or a deadlock (40P01), or did not begin with it. The same again may succeed.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict) || self.is_stale() || self.has_code(&["40001", "40P01"])
    }

    /// PostgreSQL refused, before it did anything, a statement that was prepared when its result
    /// looked different: a migration came between.
    pub(crate) fn is_stale(&self) -> bool {
        // Nothing else of this code ("feature not supported") speaks of plans, in any language.
        let by_name = |error: &PgDatabaseError| {
            error.routine() == Some("RevalidateCachedQuery") || error.message().contains("cached plan")
        };
        self.has_code(&["0A000"]) && self.database().and_then(|error| error.try_downcast_ref()).is_some_and(by_name)
    }

    /// The connection it came by is of no use any more, and likely those opened before it: it is
    /// lost, its prepared statements are stale, or it leads to a server that was made read-only
    /// (25006), as the old primary is in a failover.
    pub(crate) fn spoils(&self) -> bool {
        use sqlx::Error::{Io, WorkerCrashed};
        matches!(self.driver(), Some(Io(_) | WorkerCrashed)) || self.is_stale() || self.has_code(&["25006"])
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        self.database().and_then(DatabaseError::code).is_some_and(|code| codes.contains(&&*code))
    }

    /// The server did not answer in time.
    pub(crate) fn silence() -> Self {
        Self::Driver(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the database does not answer")))
    }
}

/// Whether a database's error code speaks of its own state, not of what it was asked.
fn is_passing(code: &str) -> bool {
    // PostgreSQL's five characters: lost connections, lacking resources, a server that stops, a
    // transaction that idled for too long, a server that is read-only; a statement that took too
    // long or waited too long for a lock; an outcome that is not known.
    const POSTGRES: [&str; 9] = ["08", "53", "57P0", "25P03", "25P04", "25006", "57014", "55P03", "40003"];
    let postgres = code.len() == 5 && POSTGRES.iter().any(|class| code.starts_with(class));
    // SQLite's number, whose low byte 5 is BUSY: another process holds the file for long.
    postgres || code.len() < 5 && code.parse::<u32>().is_ok_and(|code| code & 0xff == 5)
}

#[cfg(test)]
mod tests {
    use super::is_passing;

    #[test]
    fn only_the_state_of_the_database_passes() {
        for code in ["08006", "53300", "57P01", "25P03", "57014", "5", "261", "517"] {
            assert!(is_passing(code), "{code}");
        }
        for code in ["23505", "40001", "25001", "00005", "2067", "19", "1", "13"] {
            assert!(!is_passing(code), "{code}");
        }
    }
}
