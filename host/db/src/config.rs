//! Choice of the database.

use std::{fmt, path::PathBuf, time::Duration};

/// Location of the data.
#[derive(Clone)]
pub enum Config {
    /// One SQLite file, for a single node.
    Sqlite {
        /// The database file. It and its folder are created when missing.
        path: PathBuf,
    },
    /// A PostgreSQL server, which several nodes may share.
    Postgres {
        /// `postgres://user:password@host:port/database`. Session settings given in its `options` parameter replace
        /// this crate's own. With `pgbouncer=true` nothing is kept in a session, because a pooler may give every
        /// transaction another one.
        url: String,
        /// Maximum number of connections of this node.
        max_connections: u32,
        /// Maximum duration of a statement.
        statement_timeout: Duration,
    },
}

impl Config {
    /// A PostgreSQL server, with the usual limits: 20 connections, 15 s for a statement.
    pub fn postgres(url: impl Into<String>) -> Self {
        Self::Postgres { url: url.into(), max_connections: 20, statement_timeout: Duration::from_secs(15) }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path } => f.debug_struct("Sqlite").field("path", path).finish(),
            // The URL may hold a password.
            Self::Postgres { max_connections, .. } => {
                f.debug_struct("Postgres").field("max_connections", max_connections).finish_non_exhaustive()
            }
        }
    }
}

/// The kind of database behind a [`Db`](crate::Db).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}
