//! Events per second to 5,000 readers: through the bus, and through a plain `tokio::sync::broadcast` of the same frames
//! in the same process.
//!
//! `cargo run --release -p hub-bus --example fanout`
#![allow(clippy::expect_used, reason = "a measurement that fails should say where")]

use bytes::Bytes;
use hub_bus::{Bus, BusConfig, Event, Subscription};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

const READERS: usize = 5_000;
const NETWORK: u128 = 1;
const LINE: &str = r#"{"type":"CHAT","at":1700000000000,"playerUuid":"00000000-0000-4000-8000-000000000000","playerName":"Somebody","message":"a line of chat of the usual length","serverId":"lobby-1","serverType":"lobby"}"#;

/// Lets the publisher continue when every reader has read the whole burst.
struct Burst {
    size: usize,
    done: AtomicUsize,
    all: Notify,
}

impl Burst {
    fn read(&self, so_far: usize) {
        if so_far.is_multiple_of(self.size) && self.done.fetch_add(1, Ordering::AcqRel) + 1 == READERS {
            self.done.store(0, Ordering::Release);
            self.all.notify_one();
        }
    }
}

fn event(target: Option<String>) -> Event {
    Event { name: "CHAT", target, data: LINE.to_owned() }
}

fn bus() -> Bus {
    Bus::new(BusConfig::new(1))
}

async fn subscriptions(bus: &Bus, count: usize) -> Vec<Subscription> {
    let mut all = Vec::with_capacity(count);
    for reader in 0..count {
        let opened = bus.subscribe(NETWORK, Some(&format!("server-{reader}")), None, 0).await;
        all.push(opened.expect("a single process's bus is always reachable"));
    }
    all
}

async fn through_bus(burst: Arc<Burst>, bursts: usize) -> Duration {
    let bus = bus();
    for mut subscription in subscriptions(&bus, READERS).await {
        let burst = Arc::clone(&burst);
        tokio::spawn(async move {
            let (mut frames, mut read) = (Vec::new(), 0);
            while subscription.next_batch(&mut frames, 32).await.is_ok() {
                for frame in frames.drain(..) {
                    black_box(frame.len());
                    read += 1;
                    burst.read(read);
                }
            }
        });
    }
    let began = Instant::now();
    for _ in 0..bursts {
        for _ in 0..burst.size {
            let published = bus.publish(NETWORK, event(None), 0).await;
            published.expect("the bus is open");
        }
        burst.all.notified().await;
    }
    let took = began.elapsed();
    bus.close();
    took
}

async fn through_broadcast(burst: Arc<Burst>, bursts: usize) -> Duration {
    let (sender, _) = broadcast::channel::<Bytes>(1_024);
    for _ in 0..READERS {
        let (burst, mut receiver) = (Arc::clone(&burst), sender.subscribe());
        tokio::spawn(async move {
            let mut read = 0;
            while let Ok(frame) = receiver.recv().await {
                black_box(frame.len());
                read += 1;
                burst.read(read);
            }
        });
    }
    let began = Instant::now();
    for sequence in 0..bursts * burst.size {
        let frame = format!("id: 1.{sequence}\nevent: CHAT\ndata: {LINE}\n\n");
        sender.send(Bytes::from(frame)).expect("readers are there");
        if (sequence + 1).is_multiple_of(burst.size) {
            burst.all.notified().await;
        }
    }
    began.elapsed()
}

/// Costs of all rounds of one way to deliver.
#[derive(Default)]
struct Cost {
    walls: Vec<Duration>,
    cpu_s: f64,
}

impl Cost {
    async fn add(&mut self, round: impl Future<Output = Duration>) {
        let before = cpu_s();
        self.walls.push(round.await);
        self.cpu_s += cpu_s() - before;
    }

    /// Deliveries per second (median), and per second of processor time, which is the fairer figure on a machine that
    /// has other work.
    fn rates(mut self, deliveries: usize) -> [f64; 2] {
        self.walls.sort_unstable();
        let wall = self.walls[self.walls.len() / 2].as_secs_f64();
        let rounds = self.walls.len();
        [deliveries as f64 / wall, (deliveries * rounds) as f64 / self.cpu_s]
    }
}

/// Processor time of this process in seconds, from Linux's `/proc`; 0 elsewhere.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.split(' ').skip(13).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Sends events to one server each while 5,000 streams are open: the others are not woken.
async fn targeted(events: usize) -> Duration {
    let bus = bus();
    let mut subscriptions = subscriptions(&bus, READERS).await;
    let mut frames = Vec::new();
    let began = Instant::now();
    for number in 0..events {
        let reader = number % READERS;
        let event = event(Some(format!("server-{reader}")));
        let published = bus.publish(NETWORK, event, 0).await;
        published.expect("the bus is open");
        let read = subscriptions[reader].next_batch(&mut frames, 1).await;
        read.expect("the stream is open");
        black_box(frames.drain(..).count());
    }
    began.elapsed()
}

fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<usize>().ok()? * 4_096)
}

/// Measures on a worker of the runtime, where request handlers run.
#[tokio::main]
async fn main() {
    tokio::spawn(measure()).await.expect("the measurement does not panic");
}

async fn measure() {
    for (size, bursts) in [(1, 400), (8, 60), (64, 10)] {
        let (mut ours, mut bare) = (Cost::default(), Cost::default());
        let burst = || Arc::new(Burst { size, done: AtomicUsize::new(0), all: Notify::new() });
        for _ in 0..7 {
            ours.add(through_bus(burst(), bursts)).await;
            bare.add(through_broadcast(burst(), bursts)).await;
        }
        let [ours, bare] = [ours, bare].map(|cost| cost.rates(READERS * size * bursts));
        for (per, ours, bare) in [("second", ours[0], bare[0]), ("cpu second", ours[1], bare[1])] {
            let ratio = ours / bare;
            println!("bursts of {size:2}, per {per:10}: bus {ours:>9.0}, broadcast {bare:>9.0}, ratio {ratio:.2}");
        }
    }
    let events = 200_000;
    let rate = events as f64 / targeted(events).await.as_secs_f64();
    println!("targeted, {READERS} streams open: {rate:.0}/s");
    let before = resident_bytes();
    let bus = bus();
    let open = subscriptions(&bus, 100_000).await;
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        println!("a subscription: {} bytes", (after - before) / open.len());
    }
}
