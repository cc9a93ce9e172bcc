//! Either database, behind one interface.

use crate::{
    Backend, Error, Tx,
    postgres::{self, Postgres},
    query::{Fetched, Query},
    sqlite::{self, Sqlite},
};

pub(crate) enum Engine {
    Sqlite(Box<Sqlite>),
    Postgres(Box<Postgres>),
}

impl Engine {
    pub(crate) fn backend(&self) -> Backend {
        match self {
            Self::Sqlite(_) => Backend::Sqlite,
            Self::Postgres(_) => Backend::Postgres,
        }
    }

    pub(crate) async fn read(&self, query: Query) -> Result<Fetched, Error> {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(query).await,
            Self::Postgres(postgres) => postgres.read(query).await,
        }
    }

    pub(crate) async fn write(&self, query: Query) -> Result<Fetched, Error> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(query).await,
            Self::Postgres(postgres) => postgres.write(query).await,
        }
    }

    pub(crate) async fn begin(&self) -> Result<(Tx, CommitHandle), Error> {
        Ok(match self {
            Self::Sqlite(sqlite) => {
                let (lease, commit) = sqlite.begin().await?;
                (lease.into(), CommitHandle::Sqlite(commit))
            }
            Self::Postgres(postgres) => {
                let (lease, commit) = postgres.begin().await?;
                (lease.into(), CommitHandle::Postgres(commit))
            }
        })
    }
}

/// The end of a transaction, which its closure does not hold.
pub(crate) enum CommitHandle {
    Sqlite(sqlite::CommitHandle),
    Postgres(postgres::CommitHandle),
}

impl CommitHandle {
    /// Commits the transaction, or rolls it back.
    pub(crate) async fn finish(self, commit: bool) -> Result<(), Error> {
        match self {
            Self::Sqlite(handle) => handle.finish(commit).await,
            Self::Postgres(handle) => handle.finish(commit).await,
        }
    }
}
