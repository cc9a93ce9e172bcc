//! Under real threads, no event is lost between a reader's check and its sleep.

use crate::common::{NETWORK, bus, chat, id, next, sequence, subscribe};
use hub_bus::Bus;

const PUBLISHERS: u64 = 4;
const EVENTS: u64 = 2_000;

/// Reads the whole sequence, reconnecting after every `events_per_stream` events.
async fn read_all(bus: Bus, server: String, events_per_stream: u64) {
    let mut last = 0;
    while last < PUBLISHERS * EVENTS {
        let after = id(last);
        let mut stream = subscribe(&bus, NETWORK, Some(&server), Some(&after), 0);
        for _ in 0..events_per_stream {
            if last == PUBLISHERS * EVENTS {
                break;
            }
            let Ok(frame) = next(&mut stream).await else {
                panic!("{server} ended after {last}");
            };
            assert_eq!(sequence(&frame), last + 1, "{server}");
            last += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_readers_and_writers_agree_on_one_sequence() {
    let bus = bus(|config| {
        config.retention_events = PUBLISHERS * EVENTS;
        config.max_lag_events = PUBLISHERS * EVENTS;
    });
    let readers: Vec<_> = (0..12)
        .map(|reader| {
            let events_per_stream = [u64::MAX, 1, 17][reader % 3];
            tokio::spawn(read_all(bus.clone(), format!("server {reader}"), events_per_stream))
        })
        .collect();
    let writers: Vec<_> = (0..PUBLISHERS)
        .map(|_| {
            let bus = bus.clone();
            tokio::spawn(async move {
                for _ in 0..EVENTS {
                    bus.publish(NETWORK, chat(None), 0).await.unwrap();
                    bus.sweep(0);
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for task in writers.into_iter().chain(readers) {
        task.await.unwrap();
    }
    assert_eq!(bus.stats().subscriptions, 0);
}
