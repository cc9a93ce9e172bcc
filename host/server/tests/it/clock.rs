//! Clocks that jump: what is decided for good waits until the time is proven.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cli::{Installation, Serving};
use crate::modules::handlers::handler::{grants, handler, manifest};
use crate::modules::handlers::ticker;
use crate::modules::handlers::{TYPES, vote};
use crate::modules::{chain, upload};
use crate::servers::{beat, join, register, uuid};
use crate::support::{Backend, Client, Events, Hub, on_each};
use crate::webhooks::receiver::{Receiver, Reply};

const HOUR: i64 = 3_600_000;
const DAY: Duration = Duration::from_hours(24);
const PAY: &str = "/api/plugin/economy/team/red/currencies/modify";
const BALANCES: &str = "/api/plugin/economy/team/red/currencies";

/// A hub whose machine's clock is set by a file.
struct Machine {
    installation: Installation,
    offset: PathBuf,
    environment: Vec<(&'static str, String)>,
    network: Value,
}

impl Machine {
    /// None where the program that falsifies clocks is missing.
    fn new(backend: Backend) -> Option<Self> {
        let library = std::fs::read_dir("/usr/lib").unwrap().find_map(|entry| {
            let path = entry.unwrap().path().join("faketime/libfaketimeMT.so.1");
            path.exists().then_some(path)
        });
        let Some(library) = library else {
            eprintln!("SKIPPED: a clock was not falsified, because Debian's package faketime is missing");
            return None;
        };
        let installation = Installation::new(backend);
        let network = installation.json(&["admin", "network", "create", "timed", "--json"]);
        let offset = installation.settings.data.join("offset");
        std::fs::write(&offset, "+0").unwrap();
        let environment = vec![
            ("LD_PRELOAD", library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", offset.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ];
        Some(Self { installation, offset, environment, network })
    }

    fn set(&self, offset: &str) {
        std::fs::write(&self.offset, offset).unwrap();
    }

    fn serve(&self) -> Serving {
        let environment: Vec<_> = self.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.installation.serve_logged(&["--offline-after", "4000"], &environment)
    }

    /// Confirms the machine's clock.
    fn confirm(&self) {
        let mut confirm = self.installation.command(&["admin", "clock", "confirm"]);
        let output = confirm.envs(self.environment.iter().map(|(name, value)| (name, value))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn client(&self, hub: &Serving) -> Client {
        hub.client(self.network["apiKey"].as_str().unwrap())
    }
}

async fn clock_faults(client: &Client) -> usize {
    let health = client.get("/readyz").await.expect(200).clone();
    let faults = health["faults"].as_array().unwrap();
    faults.iter().filter(|fault| fault["name"] == "clock").count()
}

async fn waits_for_faults(client: &Client, count: usize) {
    Hub::eventually("the fault comes or goes", async || clock_faults(client).await == count).await;
}

async fn status(client: &Client, server: &str) -> Value {
    client.get(&format!("/api/manage/servers/{server}")).await.expect(200)["status"].clone()
}

async fn pay(client: &Client) {
    let pay = json!({"currency": "coins", "amount": 10, "reason": "vote"});
    client.send(client.request(Method::POST, PAY).header("idempotency-key", "order-1").json(&pay)).await.expect(200);
}

/// Neither forward nor backward: who beats is online, who does not goes offline, and a repeated payment is one.
async fn a_clock_that_jumps_moves_nothing(backend: Backend) {
    let Some(machine) = Machine::new(backend) else { return };
    let hub = machine.serve();
    let client = machine.client(&hub);
    register(&client, "lobby", json!({})).await;
    register(&client, "dead", json!({})).await;
    pay(&client).await;
    machine.set("+2d");
    waits_for_faults(&client, 1).await;
    beat(&client, "lobby", json!({})).await;
    assert_eq!(status(&client, "lobby").await, "ONLINE");
    pay(&client).await;
    machine.set("-600");
    Hub::eventually("a silent server goes offline", async || {
        beat(&client, "lobby", json!({})).await;
        status(&client, "dead").await == "OFFLINE"
    })
    .await;
    assert_eq!(status(&client, "lobby").await, "ONLINE");
    pay(&client).await;
    assert_eq!(client.get(BALANCES).await.expect(200)[0]["balance"], 10);
    machine.set("+0");
    waits_for_faults(&client, 0).await;
}

/// A bad image of a virtual machine, or no time service: the hub knows how long it was away.
async fn a_clock_that_is_wrong_at_the_start_moves_nothing(backend: Backend) {
    let Some(machine) = Machine::new(backend) else { return };
    let doomed = machine.installation.json(&["admin", "network", "create", "doomed", "--json"]);
    machine.installation.run(&["admin", "network", "delete", "doomed"]);
    let mut hub = machine.serve();
    let client = machine.client(&hub);
    let ban = json!({"playerUuid": uuid(1), "playerName": "bad", "type": "BAN", "reason": "x",
        "durationMs": 2_592_000_000_i64, "issuerUuid": uuid(2), "issuerName": "mod"});
    client.post("/api/plugin/punishments/create", ban).await.expect(200);
    let requests = async |client: &Client| -> i64 {
        let hours = client.get("/api/manage/usage").await.expect(200).clone();
        hours["items"].as_array().unwrap().iter().map(|hour| hour["requests"].as_i64().unwrap()).sum()
    };
    let newest = async |client: &Client| -> i64 {
        let hours = client.get("/api/manage/usage?from=0&to=4102444800000").await.expect(200).clone();
        hours["items"].as_array().unwrap().iter().map(|hour| hour["hour"].as_i64().unwrap()).max().unwrap()
    };
    Hub::eventually("usage is stored", async || requests(&client).await > 3).await;
    let before = newest(&client).await;
    machine.installation.kill(&mut hub).await;
    machine.set("+400d");
    let mut hub = machine.serve();
    let client = machine.client(&hub);
    waits_for_faults(&client, 1).await;
    let counted = requests(&client).await;
    Hub::eventually("usage is stored", async || requests(&client).await > counted).await;
    machine.installation.kill(&mut hub).await;
    machine.set("+0");
    let hub = machine.serve();
    let client = machine.client(&hub);
    waits_for_faults(&client, 0).await;
    assert!(newest(&client).await <= before + HOUR);
    let active = client.get(&format!("/api/plugin/punishments/player/{}", uuid(1))).await.expect(200).clone();
    assert_eq!(active.as_array().unwrap().len(), 1, "{active}");
    let networks = machine.installation.json(&["admin", "network", "list", "--json"]);
    assert!(networks.to_string().contains(doomed["networkId"].as_str().unwrap()), "{networks}");
}

/// The operator knows better.
async fn a_confirmed_clock_is_followed(backend: Backend) {
    let Some(machine) = Machine::new(backend) else { return };
    let hub = machine.serve();
    let client = machine.client(&hub);
    let clock = async || {
        let warning = json!({"playerUuid": uuid(1), "playerName": "bad", "type": "WARN", "reason": "x"});
        client.post("/api/plugin/punishments/create", warning).await.expect(200)["issuedAt"].as_i64().unwrap()
    };
    let before = clock().await;
    machine.set("+2d");
    waits_for_faults(&client, 1).await;
    assert!(clock().await < before + HOUR);
    machine.confirm();
    waits_for_faults(&client, 0).await;
    assert!(clock().await >= before + 48 * HOUR);
}

/// Leases, streams and visits go on, silent servers end, and pauses do too, though the clock is set forwards or back.
async fn a_clock_that_is_set_ends_and_prolongs_nothing(backend: Backend) {
    let Some(mut machine) = Machine::new(backend) else { return };
    machine.environment.push(("HUB_WEBHOOK_NETWORKS", "127.0.0.2/32".to_owned()));
    let hub = machine.serve();
    let client = machine.client(&hub);
    let receiver = Receiver::start("127.0.0.2:0").await;
    receiver.always(Reply::Status(500));
    let hook = json!({"url": receiver.url(), "events": ["CONFIG_UPDATED"]});
    client.post("/api/manage/webhooks", hook).await.expect(201);
    client.post("/api/plugin/config/publish", json!({"group": "g", "namespace": "n", "doc": 1})).await.expect(200);
    register(&client, "islands-1", json!({"serverType": "islands"})).await;
    join(&client, "islands-1", 7).await;
    let joined = Instant::now();
    let play_time = format!("/api/manage/players/{}/playtime", uuid(7));
    let open = async |owner: &str| {
        let open = json!({"ownerScope": "party", "ownerId": owner, "gameId": "islands"});
        let opened = client.post("/api/plugin/worlds/open", open).await.expect(200)["worldInstanceId"].clone();
        format!("/api/plugin/worlds/{}", opened.as_str().unwrap())
    };
    let callback = json!({"nodeServerId": "islands-1", "fence": 1});
    let (live, silent) = (open("live").await, open("silent").await);
    client.post(&format!("{live}/ready"), callback.clone()).await.expect(200);
    let lives = async || {
        beat(&client, "islands-1", json!({})).await;
        client.post(&format!("{live}/heartbeat"), callback.clone()).await.expect(200)["expiresAt"].as_i64().unwrap()
    };
    let mut events = client.events(Some("islands-1"), None).await;
    let begin = lives().await;
    let mut sent = 0;
    for offset in ["+120", "-3600"] {
        register(&client, "dead", json!({})).await;
        machine.set(offset);
        for count in [1, 0] {
            Hub::eventually("the fault comes or goes", async || {
                lives().await;
                clock_faults(&client).await == count
            })
            .await;
            if count == 1 {
                machine.confirm();
            }
        }
        sent = receiver.count();
        Hub::eventually("a silent server goes offline", async || {
            lives().await;
            status(&client, "dead").await == "OFFLINE"
        })
        .await;
        assert_eq!(status(&client, "islands-1").await, "ONLINE");
        Hub::eventually("play time is counted on", async || {
            lives().await;
            let total = client.get(&play_time).await.expect(200)["totalMs"].as_i64().unwrap();
            let passed = i64::try_from(joined.elapsed().as_millis()).unwrap();
            (passed - 10_000..passed + 2_000).contains(&total)
        })
        .await;
    }
    Hub::eventually("the lease is of the usual length", async || lives().await < begin - HOUR / 2).await;
    Hub::eventually("the lease of a silent node is of the usual length", async || {
        let release = client.post(&format!("{silent}/release"), Value::Null).await.expect(200).clone();
        release["state"] == "LOADING" && release["expiresAt"].as_i64().unwrap() <= lives().await
    })
    .await;
    // It paused by the old time.
    Hub::eventually("the webhook is tried again", async || {
        lives().await;
        receiver.count() > sent
    })
    .await;
    let ping = async {
        loop {
            let event = events.next_frame().await.unwrap();
            if event.name == "PING" && event.data["at"].as_i64().unwrap() < begin - HOUR / 2 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ping).await.expect("a PING after the clock was set back");
}

/// Events and ticks whose calls failed are tried again though the clock is set back.
async fn pauses_of_modules_go_on_by_a_time_that_is_set(backend: Backend) {
    let Some(machine) = Machine::new(backend) else { return };
    let hub = machine.serve();
    let client = machine.client(&hub);
    upload(&client, "counter", handler(1, &manifest("PLAYER", &TYPES))).await.expect(201);
    chain(&client, "events", json!([{"name": "counter", "version": 1, "grants": grants()}])).await.expect(200);
    // The first is tried at the upload.
    let schedules = ticker::manifest(&[("first", "0 0 1 1 *", "ONCE"), ("Trap", "0 0 1 1 *", "ONCE")]);
    upload(&client, "ticker", ticker::ticker(1, &schedules)).await.expect(201);
    let link = json!([{"name": "ticker", "version": 1, "grants": {"scopes": ["economy:write"]}}]);
    chain(&client, "schedules", link).await.expect(200);
    let begun = Instant::now();
    let (mut events, mut ticks) = (0, 0);
    machine.set("-3600");
    waits_for_faults(&client, 1).await;
    machine.confirm();
    // Each fails three times, with pauses of 1 and 4 s, in one of which the clock is set. More would open the breaker.
    Hub::eventually("the fault goes", async || {
        if events < 3 {
            vote(&client, &format!("T{events}")).await;
            events += 1;
        }
        let run = client.post("/api/manage/modules/ticker/schedules/Trap/run", json!({})).await;
        ticks += usize::from(run.status.as_u16() == 202);
        clock_faults(&client).await == 0
    })
    .await;
    let letters = async |module: &str| {
        let path = format!("/api/manage/modules/{module}/dead-letters");
        client.get(&path).await.expect(200)["total"].as_u64().unwrap() as usize
    };
    Hub::eventually("all have failed for good", async || {
        letters("counter").await == events && letters("ticker").await == ticks
    })
    .await;
    assert!(begun.elapsed() < Duration::from_mins(2), "{:?}", begun.elapsed());
}

/// Action and player of the next event of a punishment.
async fn punishment(events: &mut Events) -> (Value, Value) {
    let event = events.next_named("PUNISHMENT").await;
    (event.data["action"].clone(), event.data["punishment"]["playerUuid"].clone())
}

/// Waits until the streams have what was published: a jump frees it, as it is older than what they may come back for.
async fn all_is_read(hub: &Hub) {
    Hub::eventually("all events are read", async || hub.app.bus.stats().max_unread_events == 0).await;
}

/// Expiry and deletion wait while the time is doubtful, and happen when it is proven.
async fn nothing_ends_while_the_time_is_doubtful(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, operator) = (hub.network().await, hub.operator().await);
    let doomed = operator.post("/api/admin/networks", json!({"name": "doomed"})).await.expect(201)["networkId"].clone();
    let doomed = format!("/api/admin/networks/{}", doomed.as_str().unwrap());
    operator.delete(&doomed).await.expect(204);
    let mut events = owner.events(None, None).await;
    let ban = async |player: u64| {
        let ban = json!({"playerUuid": uuid(player), "playerName": "bad", "type": "BAN", "reason": "x",
            "durationMs": 60_000, "issuerUuid": uuid(9), "issuerName": "mod"});
        owner.post("/api/plugin/punishments/create", ban).await.expect(200);
    };
    ban(1).await;
    pay(&owner).await;
    hub.clock.doubt(true);
    all_is_read(&hub).await;
    hub.clock.advance(DAY * 8);
    // Another one begins and ends meanwhile.
    ban(2).await;
    all_is_read(&hub).await;
    hub.clock.advance(DAY * 8);
    pay(&owner).await;
    assert_eq!(owner.get(BALANCES).await.expect(200)[0]["balance"], 10);
    assert_eq!(operator.get(&doomed).await.expect(200)["deletedAt"], Value::Null);
    ban(3).await;
    for player in 1..=3 {
        assert_eq!(punishment(&mut events).await, (json!("CREATED"), json!(uuid(player))));
    }
    hub.clock.doubt(false);
    all_is_read(&hub).await;
    hub.clock.advance(DAY);
    for player in 1..=3 {
        assert_eq!(punishment(&mut events).await, (json!("EXPIRED"), json!(uuid(player))));
    }
    Hub::eventually("the network is deleted", async || operator.get(&doomed).await.body["deletedAt"] != Value::Null)
        .await;
    pay(&owner).await;
    assert_eq!(owner.get(BALANCES).await.expect(200)[0]["balance"], 20);
}

on_each! {
    a_clock_that_jumps_moves_nothing
    a_clock_that_is_wrong_at_the_start_moves_nothing
    a_confirmed_clock_is_followed
    a_clock_that_is_set_ends_and_prolongs_nothing
    pauses_of_modules_go_on_by_a_time_that_is_set
    nothing_ends_while_the_time_is_doubtful
}
