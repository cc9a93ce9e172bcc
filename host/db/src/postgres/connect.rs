//! The server: how its connections are made, and what binds that which runs on them.

use std::{str::FromStr, sync::Arc, time::Duration};

use sqlx::{ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

use super::Pool;
use crate::{Error, pool::Limits, sql::STATEMENTS};

/// How long an answer may be late before its connection is given up.
const GRACE: Duration = Duration::from_secs(2);

/// How long a statement may wait for a lock, and a transaction may hold its own and ask nothing.
const LOCKS: [(&str, &str); 2] = [("lock_timeout", "5s"), ("idle_in_transaction_session_timeout", "15s")];

/// A node that was cut off silently keeps no locks for longer than some ten seconds.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
];

/// How connections are used.
pub(crate) struct Terms {
    /// What begins a transaction.
    pub(super) begin: Arc<str>,
    /// Whether what one transaction leaves in the session is there in the next.
    pub(super) owns_session: bool,
    /// How long to wait for an answer.
    pub(super) patience: Duration,
}

/// A server and how to talk to it.
pub(crate) struct Server {
    /// Of connections that may take as long as they like.
    pub(super) options: PgConnectOptions,
    statement_timeout: Duration,
    owns_session: bool,
}

impl Server {
    pub(crate) fn new(url: &str, statement_timeout: Duration) -> Result<Self, Error> {
        let (url, pgbouncer) = without_parameter(url, "pgbouncer");
        let owns_session = pgbouncer != Some("true");
        let mut options = PgConnectOptions::from_str(&url)?;
        if options.get_application_name().is_none() {
            options = options.application_name("network-hub");
        }
        if owns_session {
            if !url.contains("statement-cache-capacity") {
                options = options.statement_cache_capacity(STATEMENTS);
            }
        } else {
            // PgBouncer refuses the parameter; values go over in binary, so that it means nothing.
            options = options.statement_cache_capacity(0).extra_float_digits(None);
        }
        Ok(Self { options, statement_timeout, owns_session })
    }

    /// A connection for what may take as long as it likes.
    pub(crate) async fn unhurried(&self) -> Result<PgConnection, Error> {
        Ok(self.options.connect().await?)
    }

    /// Connections for statements that are bounded.
    pub(crate) async fn pool(&self, max_connections: u32) -> Result<Pool, Error> {
        let limits = Limits {
            max: max_connections.max(1),
            ping_after: Duration::from_secs(1),
            idle: Duration::from_mins(5),
            age: Duration::from_mins(30),
        };
        let mut options = self.options.clone();
        let mut begin = "BEGIN".to_owned();
        let statement = format!("{}ms", self.statement_timeout.as_millis());
        let bounds = LOCKS.into_iter().chain([("statement_timeout", &*statement)]);
        // Who says what a session is to be like says all of it.
        if options.get_options().is_some() {
        } else if self.owns_session {
            options = options.options(bounds.chain(KEEPALIVE));
        } else {
            begin.extend(bounds.map(|(name, value)| format!("; SET LOCAL {name} = '{value}'")));
        }
        let patience = self.statement_timeout.saturating_add(GRACE);
        let terms = Terms { begin: begin.into(), owns_session: self.owns_session, patience };
        let pool = Pool::new(options, terms, limits);
        self.check(&pool).await?;
        Ok(pool)
    }

    /// A wrong address or password is to be told now, not to the first request. So is a session that is shared: the
    /// statement that one connection prepared is in the way of the other.
    async fn check(&self, pool: &Pool) -> Result<(), Error> {
        let outcome = async {
            let mut beside = self.options.connect().await?;
            let mut pooled = pool.acquire().await?;
            if self.owns_session {
                sqlx::query("SELECT 1").execute(&mut beside).await?;
                sqlx::query("SELECT 1").execute(pooled.conn()?).await?;
            }
            pooled.release();
            Ok(beside.close().await?)
        };
        match outcome.await {
            Err(Error::Driver(error)) if self.owns_session && is_of_a_pooler(&error) => Err(Error::Pooler(error)),
            outcome => outcome,
        }
    }
}

fn is_of_a_pooler(error: &sqlx::Error) -> bool {
    let Some(error) = error.as_database_error() else { return false };
    match error.code().as_deref() {
        // A statement of that name exists already, or does not exist any more.
        Some("42P05" | "26000") => true,
        Some("08P01") => error.message().contains("startup parameter"),
        _ => false,
    }
}

/// A URL without a parameter that the driver does not know, and the parameter's value.
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
