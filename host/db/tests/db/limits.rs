//! Statements and transactions that take too long.

use std::{future::pending, time::Duration};

use hub_db::{AmbientOutcome, Config, Db, Error, TimeLimits, with_tenant_reading, without_time_limit};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::common::{Fixture, count, on_both};

const TABLE: &str = "CREATE TABLE t (id BIGINT PRIMARY KEY)";
const SLOW: &str =
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 5000000) SELECT COUNT(*) FROM c";
const ENDLESS_READ: &str = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c";
const ENDLESS_WRITE: &str =
    "INSERT INTO t WITH RECURSIVE c (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c";

/// The same database with limits short enough for a test.
async fn impatient(fixture: &Fixture) -> Db {
    let soon = Duration::from_millis(100);
    let limits = TimeLimits { statement: soon, write: 2 * soon, transaction: 5 * soon, ..TimeLimits::default() };
    let config = match fixture.config.clone() {
        Config::Postgres { url, max_connections, .. } => {
            Config::Postgres { url, max_connections, statement_timeout: soon }
        }
        sqlite @ Config::Sqlite { .. } => sqlite,
    };
    Db::connect_limited(&config, limits).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_takes_too_long_is_ended_and_its_connection_used_again() {
    on_both(async |fixture| {
        let db = impatient(fixture).await;
        // More than there are connections.
        for _ in 0..30 {
            let late = match db.backend() {
                hub_db::Backend::Sqlite => db.query(ENDLESS_READ),
                hub_db::Backend::Postgres => db.query("SELECT pg_sleep(60)"),
            };
            let late = late.execute().await.unwrap_err();
            assert!(late.is_timeout() && late.is_unavailable(), "{late}");
            db.query("SELECT 1").execute().await.unwrap();
        }
        db.close().await;
    })
    .await;
}

/// SQLite rolls back the whole batch for it: the others of the batch run again.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_takes_too_long_fails_alone() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE]).await;
    let db = impatient(&fixture).await;
    for in_transaction in [false, true] {
        db.write("DELETE FROM t").execute().await.unwrap();
        let mut others = JoinSet::new();
        for id in 0..40_i64 {
            let db = db.clone();
            others.spawn(async move {
                if id % 2 == 0 {
                    return db.write("INSERT INTO t VALUES ($1)").bind(id).execute().await;
                }
                db.transaction(async |mut tx| tx.query("INSERT INTO t VALUES ($1)").bind(id).execute().await).await
            });
        }
        let late = if in_transaction {
            db.transaction(async |mut tx| {
                // It continues outside of any transaction, in SQLite's view.
                let late = tx.query(ENDLESS_WRITE).execute().await.unwrap_err();
                assert!(late.is_timeout(), "{late}");
                tx.query("INSERT INTO t VALUES (99)").execute().await.unwrap_err();
                Ok::<_, Error>(())
            })
            .await
        } else {
            db.write(ENDLESS_WRITE).execute().await.map(drop)
        };
        let late = late.unwrap_err();
        assert!(late.is_timeout(), "{late}");
        for written in others.join_all().await {
            written.unwrap();
        }
        assert_eq!(count(&db).await, 40);
    }
    db.close().await;
    fixture.remove().await;
}

/// Its client has stalled, or it computes.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_takes_too_long_is_rolled_back() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let db = impatient(fixture).await;
        let stalled = db.transaction(async |mut tx| {
            tx.query("INSERT INTO t VALUES (1)").execute().await?;
            pending::<Result<(), Error>>().await
        });
        let behind = async { db.write("INSERT INTO t VALUES (2)").execute().await };
        let (stalled, behind) = tokio::join!(stalled, behind);
        assert!(stalled.unwrap_err().is_timeout());
        behind.unwrap();
        assert_eq!(count(&db).await, 1);
        db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambient_transaction_that_takes_too_long_is_rolled_back() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let db = impatient(fixture).await;
        let run = |stalls: bool, computes_before: bool| {
            let db = db.clone();
            async move {
                let work = || async {
                    if computes_before {
                        tokio::time::sleep(Duration::from_millis(700)).await;
                    }
                    db.write("INSERT INTO t VALUES (1)").execute().await.unwrap();
                    if stalls {
                        pending::<()>().await;
                    }
                };
                let begin: hub_db::OnBegin = std::sync::Arc::new(|_| Box::pin(async { Ok(true) }));
                db.ambient_transaction(begin, work, |_, ()| Box::pin(async { Ok(true) })).await
            }
        };
        assert!(run(true, false).await.unwrap_err().is_timeout());
        assert_eq!(count(&db).await, 0);
        // Its work before the first write blocks no other writer.
        assert!(matches!(run(false, true).await.unwrap(), AmbientOutcome::Finished(())));
        assert_eq!(count(&db).await, 1);
        db.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_work_has_no_limit() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE]).await;
    let db = impatient(&fixture).await;
    assert!(db.query(SLOW).execute().await.unwrap_err().is_timeout(), "it is not slow");
    let moved = without_time_limit(db.transaction(async |mut tx| {
        tx.query(SLOW).execute().await?;
        tokio::time::sleep(Duration::from_millis(700)).await;
        tx.query("INSERT INTO t VALUES (1)").execute().await
    }));
    moved.await.unwrap();
    assert_eq!(count(&db).await, 1);
    db.close().await;
    fixture.remove().await;
}

/// Ten rows of a number (8 bytes) and a text of 100 bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_of_bounded_work_keeps_no_more_bytes_than_it_may_read() {
    const ALL: &str = "SELECT id, text FROM texts ORDER BY id";
    on_both(async |fixture| {
        let db = &fixture.db;
        fixture.set_up(&["CREATE TABLE texts (id BIGINT PRIMARY KEY, text TEXT NOT NULL)"]).await;
        for id in 0..10_i64 {
            let insert = db.write("INSERT INTO texts (id, text) VALUES ($1, $2)");
            insert.bind(id).bind("x".repeat(100)).execute().await.unwrap();
        }
        let read = async || db.query(ALL).all::<(i64, String)>().await;
        let read_in_tx = async || {
            db.transaction(async |mut tx| {
                tx.query("DELETE FROM texts WHERE id = 0").execute().await?;
                tx.query(ALL).all::<(i64, String)>().await
            })
            .await
        };
        let within = async |most| with_tenant_reading(Uuid::from_u128(1), most, read()).await;
        assert_eq!(within(1_080).await.unwrap()[9], (9, "x".repeat(100)));
        // More than there are connections.
        for _ in 0..30 {
            let refused = within(1_079).await.unwrap_err();
            assert!(matches!(refused, Error::TooLarge(1_079)) && !refused.is_unavailable(), "{refused}");
            let refused = with_tenant_reading(Uuid::from_u128(1), 900, read_in_tx()).await.unwrap_err();
            assert!(matches!(refused, Error::TooLarge(900)), "{refused}");
        }
        assert_eq!(read().await.unwrap().len(), 10, "nothing was deleted, and requests read on");
    })
    .await;
}
