//! One statement on its way to either driver.
//!
//! Boxed futures keep the shared code compiled once, in this crate: a crate that runs statements compiles only the
//! decoding of its rows.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::error::BoxDynError;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::{
    Backend, Error, Record, Sql, Tx, Value,
    ambient::AmbientTransaction,
    engine::Engine,
    pool_kind::PoolKind,
    query::{Fetch, Fetched, Query},
    stats,
    tenant::most_read,
    tx,
};

/// Records decoded before other tasks are served: some hundred microseconds.
const RECORDS_AT_ONCE: usize = 256;
/// Target of the spans that are only made for traces.
const TRACE_TARGET: &str = "hub_trace";

/// A statement that gathers its values and then runs.
#[must_use = "a statement does nothing until it is run"]
pub struct Statement<'c> {
    query: Query,
    target: Target<'c>,
    /// The first value that could not be encoded.
    invalid: Option<BoxDynError>,
}

/// Target of a statement.
pub(crate) enum Target<'c> {
    Read(&'c Engine, PoolKind),
    Write(&'c Engine, PoolKind),
    Tx(&'c mut Tx),
}

impl<'c> Statement<'c> {
    pub(crate) fn new(sql: Sql, target: Target<'c>) -> Self {
        let backend = match &target {
            Target::Read(engine, _) | Target::Write(engine, _) => engine.backend(),
            Target::Tx(tx) => tx.backend(),
        };
        let text = match backend {
            Backend::Sqlite => sql.sqlite,
            Backend::Postgres => sql.postgres,
        };
        Self { query: Query::new(backend, text), target, invalid: None }
    }

    /// Makes it several statements on SQLite.
    pub(crate) fn script(mut self) -> Self {
        self.query.is_script = true;
        self
    }

    /// Gives the next placeholder (`$1`, then `$2` …) its value.
    pub fn bind<'v, T: Value<'v>>(mut self, value: T) -> Self {
        if let Err(error) = self.query.bind(value) {
            self.invalid.get_or_insert(error);
        }
        self
    }

    /// Runs it and returns its first row, if it has any.
    pub async fn optional<T: Record>(self) -> Result<Option<T>, Error> {
        self.run_boxed(Fetch::First).await?.row(0)
    }

    /// Runs it and returns its first row, or [`Error::NotFound`].
    pub async fn one<T: Record>(self) -> Result<T, Error> {
        self.run_boxed(Fetch::First).await?.row(0)?.ok_or(Error::NotFound)
    }

    /// Runs it and returns all its rows.
    pub async fn all<T: Record>(self) -> Result<Vec<T>, Error> {
        let fetched = self.run_boxed(Fetch::All).await?;
        let mut records = Vec::new();
        while let Some(record) = fetched.row(records.len())? {
            records.push(record);
            if records.len() % RECORDS_AT_ONCE == 0 {
                // Lets other tasks of this thread run.
                tokio::task::yield_now().await;
            }
        }
        Ok(records)
    }

    /// Runs it and returns those of its rows that can be read, for work that one loop does for all tenants: a row of one,
    /// such as an imported one of a newer hub, must not stop the work for the others. The others are counted, and said
    /// once of each statement.
    pub async fn readable<T: Record>(self) -> Result<Vec<T>, Error> {
        let text = self.query.text.as_str().to_owned();
        let fetched = self.run_boxed(Fetch::All).await?;
        let (mut records, mut at) = (Vec::new(), 0);
        loop {
            match fetched.row(at) {
                Ok(Some(record)) => records.push(record),
                Ok(None) => return Ok(records),
                Err(error) => stats::record_unreadable(&text, &error),
            }
            at += 1;
            if at % RECORDS_AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Runs it and returns the number of rows inserted, updated or deleted.
    pub fn execute(self) -> BoxFuture<'c, Result<u64, Error>> {
        Box::pin(async { Ok(self.run(Fetch::Count).await?.count()) })
    }

    fn run_boxed(self, fetch: Fetch) -> BoxFuture<'c, Result<Fetched, Error>> {
        Box::pin(self.run(fetch))
    }

    async fn run(mut self, fetch: Fetch) -> Result<Fetched, Error> {
        if let Some(error) = self.invalid {
            return Err(sqlx::Error::Encode(error).into());
        }
        // SQLite stops at the first sufficient row, before the statements that follow.
        self.query.fetch = if self.query.is_script { Fetch::All } else { fetch };
        run_at(self.target, self.query).await
    }
}

/// Runs a statement, and counts and traces it.
pub(crate) async fn run_at(target: Target<'_>, mut query: Query) -> Result<Fetched, Error> {
    // A write that stands alone has been done when its rows come.
    query.most_read = if matches!(target, Target::Write(..)) { None } else { most_read() };
    let span = tracing::trace_span!(target: TRACE_TARGET, "statement", db.query.text = query.text.as_str());
    let began = Instant::now();
    let result = run_unobserved(target, query).instrument(span).await;
    stats::record(began.elapsed(), result.is_err());
    result
}

async fn run_unobserved(target: Target<'_>, query: Query) -> Result<Fetched, Error> {
    match target {
        Target::Read(engine, pool) => match ambient(engine, pool) {
            Some(ambient) => ambient.read(query).await,
            None => engine.read(pool, query).await,
        },
        Target::Write(engine, pool) => {
            tx::refuse_nested()?;
            match ambient(engine, pool) {
                Some(ambient) => ambient.write(query).await,
                None => engine.write(pool, query).await,
            }
        }
        Target::Tx(tx) => tx.run(query).await,
    }
}

/// The ambient transaction that a statement belongs to. Reserved connections belong to none.
fn ambient(engine: &Engine, pool: PoolKind) -> Option<Arc<AmbientTransaction>> {
    if pool == PoolKind::Shared { AmbientTransaction::current(engine) } else { None }
}

impl Tx {
    /// A statement of this transaction, reading or writing.
    pub fn query(&mut self, sql: impl Into<Sql>) -> Statement<'_> {
        Statement::new(sql.into(), Target::Tx(self))
    }

    /// Statements of this transaction with the same values, in one roundtrip: several on SQLite, one on PostgreSQL.
    pub fn script(&mut self, sql: Sql) -> Statement<'_> {
        self.query(sql).script()
    }

    /// Runs a statement of this transaction, and counts and traces it.
    pub(crate) async fn run_observed(&mut self, query: Query) -> Result<Fetched, Error> {
        run_at(Target::Tx(self), query).await
    }
}
