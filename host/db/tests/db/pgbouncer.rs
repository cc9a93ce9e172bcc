//! The server behind PgBouncer in transaction mode, with two connections of its own: `HUB_TEST_PGBOUNCER`.

use std::{env, time::Duration};

use futures_util::future::try_join_all;
use hub_db::{Config, Db, Error};

use crate::common::Fixture;

/// The same database through the pooler.
fn pooled(fixture: &Fixture, parameters: &str) -> Config {
    let Config::Postgres { url, .. } = &fixture.config else { unreachable!() };
    let (_, name) = url.rsplit_once('/').unwrap();
    let pooler =
        env::var("HUB_TEST_PGBOUNCER").expect("HUB_TEST_PGBOUNCER must name a PgBouncer; scripts/test starts one");
    Config::postgres(format!("{pooler}/{name}{parameters}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn all_kinds_of_statements_work_without_sessions() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO t VALUES (0, 0)"]).await;
    let db = Db::connect(&pooled(&fixture, "?pgbouncer=true")).await.unwrap();
    let one = async |at: i64| {
        // Each text returns another value, so that a statement prepared by another caller would show.
        let (text,): (String,) = db.query("SELECT CAST($1 AS TEXT)").bind(at.to_string()).one().await?;
        assert_eq!(text, at.to_string());
        let (twice,): (i64,) = db.query("SELECT 2 * CAST($1 AS BIGINT)").bind(at).one().await?;
        assert_eq!(twice, 2 * at);
        db.write("INSERT INTO t (id, n) VALUES ($1, 0)").bind(at).execute().await?;
        db.transaction(async |mut tx| {
            tx.query("UPDATE t SET n = $2 WHERE id = $1").bind(at).bind(at).execute().await?;
            tx.query("UPDATE t SET n = n + 1 WHERE id = $1").bind(0_i64).execute().await
        })
        .await
    };
    try_join_all((1..=200).map(one)).await.unwrap();
    let (rows, sum): (i64, i64) = db.query("SELECT COUNT(*), CAST(SUM(n) AS BIGINT) FROM t").one().await.unwrap();
    assert_eq!((rows, sum), (201, 200 + 201 * 100));
    db.close().await;
    fixture.remove_by_force().await;
}

#[tokio::test]
async fn a_failed_statement_leaves_nothing_behind() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
    let db = Db::connect(&pooled(&fixture, "?pgbouncer=true")).await.unwrap();
    for _ in 0..10 {
        db.write("INSERT INTO t VALUES (1), (1)").execute().await.unwrap_err();
        db.query("SELECT nothing FROM t").execute().await.unwrap_err();
        let failed = db.transaction(async |mut tx| tx.query("INSERT INTO t VALUES (2), (2)").execute().await).await;
        failed.unwrap_err();
        db.ping().await.unwrap();
    }
    // A connection that was idle for a while is pinged before it is used.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    db.ping().await.unwrap();
    assert_eq!(crate::common::count(&db).await, 0);
    db.close().await;
    fixture.remove_by_force().await;
}

#[tokio::test]
async fn timeouts_are_set_for_each_transaction_and_not_for_others() {
    const TIMEOUT: &str = "SELECT current_setting('statement_timeout')";
    let fixture = Fixture::postgres().await;
    let db = Db::connect(&pooled(&fixture, "?pgbouncer=true")).await.unwrap();
    let (alone,): (String,) = db.query(TIMEOUT).one().await.unwrap();
    let (within,): (String,) = db.transaction(async |mut tx| tx.query(TIMEOUT).one().await).await.unwrap();
    assert_eq!((&*alone, &*within), ("15s", "15s"));
    let (after,): (String,) = db
        .transaction(async |mut tx| {
            tx.query("COMMIT").execute().await?;
            tx.query(TIMEOUT).one::<(String,)>().await
        })
        .await
        .unwrap();
    assert_eq!(after, "0");
    db.close().await;
    fixture.remove_by_force().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_migrations_through_a_pooler_succeed() {
    let fixture = Fixture::postgres().await;
    let config = pooled(&fixture, "?pgbouncer=true");
    let one = async |_| {
        let db = Db::connect(&config).await?;
        db.migrate().await?;
        db.close().await;
        Ok::<_, Error>(())
    };
    try_join_all((0..5).map(one)).await.unwrap();
    fixture.db.migrate().await.unwrap();
    fixture.remove_by_force().await;
}

#[tokio::test]
async fn an_undeclared_pooler_is_reported() {
    let fixture = Fixture::postgres().await;
    let Err(error) = Db::connect(&pooled(&fixture, "")).await else { panic!("sessions are shared") };
    assert!(error.to_string().contains("pgbouncer=true"), "{error}");
    fixture.remove_by_force().await;
}
