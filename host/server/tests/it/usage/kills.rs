//! Counts of a process that is killed, and the command that prints them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Installation;
use crate::support::{Backend, Hub, on_each};

fn requests(installation: &Installation, arguments: &[&str]) -> i64 {
    let hours = installation.json(&[&["admin", "usage", "--json"], arguments].concat());
    hours.as_array().unwrap().iter().map(|hour| hour["requests"].as_i64().unwrap()).sum()
}

/// A kill loses no more than the counts since the last batch, and nothing is counted twice.
async fn a_kill_loses_a_second_at_most(backend: Backend) {
    const STORED: i64 = 40;
    const KILLS: i64 = 4;

    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "billed", "--json"]);
    let key = created["apiKey"].as_str().unwrap();
    let (mut stored, mut sent) = (0, 0);
    for kill in 0..KILLS {
        let mut hub = installation.serve();
        let client = hub.client(key);
        for _ in 0..STORED {
            client.get("/api/plugin/servers").await.expect(200);
        }
        (stored, sent) = (stored + STORED, sent + STORED);
        Hub::eventually("they are stored", async || requests(&installation, &["billed"]) >= stored).await;
        // Those of the last second may be lost; batches go out meanwhile.
        let until = tokio::time::Instant::now() + Duration::from_millis(300 * u64::try_from(kill).unwrap());
        while tokio::time::Instant::now() < until {
            client.get("/api/plugin/servers").await.expect(200);
            sent += 1;
        }
        installation.kill(&mut hub).await;
        let found = requests(&installation, &["billed"]);
        assert!((stored..=sent).contains(&found), "{found} of {sent}, {stored} of which were stored");
        (stored, sent) = (found, found);
    }

    // The command, of one network and of all.
    let network = created["networkId"].as_str().unwrap();
    assert_eq!(requests(&installation, &[network]), stored);
    let all = installation.json(&["admin", "usage", "--json"]);
    assert_eq!((&all[0]["name"], &all[0]["requests"]), (&json!("billed"), &json!(stored)));
    assert_eq!(installation.json(&["admin", "usage", "billed", "--json", "--to", "1970-01-02T00:00:00Z"]), json!([]));
    let text = String::from_utf8(installation.run(&["admin", "usage", "billed"]).stdout).unwrap();
    assert!(text.starts_with("HOUR ") && text.lines().count() >= 2, "{text}");
    for wrong in [
        &["admin", "usage", "nobody"][..],
        &["admin", "usage", "--from", "soon"],
        &["admin", "usage", "--from", "7", "--to", "7"],
    ] {
        assert!(!installation.run(wrong).status.success(), "{wrong:?}");
    }
    let first: &Value = &installation.json(&["admin", "usage", "billed", "--json"])[0];
    assert_eq!(first["hour"].as_i64().unwrap() % 3_600_000, 0);
}

on_each! { a_kill_loses_a_second_at_most }
