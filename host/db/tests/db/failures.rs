//! Failures of the server and the network: migrations, failovers, timeouts, lost packets.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{join_all, try_join_all};
use hub_db::{Config, Db, Error};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Barrier, Notify},
};

use crate::common::Fixture;

/// Runs a statement on that many connections at once, so that each has it prepared.
async fn prepare_everywhere(db: &Db, connections: usize, sql: &'static str) {
    let all = Barrier::new(connections);
    let one = async || {
        db.transaction(async |mut tx| {
            tx.query(sql).bind(1_i64).execute().await?;
            all.wait().await;
            Ok::<_, Error>(())
        })
        .await
    };
    try_join_all((0..connections).map(|_| one())).await.unwrap();
}

const READ: &str = "SELECT * FROM t WHERE id <> $1";
const WRITE: &str = "UPDATE t SET n = n + 1 WHERE id <> $1 RETURNING *";

/// A migration changes the result of statements that all connections of the previous binary have prepared.
#[tokio::test]
async fn statements_that_were_prepared_before_a_migration_run_after_it() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", "INSERT INTO t VALUES (1, 0)"]).await;
    let db = &fixture.db;
    for column in ["ALTER TABLE t ADD a BIGINT", "ALTER TABLE t ADD b BIGINT"] {
        for sql in [READ, WRITE] {
            prepare_everywhere(db, 10, sql).await;
        }
        fixture.set_up(&["UPDATE t SET n = 0", column]).await;
        let one = async |at: usize| match at % 4 {
            0 => db.query(READ).bind(0_i64).execute().await,
            1 => db.write(WRITE).bind(0_i64).execute().await,
            2 => db.transaction(async |mut tx| tx.query(WRITE).bind(0_i64).execute().await).await,
            _ => db.transaction(async |mut tx| tx.query(READ).bind(0_i64).execute().await).await,
        };
        try_join_all((0..40).map(one)).await.unwrap();
        let (n,): (i64,) = db.query("SELECT n FROM t").one().await.unwrap();
        assert_eq!(n, 20, "each write had one effect");
    }
    fixture.remove().await;
}

#[tokio::test]
async fn a_statement_or_lock_that_takes_too_long_is_unavailable() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
    let Config::Postgres { url, max_connections, .. } = fixture.config.clone() else { unreachable!() };
    let impatient = Config::Postgres { url, max_connections, statement_timeout: Duration::from_millis(500) };
    let impatient = Db::connect(&impatient).await.unwrap();
    let late = impatient.query("SELECT pg_sleep(20)").execute().await.unwrap_err();
    assert!(late.is_unavailable(), "{late}");
    impatient.ping().await.unwrap();
    let waiter = Db::connect(&fixture.config).await.unwrap();
    let locked = Barrier::new(2);
    let hold = fixture.db.transaction(async |mut tx| {
        tx.query("LOCK TABLE t").execute().await?;
        locked.wait().await;
        locked.wait().await;
        Ok::<_, Error>(())
    });
    let wait = async {
        locked.wait().await;
        let waited = waiter
            .transaction(async |mut tx| {
                tx.query("SET LOCAL lock_timeout = '10ms'").execute().await?;
                tx.query("SELECT id FROM t").execute().await
            })
            .await;
        locked.wait().await;
        waited
    };
    let (held, waited) = tokio::join!(hold, wait);
    held.unwrap();
    assert!(waited.unwrap_err().is_unavailable());
    waiter.close().await;
    impatient.close().await;
    fixture.remove().await;
}

/// In a failover the old primary is made read-only before its connections end, if they ever do.
#[tokio::test]
async fn connections_to_a_server_that_was_made_read_only_are_replaced() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT)"]).await;
    let read_only = |value: &'static str| {
        fixture.set_up(match value {
            "on" => &["DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$"],
            _ => &["DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$"],
        })
    };
    read_only("on").await;
    let db = Db::connect(&fixture.narrow()).await.unwrap();
    let refused = db.write("INSERT INTO t VALUES (1)").execute().await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused}");
    read_only("off").await;
    db.write("INSERT INTO t VALUES (1)").execute().await.unwrap();
    db.close().await;
    fixture.remove().await;
}

/// A connection to the server that can drop packets.
struct Proxy {
    url: String,
    cut: Arc<AtomicBool>,
    healed: Arc<Notify>,
}

impl Proxy {
    async fn to(url: &str) -> Self {
        let (before, rest) = url.split_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{before}@{}/{database}", listener.local_addr().unwrap());
        let (cut, healed) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let proxy = Self { url, cut: Arc::clone(&cut), healed: Arc::clone(&healed) };
        let server = server.to_owned();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.unwrap();
                let (near_in, near_out) = near.into_split();
                let (far_in, far_out) = far.into_split();
                for (from, to) in [(near_in, far_out), (far_in, near_out)] {
                    tokio::spawn(forward(from, to, Arc::clone(&cut), Arc::clone(&healed)));
                }
            }
        });
        proxy
    }

    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    fn heal(&self) {
        self.cut.store(false, Ordering::SeqCst);
        self.healed.notify_waiters();
    }
}

async fn forward(
    from: tokio::net::tcp::OwnedReadHalf,
    to: tokio::net::tcp::OwnedWriteHalf,
    cut: Arc<AtomicBool>,
    healed: Arc<Notify>,
) {
    let mut buffer = [0; 4096];
    loop {
        let Ok(()) = from.readable().await else { return };
        let read = match from.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => read,
            Err(_) => continue,
        };
        if cut.load(Ordering::SeqCst) {
            // Packets sent meanwhile are lost and with them the connection.
            healed.notified().await;
            return;
        }
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            to.writable().await.unwrap();
            if let Ok(written) = to.try_write(rest) {
                rest = &rest[written..];
            }
        }
    }
}

#[tokio::test]
async fn a_silent_server_times_out_and_recovers() {
    let fixture = Fixture::postgres().await;
    let Config::Postgres { url, max_connections, .. } = fixture.config.clone() else { unreachable!() };
    let proxy = Proxy::to(&url).await;
    let cut =
        Config::Postgres { url: proxy.url.clone(), max_connections, statement_timeout: Duration::from_millis(500) };
    let db = Db::connect(&cut).await.unwrap();
    db.ping().await.unwrap();
    proxy.cut();
    // One in the middle of a statement, one of a transaction; the others can't even begin.
    let all = join_all((0..4).map(async |at| match at {
        0 => db.transaction(async |mut tx| tx.query("SELECT 1").execute().await).await,
        _ => db.query("SELECT 1").execute().await,
    }));
    for result in all.await {
        let silent = result.unwrap_err();
        assert!(silent.is_unavailable(), "{silent}");
    }
    proxy.heal();
    db.ping().await.unwrap();
    db.close().await;
    fixture.remove().await;
}

/// Managed servers ask for TLS.
#[tokio::test]
async fn tls_is_supported() {
    let fixture = Fixture::postgres().await;
    let Config::Postgres { url, .. } = &fixture.config else { unreachable!() };
    let Err(error) = Db::connect(&Config::postgres(format!("{url}?sslmode=require"))).await else {
        panic!("the tests' server has no certificate")
    };
    assert!(error.to_string().contains("server does not support TLS"), "{error}");
    fixture.remove().await;
}
