//! Several messages of a webhook under way at once, in order for each player.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::receiver::{Receiver, Reply};
use super::{add, deliveries, expect_idle, expect_requests, get, publish, receiver};
use crate::servers::uuid;
use crate::support::{Client, Hub, on_each};

on_each! {
    busy_chat_is_sent_in_order_of_each_player(crate::webhooks::start)
    failed_message_holds_back_only_its_player(crate::webhooks::start)
    receiver_that_is_down_gets_few_requests(crate::webhooks::start)
    tests_end_the_pauses_of_players(crate::webhooks::start)
}

/// A line of chat by the player with this number.
async fn say(owner: &Client, player: u64, message: &str) {
    let line = json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "message": message,
        "serverId": "lobby-1"});
    owner.post("/api/plugin/chat", line).await.expect(204);
}

/// Messages in the order in which they arrived first, by player.
fn by_player(receiver: &Receiver) -> HashMap<String, Vec<String>> {
    let mut of: HashMap<String, Vec<String>> = HashMap::new();
    let mut seen = HashSet::new();
    for request in receiver.received() {
        if seen.insert(request.header("webhook-id").to_owned()) {
            let text = |name: &str| request.body["data"][name].as_str().unwrap().to_owned();
            of.entry(text("playerName")).or_default().push(text("message"));
        }
    }
    of
}

/// A receiver that answers after 100 ms: one request at a time would take 40 s.
async fn busy_chat_is_sent_in_order_of_each_player(hub: Hub) {
    const PLAYERS: u64 = 20;
    const LINES: usize = 20;
    let (owner, receiver) = (hub.network().await, receiver().await);
    receiver.always(Reply::Late(Duration::from_millis(100)));
    let (id, _) = add(&owner, &receiver.url(), &["CHAT"]).await;
    for line in 0..LINES {
        for player in 0..PLAYERS {
            say(&owner, player, &line.to_string()).await;
        }
    }
    expect_idle(&owner, &id).await;
    let expected: Vec<_> = (0..LINES).map(|line| line.to_string()).collect();
    let all = by_player(&receiver);
    assert_eq!(all.len(), PLAYERS as usize);
    assert!(all.values().all(|lines| *lines == expected), "{all:?}");
    assert_eq!(receiver.count(), PLAYERS as usize * LINES, "each once");
    assert!(!receiver.had_two_of_one_player());
    let most = receiver.most_at_once();
    assert!((8..=32).contains(&most), "{most} at once");
    let rows = deliveries(&owner, &id).await;
    assert!(rows.iter().all(|it| it["state"] == "DELIVERED" && it["attempts"] == 1), "{rows:?}");
}

async fn failed_message_holds_back_only_its_player(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    receiver.will([Reply::Status(500)]);
    let (id, _) = add(&owner, &receiver.url(), &["CHAT"]).await;
    say(&owner, 1, "first").await;
    Hub::eventually("it fails", async || get(&owner, &id).await["failures"] == 1).await;
    let next = get(&owner, &id).await["nextAttemptAt"].as_i64().unwrap() - hub.app.clock.now();
    assert!((4_500..=5_500).contains(&next), "{next}");
    // Others pass, also after the webhook had nothing to do.
    for number in 0..3 {
        say(&owner, 1, &number.to_string()).await;
        say(&owner, 2, &number.to_string()).await;
        expect_requests(&receiver, 2 + number).await;
    }
    Hub::eventually("only the first waits", async || get(&owner, &id).await["waiting"] == 4).await;
    assert_eq!(receiver.fields("message"), ["first", "0", "1", "2"]);
    Hub::eventually("the pause is known", async || {
        get(&owner, &id).await["nextAttemptAt"].as_i64().unwrap() - hub.app.clock.now() == next
    })
    .await;
    hub.advance_ms(next.unsigned_abs() + 1_000);
    expect_idle(&owner, &id).await;
    expect_requests(&receiver, 8).await;
    assert_eq!(by_player(&receiver)["p1"], ["first", "0", "1", "2"]);
    let attempts: Vec<_> = deliveries(&owner, &id).await.iter().map(|it| it["attempts"].as_i64().unwrap()).collect();
    assert_eq!(attempts.iter().sum::<i64>(), 8);
}

async fn receiver_that_is_down_gets_few_requests(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    receiver.always(Reply::Status(503));
    let (id, _) = add(&owner, &receiver.url(), &["CHAT"]).await;
    for player in 0..100 {
        say(&owner, player, "x").await;
    }
    Hub::eventually("all wait", async || get(&owner, &id).await["waiting"] == 100).await;
    Hub::eventually("it pauses", async || {
        let webhook = get(&owner, &id).await;
        webhook["failures"].as_i64().unwrap() >= 8
            && webhook["nextAttemptAt"].as_i64().unwrap() - hub.app.clock.now() <= 5_500
    })
    .await;
    let before = receiver.count();
    assert!(before <= 20, "{before} requests until the whole webhook pauses");
    // Then one at a time, each after a longer pause.
    for pause in [30_000, 120_000] {
        let failures = get(&owner, &id).await["failures"].as_i64().unwrap();
        let next = get(&owner, &id).await["nextAttemptAt"].as_i64().unwrap();
        hub.advance_ms((next - hub.app.clock.now()).unsigned_abs() + 1_000);
        Hub::eventually("it fails again", async || get(&owner, &id).await["failures"] == failures + 1).await;
        let next = get(&owner, &id).await["nextAttemptAt"].as_i64().unwrap() - hub.app.clock.now();
        assert!((pause - pause / 10..=pause + pause / 10).contains(&next), "{next}");
    }
    assert_eq!(receiver.count(), before + 2);
    receiver.always(Reply::Status(204));
    hub.advance_ms(140_000);
    expect_idle(&owner, &id).await;
    assert_eq!(by_player(&receiver).len(), 100);
    let webhook = get(&owner, &id).await;
    assert_eq!((&webhook["failures"], &webhook["failingSince"]), (&json!(0), &Value::Null));
}

async fn tests_end_the_pauses_of_players(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    receiver.will([Reply::Status(500)]);
    let (id, _) = add(&owner, &receiver.url(), &["CHAT", "CONFIG_UPDATED"]).await;
    say(&owner, 1, "first").await;
    Hub::eventually("it fails", async || get(&owner, &id).await["failures"] == 1).await;
    publish(&owner, "passes").await;
    expect_requests(&receiver, 2).await;
    Hub::eventually("that arrived", async || get(&owner, &id).await["failures"] == 0).await;
    owner.post(&format!("/api/manage/webhooks/{id}/test"), json!({})).await.expect(201);
    expect_idle(&owner, &id).await;
    expect_requests(&receiver, 4).await;
}
