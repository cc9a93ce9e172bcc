//! Writing, alone and together, on both databases.

use std::{future::pending, sync::Arc};

use futures_util::FutureExt;
use hub_db::{Db, Error, Sql, Tx};
use tokio::{
    sync::{Barrier, oneshot},
    task::JoinSet,
};

use crate::common::{Failure, count, on_both};

const TABLE: &str = "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)";

async fn insert(tx: &mut Tx, id: i64) -> Result<u64, Error> {
    tx.query("INSERT INTO t VALUES ($1, 0)").bind(id).execute().await
}

async fn ids(db: &Db) -> Vec<i64> {
    let rows: Vec<(i64,)> = db.query("SELECT id FROM t ORDER BY id").all().await.unwrap();
    rows.into_iter().map(|(id,)| id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_increment_is_lost() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE, "INSERT INTO t VALUES (1, 0)"]).await;
        let mut tasks = JoinSet::new();
        for task in 0..200 {
            let db = fixture.db.clone();
            tasks.spawn(async move {
                if task % 2 == 0 {
                    db.write("UPDATE t SET n = n + 1 WHERE id = 1").execute().await.unwrap();
                } else {
                    db.transaction(async |mut tx| {
                        let (n,): (i64,) = tx.query("UPDATE t SET n = n + 0 WHERE id = 1 RETURNING n").one().await?;
                        tx.query("UPDATE t SET n = $1 WHERE id = 1").bind(n + 1).execute().await
                    })
                    .await
                    .unwrap();
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        let (n,): (i64,) = fixture.db.query("SELECT n FROM t").one().await.unwrap();
        assert_eq!(n, 200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_are_seen_by_the_next_read() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let mut tasks = JoinSet::new();
        for id in 0..100_i64 {
            let db = fixture.db.clone();
            tasks.spawn(async move {
                if id % 2 == 0 {
                    db.write("INSERT INTO t VALUES ($1, 0)").bind(id).execute().await.unwrap();
                } else {
                    db.transaction(async |mut tx| insert(&mut tx, id).await).await.unwrap();
                }
                let seen: Option<(i64,)> =
                    db.query("SELECT id FROM t WHERE id = $1").bind(id).optional().await.unwrap();
                assert_eq!(seen, Some((id,)));
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
    })
    .await;
}

/// Of many concurrent transactions a third rolls back, a third violates a constraint, and the last third is committed.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_does_not_affect_concurrent_transactions() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE, "INSERT INTO t VALUES (-1, 0)"]).await;
        let mut tasks = JoinSet::new();
        for id in 0..150_i64 {
            let db = fixture.db.clone();
            tasks.spawn(async move {
                let result = db
                    .transaction(async |mut tx| {
                        insert(&mut tx, id).await?;
                        match id % 3 {
                            0 => Ok(()),
                            1 => Err(Failure::Cancelled),
                            _ => Ok(insert(&mut tx, -1).await.map(drop)?),
                        }
                    })
                    .await;
                match id % 3 {
                    0 => result.unwrap(),
                    1 => assert!(matches!(result, Err(Failure::Cancelled))),
                    _ => assert!(matches!(result, Err(Failure::Db(error)) if error.is_unique_violation())),
                }
                let doubled = db.write("INSERT INTO t VALUES (-1, 0)").execute().await;
                assert!(doubled.unwrap_err().is_unique_violation());
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        let kept: Vec<i64> = [-1].into_iter().chain((0..150).step_by(3)).collect();
        assert_eq!(ids(&fixture.db).await, kept);
    })
    .await;
}

/// A caller hangs up between two statements while others wait behind it.
#[tokio::test]
async fn a_dropped_transaction_is_undone_alone() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let (begun, has_begun) = oneshot::channel();
        let db = fixture.db.clone();
        let dropped = tokio::spawn(async move {
            let begun = std::sync::Mutex::new(Some(begun));
            db.transaction(async |mut tx| {
                insert(&mut tx, 1).await?;
                begun.lock().unwrap().take().unwrap().send(()).unwrap();
                pending::<Result<(), Error>>().await
            })
            .await
        });
        has_begun.await.unwrap();
        let db = fixture.db.clone();
        let behind = tokio::spawn(async move { db.transaction(async |mut tx| insert(&mut tx, 2).await).await });
        tokio::task::yield_now().await;
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        behind.await.unwrap().unwrap();
        assert_eq!(ids(&fixture.db).await, [2]);
    })
    .await;
}

/// A caller hangs up at every moment of its transaction, while it is being begun or committed too,
/// and the next caller gets its connection.
#[tokio::test]
async fn a_dropped_transaction_is_never_half_committed() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let narrow = Db::connect(&fixture.narrow()).await.unwrap();
        let mut acknowledged = Vec::new();
        for polls in 0..30_i64 {
            let mut work = Box::pin(narrow.transaction(async |mut tx| {
                insert(&mut tx, 2 * polls).await?;
                insert(&mut tx, 2 * polls + 1).await
            }));
            for _ in 0..polls {
                if let Some(result) = work.as_mut().now_or_never() {
                    result.unwrap();
                    acknowledged.push(2 * polls);
                    break;
                }
                // Time for the database.
                for _ in 0..polls {
                    fixture.db.ping().await.unwrap();
                }
            }
            drop(work);
            narrow.write("INSERT INTO t VALUES ($1, 0)").bind(-polls - 1).execute().await.unwrap();
            let written: Option<(i64,)> =
                fixture.db.query("SELECT id FROM t WHERE id = $1").bind(-polls - 1).optional().await.unwrap();
            assert!(written.is_some(), "an acknowledged write is not committed");
        }
        let ids = ids(&fixture.db).await;
        for first in (0..60).step_by(2) {
            assert_eq!(ids.contains(&first), ids.contains(&(first + 1)), "half a transaction was committed");
        }
        assert!(acknowledged.iter().all(|id| ids.contains(id)), "an acknowledged transaction is lost");
        narrow.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_panic_undoes_its_own_transaction_only() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let mut tasks = JoinSet::new();
        for id in 0..20_i64 {
            let db = fixture.db.clone();
            tasks.spawn(async move {
                db.transaction(async |mut tx| {
                    insert(&mut tx, id).await?;
                    assert!(id % 2 == 0, "an expected panic");
                    Ok::<_, Error>(())
                })
                .await
            });
        }
        let mut panics = 0;
        while let Some(task) = tasks.join_next().await {
            match task {
                Ok(result) => result.unwrap(),
                Err(error) => panics += i64::from(error.is_panic()),
            }
        }
        assert_eq!(panics, 10);
        assert_eq!(ids(&fixture.db).await, (0..20).step_by(2).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_transaction_with_an_ignored_failure_is_rolled_back() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let result = fixture
            .db
            .transaction(async |mut tx| {
                insert(&mut tx, 1).await?;
                assert!(insert(&mut tx, 1).await.unwrap_err().is_unique_violation());
                Ok::<_, Error>(())
            })
            .await;
        assert!(matches!(result, Err(Error::Aborted)));
        assert_eq!(count(&fixture.db).await, 0);
    })
    .await;
}

/// Takes long enough that its first poll does not finish it.
const LONG: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
                    INSERT INTO t SELECT n, 0 FROM numbers";

#[tokio::test]
async fn a_transaction_with_an_abandoned_statement_is_rolled_back() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let result = fixture
            .db
            .transaction(async |mut tx| {
                assert!(tx.query(LONG).execute().now_or_never().is_none());
                Ok::<_, Error>(())
            })
            .await;
        assert!(matches!(result, Err(Error::Aborted)));
        assert_eq!(count(&fixture.db).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_missing_row_does_not_fail_a_transaction() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        fixture
            .db
            .transaction(async |mut tx| {
                let none = tx.query("SELECT n FROM t").one::<(i64,)>().await;
                assert!(matches!(none, Err(Error::NotFound)));
                insert(&mut tx, 1).await
            })
            .await
            .unwrap();
        assert_eq!(ids(&fixture.db).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_does_not_wait_for_itself() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let db = &fixture.db;
        let result = db.transaction(async |_tx| db.write("INSERT INTO t VALUES (1, 0)").execute().await).await;
        assert!(matches!(result, Err(Error::Nested)));
        let result = db.transaction(async |_tx| db.transaction(async |mut tx| insert(&mut tx, 1).await).await).await;
        assert!(matches!(result, Err(Error::Nested)));
        assert_eq!(count(db).await, 0);
    })
    .await;
}

#[tokio::test]
async fn constraints_of_the_schema_hold() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE, "CREATE TABLE child (parent BIGINT NOT NULL REFERENCES t (id))"]).await;
        let orphan = fixture.db.write("INSERT INTO child VALUES (7)").execute().await.unwrap_err();
        assert!(orphan.is_foreign_key_violation());
        assert!(!orphan.is_unique_violation());
        assert!(!orphan.is_unavailable());
        fixture.set_up(&["CREATE TABLE few (n BIGINT NOT NULL CHECK (n < 3))"]).await;
        let many = fixture.db.write("INSERT INTO few VALUES (1), (3)").execute().await.unwrap_err();
        assert!(many.is_check_violation() && !orphan.is_check_violation());
    })
    .await;
}

/// Writes queued before the close are committed, later ones are refused.
#[tokio::test]
async fn closing_finishes_started_work() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE]).await;
        let barrier = Arc::new(Barrier::new(21));
        let mut tasks = JoinSet::new();
        for id in 0..20_i64 {
            let (db, barrier) = (fixture.db.clone(), Arc::clone(&barrier));
            tasks.spawn(async move {
                barrier.wait().await;
                let result = db.transaction(async |mut tx| insert(&mut tx, id).await).await;
                (id, result)
            });
        }
        barrier.wait().await;
        fixture.db.close().await;
        let mut kept = Vec::new();
        while let Some(task) = tasks.join_next().await {
            match task.unwrap() {
                (id, Ok(_)) => kept.push(id),
                (_, Err(error)) => assert!(matches!(error, Error::Closed)),
            }
        }
        kept.sort_unstable();
        assert!(matches!(fixture.db.ping().await, Err(Error::Closed)));
        let late = fixture.db.write("DELETE FROM t").execute().await;
        assert!(matches!(late, Err(Error::Closed)));

        let again = Db::connect(&fixture.config).await.unwrap();
        again.ping().await.unwrap();
        assert_eq!(ids(&again).await, kept);
        again.close().await;
    })
    .await;
}

/// Adds to a row, and inserts another one if there was such a row.
const ADD_AND_NOTE: Sql = Sql {
    sqlite: "UPDATE t SET n = n + 1 WHERE id = $1;
             INSERT INTO t SELECT $2, n FROM t WHERE id = $1 AND changes() = 1 RETURNING n",
    postgres: "WITH changed AS (UPDATE t SET n = n + 1 WHERE id = $1 RETURNING n)
               INSERT INTO t SELECT $2, n FROM changed RETURNING n",
};

async fn add_and_note(db: &Db, id: i64, note: i64) -> Result<Vec<(i64,)>, Error> {
    db.write_script(ADD_AND_NOTE).bind(id).bind(note).all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_done_whole_or_not_at_all() {
    on_both(async |fixture| {
        fixture.set_up(&[TABLE, "INSERT INTO t VALUES (1, 0)"]).await;
        let db = &fixture.db;
        assert_eq!(add_and_note(db, 1, 2).await.unwrap(), [(1,)]);
        assert_eq!(add_and_note(db, 9, 3).await.unwrap(), [], "there is no such row");
        // The second statement of every other one fails; between them are jobs of all kinds, in the same batches.
        let mut tasks = JoinSet::new();
        for task in 0..60_i64 {
            let db = db.clone();
            tasks.spawn(async move {
                match task % 4 {
                    0 => drop(add_and_note(&db, 1, 100 + task).await.unwrap()),
                    1 => assert!(add_and_note(&db, 1, 2).await.unwrap_err().is_unique_violation()),
                    2 => drop(db.write("UPDATE t SET n = n + 1000 WHERE id = 2").execute().await.unwrap()),
                    _ => drop(db.transaction(async |mut tx| insert(&mut tx, 200 + task).await).await.unwrap()),
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        let rows: Vec<(i64, i64)> = db.query("SELECT id, n FROM t WHERE id < 100 ORDER BY id").all().await.unwrap();
        assert_eq!(rows, [(1, 16), (2, 15_001)]);
        assert_eq!(ids(db).await.len(), 2 + 15 + 15);
    })
    .await;
}
