//! Connections to the server, and the timeouts of their statements.

use std::{str::FromStr, sync::Arc, time::Duration};

use sqlx::{ConnectOptions, Connection, PgConnection, Row as _, postgres::PgConnectOptions};

use crate::{
    Error,
    pool::{self, Limits},
    query::PREPARED_STATEMENTS,
};

pub(super) type Pool = pool::Pool<PgConnection>;

/// Extra time for a late answer before its connection is closed.
const GRACE: Duration = Duration::from_secs(2);

/// Timeouts of a connection's statements and transactions.
#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    statement: Duration,
    /// Maximum wait for a lock.
    lock: Duration,
    /// Maximum time that a transaction holds its locks without a statement, like that of a paused node.
    idle_in_transaction: Duration,
}

impl Timeouts {
    /// For renewals of leases: late after a second, and others wait for them.
    pub(super) const TIME_CRITICAL: Self = Self {
        statement: Duration::from_secs(1),
        lock: Duration::from_millis(250),
        idle_in_transaction: Duration::from_secs(1),
    };

    /// For short statements that authenticate a caller, whose request still waits.
    pub(super) const RESERVED: Self = Self {
        statement: Duration::from_secs(3),
        lock: Duration::from_secs(3),
        idle_in_transaction: Duration::from_secs(3),
    };

    pub(super) const fn usual(statement: Duration) -> Self {
        Self { statement, lock: Duration::from_secs(5), idle_in_transaction: Duration::from_secs(5) }
    }

    /// Session settings.
    fn settings(self) -> [(&'static str, String); 3] {
        [
            ("statement_timeout", self.statement),
            ("lock_timeout", self.lock),
            ("idle_in_transaction_session_timeout", self.idle_in_transaction),
        ]
        .map(|(name, timeout)| (name, format!("{}ms", timeout.as_millis())))
    }
}

/// Bounds the locks of a silently cut-off node to some ten seconds.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
];

/// Shared settings of a pool's connections.
pub(crate) struct SessionSettings {
    /// Statement that begins a transaction.
    pub(super) begin: Arc<str>,
    /// True if session state of one transaction is visible in the next.
    pub(super) owns_session: bool,
    /// Maximum wait for an answer.
    pub(super) response_timeout: Duration,
}

/// A server and its connection options.
pub(crate) struct Server {
    /// For connections without timeouts.
    pub(super) options: PgConnectOptions,
    owns_session: bool,
}

impl Server {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let (url, pgbouncer) = without_parameter(url, "pgbouncer");
        let owns_session = pgbouncer != Some("true");
        let mut options = PgConnectOptions::from_str(&url)?;
        if options.get_application_name().is_none() {
            options = options.application_name("network-hub");
        }
        if owns_session {
            if !url.contains("statement-cache-capacity") {
                options = options.statement_cache_capacity(PREPARED_STATEMENTS);
            }
        } else {
            // PgBouncer refuses the parameter; values go over in binary, so that it means nothing.
            options = options.statement_cache_capacity(0).extra_float_digits(None);
        }
        Ok(Self { options, owns_session })
    }

    /// Opens a connection whose statements have no timeouts.
    pub(crate) async fn connect_untimed(&self) -> Result<PgConnection, Error> {
        Ok(self.options.connect().await?)
    }

    /// Connections whose statements have timeouts.
    pub(super) fn pool(&self, max_connections: u32, patience: Duration, timeouts: Timeouts, is_shared: bool) -> Pool {
        let limits = Limits {
            max_connections: max_connections.max(1),
            patience,
            ping_after: Duration::from_secs(1),
            idle_timeout: Duration::from_mins(5),
            max_lifetime: Duration::from_mins(30),
            is_shared,
        };
        let mut options = self.options.clone();
        let mut begin = "BEGIN".to_owned();
        let settings = timeouts.settings();
        // Options in the URL replace all of these.
        if options.get_options().is_some() {
        } else if self.owns_session {
            options = options.options(settings).options(KEEPALIVE);
        } else {
            begin.extend(settings.map(|(name, value)| format!("; SET LOCAL {name} = '{value}'")));
        }
        let response_timeout = timeouts.statement.saturating_add(GRACE);
        let settings = SessionSettings { begin: begin.into(), owns_session: self.owns_session, response_timeout };
        Pool::new(options, settings, limits)
    }

    /// Reports a wrong address or password now, not to the first request. It also detects a shared session: the name of
    /// the statement that one connection prepared is taken for the other.
    pub(super) async fn check(&self, pool: &Pool) -> Result<(), Error> {
        let outcome = async {
            let mut unpooled = self.options.connect().await?;
            require_utf8(&mut unpooled).await?;
            let mut pooled = pool.acquire().await?;
            if self.owns_session {
                sqlx::query("SELECT 1").execute(&mut unpooled).await?;
                sqlx::query("SELECT 1").execute(pooled.conn()?).await?;
            }
            pooled.release();
            Ok(unpooled.close().await?)
        };
        match outcome.await {
            Err(Error::Driver(error)) if self.owns_session && is_pooler_error(&error) => Err(Error::Pooler(error)),
            outcome => outcome,
        }
    }
}

/// Other encodings lack most of the characters of names and texts, which would be noticed years later.
async fn require_utf8(connection: &mut PgConnection) -> Result<(), Error> {
    let found =
        "SELECT pg_encoding_to_char(encoding)::text, datname::text FROM pg_database WHERE datname = current_database()";
    let row = sqlx::raw_sql(found).fetch_one(connection).await?;
    let (encoding, database): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    if encoding == "UTF8" { Ok(()) } else { Err(Error::Encoding { encoding, database }) }
}

fn is_pooler_error(error: &sqlx::Error) -> bool {
    let Some(error) = error.as_database_error() else { return false };
    match error.code().as_deref() {
        // A statement of that name exists already, or does not exist any more.
        Some("42P05" | "26000") => true,
        Some("08P01") => error.message().contains("startup parameter"),
        _ => false,
    }
}

/// Splits off a URL parameter unknown to the driver; returns the remaining URL and the value.
fn without_parameter<'u>(url: &'u str, name: &str) -> (String, Option<&'u str>) {
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let value_of = |pair: &'u str| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value);
    let value = query.split('&').find_map(value_of);
    let rest: Vec<_> = query.split('&').filter(|pair| value_of(pair).is_none()).collect();
    (if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) }, value)
}

#[cfg(test)]
mod tests {
    use super::without_parameter;

    #[test]
    fn a_parameter_is_taken_out_of_a_url() {
        for (url, rest, value) in [
            ("postgres://h/d", "postgres://h/d", None),
            ("postgres://h/d?pgbouncer=true", "postgres://h/d", Some("true")),
            ("postgres://h/d?a=1&pgbouncer=false&b=2", "postgres://h/d?a=1&b=2", Some("false")),
            ("postgres://h/d?a=pgbouncer", "postgres://h/d?a=pgbouncer", None),
        ] {
            assert_eq!(without_parameter(url, "pgbouncer"), (rest.to_owned(), value));
        }
    }
}
