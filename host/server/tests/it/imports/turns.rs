//! Imports of many networks: each gets its turn, however much others import.

use serde_json::{Value, json};

use super::{BALANCES, IMPORTS, files, finished, upload};
use crate::support::{Client, Hub, on_both};

const MANY: usize = 12_000;

async fn state(client: &Client, id: &str) -> Value {
    client.get(&format!("{IMPORTS}/{id}")).await.expect(200)["state"].clone()
}

on_both! {
    async fn a_short_import_does_not_wait_for_the_end_of_long_ones(hub: Hub) {
        let mut long = vec![];
        for _ in 0..4 {
            let client = hub.network().await;
            let made = upload(&client, BALANCES, files::balances(MANY)).await.expect(201).clone();
            long.push((client, made["importId"].as_str().unwrap().to_owned()));
        }
        let mut running = vec![];
        Hub::eventually("three of them run", async || {
            running.clear();
            for (client, id) in &long {
                running.push(state(client, id).await == "RUNNING");
            }
            running.iter().filter(|runs| **runs).count() == 3
        })
        .await;
        // The first turns end; the fourth and the short one begin.
        let last = hub.network().await;
        let made = upload(&last, BALANCES, files::balances(1)).await.expect(201).clone();
        hub.advance_ms(5_000);
        let short = finished(&last, made["importId"].as_str().unwrap()).await;
        assert_eq!((&short["state"], &short["done"]), (&json!("DONE"), &json!(1)), "{short}");
        let mut unfinished = 0;
        for (client, id) in &long {
            unfinished += usize::from(state(client, id).await != "DONE");
        }
        assert!(unfinished >= 2, "the long ones ended first: {unfinished}");
        // All of them end, each written once.
        for (client, id) in &long {
            let mut done = Value::Null;
            Hub::eventually("it ends", async || {
                done = client.get(&format!("{IMPORTS}/{id}")).await.expect(200).clone();
                done["state"] == "DONE"
            })
            .await;
            assert_eq!((&done["done"], &done["total"]), (&json!(MANY), &json!(MANY)));
            assert_eq!(super::counts(&done, "BALANCES"), [i64::try_from(MANY).unwrap(), 0, 0, 0]);
        }
    }
}
