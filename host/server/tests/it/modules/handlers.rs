//! Handlers: each event once, in order per key, with its effects or not at all.

pub mod handler;
mod lagging;
mod letters;
mod links;
mod messages;
mod outside;
pub mod schedules;
mod suspended;
pub mod ticker;

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::{chain, point, upload};
use crate::servers::uuid;
use crate::support::{Client, Hub, on_both};
use handler::{grants, handler, manifest};

pub const TYPES: [&str; 2] = ["BALANCE_CHANGED", "MODULE_EVENT"];

/// Activates the handler `counter`.
pub async fn activate(owner: &Client, order: &str) {
    upload(owner, "counter", handler(1, &manifest(order, &TYPES))).await.expect(201);
    let link = json!({"name": "counter", "version": 1, "grants": grants()});
    chain(owner, "events", json!([link])).await.expect(200);
}

/// Changes the balance of an owner, which an event `BALANCE_CHANGED` of the key `voter:KEY` reports.
pub async fn vote(owner: &Client, key: &str) {
    let path = format!("/api/plugin/economy/voter/{key}/currencies/modify");
    owner.post(&path, json!({"currency": "votes", "amount": 1})).await.expect(200);
}

/// Number of handled events by their effects.
pub async fn handled(owner: &Client) -> i64 {
    let read = owner.get("/api/plugin/economy/farm/f1/statistics").await.expect(200).clone();
    let of_life = |it: &&Value| it["statisticName"] == "handled" && it["periodType"] == "LIFETIME";
    let found = read["statistics"].as_array().unwrap().iter().find(of_life).map(|it| it["value"].as_i64().unwrap());
    found.unwrap_or(0)
}

async fn handler_of(owner: &Client) -> Value {
    point(owner, "events").await["modules"][0].clone()
}

/// Ids of the events that the handler appended to its state's entry of a key.
async fn appended(hub: &Hub, owner: &Client, key: &str) -> Vec<String> {
    let entry: Option<(Vec<u8>,)> = hub
        .app
        .db
        .query("SELECT value FROM module_state WHERE network_id = $1 AND module = 'counter' AND key = $2")
        .bind(owner.network.unwrap())
        .bind(key.as_bytes())
        .optional()
        .await
        .unwrap();
    let text = String::from_utf8(entry.map_or(vec![], |(value,)| value)).unwrap();
    text.split(';').filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// Number in the order of the network's events.
fn number(id: &str) -> i64 {
    id.rsplit('-').next().unwrap().parse().unwrap()
}

/// Waits until the handler has nothing left to do. Time passes meanwhile, for what waits for the next attempt.
async fn settle(hub: &Hub, owner: &Client) {
    Hub::eventually("all is handled", async || {
        hub.advance_ms(200);
        let count = "SELECT COUNT(*) FROM outbox WHERE network_id = $1";
        let waiting = hub.app.db.query(count).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap();
        let counter = handler_of(owner).await;
        waiting == (0,) && counter["lagEvents"] == 0 && counter["running"] == 0
    })
    .await;
}

on_both! {
    async fn each_event_is_handled_once_and_in_order_of_its_key(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        for _ in 0..5 {
            for key in ["a", "b", "c", "d"] {
                vote(&owner, key).await;
            }
        }
        Hub::eventually("20 events are handled", async || handled(&owner).await == 20).await;
        settle(&hub, &owner).await;
        for key in ["a", "b", "c", "d"] {
            let ids = appended(&hub, &owner, &format!("voter:{key}")).await;
            assert_eq!(ids.len(), 5, "{key}: {ids:?}");
            assert!(ids.is_sorted_by_key(|id| number(id)), "{key}: {ids:?}");
        }
        let counter = handler_of(&owner).await;
        assert_eq!((&counter["retried"], &counter["deadLetters"], &counter["lagMs"]), (&json!(0), &json!(0), &json!(0)));
        assert_eq!((&counter["delivered"], counter.get("onFailure")), (&json!(20), None));
        assert_eq!(handled(&owner).await, 20);
    }

    async fn a_restart_in_the_middle_repeats_and_loses_nothing(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        let (mut hub, mut owner, mut sent) = (hub, owner, 0);
        for round in 0..3 {
            for vote_of in 0..12 {
                vote(&owner, &format!("k{}", vote_of % 4)).await;
                sent += 1;
            }
            // Calls are under way, or the events are still in the outbox.
            hub = if round == 1 { hub.abandon(Duration::ZERO).await } else { hub.restart(Duration::ZERO).await };
            owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        }
        // Background work does not run here, by which a hub alone finds what the last one left.
        for key in 0..4 {
            vote(&owner, &format!("k{key}")).await;
            sent += 1;
        }
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, sent);
        for key in 0..4 {
            let ids = appended(&hub, &owner, &format!("voter:k{key}")).await;
            let distinct: HashSet<_> = ids.iter().collect();
            assert_eq!((ids.len(), distinct.len()), (10, 10), "{ids:?}");
            assert!(ids.is_sorted_by_key(|id| number(id)), "{ids:?}");
        }
    }

    async fn calls_on_one_entry_of_the_state_lose_no_update(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        for key in 0..24 {
            vote(&owner, &format!("C{key}")).await;
        }
        settle(&hub, &owner).await;
        let ids = appended(&hub, &owner, "all").await;
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 24, "{ids:?}");
        assert_eq!(handled(&owner).await, 24);
        // A conflict is no failed attempt.
        assert_eq!(handler_of(&owner).await["retried"], 0);
    }

    async fn a_punishment_names_the_call_and_the_report_that_it_is_for(hub: Hub) {
        let owner = hub.network().await;
        let mut manifest = manifest("PLAYER", &["REPORT_CREATED"]);
        let scopes = json!(["events:read", "economy:write", "reports:manage", "punishments:write"]);
        manifest["scopes"] = scopes.clone();
        manifest["commands"] = json!([]);
        upload(&owner, "counter", handler(1, &manifest)).await.expect(201);
        let link = json!({"name": "counter", "version": 1, "grants": {"scopes": scopes}});
        chain(&owner, "events", json!([link])).await.expect(200);
        for (reporter, reason) in [(3, "Insults"), (4, "Please mute")] {
            let body = json!({"reporterUuid": uuid(reporter), "playerUuid": uuid(1), "reason": reason});
            owner.post("/api/plugin/reports", body).await.expect(201);
        }
        let list = async || owner.get("/api/manage/punishments").await.expect(200).clone();
        Hub::eventually("the player is muted", async || list().await["total"] == 1).await;
        settle(&hub, &owner).await;
        let mute = list().await["items"][0].clone();
        assert_eq!((&mute["type"], &mute["reason"], &mute["issuerName"]), (&json!("MUTE"), &json!("Reported"), &json!("counter")));
        let origin = &mute["origin"];
        assert!(origin["callId"].as_str().is_some_and(|call| !call.is_empty()), "{mute}");
        assert_eq!((&origin["module"], &origin["version"]), (&json!("counter"), &json!(1)));
        assert_eq!((&origin["reportId"], &origin["chatId"]), (&json!(2), &Value::Null));
        assert_eq!(handled(&owner).await, 2);
    }

    async fn a_cascade_ends_at_its_depth(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "E1").await;
        // The first event, and those of the depths 1 to 4.
        Hub::eventually("the cascade has ended", async || handler_of(&owner).await["tooDeep"] == 1).await;
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, 5);
    }
}
