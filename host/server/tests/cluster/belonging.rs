//! Parts of different hubs that are put together, and parts that are not there yet.

use std::process::{Command, Stdio};

use hub::http_client;
use hub_testing::ports::free_port;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::fleet::{CURRENT, Daemon, Fleet, database, wait_for, wait_until};

/// A NATS of its own, and its URL.
async fn another_nats(folder: &tempfile::TempDir) -> (Daemon, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = Command::new("nats-server");
    let port = address.rsplit_once(':').unwrap().1;
    server.args(["--addr", "127.0.0.1", "--port", port, "--jetstream", "--store_dir"]).arg(folder.path());
    let server = Daemon(server.stderr(Stdio::null()).spawn().unwrap());
    wait_for(&address).await;
    (server, format!("nats://{address}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_another_bus_or_blob_store_does_not_join() {
    let mut fleet = Fleet::start().await;
    let folder = tempfile::tempdir().unwrap();
    fleet.kill(2);
    let (_server, url) = another_nats(&folder).await;
    let said = fleet.refused_start(2, &[("HUB_BUS", url)]);
    assert!(said.contains("use another bus"), "{said}");
    let blobs = folder.path().join("blobs").display().to_string();
    let said = fleet.refused_start(2, &[("HUB_BLOBS", blobs)]);
    assert!(said.contains("the blob store is not this hub's"), "{said}");
    fleet.start_node(2);
    fleet.wait_until_ready().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_another_value_of_a_shared_option_is_not_ready() {
    let mut fleet = Fleet::start().await;
    fleet.kill(2);
    fleet.start_node_with(2, &[("HUB_LEASE", "70000".to_owned())]);
    wait_until(async || fleet.readiness(2).await == Some(json!(["cluster"]))).await;
    let message = fleet.health(2).await.unwrap()["faults"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("values of --lease;"), "{message}");
    for node in [0, 1] {
        wait_until(async || fleet.faults(node).await == Some(vec!["cluster".to_owned()])).await;
        assert_eq!(fleet.readiness(node).await, Some(json!([])));
    }
    fleet.kill(2);
    fleet.start_node(2);
    fleet.wait_until_ready().await;
}

/// A disk that is not mounted any more leaves an empty folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blob_store_that_disappears_is_a_fault_until_it_is_back() {
    let fleet = Fleet::start().await;
    let (blobs, away) = (fleet.blobs(), fleet.blobs().with_extension("away"));
    std::fs::rename(&blobs, &away).unwrap();
    std::fs::create_dir(&blobs).unwrap();
    for node in 0..3 {
        wait_until(async || fleet.readiness(node).await == Some(json!(["cluster"]))).await;
    }
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::rename(&away, &blobs).unwrap();
    fleet.wait_until_ready().await;
}

/// The database's name is pointed at another hub's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_hubs_database_under_running_nodes_is_a_fault_until_it_is_gone() {
    let fleet = Fleet::start().await;
    let right = fleet.stream().await.split('-').nth(1).unwrap().to_owned();
    fleet.sql("UPDATE hub_identity SET cluster_id = '0123456789abcdef'").await;
    for node in 0..3 {
        wait_until(async || fleet.readiness(node).await == Some(json!(["cluster"]))).await;
    }
    fleet.sql(&format!("UPDATE hub_identity SET cluster_id = '{right}'")).await;
    fleet.wait_until_ready().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_without_a_bus_does_not_join_nodes() {
    let fleet = Fleet::start().await;
    let output = Command::new(CURRENT)
        .args(["serve", "--listen", "127.0.0.1:0", "--database", fleet.database(), "--data"])
        .arg(tempfile::tempdir().unwrap().path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("another hub serves this database"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_died_before_the_databases_clock_was_set_back_keep_no_hub_from_starting() {
    let mut fleet = Fleet::start().await;
    for node in 0..3 {
        fleet.kill(node);
    }
    // Their last signs of life, and a lone node's lease, lie in the future by now.
    fleet.sql("UPDATE hub_nodes SET seen_at = seen_at + 3600000").await;
    fleet.sql("UPDATE hub_identity SET sole_node = 'dead', sole_until = (SELECT MAX(seen_at) FROM hub_nodes)").await;
    let address = format!("127.0.0.1:{}", free_port());
    let mut hub = Command::new(CURRENT);
    hub.args(["serve", "--listen", &address, "--database", fleet.database(), "--data"]).arg(fleet.data(0));
    hub.arg("--blobs").arg(fleet.blobs());
    let _hub = Daemon(hub.stdout(Stdio::null()).spawn().unwrap());
    wait_until(async || lacks(&address).await == json!([])).await;
}

/// A copy has the ids of the original: its commands and lines would reach the original's servers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_the_database_does_not_join_the_bus_before_it_is_separated() {
    let fleet = Fleet::start().await;
    let folder = tempfile::tempdir().unwrap();
    let copy = database(&std::env::var("HUB_TEST_POSTGRES").unwrap()).await;
    let data = folder.path().join("data");
    let hub = |arguments: &[&str]| {
        let mut command = Command::new(CURRENT);
        command.args(arguments).args(["--database", &copy]).arg("--data").arg(&data);
        command
    };
    assert!(hub(&["admin", "network", "create", "copied"]).output().unwrap().status.success());
    let mut original = PgConnection::connect(fleet.database()).await.unwrap();
    let id: String = sqlx::query_scalar("SELECT cluster_id FROM hub_identity").fetch_one(&mut original).await.unwrap();
    let mut connection = PgConnection::connect(&copy).await.unwrap();
    let insert =
        format!("INSERT INTO hub_identity (one, cluster_id, has_blob_mark, sole_until) VALUES (1, '{id}', FALSE, 0)");
    connection.execute(AssertSqlSafe(insert)).await.unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let blobs = folder.path().join("blobs").display().to_string();
    let serve = || hub(&["serve", "--bus", &fleet.bus(), "--blobs", &blobs, "--listen", &address]);
    let output = serve().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("hub admin cluster separate"), "{said}");
    assert!(hub(&["admin", "cluster", "separate"]).output().unwrap().status.success());
    let _separated = Daemon(serve().stdout(Stdio::null()).spawn().unwrap());
    let url = format!("http://{address}/readyz");
    wait_until(async || get(&url).await.is_ok_and(|answer| answer.status() == 200)).await;
    fleet.wait_until_ready().await;
}

async fn get(url: &str) -> reqwest::Result<reqwest::Response> {
    http_client::client().unwrap().get(url).send().await
}

async fn lacks(address: &str) -> Value {
    let Ok(answer) = get(&format!("http://{address}/readyz")).await else { return Value::Null };
    answer.json::<Value>().await.unwrap()["lacks"].clone()
}

/// A supervisor would give up on a node that ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_starts_in_an_outage_waits() {
    let mut fleet = Fleet::start_with_database(vec![]).await;
    let owner = fleet.network("waiting");
    let address = fleet.address(2).to_owned();
    fleet.kill(2);
    fleet.stop_nats();
    let waiting = fleet.spawn_node(2, &[]);
    wait_until(async || lacks(&address).await == json!(["bus"])).await;
    let answer = get(&format!("http://{address}/api/plugin/servers")).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "starting");
    assert_eq!(get(&format!("http://{address}/healthz")).await.unwrap().status(), 200);
    fleet.restart_nats().await;
    fleet.adopt(2, waiting);
    fleet.wait_until_ready().await;
    fleet.kill(2);
    fleet.postgres().crash();
    let waiting = fleet.spawn_node(2, &[]);
    wait_until(async || lacks(&address).await == json!(["database"])).await;
    fleet.postgres().start_server();
    fleet.adopt(2, waiting);
    fleet.wait_until_ready().await;
    owner.send(2, &Method::GET, "/api/plugin/servers", None, None).await.unwrap().expect(200);
}
