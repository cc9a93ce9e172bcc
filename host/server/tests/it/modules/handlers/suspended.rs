//! Suspended networks: nothing of them runs, and what was missed is made up for afterwards.

use std::time::Duration;

use serde_json::{Value, json};

use super::{TYPES, handled, handler_of, schedules, settle, vote};
use crate::modules::handlers::handler::{grants, handler, manifest};
use crate::modules::{chain, upload};
use crate::support::{Client, Hub, NOW, on_both};

const HOUR: i64 = 3_600_000;

async fn suspend(hub: &Hub, owner: &Client, suspended: bool) {
    let path = format!("/api/admin/networks/{}", owner.network.unwrap());
    hub.operator().await.patch(&path, json!({"suspended": suspended})).await.expect(200);
}

/// Last ticks of the network's schedules by name; null without one.
async fn last(owner: &Client, name: &str) -> Value {
    let all = owner.get("/api/manage/modules/ticker/schedules").await.expect(200).clone();
    let found = all["items"].as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
    found.unwrap()["last"].clone()
}

fn again(hub: &Hub, owner: &Client) -> Client {
    hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap())
}

/// Attempts at the network's queued events.
async fn attempts(hub: &Hub, owner: &Client) -> Vec<i64> {
    let rows: Vec<(i64,)> = hub
        .app
        .db
        .query("SELECT attempts FROM handler_queue WHERE network_id = $1 AND module = 'counter'")
        .bind(owner.network.unwrap())
        .all()
        .await
        .unwrap();
    rows.into_iter().map(|(attempts,)| attempts).collect()
}

on_both! {
    async fn schedules_rest_and_their_rules_decide_about_what_was_missed(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let hourly = |name: &'static str, catch_up: &'static str| (name, "0 * * * *", catch_up);
        for network in [&owner, &other] {
            let all = [hourly("skip", "SKIP"), hourly("once", "ONCE"), hourly("all", "ALL")];
            schedules::activate(network, 1, &all).await;
        }
        suspend(&hub, &owner, true).await;
        for hour in 1..=3 {
            schedules::go_to(&hub, NOW + hour * HOUR + 1_000);
            // All of the other network run.
            schedules::pass_time(&hub, "ticks run", async || handled(&other).await == 3 * hour).await;
        }
        schedules::go_to(&hub, NOW + 3 * HOUR + HOUR / 2);
        suspend(&hub, &owner, false).await;
        schedules::pass_time(&hub, "four ticks have run", async || handled(&owner).await == 4).await;
        schedules::pass_time(&hub, "nothing is left", async || last(&owner, "all").await["dueAt"] == NOW + 3 * HOUR).await;
        let skipped = last(&owner, "skip").await;
        assert_eq!((&skipped["outcome"], &skipped["missed"]), (&json!("MISSED"), &json!(3)));
        let once = last(&owner, "once").await;
        assert_eq!((&once["outcome"], &once["missed"]), (&json!("OK"), &json!(2)));
        assert_eq!(handled(&owner).await, 4);
    }

    async fn events_wait(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        for network in [&owner, &other] {
            upload(network, "counter", handler(1, &manifest("PLAYER", &TYPES))).await.expect(201);
            let link = json!({"name": "counter", "version": 1, "grants": grants()});
            chain(network, "events", json!([link])).await.expect(200);
            // It fails at first.
            vote(network, "R1").await;
            Hub::eventually("it has failed", async || attempts(&hub, network).await == [1]).await;
        }
        suspend(&hub, &owner, true).await;
        // Suspensions are looked up once a second.
        let hub = hub.restart(Duration::ZERO).await;
        let (owner, other) = (again(&hub, &owner), again(&hub, &other));
        // A hub alone is woken by the next event.
        vote(&other, "z").await;
        schedules::pass_time(&hub, "the other network's are handled", async || handled(&other).await == 2).await;
        assert_eq!(attempts(&hub, &owner).await, [1]);
        suspend(&hub, &owner, false).await;
        Hub::eventually("it may vote again", async || owner.get("/api/manage/keys").await.status == 200).await;
        vote(&owner, "z").await;
        schedules::pass_time(&hub, "both are handled", async || handled(&owner).await == 2).await;
        settle(&hub, &owner).await;
        assert_eq!((handled(&owner).await, &handler_of(&owner).await["deadLetters"]), (2, &json!(0)));
    }
}
