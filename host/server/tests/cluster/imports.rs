//! An import continues at the next owner of its network after a kill, and writes every row once.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, uuid, wait_until};

const BANS: usize = 12_000;

/// Bans of as many players, in the format of `mysqldump`.
fn dump() -> String {
    let columns = "`id` bigint, `uuid` varchar(36), `ip` varchar(45), `reason` varchar(2048), `banned_by_uuid` varchar(36), \
        `banned_by_name` varchar(128), `time` bigint, `until` bigint, `server_scope` varchar(32), `ipban` bit(1), `active` bit(1)";
    let mut dump = format!("CREATE TABLE `litebans_bans` ({columns});\n");
    for id in 1..=BANS {
        let comma = if id % 500 == 1 { "INSERT INTO `litebans_bans` VALUES\n" } else { ",\n" };
        let row = format!("({id},'{}',NULL,'grief','CONSOLE','Console',1700000000000,0,'*',0,1)", uuid(id));
        write!(dump, "{comma}{row}{}", if id % 500 == 0 || id == BANS { ";\n" } else { "" }).unwrap();
    }
    dump
}

async fn import(owner: &Client, path: &str) -> Value {
    owner.get(path).await.expect(200).clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_survives_its_nodes_and_writes_everything_once() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("moves-in");
    let file = dump();
    let upload = async || {
        let with = |request: reqwest::RequestBuilder| request.body(file.clone());
        let path = "/api/manage/imports?kind=litebans";
        let made = owner.expect_success_with(&Method::POST, path, with).await;
        format!("/api/manage/imports/{}", made["importId"].as_str().unwrap())
    };
    let path = upload().await;
    let mut seen = vec![];
    // Each of them once: one is the owner, then another one is.
    for node in 0..3 {
        let before = import(&owner, &path).await["done"].as_i64().unwrap();
        wait_until(async || {
            let import = import(&owner, &path).await;
            import["done"].as_i64().unwrap() > before || import["state"] == "DONE"
        })
        .await;
        fleet.kill(node);
        seen.push(import(&owner, &path).await["done"].as_i64().unwrap());
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
    assert!(seen[0] < BANS as i64, "it had ended before the first kill: {seen:?}");
    wait_until(async || !["QUEUED", "RUNNING"].contains(&import(&owner, &path).await["state"].as_str().unwrap())).await;
    let done = import(&owner, &path).await;
    // The tables that the file lacks are noted as records of it.
    assert_eq!((&done["state"], &done["done"]), (&json!("DONE"), &done["total"]), "{done}");
    let counts = done["report"]["counts"].as_array().unwrap();
    let punishments = counts.iter().find(|counts| counts["category"] == "PUNISHMENTS").unwrap();
    assert_eq!(punishments["created"], BANS, "{done}");
    let rows = fleet
        .numbers("SELECT COUNT(*) FROM punishments UNION ALL SELECT COUNT(DISTINCT player_uuid) FROM punishments")
        .await;
    assert_eq!(rows, [BANS as i64; 2]);
    assert_eq!(fleet.numbers("SELECT COUNT(*) FROM audit_log WHERE action = 'import.ended'").await, [1]);
    // And again: nothing is new.
    let path = upload().await;
    wait_until(async || import(&owner, &path).await["state"] == "DONE").await;
    let again = import(&owner, &path).await;
    let counts = again["report"]["counts"].as_array().unwrap();
    let punishments = counts.iter().find(|counts| counts["category"] == "PUNISHMENTS").unwrap();
    assert_eq!((&punishments["created"], &punishments["unchanged"]), (&json!(0), &json!(BANS)), "{again}");
}
