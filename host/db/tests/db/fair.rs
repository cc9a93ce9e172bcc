//! One tenant's work beside another's.

use std::time::Duration;

use futures_util::future::join_all;
use hub_db::{Db, Error, with_tenant};
use tokio::{
    sync::oneshot,
    task::{JoinHandle, JoinSet},
};
use uuid::Uuid;

use crate::common::{Fixture, on_both};

const A: Uuid = Uuid::from_u128(0xa);
const B: Uuid = Uuid::from_u128(0xb);

/// A statement that runs until it is cancelled.
fn endless(db: &Db) -> &'static str {
    match db.backend() {
        hub_db::Backend::Sqlite => {
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c"
        }
        hub_db::Backend::Postgres => "SELECT pg_sleep(60)",
    }
}

/// Endless reads of a tenant: one for each of its connections, and more that wait for one.
fn occupy(db: &Db, tenant: Uuid, reads: usize) -> JoinSet<Result<u64, Error>> {
    let mut tasks = JoinSet::new();
    for _ in 0..reads {
        let db = db.clone();
        tasks.spawn(with_tenant(tenant, async move { db.query(endless(&db)).execute().await }));
    }
    tasks
}

/// Waits until a tenant finds no free connection.
async fn until_occupied(db: &Db, tenant: Uuid) {
    let soon = Duration::from_millis(200);
    let read = || with_tenant(tenant, async { db.query("SELECT 1").execute().await });
    let mut found = 0;
    while tokio::time::timeout(soon, read()).await.is_ok() {
        found += 1;
        assert!(found < 1_000, "connections are left");
        tokio::task::yield_now().await;
    }
}

/// Waits until all runnable tasks block.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// A transaction that holds the writer until signalled.
async fn hold(db: &Db) -> (oneshot::Sender<()>, JoinHandle<Result<(), Error>>) {
    let (begun, has_begun) = oneshot::channel();
    let (end, may_end) = oneshot::channel::<()>();
    let signals = tokio::sync::Mutex::new(Some((begun, may_end)));
    let db = db.clone();
    let held = tokio::spawn(async move {
        db.transaction(async |_tx| {
            let (begun, may_end) = signals.lock().await.take().unwrap();
            begun.send(()).unwrap();
            may_end.await.unwrap();
            Ok::<_, Error>(())
        })
        .await
    });
    has_begun.await.unwrap();
    (end, held)
}

#[tokio::test]
async fn a_write_waits_for_one_job_of_a_tenant_that_queued_a_thousand() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&["CREATE TABLE t (place INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT)"]).await;
    let (end, held) = hold(&fixture.db).await;
    let mut tasks = JoinSet::new();
    let insert = |tenant, name: &'static str, in_transaction: bool| {
        let db = fixture.db.clone();
        with_tenant(tenant, async move {
            const SQL: &str = "INSERT INTO t (tenant) VALUES ($1)";
            if in_transaction {
                db.transaction(async |mut tx| tx.query(SQL).bind(name).execute().await).await
            } else {
                db.write(SQL).bind(name).execute().await
            }
        })
    };
    for number in 0..1_000 {
        tasks.spawn(insert(A, "a", number % 2 == 0));
    }
    settle().await;
    tasks.spawn(insert(B, "b", false));
    tasks.spawn(insert(B, "b", true));
    settle().await;
    end.send(()).unwrap();
    held.await.unwrap().unwrap();
    for written in tasks.join_all().await {
        written.unwrap();
    }
    let places: Vec<(i64,)> =
        fixture.db.query("SELECT place FROM t WHERE tenant = 'b' ORDER BY place").all().await.unwrap();
    assert_eq!(places, [(2,), (4,)]);
    fixture.remove().await;
}

#[tokio::test]
async fn a_tenant_that_queues_too_much_is_refused_alone() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT)"]).await;
    let (end, held) = hold(&fixture.db).await;
    let write = |tenant| {
        let db = fixture.db.clone();
        with_tenant(tenant, async move { db.write("INSERT INTO t VALUES (1)").execute().await })
    };
    let mut tasks = JoinSet::new();
    for _ in 0..4_096 {
        tasks.spawn(write(A));
    }
    settle().await;
    let refused = write(A).await.unwrap_err();
    assert!(matches!(refused, Error::Busy) && refused.is_unavailable());
    tasks.spawn(write(B));
    let reserved = fixture.db.reserved();
    tasks.spawn(async move { reserved.write("INSERT INTO t VALUES (1)").execute().await });
    tokio::task::yield_now().await;
    end.send(()).unwrap();
    held.await.unwrap().unwrap();
    for written in tasks.join_all().await {
        written.unwrap();
    }
    fixture.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_reads_all_the_time_leaves_connections_to_others() {
    on_both(async |fixture| {
        let db = &fixture.db;
        let mut of_a = occupy(db, A, 64);
        for tenant in 0xb..0xd_u128 {
            let read = with_tenant(Uuid::from_u128(tenant), async { db.query("SELECT 1").execute().await });
            tokio::time::timeout(Duration::from_secs(4), read).await.expect("it waits behind A").unwrap();
            let write = with_tenant(Uuid::from_u128(tenant), async {
                db.transaction(async |mut tx| tx.query("SELECT 1").execute().await).await
            });
            tokio::time::timeout(Duration::from_secs(4), write).await.expect("it waits behind A").unwrap();
        }
        assert!(of_a.try_join_next().is_none(), "A has not waited at all");
        of_a.shutdown().await;
    })
    .await;
}

/// Authentication does not wait behind all tenants together.
#[tokio::test(flavor = "multi_thread")]
async fn reserved_connections_wait_behind_no_tenant() {
    on_both(async |fixture| {
        let db = &fixture.db;
        let mut tenants: Vec<_> = (0..40).map(|tenant| occupy(db, Uuid::from_u128(tenant), 8)).collect();
        until_occupied(db, Uuid::from_u128(100)).await;
        let reserved = db.reserved();
        let all = join_all((0..20).map(|_| async {
            reserved.query("SELECT 1").execute().await?;
            reserved.transaction(async |mut tx| tx.query("SELECT 1").execute().await).await
        }));
        let all = tokio::time::timeout(Duration::from_secs(4), all).await.expect("it waits behind tenants");
        assert!(all.iter().all(Result::is_ok));
        for tenant in &mut tenants {
            tenant.shutdown().await;
        }
    })
    .await;
}

/// A caller that hangs up frees the reader at once.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_statement_is_interrupted() {
    let fixture = Fixture::sqlite().await;
    let mut given_up = occupy(&fixture.db, A, 64);
    until_occupied(&fixture.db, A).await;
    given_up.shutdown().await;
    let read = with_tenant(A, async { fixture.db.query("SELECT 1").execute().await });
    tokio::time::timeout(Duration::from_secs(4), read).await.expect("the reader is still busy").unwrap();
    fixture.remove().await;
}
