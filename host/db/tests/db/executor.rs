//! What runs on a database or a transaction alike, and pages.

use hub_db::{Error, Executor};

use crate::common::{count, on_both};

async fn add_two(on: impl Into<Executor<'_>>, id: i64) -> Result<i64, Error> {
    let mut on = on.into();
    add(&mut on, id).await?;
    add(&mut on, id + 1).await?;
    let (count,) = on.query("SELECT COUNT(*) FROM t").one().await?;
    Ok(count)
}

async fn add(on: impl Into<Executor<'_>>, id: i64) -> Result<u64, Error> {
    on.into().write("INSERT INTO t VALUES ($1)").bind(id).execute().await
}

#[tokio::test]
async fn a_function_runs_on_a_database_or_a_transaction() {
    on_both(async |fixture| {
        let db = &fixture.db;
        fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
        assert_eq!(add_two(db, 1).await.unwrap(), 2);
        let failed: Result<(), Error> = db
            .transaction(async |mut tx| {
                assert_eq!(add_two(&mut tx, 3).await?, 4);
                Err(Error::NotFound)
            })
            .await;
        assert!(matches!(failed, Err(Error::NotFound)));
        assert_eq!(count(db).await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_page_comes_with_the_number_of_all_rows() {
    on_both(async |fixture| {
        let db = &fixture.db;
        fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
        for id in 0..10 {
            add(db, id).await.unwrap();
        }
        let least = 3;
        let page: (Vec<(i64,)>, i64) = db
            .page(
                "SELECT COUNT(*) FROM t WHERE id >= $1",
                "SELECT id FROM t WHERE id >= $1 ORDER BY id LIMIT $2 OFFSET $3",
                |statement| statement.bind(least),
                2,
                1,
            )
            .await
            .unwrap();
        assert_eq!(page, (vec![(4,), (5,)], 7));
    })
    .await;
}
