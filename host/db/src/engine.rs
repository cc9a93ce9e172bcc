//! Either database, behind one interface.

use std::time::Duration;

use crate::{
    Backend, Error, Tx,
    ended::EndHooks,
    limits::unless_exempt,
    pool_kind::PoolKind,
    postgres::{self, Postgres},
    query::{Fetched, Query},
    sqlite::{self, Sqlite},
    stats::DbStats,
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

    pub(crate) fn stats(&self) -> DbStats {
        match self {
            Self::Sqlite(sqlite) => sqlite.stats(),
            Self::Postgres(postgres) => postgres.stats(),
        }
    }

    /// Maximum duration of a transaction.
    pub(crate) fn transaction_limit(&self) -> Option<Duration> {
        unless_exempt(match self {
            Self::Sqlite(sqlite) => sqlite.time_limits().transaction,
            Self::Postgres(postgres) => postgres.transaction_limit(),
        })
    }

    pub(crate) async fn read(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(pool, query).await,
            Self::Postgres(postgres) => postgres.read(pool, query).await,
        }
    }

    pub(crate) async fn write(&self, pool: PoolKind, query: Query) -> Result<Fetched, Error> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(pool, query).await,
            Self::Postgres(postgres) => postgres.write(pool, query).await,
        }
    }

    pub(crate) async fn begin(&self, pool: PoolKind) -> Result<(Tx, CommitHandle), Error> {
        let hooks = EndHooks::default();
        let (tx, committer) = match self {
            Self::Sqlite(sqlite) => {
                let (lease, commit) = sqlite.begin(pool).await?;
                (Tx::new(lease, &hooks), Committer::Sqlite(commit))
            }
            Self::Postgres(postgres) => {
                let (lease, commit) = postgres.begin(pool).await?;
                (Tx::new(lease, &hooks), Committer::Postgres(commit))
            }
        };
        Ok((tx, CommitHandle { committer, hooks }))
    }
}

/// The end of a transaction, which its closure does not hold.
pub(crate) struct CommitHandle {
    committer: Committer,
    hooks: EndHooks,
}

enum Committer {
    Sqlite(sqlite::CommitHandle),
    Postgres(postgres::CommitHandle),
}

impl CommitHandle {
    /// Commits the transaction, or rolls it back.
    pub(crate) async fn finish(self, commit: bool) -> Result<(), Error> {
        match self.committer {
            Committer::Sqlite(handle) => handle.finish(commit, self.hooks).await,
            Committer::Postgres(handle) => {
                let finished = handle.finish(commit).await;
                drop(self.hooks);
                finished
            }
        }
    }
}
