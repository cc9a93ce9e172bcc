//! Handlers that lag.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{activate, vote};
use crate::event_document::check;
use crate::support::{Event, Events, Hub, NOW, on_both};

/// Lets time pass until it is told.
async fn told(hub: &Hub, events: &mut Events) -> Event {
    let passing = async {
        loop {
            hub.advance_ms(5_000);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        event = events.next_named("MODULE_LAGGING") => event,
        never = passing => never,
    }
}

on_both! {
    async fn staff_are_told_that_events_wait(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        // It fails at first, and waits.
        vote(&owner, "R1").await;
        let attempts = async |hub: &Hub| {
            let rows: Vec<(i64,)> = hub.app.db.query("SELECT attempts FROM handler_queue").all().await.unwrap();
            rows.into_iter().map(|(attempts,)| attempts).collect::<Vec<_>>()
        };
        Hub::eventually("it has failed", async || attempts(&hub).await == [1]).await;
        // A long pause of an event that has waited for a minute.
        let aged = "UPDATE handler_queue SET attempts = 7, due_at = $1, queued_at = $2";
        hub.app.db.write(aged).bind(NOW + 90_000_000).bind(NOW - 61_000).execute().await.unwrap();
        let hub = hub.restart(Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        let path = "/api/plugin/events?types=MODULE_LAGGING";
        let mut events = Events::open(owner.request(Method::GET, path)).await;
        let event = told(&hub, &mut events).await;
        let document = async |path| hub.anonymous().get(path).await.expect(200).clone();
        check(&document("/api/openapi.json").await, &document("/api/asyncapi.json").await, &event);
        // It is among what needs attention, until nothing waits any more.
        let attention = async || owner.get("/api/manage/attention").await.expect(200)["items"].clone();
        assert_eq!(attention().await, json!([{"id": "MODULE_LAGGING/counter", "kind": "MODULE_LAGGING", "severity": "WARNING",
            "since": NOW - 61_000, "subject": "counter", "name": "counter", "count": 1}]));
        let first = event.data;
        assert_eq!((&first["module"], &first["lagEvents"]), (&"counter".into(), &1.into()));
        let lag = first["lagMs"].as_i64().unwrap();
        assert!(lag >= 61_000, "{first}");
        // Again, but not before ten minutes have passed.
        let again = told(&hub, &mut events).await.data;
        assert!(again["lagMs"].as_i64().unwrap() >= lag + 600_000, "{again}");
        hub.app.db.write("UPDATE handler_queue SET queued_at = $1").bind(hub.app.clock.now()).execute().await.unwrap();
        assert_eq!(attention().await, json!([]));
    }
}
