//! A node's machine has a wrong clock.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, wait_until};

/// Variables that set a process's clock ahead by the content of `file`, such as `+90`.
fn clock_of(file: &Path) -> Vec<(&'static str, String)> {
    let folders = std::fs::read_dir("/usr/lib").unwrap();
    let library = folders.map(|folder| folder.unwrap().path().join("faketime/libfaketimeMT.so.1"));
    let library: Vec<PathBuf> = library.filter(|library| library.exists()).collect();
    assert_eq!(library.len(), 1, "libfaketime is installed (Debian's package faketime)");
    vec![
        ("LD_PRELOAD", library[0].display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}

/// A network with a world that is up.
async fn world(fleet: &Fleet, number: usize) -> (Client, String) {
    let owner = fleet.network(&format!("clock-{number}"));
    owner.register("islands-1", json!({"serverType": "islands"})).await;
    let open = json!({"ownerScope": "party", "ownerId": "party-1", "gameId": "islands"});
    let opened = owner.post("/api/plugin/worlds/open", open).await.expect(200)["worldInstanceId"].clone();
    let path = format!("/api/plugin/worlds/{}", opened.as_str().unwrap());
    owner.post(&format!("{path}/ready"), callback()).await.expect(200);
    (owner, path)
}

fn callback() -> Value {
    json!({"nodeServerId": "islands-1", "fence": 1})
}

/// All worlds are still leased, whichever nodes serve their networks.
async fn assert_live(worlds: &[(Client, String)]) {
    for (owner, path) in worlds {
        let beat = json!({"serverId": "islands-1", "playerCount": 0});
        owner.post("/api/plugin/servers/heartbeat", beat).await;
        owner.post(&format!("{path}/heartbeat"), callback()).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_clock_is_off_does_not_join() {
    let mut fleet = Fleet::start().await;
    let folder = tempfile::tempdir().unwrap();
    let offset = folder.path().join("offset");
    fleet.kill(2);
    for ahead in ["+90", "-90"] {
        std::fs::write(&offset, ahead).unwrap();
        let said = fleet.refused_start(2, &clock_of(&offset));
        assert!(said.contains("the machine's clock shows") && said.contains("the database's"), "{said}");
    }
    std::fs::write(&offset, "+0").unwrap();
    fleet.start_node_with(2, &clock_of(&offset));
    fleet.wait_until_ready().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_goes_wrong_ends_nothing_and_costs_its_node_the_shards() {
    let mut fleet = Fleet::start().await;
    let folder = tempfile::tempdir().unwrap();
    let offset = folder.path().join("offset");
    std::fs::write(&offset, "+0").unwrap();
    fleet.kill(2);
    fleet.start_node_with(2, &clock_of(&offset));
    fleet.wait_until_ready().await;
    fleet.wait_until_balanced().await;
    let mut worlds = vec![];
    for number in 0..9 {
        worlds.push(world(&fleet, number).await);
    }
    std::fs::write(&offset, "+90").unwrap();
    let wrong = fleet.url(2);
    wait_until(async || {
        assert_live(&worlds).await;
        fleet.leases().await.values().all(|lease| lease.url != wrong)
    })
    .await;
    assert_eq!(fleet.readiness(2).await, Some(json!(["clock"])));
    for node in 0..2 {
        assert_eq!(fleet.readiness(node).await, Some(json!([])));
    }
    for (owner, _) in &worlds {
        let servers = owner.send(2, &Method::GET, "/api/manage/servers/islands-1", None, None).await.unwrap();
        assert_eq!(servers.expect(200)["status"], "ONLINE");
    }
    std::fs::write(&offset, "+0").unwrap();
    fleet.wait_until_ready().await;
    fleet.wait_until_balanced().await;
    assert_live(&worlds).await;
}

/// A standby that is behind took over, or the clock was set by hand. A node dies at that moment, whose leases seem to
/// last for 40 s more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shards_of_a_dead_node_are_taken_though_the_databases_clock_goes_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let offset = folder.path().join("offset");
    std::fs::write(&offset, "+0").unwrap();
    let mut fleet = Fleet::start_with_database(clock_of(&offset)).await;
    fleet.wait_until_balanced().await;
    let owners: Vec<_> = (0..9).map(|number| fleet.network(&format!("back-{number}"))).collect();
    let before = fleet.numbers(NOW).await[0];
    std::fs::write(&offset, "-40").unwrap();
    fleet.kill(0);
    let dead = fleet.url(0);
    let last = format!(
        "SELECT MIN(expires_at) / 1000 FROM shard_leases WHERE node = (SELECT node FROM hub_nodes WHERE url = '{dead}')"
    );
    let last = fleet.numbers(&last).await[0];
    wait_until(async || fleet.numbers(NOW).await[0] < before - 30).await;
    wait_until(async || {
        let leases = fleet.leases().await;
        leases.len() == 256 && leases.values().all(|lease| lease.url != dead)
    })
    .await;
    let now = fleet.numbers(NOW).await[0];
    assert!(now < last, "they were taken when their leases ended: at {last}, and it is {now}");
    for owner in &owners {
        owner.get("/api/plugin/economy/team/red/currencies").await.expect(200);
    }
    for node in 1..3 {
        let health = fleet.health(node).await.unwrap();
        assert_eq!((&health["lacks"], &health["faults"][0]["name"]), (&json!([]), &json!("clock")), "{health}");
    }
}

/// All clocks are set, as by a time service that was repaired, and the operator confirms it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmed_clock_is_followed_by_all_nodes_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let offset = folder.path().join("offset");
    std::fs::write(&offset, "+0").unwrap();
    let fleet = Fleet::start_all_with(clock_of(&offset)).await;
    fleet.wait_until_balanced().await;
    let mut worlds = vec![];
    for number in 0..9 {
        worlds.push(world(&fleet, number).await);
    }
    let mut streams = vec![];
    for (node, (owner, _)) in worlds.iter().enumerate() {
        streams.push(owner.stream(node, "islands-1", None).unwrap().send().await.unwrap());
    }
    for (set, ahead) in [("+120", 120), ("-3600", -3_720)] {
        for (owner, _) in &worlds {
            owner.register("dead", json!({})).await;
        }
        let (before, began) = (fleet.numbers(NOW).await[0], Instant::now());
        std::fs::write(&offset, set).unwrap();
        let doubt = async |node| fleet.faults(node).await.is_some_and(|faults| faults.contains(&"clock".to_owned()));
        wait_until(async || {
            assert_live(&worlds).await;
            doubt(0).await && doubt(1).await && doubt(2).await
        })
        .await;
        fleet.confirm_clock(&clock_of(&offset));
        wait_until(async || {
            assert_live(&worlds).await;
            !doubt(0).await && !doubt(1).await && !doubt(2).await
        })
        .await;
        let after = fleet.numbers(NOW).await[0];
        let passed = i64::try_from(began.elapsed().as_secs()).unwrap();
        assert!((after - before - ahead - passed).abs() < 10, "{before} {after} {passed}");
        for (owner, _) in &worlds {
            wait_until(async || {
                assert_live(&worlds).await;
                owner.get("/api/manage/servers/dead").await.expect(200)["status"] == "OFFLINE"
            })
            .await;
            assert_eq!(owner.get("/api/manage/servers/islands-1").await.expect(200)["status"], "ONLINE");
        }
    }
    for mut stream in streams {
        let mut text = String::new();
        let pinged = async {
            while text.matches("event: PING").count() < 2 {
                text.push_str(
                    std::str::from_utf8(&stream.chunk().await.unwrap().expect("the stream goes on")).unwrap(),
                );
            }
        };
        tokio::time::timeout(Duration::from_secs(30), pinged).await.expect("PINGs go on");
        assert!(!text.contains("RESYNC"), "{text}");
    }
}

/// The seconds that the database's clock shows.
const NOW: &str = "SELECT EXTRACT(EPOCH FROM clock_timestamp())::BIGINT";
