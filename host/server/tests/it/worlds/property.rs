//! In any order of operations, a world has one lease at most, fences rise, and callers without the lease change
//! nothing: checked against a small model.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{call, node};
use crate::support::{Backend, Client, Hub};

const OWNERS: [&str; 2] = ["p", "q"];
const NODES: [&str; 2] = ["n1", "n2"];
const LEASE: i64 = 60_000;

/// One operation. Leases are picked from all earlier ones.
#[derive(Clone, Debug)]
enum Step {
    Open { owner: usize },
    Ready { lease: usize, stale: bool, node: usize },
    Heartbeat { lease: usize, stale: bool, node: usize },
    Unloaded { lease: usize, stale: bool, node: usize },
    Release { lease: usize },
    ReleaseAll { node: usize },
    Wait { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let callback = || (0..8_usize, prop::bool::weighted(0.2), 0..2_usize);
    prop_oneof![
        4 => (0..2_usize).prop_map(|owner| Step::Open { owner }),
        4 => callback().prop_map(|(lease, stale, node)| Step::Ready { lease, stale, node }),
        3 => callback().prop_map(|(lease, stale, node)| Step::Heartbeat { lease, stale, node }),
        3 => callback().prop_map(|(lease, stale, node)| Step::Unloaded { lease, stale, node }),
        2 => (0..8_usize).prop_map(|lease| Step::Release { lease }),
        1 => (0..2_usize).prop_map(|node| Step::ReleaseAll { node }),
        2 => prop_oneof![Just(1_000_u64), Just(20_000), Just(60_000)].prop_map(|ms| Step::Wait { ms }),
    ]
}

/// A lease in the model.
#[derive(Clone, Debug)]
struct Known {
    id: Value,
    owner: usize,
    fence: i64,
    state: &'static str,
    expires_at: i64,
}

struct Model {
    now: i64,
    leases: Vec<Known>,
}

impl Model {
    fn expire(&mut self) {
        for lease in &mut self.leases {
            if matches!(lease.state, "LOADING" | "READY" | "DRAINING") && lease.expires_at <= self.now {
                lease.state = "LOST";
            }
        }
    }

    fn live(&self, owner: usize) -> Option<usize> {
        self.leases.iter().position(|it| it.owner == owner && matches!(it.state, "LOADING" | "READY"))
    }

    fn draining(&self, owner: usize) -> bool {
        self.leases.iter().any(|it| it.owner == owner && it.state == "DRAINING")
    }
}

/// Current rows: id, fence, state, node, expiry.
async fn rows(hub: &Hub, client: &Client) -> Vec<(i64, i64, String, Option<String>, i64)> {
    hub.app
        .db
        .query(
            "SELECT id, fence, state, node_server_id, expires_at FROM world_leases WHERE network_id = $1 ORDER BY id",
        )
        .bind(client.network.unwrap())
        .all()
        .await
        .unwrap()
}

async fn run(hub: &Hub, steps: &[Step]) {
    let client = hub.network().await;
    for id in NODES {
        node(&client, id).await;
    }
    let mut model = Model { now: 0, leases: vec![] };
    for step in steps {
        model.expire();
        take(hub, &client, &mut model, step).await;
        // At most one lease is booting or up, and fences rise.
        let now = hub.app.clock.now();
        let rows = rows(hub, &client).await;
        for owner in 0..OWNERS.len() {
            let ids: Vec<i64> = model.leases.iter().filter(|it| it.owner == owner).map(|it| number(&it.id)).collect();
            let of_world: Vec<_> = rows.iter().filter(|row| ids.contains(&row.0)).collect();
            let live = of_world.iter().filter(|row| matches!(&*row.2, "LOADING" | "READY") && row.4 > now).count();
            assert!(live <= 1, "{rows:?}");
            assert!(of_world.windows(2).all(|pair| pair[0].1 < pair[1].1), "{rows:?}");
            let held = of_world
                .iter()
                .filter(|row| matches!(&*row.2, "LOADING" | "READY" | "DRAINING") && row.4 > now && row.3.is_some());
            assert!(held.count() <= 1, "two nodes hold one world: {rows:?}");
        }
        for (row, known) in rows.iter().zip(&model.leases) {
            let state = if row.4 <= now && row.2 != "UNLOADED" { "LOST" } else { &row.2 };
            assert_eq!((row.0, row.1, state), (number(&known.id), known.fence, known.state), "after {step:?}");
        }
        assert_eq!(rows.len(), model.leases.len());
    }
}

fn number(id: &Value) -> i64 {
    id.as_str().unwrap().parse().unwrap()
}

async fn take(hub: &Hub, client: &Client, model: &mut Model, step: &Step) {
    match step {
        Step::Wait { ms } => {
            // Nodes stay online; queued worlds boot meanwhile, if the hub has the time.
            hub.advance_ms(*ms);
            model.now += *ms as i64;
            model.expire();
            for id in NODES {
                node(client, id).await;
            }
            for owner in 0..OWNERS.len() {
                settle(hub, client, model, owner).await;
            }
        }
        Step::Open { owner } => {
            let body = json!({"ownerScope": "party", "ownerId": OWNERS[*owner], "gameId": "islands"});
            let opened = client.post("/api/plugin/worlds/open", body).await.expect(200).clone();
            if let Some(known) = model.live(*owner) {
                let known = &model.leases[known];
                assert_eq!((&opened["worldInstanceId"], &opened["status"]), (&known.id, &json!(known.state)));
            } else {
                assert_eq!(opened["status"], "LOADING", "{opened}");
                let fence = model.leases.iter().filter(|it| it.owner == *owner).map(|it| it.fence).max();
                let waits = model.draining(*owner);
                model.leases.push(Known {
                    id: opened["worldInstanceId"].clone(),
                    owner: *owner,
                    fence: fence.unwrap_or(0) + 1,
                    state: "LOADING",
                    expires_at: model.now + if waits { 600_000 } else { LEASE },
                });
            }
        }
        Step::Release { lease } => {
            let Some(index) = pick(model, *lease) else { return };
            let known = &mut model.leases[index];
            if known.state == "READY" {
                known.state = "DRAINING";
            }
            let path = format!("/api/plugin/worlds/{}/release", known.id.as_str().unwrap());
            assert_eq!(client.post(&path, Value::Null).await.expect(200)["state"], known.state);
        }
        Step::ReleaseAll { node } => {
            let held = rows(hub, client).await;
            let body = json!({"nodeServerId": NODES[*node]});
            client.post("/api/plugin/worlds/release-all", body).await.expect(200);
            for known in &mut model.leases {
                let of_node =
                    held.iter().any(|row| row.0 == number(&known.id) && row.3.as_deref() == Some(NODES[*node]));
                if of_node && matches!(known.state, "LOADING" | "READY" | "DRAINING") {
                    known.state = "LOST";
                }
            }
            for owner in 0..OWNERS.len() {
                settle(hub, client, model, owner).await;
            }
        }
        Step::Ready { lease, stale, node } => callback(hub, client, model, "ready", *lease, *stale, *node).await,
        Step::Heartbeat { lease, stale, node } => {
            callback(hub, client, model, "heartbeat", *lease, *stale, *node).await;
        }
        Step::Unloaded { lease, stale, node } => callback(hub, client, model, "unloaded", *lease, *stale, *node).await,
    }
}

fn pick(model: &Model, lease: usize) -> Option<usize> {
    // The newest ones matter most.
    let count = model.leases.len();
    (count > 0).then(|| count - 1 - lease % count.min(8))
}

async fn callback(hub: &Hub, client: &Client, model: &mut Model, what: &str, lease: usize, stale: bool, node: usize) {
    let Some(index) = pick(model, lease) else { return };
    let known = model.leases[index].clone();
    let before = rows(hub, client).await;
    let row = before.iter().find(|row| row.0 == number(&known.id)).unwrap();
    let holder = row.3.clone();
    // Mostly the node that holds it calls.
    let caller = if node == 0 { holder.clone().unwrap_or_else(|| NODES[0].to_owned()) } else { NODES[1].to_owned() };
    let fence = known.fence + i64::from(stale);
    let answer = call(client, &known.id, what, &caller, fence, json!({"playerCount": 1})).await;
    let live = matches!(known.state, "LOADING" | "READY" | "DRAINING");
    let is_holder = holder.as_deref() == Some(&caller);
    let repeated = what == "unloaded" && known.state == "UNLOADED" && !stale && is_holder;
    if !live && !repeated {
        answer.expect_error(400, "lease_ended");
    } else if stale {
        answer.expect_error(400, "stale_fence");
    } else if !is_holder {
        answer.expect_error(400, "wrong_node");
    } else {
        answer.expect(200);
        let changed = &mut model.leases[index];
        match (what, known.state) {
            ("ready", "LOADING") => {
                changed.state = "READY";
                changed.expires_at = model.now + LEASE;
            }
            ("heartbeat", _) => changed.expires_at = model.now + LEASE,
            ("unloaded", _) => changed.state = "UNLOADED",
            _ => {}
        }
        if what == "unloaded" {
            settle(hub, client, model, known.owner).await;
        }
        return;
    }
    // Refused, so only time may have changed anything.
    let changed = |row: &(i64, i64, String, Option<String>, i64)| (row.0, row.1, row.4);
    let after = rows(hub, client).await;
    let waiting = |rows: &[(i64, i64, String, Option<String>, i64)]| rows.iter().any(|row| row.3.is_none());
    if !waiting(&before) {
        assert_eq!(before.iter().map(changed).collect::<Vec<_>>(), after.iter().map(changed).collect::<Vec<_>>());
    }
}

/// Queued leases boot when nothing of their world is drained any more; the model records their expiry.
async fn settle(hub: &Hub, client: &Client, model: &mut Model, owner: usize) {
    if model.draining(owner) {
        return;
    }
    let Some(index) = model.live(owner) else { return };
    for _ in 0..500 {
        let id = number(&model.leases[index].id);
        let rows = rows(hub, client).await;
        let row = rows.iter().find(|row| row.0 == id).unwrap();
        if row.3.is_some() {
            model.leases[index].expires_at = row.4 - hub.app.clock.now() + model.now;
            return;
        }
        // The watch has its own time; it checks each second of the clock's.
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        hub::worlds::maintain_leases(&hub.app).await.unwrap();
    }
    panic!("a world waits for nothing");
}

#[test]
fn a_world_has_one_lease_and_fences_rise() {
    let runtime = Runtime::new().unwrap();
    let hub = runtime.block_on(Hub::start(Backend::sqlite()));
    let mut runner =
        TestRunner::new(Config { cases: 24, failure_persistence: None, max_shrink_iters: 100, ..Config::default() });
    let ran = runner.run(&prop::collection::vec(step(), 1..40), |steps| {
        runtime.block_on(run(&hub, &steps));
        Ok(())
    });
    if let Err(failed) = ran {
        panic!("{failed}");
    }
}
