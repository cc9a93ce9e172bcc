//! Schedules and timers: each tick and timer once, with its effects or not at all.

use std::time::Duration;

use serde_json::{Value, json};

use super::handled;
use super::ticker::{manifest, ticker};
use crate::modules::{chain, point, upload};
use crate::support::{Client, Hub, NOW, on_both};

const SCHEDULES: &str = "/api/manage/modules/ticker/schedules";
pub const TIMERS: &str = "/api/manage/modules/ticker/timers";
const LETTERS: &str = "/api/manage/modules/ticker/dead-letters";
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn link(version: i64) -> Value {
    json!([{"name": "ticker", "version": version, "grants": {"scopes": ["economy:write"]}}])
}

/// Activates the module with these schedules.
pub async fn activate(owner: &Client, version: u32, schedules: &[(&str, &str, &str)]) {
    upload(owner, "ticker", ticker(version, &manifest(schedules))).await.expect(201);
    chain(owner, "schedules", link(i64::from(version))).await.expect(200);
}

pub async fn run(owner: &Client, schedule: &str) {
    owner.post(&format!("{SCHEDULES}/{schedule}/run"), json!({})).await.expect(202);
}

async fn list(owner: &Client, path: &str) -> Vec<Value> {
    owner.get(path).await.expect(200)["items"].as_array().unwrap().clone()
}

async fn schedule(owner: &Client, name: &str) -> Value {
    let all = list(owner, SCHEDULES).await;
    all.into_iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no schedule {name}"))
}

/// Lets time pass in small steps until this holds.
pub async fn pass_time(hub: &Hub, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    Hub::eventually(what, async || {
        hub.advance_ms(500);
        holds().await
    })
    .await;
}

async fn has_outcome(owner: &Client, name: &str, outcome: &str) -> bool {
    schedule(owner, name).await["last"]["outcome"] == outcome
}

/// Moves the clock to a time.
pub fn go_to(hub: &Hub, at: i64) {
    hub.advance_ms(u64::try_from(at - hub.app.clock.now()).unwrap());
}

on_both! {
    async fn a_tick_runs_once_at_its_time(hub: Hub) {
        let owner = hub.network().await;
        // It is noon.
        activate(&owner, 1, &[("five", "5 12 * * *", "ONCE")]).await;
        let before = schedule(&owner, "five").await;
        assert_eq!((&before["next"], &before["last"]), (&json!(NOW + 5 * MINUTE), &Value::Null));
        assert_eq!((&before["version"], &before["running"]), (&json!(1), &json!(false)));
        assert_eq!((&before["cron"], &before["catchUp"]), (&json!("5 12 * * *"), &json!("ONCE")));

        go_to(&hub, NOW + 4 * MINUTE + 58_000);
        assert_eq!(handled(&owner).await, 0);
        go_to(&hub, NOW + 5 * MINUTE + 1_000);
        Hub::eventually("the tick has run", async || has_outcome(&owner, "five", "OK").await).await;
        let after = schedule(&owner, "five").await;
        assert_eq!(after["next"], NOW + 5 * MINUTE + 24 * HOUR);
        let last = &after["last"];
        assert_eq!((&last["dueAt"], &last["missed"], &last["attempts"]), (&json!(NOW + 5 * MINUTE), &json!(0), &json!(1)));
        assert_eq!((&last["effects"], &last["code"], &last["manual"]), (&json!(1), &Value::Null, &json!(false)));
        pass_time(&hub, "some time passes", async || hub.app.clock.now() > NOW + 6 * MINUTE).await;
        assert_eq!(handled(&owner).await, 1);
        // A tick is recorded as other calls are.
        let shown = point(&owner, "schedules").await["modules"][0].clone();
        assert_eq!((&shown["calls"], shown.get("onFailure"), shown.get("delivered")), (&json!(1), None, None));
    }

    async fn missed_ticks_are_left_out_made_up_for_once_or_all(hub: Hub) {
        let owner = hub.network().await;
        let hourly = |name: &'static str, catch_up: &'static str| (name, "0 * * * *", catch_up);
        activate(&owner, 1, &[hourly("skip", "SKIP"), hourly("once", "ONCE"), hourly("all", "ALL")]).await;
        let hub = hub.restart(Duration::from_mins(3 * 60 + 30)).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        pass_time(&hub, "four ticks have run", async || handled(&owner).await == 4).await;
        pass_time(&hub, "nothing is left", async || {
            has_outcome(&owner, "skip", "MISSED").await && schedule(&owner, "all").await["last"]["dueAt"] == NOW + 3 * HOUR
        })
        .await;
        let of = async |name: &str| {
            let last = schedule(&owner, name).await["last"].clone();
            (last["outcome"].clone(), last["dueAt"].as_i64().unwrap() - NOW, last["missed"].as_i64().unwrap())
        };
        assert_eq!(of("skip").await, (json!("MISSED"), 3 * HOUR, 3));
        assert_eq!(of("once").await, (json!("OK"), 3 * HOUR, 2));
        assert_eq!(of("all").await, (json!("OK"), 3 * HOUR, 0));
        assert_eq!(schedule(&owner, "all").await["next"], NOW + 4 * HOUR);
        assert_eq!(handled(&owner).await, 4);
        // The next one says what was left out.
        go_to(&hub, NOW + 4 * HOUR + 1_000);
        Hub::eventually("the next tick has run", async || has_outcome(&owner, "skip", "OK").await).await;
        assert_eq!(of("skip").await, (json!("OK"), 4 * HOUR, 3));
    }

    async fn nothing_runs_at_a_time_that_is_not_proven(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, 1, &[("one", "1 12 * * *", "ONCE")]).await;
        hub.clock.doubt(true);
        go_to(&hub, NOW + 2 * MINUTE);
        // It is under way once it is asked for, and waits, too.
        let asked = owner.post(&format!("{SCHEDULES}/one/run"), json!({})).await.expect(202).clone();
        owner.post(&format!("{SCHEDULES}/one/run"), json!({})).await.expect_error(409, "running");
        for _ in 0..20 {
            hub.advance_ms(500);
            tokio::task::yield_now().await;
        }
        let waiting = schedule(&owner, "one").await;
        assert_eq!((&waiting["running"], &waiting["last"]["outcome"]), (&json!(true), &json!("RUNNING")));
        assert_eq!((&waiting["last"]["callId"], &waiting["last"]["manual"]), (&asked["callId"], &json!(true)));
        // It does not move the times.
        assert_eq!((&waiting["next"], handled(&owner).await), (&json!(NOW + MINUTE), 0));
        hub.clock.doubt(false);
        pass_time(&hub, "both have run", async || handled(&owner).await == 2).await;
        owner.post(&format!("{SCHEDULES}/none/run"), json!({})).await.expect_error(404, "unknown_schedule");
        let audit = owner.get("/api/manage/audit?action=schedule.run").await.expect(200).clone();
        assert_eq!((&audit["total"], &audit["items"][0]["target"]), (&json!(1), &json!("ticker/one")));
    }

    async fn a_tick_that_fails_three_times_is_a_dead_letter_and_the_next_one_comes(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, 1, &[("Xpoor", "1 12 * * *", "ONCE"), ("Retry", "2 12 * * *", "ONCE")]).await;
        go_to(&hub, NOW + MINUTE + 1_000);
        pass_time(&hub, "it has failed", async || has_outcome(&owner, "Xpoor", "FAILED").await).await;
        let after = schedule(&owner, "Xpoor").await;
        assert_eq!((&after["last"]["attempts"], &after["last"]["code"]), (&json!(3), &json!("refused_effect")));
        assert_eq!((&after["next"], &after["running"]), (&json!(NOW + MINUTE + 24 * HOUR), &json!(false)));
        let letter = list(&owner, LETTERS).await[0].clone();
        assert_eq!((&letter["kind"], &letter["reason"], &letter["event"]), (&json!("TICK"), &json!("insufficient_funds"), &Value::Null));
        let tick = json!({"schedule": "Xpoor", "dueAt": NOW + MINUTE, "missed": 0, "manual": false});
        assert_eq!((&letter["tick"], &letter["key"]), (&tick, &json!("Xpoor")));
        // Nothing of it was committed.
        assert_eq!(handled(&owner).await, 0);

        let funds = json!({"currency": "coins", "amount": 1_000});
        owner.post("/api/plugin/economy/farm/f1/currencies/modify", funds).await.expect(200);
        let path = format!("{LETTERS}/{}/retry", letter["deadLetterId"].as_str().unwrap());
        owner.post(&path, json!({})).await.expect(202);
        Hub::eventually("the retry succeeds", async || list(&owner, LETTERS).await.is_empty()).await;
        assert_eq!(handled(&owner).await, 1);

        go_to(&hub, NOW + 2 * MINUTE + 1_000);
        pass_time(&hub, "the second attempt succeeds", async || has_outcome(&owner, "Retry", "OK").await).await;
        let last = schedule(&owner, "Retry").await["last"].clone();
        assert_eq!((&last["attempts"], handled(&owner).await), (&json!(2), 2));
    }

    async fn a_new_version_keeps_the_place_of_a_schedule_that_it_names(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, 1, &[("kept", "1 12 * * *", "ONCE"), ("gone", "2 12 * * *", "ONCE"), ("moved", "3 12 * * *", "ONCE")]).await;
        run(&owner, "kept").await;
        pass_time(&hub, "it has run", async || has_outcome(&owner, "kept", "OK").await).await;
        activate(&owner, 2, &[("kept", "1 12 * * *", "ALL"), ("moved", "9 12 * * *", "ONCE")]).await;
        let names: Vec<_> = list(&owner, SCHEDULES).await.iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["kept", "moved"]);
        let kept = schedule(&owner, "kept").await;
        assert_eq!((&kept["version"], &kept["catchUp"], &kept["last"]["outcome"]), (&json!(2), &json!("ALL"), &json!("OK")));
        assert_eq!(schedule(&owner, "moved").await["next"], NOW + 9 * MINUTE);

        for more in [json!({"mode": "CANARY", "percent": 5}), json!({"mode": "SHADOW"}), json!({"from": "NOW"})] {
            let mut wrong = link(2);
            wrong[0].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            chain(&owner, "schedules", wrong).await.expect_error(400, "invalid_request");
        }
        let none = json!([{"name": "ticker", "version": 2}]);
        assert_eq!(chain(&owner, "schedules", none).await.expect(400)["needed"]["scopes"], json!(["economy:write"]));
        let at_events = json!([{"name": "ticker", "version": 2, "grants": {"scopes": ["economy:write"]}}]);
        chain(&owner, "events", at_events).await.expect_error(400, "point_not_offered");

        chain(&owner, "schedules", json!([])).await.expect(200);
        assert!(list(&owner, SCHEDULES).await.is_empty());
        owner.post("/api/manage/extension-points/schedules/rollback", json!({})).await.expect(200);
        assert_eq!(schedule(&owner, "kept").await["last"], Value::Null);
    }

    async fn a_timer_fires_once_unless_it_is_cancelled(hub: Hub) {
        let owner = hub.network().await;
        let yearly = "0 0 1 1 *";
        activate(&owner, 1, &[("Set", yearly, "ONCE"), ("Cancel", yearly, "ONCE")]).await;
        run(&owner, "Set").await;
        pass_time(&hub, "it is set", async || list(&owner, TIMERS).await.len() == 1).await;
        let timer = list(&owner, TIMERS).await[0].clone();
        let at = timer["at"].as_i64().unwrap();
        assert_eq!((&timer["key"], &timer["payload"], &timer["attempts"]), (&json!("one"), &json!({"step": 2}), &json!(0)));
        // The call began before it was committed.
        assert!((1..=MINUTE).contains(&(at - timer["setAt"].as_i64().unwrap())), "{timer}");
        run(&owner, "Cancel").await;
        pass_time(&hub, "it is cancelled", async || list(&owner, TIMERS).await.is_empty()).await;
        assert_eq!(handled(&owner).await, 2);

        run(&owner, "Set").await;
        pass_time(&hub, "it is set", async || list(&owner, TIMERS).await.len() == 1).await;
        // A module that is taken out finds its timers.
        chain(&owner, "schedules", json!([])).await.expect(200);
        hub.advance_ms(120_000);
        pass_time(&hub, "time passes", async || hub.app.clock.now() > at + 2 * MINUTE).await;
        assert_eq!((list(&owner, TIMERS).await.len(), handled(&owner).await), (1, 3));
        chain(&owner, "schedules", link(1)).await.expect(200);
        pass_time(&hub, "it has fired", async || list(&owner, TIMERS).await.is_empty()).await;
        assert_eq!(handled(&owner).await, 4);
        hub.advance_ms(60_000);
        pass_time(&hub, "time passes", async || hub.app.clock.now() > at + 4 * MINUTE).await;
        assert_eq!(handled(&owner).await, 4);
    }

    async fn a_timer_that_cannot_succeed_is_a_dead_letter(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, 1, &[("Player", "0 0 1 1 *", "ONCE"), ("Set", "0 0 1 1 *", "ONCE")]).await;
        run(&owner, "Player").await;
        pass_time(&hub, "it is set", async || list(&owner, TIMERS).await.len() == 1).await;
        hub.advance_ms(60_000);
        pass_time(&hub, "it has failed", async || list(&owner, LETTERS).await.len() == 1).await;
        let letter = list(&owner, LETTERS).await[0].clone();
        assert_eq!((&letter["kind"], &letter["attempts"], &letter["tick"]), (&json!("TIMER"), &json!(3), &Value::Null));
        assert_eq!((&letter["timer"]["key"], &letter["timer"]["payload"]), (&letter["key"], &json!({"step": "X"})));
        assert_eq!((list(&owner, TIMERS).await.len(), handled(&owner).await), (0, 1));

        run(&owner, "Set").await;
        pass_time(&hub, "it is set", async || list(&owner, TIMERS).await.len() == 1).await;
        owner.delete(&format!("{TIMERS}/one")).await.expect(204);
        owner.delete(&format!("{TIMERS}/one")).await.expect_error(404, "unknown_timer");
    }
}
