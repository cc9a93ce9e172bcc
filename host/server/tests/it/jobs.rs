//! The job queue: order among networks, retries, leases, and what the operator sees of it.

mod mails;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hub::auth::OPERATOR_NETWORK;
use hub::jobs::{self, Backoff, JobKind, JobOutcome, NewJob, RunsAt};
use hub::values::NetworkId;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::support::{Hub, NOW, fail, on_both, run, succeed};

const BACKOFF: Backoff = Backoff { first: Duration::from_secs(60), longest: Duration::from_hours(1) };

const fn kind(name: &'static str, concurrency: usize, max_attempts: Option<i64>) -> JobKind {
    JobKind { name, runs_at: RunsAt::AnyNode, is_of_hub: false, concurrency, backoff: BACKOFF, max_attempts }
}

static FAIR: JobKind = kind("fair", 1, None);
static FAILING: JobKind = kind("failing", 2, Some(2));
static LEASED: JobKind = kind("leased", 2, None);
static HEAVY: JobKind = kind("heavy", 2, Some(1));
static AGAIN: JobKind = kind("again", 1, None);
static STOPPED: JobKind = kind("stopped", 1, None);
static LONG: JobKind = kind("long", 2, None);
static OF_HUB: JobKind = JobKind { is_of_hub: true, ..kind("of-hub", 1, None) };

fn network(number: u128) -> NetworkId {
    NetworkId(Uuid::from_u128(number))
}

async fn enqueue(hub: &Hub, kind: &'static JobKind, network: NetworkId, key: &str) {
    let job = NewJob::new(kind, network, &key);
    hub.app.db.transaction(async |mut tx| jobs::enqueue_and_wake(&hub.app, &mut tx, &job).await).await.unwrap();
}

async fn waiting(hub: &Hub, kind: &JobKind) -> i64 {
    let stats = jobs::stats(&hub.app.db, kind.name, 1_000).await.unwrap();
    stats.waiting + stats.running
}

/// Output of `hub admin jobs`, as JSON.
fn shown(hub: &Hub, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(&hub.backend, &[&["admin", "jobs"], arguments, &["--json"]].concat())).unwrap()
}

on_both! {
    async fn a_networks_single_job_waits_for_no_others_thousand(hub: Hub) {
        let (order, gate) = (Arc::new(Mutex::new(vec![])), Arc::new(Semaphore::new(0)));
        let queued = hub.app.db.transaction(async |mut tx| {
            for number in 0..1_000 {
                jobs::enqueue(&mut tx, &NewJob::new(&FAIR, network(1), &number), NOW).await?;
            }
            Ok::<_, hub_db::Error>(())
        });
        queued.await.unwrap();
        enqueue(&hub, &FAIR, network(2), "single").await;
        let (ran, opened) = (Arc::clone(&order), Arc::clone(&gate));
        jobs::work(&hub.app, &FAIR, move |_, job| {
            let (ran, opened) = (Arc::clone(&ran), Arc::clone(&opened));
            async move {
                opened.acquire().await.unwrap().forget();
                ran.lock().push(job.key);
                Ok(JobOutcome::Done)
            }
        });
        gate.add_permits(1_001);
        Hub::eventually("all jobs ran", async || order.lock().len() == 1_001).await;
        let place = order.lock().iter().position(|key| key == "single").unwrap();
        assert!(place <= 1, "it ran as number {place}");
        Hub::eventually("none is left", async || waiting(&hub, &FAIR).await == 0).await;
    }

    async fn long_jobs_give_their_slots_to_those_that_wait(hub: Hub) {
        let done = Arc::new(Mutex::new(vec![]));
        let ended = Arc::clone(&done);
        for number in 1..=3 {
            enqueue(&hub, &LONG, network(number), "long").await;
        }
        jobs::work(&hub.app, &LONG, move |app, job| {
            let ended = Arc::clone(&ended);
            async move {
                if job.key == "long" {
                    while !jobs::is_turn_over(&app, &LONG, job.network) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    return Ok(JobOutcome::NextTurn);
                }
                ended.lock().push(job.network);
                Ok(JobOutcome::Done)
            }
        });
        let running = async || jobs::stats(&hub.app.db, LONG.name, 10).await.unwrap().running;
        Hub::eventually("both slots are taken", async || running().await == 2).await;
        enqueue(&hub, &LONG, network(4), "short").await;
        hub.advance_ms(4_999);
        assert_eq!((running().await, done.lock().len()), (2, 0), "the turns are not over");
        hub.advance_ms(1);
        Hub::eventually("the short one is done", async || *done.lock() == [network(4)]).await;
        // Long jobs in a further turn leave a slot free.
        hub.advance_ms(60_000);
        Hub::eventually("one slot is free", async || running().await == 1).await;
        enqueue(&hub, &LONG, network(5), "short").await;
        Hub::eventually("another is done at once", async || done.lock().len() == 2).await;
        Hub::eventually("only the long ones are left", async || waiting(&hub, &LONG).await == 3).await;
    }

    async fn no_other_network_has_jobs_of_the_hub(hub: Hub) {
        let ran = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&ran);
        // A network's job of a kind that is the hub's: an imported file could contain one.
        enqueue(&hub, &OF_HUB, network(1), "theirs").await;
        enqueue(&hub, &OF_HUB, OPERATOR_NETWORK, "own").await;
        jobs::work(&hub.app, &OF_HUB, move |_, job| {
            seen.lock().push(job.key);
            async { Ok(JobOutcome::Done) }
        });
        Hub::eventually("the hub's own ran", async || waiting(&hub, &OF_HUB).await == 1).await;
        hub.advance_ms(60_000);
        assert_eq!(*ran.lock(), ["own"]);
    }

    async fn a_failed_job_is_retried_given_up_and_retried_by_the_operator(hub: Hub) {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        jobs::work(&hub.app, &FAILING, move |_, job| {
            let attempt = counted.fetch_add(1, Ordering::Relaxed);
            assert!(job.key != "panicking" || attempt > 0, "in the job itself");
            async move { if attempt < 2 { Err(std::io::Error::other("gone").into()) } else { Ok(JobOutcome::Done) } }
        });
        enqueue(&hub, &FAILING, OPERATOR_NETWORK, "panicking").await;
        let state = async |expected: &str| {
            Hub::eventually(expected, async || shown(&hub, &["list", "--kind", "failing"])[0]["state"] == expected).await;
            shown(&hub, &["list", "--kind", "failing"])[0].clone()
        };
        let failing = state("FAILING").await;
        assert!(failing["lastError"].as_str().unwrap().contains("see its log"), "{failing}");
        let id = failing["id"].as_str().unwrap().to_owned();
        assert_eq!(id, format!("failing/{OPERATOR_NETWORK}/panicking"));
        let due_in = failing["nextAttemptAt"].as_i64().unwrap() - NOW;
        assert!((54_000..=60_000).contains(&due_in), "{due_in}");
        let summary = shown(&hub, &[]);
        let mine = summary.as_array().unwrap().iter().find(|it| it["kind"] == "failing").unwrap();
        assert_eq!((&mine["waiting"], &mine["failing"], &mine["dead"]), (&json!(1), &json!(1), &json!(0)));
        // The next attempt is the last.
        hub.advance_ms(60_000);
        let dead = state("DEAD").await;
        assert_eq!((&dead["lastError"], &dead["nextAttemptAt"], &dead["attempts"]), (&json!("gone"), &Value::Null, &json!(2)));
        hub.advance_ms(24 * 60 * 60 * 1_000);
        assert_eq!(attempts.load(Ordering::Relaxed), 2);
        succeed(&hub.backend, &["admin", "jobs", "retry", &id]);
        Hub::eventually("it is done", async || {
            // Found by the search of each second.
            hub.advance_ms(1_000);
            waiting(&hub, &FAILING).await == 0
        })
        .await;
        assert!(fail(&hub.backend, &["admin", "jobs", "retry", &id]).contains("there is no job"));
        let refused = run(&hub.backend, &["admin", "jobs", "retry", "failing"]);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("expected KIND/NETWORK/KEY"));
    }

    async fn a_job_over_its_budget_fails_in_words_and_ends_no_others(hub: Hub) {
        jobs::work(&hub.app, &HEAVY, |app, job| async move {
            let text = "x".repeat(job.key.parse::<usize>().unwrap() << 20);
            let read: Vec<(String,)> = app.db.query("SELECT CAST($1 AS TEXT)").bind(&text).all().await?;
            assert_eq!(read[0].0.len(), text.len());
            Ok(JobOutcome::Done)
        });
        // MiB of one statement.
        enqueue(&hub, &HEAVY, network(1), "65").await;
        enqueue(&hub, &HEAVY, network(2), "64").await;
        Hub::eventually("one is left", async || waiting(&hub, &HEAVY).await == 0).await;
        let left = shown(&hub, &["list", "--kind", "heavy"]);
        assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
        assert_eq!((&left[0]["id"], &left[0]["state"]), (&json!(format!("heavy/{}/65", network(1))), &json!("DEAD")));
        assert_eq!(left[0]["lastError"], "a statement reads more than 64 MiB at once");
    }

    async fn a_killed_nodes_job_is_taken_when_its_lease_has_run_out(hub: Hub) {
        let leased = "INSERT INTO jobs (network_id, kind, job_key, payload, created_at, due_at, attempts, kills, node, lease_id, again)
             VALUES ($1, 'leased', 'left', '7', 0, $2, 1, 0, 'killed', $3, FALSE)";
        let until = NOW + 5_000;
        hub.app.db.write(leased).bind(network(1)).bind(until).bind(Uuid::from_u128(9)).execute().await.unwrap();
        let ran = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&ran);
        jobs::work(&hub.app, &LEASED, move |_, job| {
            seen.lock().push((job.key, job.payload, job.attempts, job.kills));
            async { Ok(JobOutcome::Done) }
        });
        enqueue(&hub, &LEASED, network(1), "new").await;
        Hub::eventually("the new job is done", async || waiting(&hub, &LEASED).await == 1).await;
        assert_eq!(*ran.lock(), [("new".to_owned(), Value::Null, 1, 0)]);
        hub.advance_ms(5_000);
        Hub::eventually("the other job is done", async || waiting(&hub, &LEASED).await == 0).await;
        assert_eq!(ran.lock()[1], ("left".to_owned(), json!(7), 2, 1));
    }

    async fn a_job_that_is_queued_while_it_runs_runs_once_more(hub: Hub) {
        let (gate, runs) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let (opened, counted) = (Arc::clone(&gate), Arc::clone(&runs));
        jobs::work(&hub.app, &AGAIN, move |_, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            let opened = Arc::clone(&opened);
            async move {
                opened.acquire().await.unwrap().forget();
                Ok(JobOutcome::Done)
            }
        });
        for _ in 0..2 {
            enqueue(&hub, &AGAIN, network(1), "one").await;
        }
        Hub::eventually("it runs", async || runs.load(Ordering::Relaxed) == 1).await;
        for _ in 0..3 {
            enqueue(&hub, &AGAIN, network(1), "one").await;
        }
        gate.add_permits(1);
        Hub::eventually("it runs again", async || runs.load(Ordering::Relaxed) == 2).await;
        // Even late, its lease is not taken by the node that has it.
        hub.advance_ms(60 * 60 * 1_000);
        gate.add_permits(1);
        Hub::eventually("it is done", async || waiting(&hub, &AGAIN).await == 0).await;
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }

    async fn a_stopping_hub_gives_its_jobs_back(hub: Hub) {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        jobs::work(&hub.app, &STOPPED, move |_, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::pending()
        });
        enqueue(&hub, &STOPPED, network(1), "long").await;
        Hub::eventually("it runs", async || runs.load(Ordering::Relaxed) == 1).await;
        let hub = hub.restart(Duration::ZERO).await;
        let listed = &shown(&hub, &["list", "--kind", "stopped"])[0];
        assert_eq!((&listed["state"], &listed["attempts"]), (&json!("WAITING"), &json!(0)), "{listed}");
    }
}
