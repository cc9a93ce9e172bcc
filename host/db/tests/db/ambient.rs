//! Ambient transactions, on both databases.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use futures_util::FutureExt;
use hub_db::{AmbientOutcome, Db, Error, OnBegin, Sql, has_uncommitted_writes};
use tokio::task::JoinSet;

use crate::common::{Failure, on_both};

const TABLES: [&str; 2] =
    ["CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)", "CREATE TABLE claims (id BIGINT PRIMARY KEY)"];

/// Takes the claim `id`, unless it is taken.
fn claim(id: i64) -> OnBegin {
    Arc::new(move |tx| {
        async move {
            let taken = tx.query("INSERT INTO claims VALUES ($1) ON CONFLICT DO NOTHING").bind(id).execute().await?;
            Ok(taken == 1)
        }
        .boxed()
    })
}

async fn count(db: &Db, table: &str) -> i64 {
    let sql = if table == "t" { "SELECT COUNT(*) FROM t" } else { "SELECT COUNT(*) FROM claims" };
    let (count,): (i64,) = db.query(sql).one().await.unwrap();
    count
}

async fn write(db: &Db, id: i64) -> Result<u64, Error> {
    db.write("INSERT INTO t VALUES ($1, 0)").bind(id).execute().await
}

async fn in_transaction(db: &Db, id: i64) -> Result<u64, Error> {
    db.transaction(async |mut tx| tx.query("INSERT INTO t VALUES ($1, 0)").bind(id).execute().await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn all_writes_of_a_task_are_committed_or_none() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        for (id, keep) in [(1, false), (2, true)] {
            let outcome = db
                .ambient_transaction(
                    claim(id),
                    || async {
                        assert!(!has_uncommitted_writes());
                        write(db, id * 10).await?;
                        assert!(has_uncommitted_writes());
                        in_transaction(db, id * 10 + 1).await?;
                        // Its own read sees its writes; others don't.
                        assert_eq!(count(db, "t").await, 2);
                        let other = db.clone();
                        assert_eq!(tokio::spawn(async move { count(&other, "t").await }).await.unwrap(), 0);
                        Ok::<_, Error>(())
                    },
                    |tx, done| {
                        assert!(done.is_ok());
                        async move {
                            tx.query("UPDATE t SET n = 7").execute().await?;
                            Ok(keep)
                        }
                        .boxed()
                    },
                )
                .await
                .unwrap();
            assert!(matches!(outcome, AmbientOutcome::Finished(Ok(()))));
            assert_eq!(count(db, "t").await, if keep { 2 } else { 0 });
            assert_eq!(count(db, "claims").await, i64::from(keep));
        }
        let (sum,): (i64,) = db.query("SELECT CAST(sum(n) AS BIGINT) FROM t").one().await.unwrap();
        assert_eq!(sum, 14);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_statement_or_inner_transaction_is_undone_alone() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let outcome = db
            .ambient_transaction(
                claim(1),
                || async {
                    write(db, 1).await.unwrap();
                    assert!(write(db, 1).await.unwrap_err().is_unique_violation());
                    let rolled_back = db
                        .transaction(async |mut tx| {
                            tx.query("INSERT INTO t VALUES (2, 0)").execute().await?;
                            Err::<(), _>(Failure::Cancelled)
                        })
                        .await;
                    assert!(matches!(rolled_back, Err(Failure::Cancelled)));
                    let swallowed = db
                        .transaction(async |mut tx| {
                            let _ = tx.query("INSERT INTO t VALUES (1, 0)").execute().await;
                            Ok::<_, Error>(())
                        })
                        .await;
                    assert!(matches!(swallowed, Err(Error::Aborted)));
                    in_transaction(db, 3).await.unwrap();
                },
                |_, ()| async { Ok(true) }.boxed(),
            )
            .await
            .unwrap();
        assert!(matches!(outcome, AmbientOutcome::Finished(())));
        let rows: Vec<(i64,)> = db.query("SELECT id FROM t ORDER BY id").all().await.unwrap();
        assert_eq!(rows, [(1,), (3,)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_the_tasks_with_the_same_claim_writes() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let mut tasks = JoinSet::new();
        for id in 0..20 {
            let db = fixture.db.clone();
            tasks.spawn(async move {
                let outcome = db
                    .ambient_transaction(claim(1), || write(&db, id), |_, _| async { Ok(true) }.boxed())
                    .await
                    .unwrap();
                u32::from(matches!(outcome, AmbientOutcome::Finished(Ok(1))))
            });
        }
        assert_eq!(tasks.join_all().await.iter().sum::<u32>(), 1);
        assert_eq!(count(&fixture.db, "t").await, 1);
    })
    .await;
}

/// Rows visible to a hook: none before the end of the outer transaction.
async fn hook_sees(db: &Db, seen: &Arc<AtomicU32>, id: i64) {
    db.transaction(async |mut tx| {
        tx.query("INSERT INTO t VALUES ($1, 0)").bind(id).execute().await?;
        assert!(has_uncommitted_writes());
        let seen = Arc::clone(seen);
        tx.on_end(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        Ok::<_, Error>(())
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_when_the_outer_transaction_ends_before_its_caller_goes_on() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let seen = Arc::new(AtomicU32::new(0));
        for (id, keep) in [(1, true), (2, false)] {
            let work = || async {
                let before = seen.load(Ordering::SeqCst);
                hook_sees(db, &seen, id).await;
                assert_eq!(seen.load(Ordering::SeqCst), before, "not while it is uncommitted");
            };
            db.ambient_transaction(claim(id), work, |_, ()| async move { Ok(keep) }.boxed()).await.unwrap();
        }
        assert_eq!(seen.load(Ordering::SeqCst), 2);
        hook_sees(db, &seen, 3).await;
        assert_eq!(seen.load(Ordering::SeqCst), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_though_the_caller_hangs_up() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let seen = Arc::new(AtomicU32::new(0));
        // Dropped after each number of polls: before, in the middle of, and after the transaction.
        for polls in 1..40 {
            let mut transaction = Box::pin(hook_sees(db, &seen, polls));
            for _ in 0..polls {
                if transaction.as_mut().now_or_never().is_some() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_micros(200)).await;
            }
            drop(transaction);
        }
        let kept = u32::try_from(count(db, "t").await).unwrap();
        assert!(kept > 0);
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
        while seen.load(Ordering::SeqCst) < kept {
            assert!(tokio::time::Instant::now() < deadline, "{kept} kept, {} hooks ran", seen.load(Ordering::SeqCst));
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_transaction_begins_for_work_that_only_reads() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let outcome =
            db.ambient_transaction(claim(1), || count(db, "t"), |_, _| async { Ok(true) }.boxed()).await.unwrap();
        assert!(matches!(outcome, AmbientOutcome::NotBegun(0)));
        assert_eq!(count(db, "claims").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_transaction_leaves_nothing_and_blocks_no_other() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = fixture.db.clone();
        let (wrote, written) = tokio::sync::oneshot::channel();
        let wrote = parking_lot::Mutex::new(Some(wrote));
        let task = tokio::spawn(async move {
            let work = || async {
                db.transaction(async |mut tx| {
                    tx.query("INSERT INTO t VALUES (1, 0)").execute().await?;
                    let _ = wrote.lock().take().unwrap().send(());
                    std::future::pending::<Result<(), Error>>().await
                })
                .await
            };
            db.ambient_transaction(claim(1), work, |_, _| async { Ok(true) }.boxed()).await.unwrap();
        });
        written.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(write(&fixture.db, 1).await.unwrap(), 1);
        assert_eq!(count(&fixture.db, "claims").await, 0);
    })
    .await;
}

/// A caller abandons an inner transaction between two statements and continues.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_inner_transaction_keeps_nothing() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let work = || async {
            let inserted = tokio::sync::Notify::new();
            let inner = db.transaction(async |mut tx| {
                tx.query("INSERT INTO t VALUES (1, 0)").execute().await?;
                assert_eq!(count(db, "t").await, 0, "only the transaction itself sees it");
                inserted.notify_one();
                std::future::pending::<Result<(), Error>>().await
            });
            tokio::select! {
                result = inner => result,
                () = inserted.notified() => Ok(()),
            }
        };
        let result = db.ambient_transaction(claim(1), work, |_, _| async { Ok(true) }.boxed()).await;
        assert!(matches!(result, Err(Error::Aborted)));
        assert_eq!(count(db, "t").await + count(db, "claims").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_fails_is_undone_alone() {
    on_both(async |fixture| {
        fixture.set_up(&TABLES).await;
        let db = &fixture.db;
        let script = Sql {
            sqlite: "INSERT INTO t VALUES ($1, 0); INSERT INTO t VALUES ($2, 1)",
            postgres: "WITH first AS (INSERT INTO t VALUES ($1, 0)) INSERT INTO t VALUES ($2, 1)",
        };
        let insert = async |first: i64, second: i64| -> Result<Vec<(i64,)>, Error> {
            db.write_script(script).bind(first).bind(second).all().await
        };
        let ended = Arc::new(AtomicU32::new(0));
        let outcome = db
            .ambient_transaction(
                claim(1),
                || async {
                    write(db, 1).await?;
                    insert(2, 3).await?;
                    assert!(insert(4, 1).await.is_err());
                    let ended = Arc::clone(&ended);
                    db.on_end(move || _ = ended.fetch_add(1, Ordering::Relaxed)).await;
                    Ok::<_, Error>(())
                },
                |_, _| {
                    assert_eq!(ended.load(Ordering::Relaxed), 0, "it has not ended");
                    async { Ok(true) }.boxed()
                },
            )
            .await
            .unwrap();
        assert!(matches!(outcome, AmbientOutcome::Finished(Ok(()))));
        assert_eq!((count(db, "t").await, ended.load(Ordering::Relaxed)), (3, 1));
        let again = Arc::clone(&ended);
        db.on_end(move || _ = again.fetch_add(1, Ordering::Relaxed)).await;
        assert_eq!(ended.load(Ordering::Relaxed), 2, "outside of a transaction it runs at once");
    })
    .await;
}
