//! Changes are sent to webhooks in order, though nodes are killed, and never through a proxy.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use crate::fleet::{Fleet, wait_until};
use crate::receiver::{Receiver, Reply};

const KILLS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_sent_in_order_while_nodes_are_killed() {
    let (receiver, proxy) = (Receiver::start("127.0.0.2:0").await, Receiver::start("127.0.0.1:0").await);
    let mut fleet = Fleet::start_with_variables(vec![
        ("HUB_WEBHOOK_NETWORKS", "127.0.0.2/32".to_owned()),
        ("http_proxy", format!("http://{}", proxy.address())),
        ("ALL_PROXY", format!("http://{}", proxy.address())),
    ])
    .await;
    let owner = fleet.network("hooked");
    let hook = json!({"url": receiver.url(), "events": ["LOCALIZATION_UPDATED"]});
    let made = owner.post("/api/manage/webhooks", hook).await.expect(201).clone();
    // Some answers are late, so that nodes are killed while they wait for one.
    receiver.will((0..400).map(|number| match number % 20 {
        3 => Reply::Late(Duration::from_millis(120)),
        11 => Reply::Status(500),
        _ => Reply::Status(204),
    }));
    let mut changes = 0;
    for kill in 0..KILLS {
        for _ in 0..25 {
            let path = format!("/api/manage/localization/messages/en/lobby/k{changes}");
            owner.put(&path, json!({"value": "x"})).await.expect(200);
            changes += 1;
        }
        fleet.kill(kill % 3);
        for _ in 0..5 {
            let path = format!("/api/manage/localization/messages/en/lobby/k{changes}");
            owner.put(&path, json!({"value": "x"})).await.expect(200);
            changes += 1;
        }
        fleet.start_node(kill % 3);
        fleet.wait_until_ready().await;
    }
    let path = format!("/api/manage/webhooks/{}", made["webhookId"].as_str().unwrap());
    // A failed webhook pauses; test events from its owner shorten that.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(90);
    while !receiver.fields("version").contains(&json!(changes)) && tokio::time::Instant::now() < deadline {
        owner.post(&format!("{path}/test"), json!({})).await.expect(201);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    wait_until(async || receiver.fields("version").contains(&json!(changes))).await;
    // Each once except for deliveries under way when a node was killed or an answer failed, and in order.
    let mut first_of: HashMap<String, usize> = HashMap::new();
    let mut versions = vec![];
    for request in receiver.received() {
        let id = request.header("webhook-id").to_owned();
        let times = first_of.entry(id).or_default();
        *times += 1;
        if *times == 1 && request.body["type"] != "TEST" {
            versions.push(request.body["data"]["version"].as_i64().unwrap());
        }
    }
    let expected: Vec<_> = (1..=i64::try_from(changes).unwrap()).collect();
    assert_eq!(versions, expected);
    let doubled = first_of.values().filter(|times| **times > 1).count();
    assert!(doubled < changes / 4, "{doubled} of {changes} came more than once");
    assert_eq!(proxy.count(), 0, "a proxy of the environment was asked");
    assert_eq!(fleet.numbers("SELECT COUNT(*) FROM outbox").await, [0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_commits_while_others_give_way_reaches_a_new_webhook() {
    let receiver = Receiver::start("127.0.0.2:0").await;
    let networks = ("HUB_WEBHOOK_NETWORKS", "127.0.0.2/32".to_owned());
    let mut fleet = Fleet::start_with_variables(vec![networks]).await;
    let owner = fleet.network("dropping");
    fleet.stop_nats();
    for node in 0..3 {
        wait_until(async || fleet.faults(node).await.is_some_and(|faults| faults.contains(&"bus".to_owned()))).await;
    }
    let of_network = "FROM networks WHERE name = 'dropping'";
    // A change that has its event, and is not committed yet.
    let mut late = PgConnection::connect(fleet.database()).await.unwrap();
    late.execute("BEGIN").await.unwrap();
    let event = r#"{"type": "LOCALIZATION_UPDATED", "version": 7, "at": 1}"#;
    let insert = format!(
        "INSERT INTO outbox (network_id, name, data, created_at)
         SELECT network_id, 'LOCALIZATION_UPDATED', '{event}', 1 {of_network}"
    );
    late.execute(AssertSqlSafe(insert)).await.unwrap();
    let fill = async |count: usize| {
        let rows = format!(
            "INSERT INTO outbox (network_id, name, data, created_at)
             SELECT network_id, 'SERVER_ONLINE', '{{}}', 1 FROM generate_series(1, {count}), networks
             WHERE name = 'dropping'"
        );
        fleet.sql(&rows).await;
    };
    fill(10_500).await;
    let locked = format!("SELECT id FROM outbox WHERE network_id = (SELECT network_id {of_network}) FOR UPDATE");
    let mut lock = fleet.lock_rows(locked).await;
    // Now too many wait, and the oldest give way, as soon as they are free.
    fill(1_000).await;
    lock.wait_for_blocked(1).await;
    let hook = json!({"url": receiver.url(), "events": ["LOCALIZATION_UPDATED"]});
    owner.post("/api/manage/webhooks", hook).await.expect(201);
    late.execute("COMMIT").await.unwrap();
    lock.release().await;
    let left = format!("SELECT COUNT(*) FROM outbox WHERE network_id = (SELECT network_id {of_network})");
    wait_until(async || fleet.numbers(&left).await[0] < 11_000).await;
    fleet.restart_nats().await;
    wait_until(async || receiver.fields("version").contains(&json!(7))).await;
}
