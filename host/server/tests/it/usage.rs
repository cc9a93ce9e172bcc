//! Usage of networks: counted once, listed by hours, reported.

mod kills;
pub mod sink;

use std::time::Duration;

use hub::usage_counters::UsageCounters;
use hub_db::Sql;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::modules::starters;
use crate::servers::{join, register, uuid};
use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

pub const HOUR: i64 = 60 * 60 * 1000;

/// A network's hours, newest first, from the operator's view, whose requests don't count.
pub async fn hours(operator: &Client, network: &Client, query: &str) -> Vec<Value> {
    let path = format!("/api/admin/networks/{}/usage?limit=200{query}", network.network.unwrap());
    operator.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
}

/// The field of the newest hour.
async fn newest(operator: &Client, network: &Client, field: &str) -> Value {
    hours(operator, network, "").await.first().map_or(json!(0), |hour| hour[field].clone())
}

/// Lets a second pass, and waits until the newest hour has this value.
async fn expect_newest(hub: &Hub, operator: &Client, network: &Client, field: &str, value: i64) {
    hub.advance_ms(1_000);
    Hub::eventually(&format!("{field} is {value}"), async || {
        let found = newest(operator, network, field).await;
        assert!(found.as_i64().unwrap() <= value, "{field} is {found}, not {value}");
        found == value
    })
    .await;
}

/// Makes the database refuse counts, or accept them again.
async fn refuse_counts(hub: &Hub, are_refused: bool) {
    let statements = if are_refused {
        [
            Sql {
                sqlite: "CREATE TRIGGER refused BEFORE INSERT ON usage_nodes BEGIN SELECT RAISE(ABORT, 'refused'); END",
                postgres: "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS
                           $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
            },
            Sql {
                sqlite: "SELECT 1",
                postgres: "CREATE TRIGGER refused BEFORE INSERT ON usage_nodes EXECUTE FUNCTION refused()",
            },
        ]
    } else {
        let postgres = ["DROP TRIGGER refused ON usage_nodes", "DROP FUNCTION refused"];
        [
            Sql { sqlite: "DROP TRIGGER refused", postgres: postgres[0] },
            Sql { sqlite: "SELECT 1", postgres: postgres[1] },
        ]
    };
    for statement in statements {
        hub.app.db.write(statement).execute().await.unwrap();
    }
}

/// True if no count of the network is left in memory to be taken.
fn is_counted(hub: &Hub, network: &Client) -> bool {
    let counters = hub.app.state::<UsageCounters>().network(network.network.unwrap());
    format!("{counters:?}").contains("requests: 0,")
}

async fn chat(client: &Client, message: &str) -> StatusCode {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await.status
}

on_both! {
    async fn requests_with_a_valid_key_are_counted_once(hub: Hub) {
        let (operator, owner, other) = (hub.operator().await, hub.network().await, hub.network().await);
        for _ in 0..5 {
            owner.get("/api/plugin/servers").await.expect(200);
        }
        // Includes refused requests.
        owner.get("/api/plugin/nothing").await.expect(404);
        owner.get("/api/admin/networks").await.expect(403);
        // But none without a valid key.
        hub.anonymous().get("/api/plugin/servers").await.expect(401);
        let wrong = owner.with_key(&format!("{}x", owner.key.as_ref().unwrap()));
        wrong.get("/api/plugin/servers").await.expect(401);
        expect_newest(&hub, &operator, &owner, "requests", 7).await;
        assert!(hours(&operator, &other, "").await.iter().all(|hour| hour["requests"] == 0));

        let page = owner.get("/api/manage/usage").await.expect(200).clone();
        assert_eq!((&page["page"], &page["limit"], &page["total"]), (&json!(0), &json!(50), &json!(1)));
        assert_eq!((&page["items"][0]["hour"], &page["items"][0]["requests"]), (&json!(NOW), &json!(7)));
        expect_newest(&hub, &operator, &owner, "requests", 8).await;
    }

    async fn a_request_over_the_plans_rate_is_not_counted(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let plan = json!({"name": "slow", "limits": {"requestsPerSecond": 2}});
        operator.post("/api/admin/plans", plan).await.expect(201);
        let network = format!("/api/admin/networks/{}", owner.network.unwrap());
        operator.patch(&network, json!({"plan": "slow"})).await.expect(200);
        let mut served = 0;
        for _ in 0..6 {
            served += i64::from(owner.get("/api/plugin/servers").await.status == 200);
        }
        assert_eq!(served, 2);
        expect_newest(&hub, &operator, &owner, "requests", served).await;
    }

    async fn a_batch_that_fails_is_counted_once_and_late_ones_in_an_open_hour(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let call = async |times: i64| {
            for _ in 0..times {
                owner.get("/api/plugin/servers").await.expect(200);
            }
        };
        call(1).await;
        expect_newest(&hub, &operator, &owner, "requests", 1).await;
        // It was stored, but the hub got no answer.
        refuse_counts(&hub, true).await;
        call(5).await;
        let other = hub.network().await;
        // A pass takes the counts and then stores them; the next one begins once it has failed.
        let fail_once = async || {
            for taken in [&owner, &other] {
                other.get("/api/plugin/servers").await.expect(200);
                hub.advance_ms(1_000);
                Hub::eventually("the counts are taken", async || is_counted(&hub, taken)).await;
            }
        };
        fail_once().await;
        let db = &hub.app.db;
        db.write("UPDATE usage_nodes SET sequence = sequence + 1").execute().await.unwrap();
        let add = "UPDATE usage_hours SET requests = requests + 5 WHERE network_id = $1";
        db.write(add).bind(owner.network.unwrap()).execute().await.unwrap();
        refuse_counts(&hub, false).await;
        call(1).await;
        Hub::eventually("later requests are counted, too", async || {
            hub.advance_ms(1_000);
            newest(&operator, &owner, "requests").await == 7
        }).await;
        // It is stored when its hour is closed, and was perhaps reported.
        refuse_counts(&hub, true).await;
        call(3).await;
        fail_once().await;
        hub.advance_ms(60 * 60 * 1_000 + 20_000);
        let closed = "SELECT hour FROM usage_progress WHERE work = 'close'";
        Hub::eventually("the hour is closed", async || db.query(closed).one::<(i64,)>().await.unwrap().0 == NOW + HOUR).await;
        refuse_counts(&hub, false).await;
        Hub::eventually("they are in the hour that is open", async || {
            hub.advance_ms(1_000);
            let hours = hours(&operator, &owner, "").await;
            hours[0]["hour"] == NOW + HOUR && hours[0]["requests"] == 3
        })
        .await;
        assert_eq!(hours(&operator, &owner, "").await[1]["requests"], 7);
    }

    async fn an_event_counts_once(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let mut events = owner.events(None, None).await;
        for at in 0..3 {
            assert_eq!(chat(&owner, &format!("hello {at}")).await, 204);
            events.next_named("CHAT").await;
        }
        expect_newest(&hub, &operator, &owner, "events", 3).await;
    }

    async fn events_count_on_each_stream_and_streams_at_their_peak(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let mut streams = vec![owner.events(Some("lobby-1"), None).await, owner.events(None, None).await];
        // A stream that comes and goes within the second.
        drop(owner.events(Some("lobby-2"), None).await);
        for at in 0..4 {
            assert_eq!(chat(&owner, &format!("hello {at}")).await, 204);
        }
        for events in &mut streams {
            for _ in 0..4 {
                events.next_named("CHAT").await;
            }
        }
        hub.advance_ms(1_000);
        Hub::eventually("two streams have four events each, and maybe the third one, too", async || {
            newest(&operator, &owner, "events").await.as_i64().unwrap() >= 8
        })
        .await;
        expect_newest(&hub, &operator, &owner, "peakStreams", 3).await;
        // A ping is no event.
        let before = newest(&operator, &owner, "events").await;
        hub.advance_ms(16_000);
        for events in &mut streams {
            events.next_named("PING").await;
        }
        expect_newest(&hub, &operator, &owner, "events", before.as_i64().unwrap()).await;
        // The next hour begins with the open ones.
        hub.clock.advance(Duration::from_hours(1));
        Hub::eventually("the next hour has its streams", async || {
            hub.advance_ms(1_000);
            let hours = hours(&operator, &owner, "").await;
            hours[0]["hour"] == NOW + HOUR && hours[0]["peakStreams"] == 2 && hours[1]["peakStreams"] == 3
        })
        .await;
    }

    async fn calls_of_modules_count_with_their_computing_time(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        starters::install(&owner, "chat-guard", "chat", json!({"words": ["heck"], "action": "REFUSE"})).await;
        for _ in 0..3 {
            assert_eq!(chat(&owner, "hello").await, 204);
        }
        assert_eq!(chat(&owner, "what the heck").await, 400);
        expect_newest(&hub, &operator, &owner, "moduleCalls", 4).await;
        let hour = hours(&operator, &owner, "").await.remove(0);
        assert!(hour["fuel"].as_i64().unwrap() > 1_000, "{hour}");
        let row = hub.app.db.query("SELECT module_micros FROM usage_hours WHERE network_id = $1");
        let (micros,): (i64,) = row.bind(owner.network.unwrap()).one().await.unwrap();
        assert!(micros > 0);
        assert_eq!(hour["moduleMillis"], micros / 1_000);
    }

    async fn peaks_count_concurrent_players_and_servers(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        for server in ["a", "b", "c"] {
            register(&owner, server, json!({})).await;
        }
        for player in 0..5 {
            join(&owner, if player < 3 { "a" } else { "b" }, player).await;
        }
        // They switch, and leave, within the second.
        join(&owner, "c", 0).await;
        for player in 0..4 {
            owner.delete(&format!("/api/plugin/servers/players/{}", uuid(player))).await.expect(204);
        }
        owner.post("/api/plugin/servers/unregister?serverId=c", Value::Null).await.expect(204);
        expect_newest(&hub, &operator, &owner, "peakPlayers", 5).await;
        expect_newest(&hub, &operator, &owner, "peakServers", 3).await;
        // More players on as many servers as before.
        for player in 5..11 {
            join(&owner, "a", player).await;
        }
        expect_newest(&hub, &operator, &owner, "peakPlayers", 7).await;
    }

    async fn stored_bytes_show_at_once_by_kind(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        let path = format!("/api/plugin/players/{}/data/global/inventory", uuid(1));
        owner.put(&path, json!({"data": json!("x".repeat(5_000)).to_string()})).await.expect(200);
        let upload = owner.request(reqwest::Method::POST, "/api/manage/artifacts?name=plugin&version=1");
        owner.send(upload.body(vec![7_u8; 3_000])).await.expect(201);
        let hour = hours(&operator, &owner, "").await.remove(0);
        assert!((5_000..5_200).contains(&hour["storageBytes"].as_i64().unwrap()), "{hour}");
        assert_eq!((&hour["fileBytes"], &hour["moduleStoreBytes"], &hour["documents"]), (&json!(3_000), &json!(0), &json!(0)));
        // The maximum of an hour stays, and the next hour starts from the current value.
        owner.put(&path, json!({"data": "1"})).await.expect(200);
        assert!(newest(&operator, &owner, "storageBytes").await.as_i64().unwrap() >= 5_000);
        hub.clock.advance(Duration::from_hours(1));
        Hub::eventually("an idle network's storage is noted", async || {
            hub.advance_ms(5_000);
            let noted = hub.app.db.query("SELECT storage_bytes FROM usage_hours WHERE network_id = $1 AND hour = $2");
            let noted: Option<(i64,)> =
                noted.bind(owner.network.unwrap()).bind(NOW + HOUR).optional().await.unwrap();
            noted.is_some_and(|(bytes,)| (1..200).contains(&bytes))
        })
        .await;
    }

    async fn hours_are_filtered_and_paged(hub: Hub) {
        let (operator, owner) = (hub.operator().await, hub.network().await);
        for at in 0..4 {
            for _ in 0..=at {
                owner.get("/api/plugin/servers").await.expect(200);
            }
            expect_newest(&hub, &operator, &owner, "requests", at + 1).await;
            hub.clock.advance(Duration::from_hours(1));
        }
        let requests = async |query: &str| -> Vec<i64> {
            let hours = hours(&operator, &owner, query).await;
            hours.iter().map(|hour| hour["requests"].as_i64().unwrap()).filter(|requests| *requests > 0).collect()
        };
        assert_eq!(requests("").await, [4, 3, 2, 1]);
        assert_eq!(requests(&format!("&from={}&to={}", NOW + HOUR, NOW + 3 * HOUR)).await, [3, 2]);
        // Those that overlap count.
        assert_eq!(requests(&format!("&from={}&to={}", NOW + HOUR - 1, NOW + 2 * HOUR + 1)).await, [3, 2, 1]);
        let past = format!("/api/manage/usage?to={}&limit=2&page=1", NOW + 4 * HOUR);
        let page = owner.get(&past).await.expect(200).clone();
        assert_eq!((&page["total"], &page["items"][0]["requests"]), (&json!(4), &json!(2)));
        owner.get("/api/manage/usage?from=5&to=5").await.expect_error(400, "invalid_request");
        owner.get("/api/manage/usage?from=yesterday").await.expect_error(400, "invalid_request");
        let unknown = format!("/api/admin/networks/{}/usage", uuid(9));
        operator.get(&unknown).await.expect_error(404, "unknown_network");
        owner.key_with(&["plugin"]).await.get("/api/manage/usage").await.expect_error(403, "forbidden_scope");
    }
}

/// A restart loses nothing, and deleted networks can still be billed.
async fn counts_outlive_restarts_and_networks(backend: Backend) {
    let mut hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let mut sent = 0;
    for _ in 0..3 {
        // No second passes before the stop.
        for _ in 0..10 {
            hub.with_key(owner.key.as_ref().unwrap()).get("/api/plugin/servers").await.expect(200);
        }
        sent += 10;
        hub = hub.restart(Duration::from_millis(10)).await;
    }
    let operator = hub.operator().await;
    assert_eq!(newest(&operator, &owner, "requests").await, sent);
    let network = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.delete(&format!("{network}?now=true")).await.expect(204);
    hub.advance_ms(3_000);
    Hub::eventually("the network is gone", async || !operator.get(&network).await.body["deletedAt"].is_null()).await;
    assert_eq!(newest(&operator, &owner, "requests").await, sent);
}

/// Hours are deleted after the plan's retention, and no sooner.
async fn hours_stay_for_the_plans_retention(backend: Backend) {
    let hub = Hub::start(backend).await;
    let operator = hub.operator().await;
    let [first, owner, other] = [hub.network().await, hub.network().await, hub.network().await];
    for (network, days) in [(&first, 5), (&owner, 10)] {
        let plan = json!({"name": format!("{days}-days"), "limits": {"usageDays": days}});
        operator.post("/api/admin/plans", plan).await.expect(201);
        let path = format!("/api/admin/networks/{}", network.network.unwrap());
        operator.patch(&path, json!({"plan": format!("{days}-days")})).await.expect(200);
    }
    for network in [&first, &owner, &other] {
        network.get("/api/plugin/servers").await.expect(200);
        expect_newest(&hub, &operator, network, "requests", 1).await;
    }
    let used = async |network: &Client| hours(&operator, network, "").await.iter().any(|hour| hour["requests"] == 1);
    hub.clock.advance(Duration::from_hours(24 * 9));
    Hub::eventually("the first hours go", async || !used(&first).await).await;
    assert!(used(&owner).await);
    hub.clock.advance(Duration::from_hours(24 * 2));
    Hub::eventually("old hours go", async || !used(&owner).await).await;
    assert!(used(&other).await);
    hub.clock.advance(Duration::from_hours(24 * 400));
    Hub::eventually("the others go, too", async || !used(&other).await).await;
    let refused = json!({"name": "long", "limits": {"usageDays": 3651}});
    operator.post("/api/admin/plans", refused).await.expect_error(400, "invalid_request");
}

/// An error in one network leaves the old hours of no other.
async fn hours_that_cannot_be_deleted_hold_up_no_others(backend: Backend) {
    let hub = Hub::start(backend).await;
    let operator = hub.operator().await;
    // The pass goes by ids.
    let mut networks = [hub.network().await, hub.network().await];
    networks.sort_by_key(|network| network.network.unwrap().to_string());
    for network in &networks {
        network.get("/api/plugin/servers").await.expect(200);
        expect_newest(&hub, &operator, network, "requests", 1).await;
    }
    let [stuck, other] = &networks;
    let used = async |network: &Client| hours(&operator, network, "").await.iter().any(|hour| hour["requests"] == 1);
    hub.refuse("DELETE ON usage_hours", stuck.network.unwrap()).await;
    hub.clock.advance(Duration::from_hours(24 * 500));
    Hub::eventually("the other's hours go", async || !used(other).await).await;
    assert!(used(stuck).await);
    hub.refuse_no_more("usage_hours").await;
    hub.clock.advance(Duration::from_hours(1));
    Hub::eventually("they go once they can", async || !used(stuck).await).await;
}

on_each! {
    counts_outlive_restarts_and_networks hours_stay_for_the_plans_retention
    hours_that_cannot_be_deleted_hold_up_no_others
}
