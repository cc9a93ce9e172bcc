//! Values and records.

use hub_db::{Error, Sql};
use uuid::Uuid;

use crate::common::{Fixture, on_both};

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
struct Everything {
    yes: bool,
    whole: i64,
    real: f64,
    words: String,
    raw: Vec<u8>,
    id: Uuid,
    maybe_yes: Option<bool>,
    maybe_whole: Option<i64>,
    maybe_real: Option<f64>,
    maybe_words: Option<String>,
    maybe_raw: Option<Vec<u8>>,
    maybe_id: Option<Uuid>,
}

const TABLE: Sql = Sql {
    sqlite: "CREATE TABLE t (
        yes BOOLEAN NOT NULL, whole BIGINT NOT NULL, real REAL NOT NULL,
        words TEXT NOT NULL, raw BLOB NOT NULL, id BLOB NOT NULL PRIMARY KEY,
        maybe_yes BOOLEAN, maybe_whole BIGINT, maybe_real REAL,
        maybe_words TEXT, maybe_raw BLOB, maybe_id BLOB)",
    postgres: "CREATE TABLE t (
        yes BOOLEAN NOT NULL, whole BIGINT NOT NULL, real DOUBLE PRECISION NOT NULL,
        words TEXT NOT NULL, raw BYTEA NOT NULL, id UUID NOT NULL PRIMARY KEY,
        maybe_yes BOOLEAN, maybe_whole BIGINT, maybe_real DOUBLE PRECISION,
        maybe_words TEXT, maybe_raw BYTEA, maybe_id UUID)",
};

async fn round_trip(fixture: &Fixture, row: Everything) {
    let Everything { yes, whole, real, words, raw, id, .. } = row.clone();
    let written: Everything = fixture
        .db
        .write("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING *")
        .bind(yes)
        .bind(whole)
        .bind(real)
        .bind(words.as_str())
        .bind(raw.as_slice())
        .bind(id)
        .bind(row.maybe_yes)
        .bind(row.maybe_whole)
        .bind(row.maybe_real)
        .bind(row.maybe_words.as_deref())
        .bind(row.maybe_raw.as_deref())
        .bind(row.maybe_id)
        .one()
        .await
        .unwrap();
    assert_eq!(written, row);
    let read: Everything = fixture.db.query("SELECT * FROM t WHERE id = $1").bind(id).one().await.unwrap();
    assert_eq!(read, row);
}

#[tokio::test]
async fn values_come_back_as_they_went_in() {
    on_both(async |fixture| {
        fixture.db.write(TABLE).execute().await.unwrap();
        let empty = Everything {
            yes: false,
            whole: i64::MIN,
            real: -0.5,
            words: String::new(),
            raw: Vec::new(),
            id: Uuid::nil(),
            maybe_yes: None,
            maybe_whole: None,
            maybe_real: None,
            maybe_words: None,
            maybe_raw: None,
            maybe_id: None,
        };
        let full = Everything {
            yes: true,
            whole: i64::MAX,
            real: 3.0,
            words: "'; DROP TABLE t; -- ≠ 🦀".to_owned(),
            raw: vec![0, 255, 0, 1],
            id: Uuid::max(),
            maybe_yes: Some(true),
            maybe_whole: Some(-1),
            maybe_real: Some(f64::MIN_POSITIVE),
            maybe_words: Some("\n\t\\ $1 ?".to_owned()),
            maybe_raw: Some(vec![0]),
            maybe_id: Some(Uuid::from_u128(1)),
        };
        round_trip(fixture, empty).await;
        round_trip(fixture, full).await;
    })
    .await;
}

#[tokio::test]
async fn one_row_or_all_rows_are_fetched() {
    on_both(async |Fixture { db, .. }| {
        db.write("CREATE TABLE t (id BIGINT PRIMARY KEY)").execute().await.unwrap();
        for id in 1..=3_i64 {
            let inserted = db.write("INSERT INTO t VALUES ($1)").bind(id).execute().await.unwrap();
            assert_eq!(inserted, 1);
        }
        let all: Vec<(i64,)> = db.query("SELECT id FROM t ORDER BY id").all().await.unwrap();
        assert_eq!(all, [(1,), (2,), (3,)]);
        let first: Option<(i64,)> = db.query("SELECT id FROM t ORDER BY id").optional().await.unwrap();
        assert_eq!(first, Some((1,)));
        let none: Option<(i64,)> = db.query("SELECT id FROM t WHERE id > 3").optional().await.unwrap();
        assert_eq!(none, None);
        let missing = db.query("SELECT id FROM t WHERE id > 3").one::<(i64,)>().await;
        assert!(matches!(missing, Err(Error::NotFound)));

        let moved: Vec<(i64,)> =
            db.write("UPDATE t SET id = id + 10 WHERE id > $1 RETURNING id").bind(1_i64).all().await.unwrap();
        assert_eq!(moved.len(), 2);
        // All rows change, although only the first is fetched.
        let one: (i64,) = db.write("DELETE FROM t WHERE id > 10 RETURNING id").one().await.unwrap();
        assert!(one.0 > 10);
        let left: Vec<(i64,)> = db.query("SELECT id FROM t").all().await.unwrap();
        assert_eq!(left, [(1,)]);
        assert_eq!(db.write("DELETE FROM t").execute().await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn each_database_runs_its_own_text_of_a_pair() {
    on_both(async |Fixture { db, .. }| {
        let version = Sql { sqlite: "SELECT sqlite_version()", postgres: "SELECT version()" };
        let (version,): (String,) = db.query(version).one().await.unwrap();
        assert_eq!(version.contains("PostgreSQL"), db.backend() == hub_db::Backend::Postgres);
    })
    .await;
}

#[tokio::test]
async fn a_wrong_record_is_an_error() {
    on_both(async |Fixture { db, .. }| {
        let result = db.query("SELECT 'three'").one::<(i64,)>().await;
        assert!(matches!(result, Err(Error::Driver(_))));
        let result = db.query("SELECT missing FROM nowhere").execute().await;
        assert!(matches!(result, Err(Error::Driver(_))));
    })
    .await;
}
