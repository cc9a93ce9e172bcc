//! PostgreSQL's own behaviour: it aborts transactions in favour of others.

use std::sync::atomic::{AtomicU32, Ordering};

use hub_db::{Config, Db, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Barrier;

use crate::common::{Failure, Fixture, count};

/// Returns the number of its calls, but fails like a lost transaction until the given call: the count of a sequence is
/// not rolled back.
const FAIL_UNTIL: [&str; 2] = [
    "CREATE SEQUENCE attempts",
    "CREATE FUNCTION fail_until(succeeds_at BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
     DECLARE attempt BIGINT := nextval('attempts');
     BEGIN
         IF attempt < succeeds_at THEN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END IF;
         RETURN attempt;
     END $$",
];

const SERIALIZABLE: &str = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE";

/// Runs two transactions of two parts each, which meet between the parts and, if `at_end`, once more before they
/// commit, in their first attempts only. Returns all attempts of both.
async fn collide(db: &Db, sides: [[&[&'static str]; 2]; 2], at_end: bool) -> u32 {
    let attempts = AtomicU32::new(0);
    let meeting = Barrier::new(2);
    let run = async |[before, after]: [&[&'static str]; 2]| {
        let mine = AtomicU32::new(0);
        db.transaction(async |mut tx| {
            attempts.fetch_add(1, Ordering::Relaxed);
            let first = mine.fetch_add(1, Ordering::Relaxed) == 0;
            for sql in before {
                tx.query(*sql).execute().await?;
            }
            if first {
                meeting.wait().await;
            }
            for sql in after {
                tx.query(*sql).execute().await?;
            }
            if first && at_end {
                meeting.wait().await;
            }
            Ok::<_, Error>(())
        })
        .await
    };
    let [left, right] = sides;
    let (left, right) = tokio::join!(run(left), run(right));
    left.unwrap();
    right.unwrap();
    attempts.into_inner()
}

#[tokio::test]
async fn a_statement_lost_to_another_transaction_is_retried() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (n BIGINT NOT NULL)", "INSERT INTO t VALUES (0)"]).await;
    let side: [&[&str]; 2] = [&[SERIALIZABLE, "SELECT n FROM t"], &["UPDATE t SET n = n + 1"]];
    assert!(collide(&fixture.db, [side, side], false).await > 2);
    let (n,): (i64,) = fixture.db.query("SELECT n FROM t").one().await.unwrap();
    assert_eq!(n, 2);
    fixture.remove().await;
}

#[tokio::test]
async fn a_commit_lost_to_another_transaction_is_retried() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (n BIGINT NOT NULL)"]).await;
    // Each counts rows it has not seen the other insert: no order of the two gives that.
    let side: [&[&str]; 2] = [&[SERIALIZABLE, "SELECT COUNT(*) FROM t"], &["INSERT INTO t SELECT COUNT(*) FROM t"]];
    assert!(collide(&fixture.db, [side, side], true).await > 2);
    let rows: Vec<(i64,)> = fixture.db.query("SELECT n FROM t ORDER BY n").all().await.unwrap();
    assert_eq!(rows, [(0,), (1,)]);
    fixture.remove().await;
}

#[tokio::test]
async fn a_deadlock_is_retried() {
    const SOON: &str = "SET LOCAL deadlock_timeout = '10ms'";
    const ONE: &str = "UPDATE t SET n = n + 1 WHERE id = 1";
    const TWO: &str = "UPDATE t SET n = n + 1 WHERE id = 2";
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", "INSERT INTO t VALUES (1, 0), (2, 0)"]).await;
    assert!(collide(&fixture.db, [[&[SOON, ONE], &[TWO]], [&[SOON, TWO], &[ONE]]], false).await > 2);
    let rows: Vec<(i64,)> = fixture.db.query("SELECT n FROM t").all().await.unwrap();
    assert_eq!(rows, [(2,), (2,)]);
    fixture.remove().await;
}

#[tokio::test]
async fn a_single_write_is_retried() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&FAIL_UNTIL).await;
    let (attempt,): (i64,) = fixture.db.write("SELECT fail_until($1)").bind(3_i64).one().await.unwrap();
    assert_eq!(attempt, 3);
    // A read is not retried: its caller may not expect it to take that long.
    fixture.db.query("SELECT fail_until($1)").bind(10_i64).one::<(i64,)>().await.unwrap_err();
    let (attempt,): (i64,) = fixture.db.query("SELECT nextval('attempts')").one().await.unwrap();
    assert_eq!(attempt, 5);
    fixture.remove().await;
}

/// Holds for every reaction of the closure to the failure, even if it hides it.
#[tokio::test]
async fn a_transaction_that_always_loses_fails_at_last() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&FAIL_UNTIL).await;
    let attempts = AtomicU32::new(0);
    for hidden in [false, true] {
        let result = fixture
            .db
            .transaction(async |mut tx| {
                attempts.fetch_add(1, Ordering::Relaxed);
                let lost = tx.query("SELECT fail_until($1)").bind(1000_i64).execute().await.unwrap_err();
                drop(lost);
                if hidden { Ok(()) } else { Err(Failure::Cancelled) }
            })
            .await;
        assert!(matches!(result, Err(Failure::Db(Error::Conflict))));
    }
    assert_eq!(attempts.into_inner(), 16);
    fixture.remove().await;
}

#[tokio::test]
async fn other_failures_are_not_retried() {
    let fixture = Fixture::postgres().await;
    fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
    let attempts = AtomicU32::new(0);
    let result = fixture
        .db
        .transaction(async |mut tx| {
            attempts.fetch_add(1, Ordering::Relaxed);
            tx.query("INSERT INTO t VALUES (1), (1)").execute().await
        })
        .await;
    assert!(result.unwrap_err().is_unique_violation());
    assert_eq!(attempts.into_inner(), 1);
    assert_eq!(count(&fixture.db).await, 0);
    fixture.remove().await;
}

#[tokio::test]
async fn sessions_have_timeouts_and_a_name() {
    let fixture = Fixture::postgres().await;
    let settings = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
        current_setting('idle_in_transaction_session_timeout'), current_setting('tcp_user_timeout'),
        current_setting('application_name')";
    for (db, timeouts) in
        [(fixture.db.clone(), ["15s", "5s", "5s"]), (fixture.db.time_critical(), ["1s", "250ms", "1s"])]
    {
        let row: (String, String, String, String, String) = db.query(settings).one().await.unwrap();
        let [statement, lock, idle] = timeouts;
        assert_eq!(<[String; 5]>::from(row), [statement, lock, idle, "10000", "network-hub"].map(str::to_owned));
    }
    fixture.remove().await;
}

/// The server ends connections when it restarts.
#[tokio::test]
async fn a_lost_connection_is_replaced() {
    let fixture = Fixture::postgres().await;
    let kill = "SELECT pg_terminate_backend(pg_backend_pid())";
    for _ in 0..20 {
        let lost = fixture.db.query(kill).execute().await.unwrap_err();
        assert!(lost.is_unavailable(), "{lost}");
        fixture.db.ping().await.unwrap();
        let lost = fixture.db.transaction(async |mut tx| tx.query(kill).execute().await).await.unwrap_err();
        assert!(lost.is_unavailable(), "{lost}");
        fixture.db.transaction(async |mut tx| tx.query("SELECT 1").execute().await).await.unwrap();
    }
    fixture.remove().await;
}

/// All connections are in use and none comes back in time.
#[tokio::test]
async fn waiting_for_a_connection_times_out() {
    let fixture = Fixture::postgres().await;
    let narrow = Db::connect(&fixture.narrow()).await.unwrap();
    narrow
        .transaction(async |mut tx| {
            tx.query("SELECT 1").execute().await?;
            tokio::time::pause();
            let refused = narrow.query("SELECT 1").execute().await.unwrap_err();
            tokio::time::resume();
            assert!(refused.is_unavailable(), "{refused}");
            Ok::<_, Error>(())
        })
        .await
        .unwrap();
    narrow.ping().await.unwrap();
    narrow.close().await;
    fixture.remove().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_unavailable() {
    let config = Config::postgres("postgres://nobody@127.0.0.1:1/nothing");
    let Err(error) = Db::connect(&config).await else { panic!("nothing listens there") };
    assert!(error.is_unavailable(), "{error}");
}

/// A PostgreSQL that answers every client with this error, field by field.
async fn refusing_server(fields: &'static str) -> Config {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = Config::postgres(format!("postgres://hub@{}/hub?sslmode=disable", listener.local_addr().unwrap()));
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let size = client.read_i32().await.unwrap();
            client.read_exact(&mut vec![0; usize::try_from(size).unwrap() - 4]).await.unwrap();
            client.write_u8(b'E').await.unwrap();
            client.write_i32(i32::try_from(fields.len()).unwrap() + 4).await.unwrap();
            client.write_all(fields.as_bytes()).await.unwrap();
        }
    });
    config
}

/// Like a server whose disk is full when it starts.
#[tokio::test]
async fn a_server_that_begins_no_session_is_unavailable() {
    let fatal = "SFATAL\0VFATAL\0CXX000\0Mcould not write init file\0\0";
    let Err(error) = Db::connect(&refusing_server(fatal).await).await else { panic!("it is refused") };
    assert!(error.is_unavailable(), "{error}");
    // The same code from a statement is an error of the hub's or PostgreSQL's, and the session continues.
    let statement = "SERROR\0VERROR\0CXX000\0Mcache lookup failed\0\0";
    let Err(error) = Db::connect(&refusing_server(statement).await).await else { panic!("it is refused") };
    assert!(!error.is_unavailable(), "{error}");
}

#[test]
fn a_password_is_not_shown() {
    let config = Config::postgres("postgres://hub:secret@host/hub");
    assert!(!format!("{config:?}").contains("secret"));
}
