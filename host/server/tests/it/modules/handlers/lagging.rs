//! Handlers that lag.

use std::time::Duration;

use reqwest::Method;

use super::{activate, vote};
use crate::support::{Events, Hub, NOW, on_both};

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
        hub.app.db.write(aged).bind(NOW + 900_000).bind(NOW - 61_000).execute().await.unwrap();
        let hub = hub.restart(Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        let path = "/api/plugin/events?types=MODULE_LAGGING";
        let mut events = Events::open(owner.request(Method::GET, path)).await;
        hub.advance_ms(10_000);
        let told = events.next_named("MODULE_LAGGING").await.data;
        assert_eq!((&told["module"], &told["lagEvents"]), (&"counter".into(), &1.into()));
        let lag = told["lagMs"].as_i64().unwrap();
        assert!((61_000..120_000).contains(&lag), "{told}");
        // Again, but not before ten minutes have passed.
        hub.advance_ms(300_000);
        hub.advance_ms(310_000);
        let again = events.next_named("MODULE_LAGGING").await.data;
        assert!(again["lagMs"].as_i64().unwrap() >= lag + 600_000, "{again}");
    }
}
