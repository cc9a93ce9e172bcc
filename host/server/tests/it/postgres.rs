//! Effects of PostgreSQL's own behaviour on callers: it can be slow, go away, and be behind a pooler.

use futures_util::future::join_all;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::support::{Answer, Backend, Client, Hub};

const CURRENCIES: &str = "/api/plugin/economy/team/red/currencies";

async fn pay(owner: &Client) -> Answer {
    owner.post(&format!("{CURRENCIES}/modify"), json!({"currency": "coins", "amount": 1})).await
}

/// Waits until a statement waits for a lock.
pub async fn until_one_waits(database: &mut PgConnection) {
    let waiting =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *database).await.unwrap() == 0 {}
}

/// Ends all other connections to the database.
async fn end_connections(database: &mut PgConnection) {
    let others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.execute(others).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_takes_too_long_is_503() {
    let hub = Hub::start_with(Backend::postgres().await, |settings| settings.database_timeout = 300).await;
    let owner = hub.network().await;
    pay(&owner).await.expect(200);
    let mut database = hub.database().await;
    database.execute("BEGIN; LOCK TABLE balances").await.unwrap();
    let refused = pay(&owner).await;
    refused.expect_error(503, "database_timeout");
    assert_eq!(refused.headers["retry-after"], "1");
    database.execute("COMMIT").await.unwrap();
    assert_eq!(pay(&owner).await.expect(200)["balance"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_in_mid_query_is_503_and_the_next_request_has_another() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    pay(&owner).await.expect(200);
    let mut database = hub.database().await;
    database.execute("BEGIN; LOCK TABLE balances").await.unwrap();
    let kill = async {
        until_one_waits(&mut database).await;
        end_connections(&mut database).await;
        database.execute("COMMIT").await.unwrap();
    };
    let (refused, ()) = tokio::join!(pay(&owner), kill);
    refused.expect_error(503, "database_unavailable");
    // All connections were ended; on a busy machine another one is used before that is noticed.
    Hub::eventually("another connection serves", async || pay(&owner).await.status == 200).await;
    assert_eq!(owner.get(CURRENCIES).await.expect(200)[0]["balance"], 2);
}

/// A failover ends connections that nobody uses at that moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_over_a_lost_connection_is_repeated() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    pay(&owner).await.expect(200);
    for _ in 0..5 {
        owner.get(CURRENCIES).await.expect(200);
        end_connections(&mut hub.database().await).await;
        owner.get(CURRENCIES).await.expect(200);
    }
}

/// Two sessions for all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_at_once_behind_pgbouncer_each_have_their_effect() {
    let hub = Hub::start(Backend::pgbouncer().await).await;
    let owner = hub.network().await;
    let one = async |at: usize| {
        let namespace = format!("document-{at}");
        let body = json!({"group": "lobby", "namespace": namespace, "doc": at});
        let paid = pay(&owner).await;
        owner.post("/api/plugin/config/publish", body.clone()).await.expect(200);
        let read = owner.get(&format!("/api/plugin/config/lobby/{namespace}")).await;
        assert_eq!(read.expect(200), &body);
        paid.expect(200)["balance"].as_u64().unwrap()
    };
    let mut told = join_all((0..150).map(one)).await;
    told.sort_unstable();
    assert_eq!(told, (1..=150).collect::<Vec<_>>());
    assert_eq!(owner.get(CURRENCIES).await.expect(200)[0]["balance"], 150);
}

/// LATIN1 is what some installations make by default; most of the world's names are beyond it.
#[tokio::test]
async fn a_database_that_cannot_keep_every_name_is_refused() {
    let url = std::env::var("HUB_TEST_POSTGRES").unwrap();
    let name = format!("latin_{}", std::process::id());
    let mut server = PgConnection::connect(&url).await.unwrap();
    let create = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING LATIN1 LOCALE 'C'");
    server.execute(AssertSqlSafe(create)).await.unwrap();
    let latin = format!("{}/{name}", url.rsplit_once('/').unwrap().0);
    let error = hub_db::Db::connect(&hub_db::Config::postgres(latin)).await.err().unwrap().to_string();
    assert!(error.contains("encoding LATIN1") && error.contains("createdb --encoding=UTF8"), "{error}");
}
