//! Shared helpers: polling once instead of waiting, and reading frames.

use bytes::Bytes;
use hub_bus::{Bus, BusConfig, EndReason, Event, Subscription};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub(crate) const NETWORK: u128 = 7;
pub(crate) const EPOCH: u64 = 11;

/// The future's result if it has one without waiting.
pub(crate) fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

pub(crate) fn bus(change: impl FnOnce(&mut BusConfig)) -> Bus {
    let mut config = BusConfig::new(EPOCH);
    change(&mut config);
    Bus::new(config)
}

pub(crate) fn chat(target: Option<&str>) -> Event {
    Event { name: "CHAT", target: target.map(str::to_owned), data: r#"{"type":"CHAT"}"#.to_owned() }
}

pub(crate) fn publish(bus: &Bus, target: Option<&str>, now_ms: i64) -> u64 {
    now(bus.publish(NETWORK, chat(target), now_ms))
        .expect("publishing in process does not wait")
        .expect("it is published")
}

/// A stream of a single process's bus, which opens without waiting.
pub(crate) fn subscribe(
    bus: &Bus,
    network: u128,
    server_id: Option<&str>,
    last_event_id: Option<&str>,
    now_ms: i64,
) -> Subscription {
    now(bus.subscribe(network, server_id, last_event_id, now_ms))
        .expect("subscribing in process does not wait")
        .expect("it is there")
}

pub(crate) fn id(sequence: u64) -> String {
    format!("{EPOCH}.{sequence}")
}

/// The sequence a frame carries in its `id:`.
pub(crate) fn sequence(frame: &[u8]) -> u64 {
    let text = std::str::from_utf8(frame).expect("a frame is text");
    let id = text.strip_prefix("id: ").and_then(|rest| rest.split('\n').next());
    let number = id.and_then(|id| id.strip_prefix(&format!("{EPOCH}.")));
    number.expect("an id of this epoch").parse().expect("a number")
}

/// Waits for the next frame.
pub(crate) async fn next(subscription: &mut Subscription) -> Result<Bytes, EndReason> {
    let mut frames = vec![];
    subscription.next_batch(&mut frames, 1).await?;
    assert_eq!(frames.len(), 1);
    Ok(frames.remove(0))
}

pub(crate) fn is_resync(frame: &[u8]) -> bool {
    std::str::from_utf8(frame).expect("a frame is text").contains("\nevent: RESYNC\n")
}

/// All there is to read now: the sequences of events, and RESYNCs and the end as text.
pub(crate) fn read(subscription: &mut Subscription) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(next) = now(next(subscription)) {
        match next {
            Ok(frame) if is_resync(&frame) => seen.push(format!("resync {}", sequence(&frame))),
            Ok(frame) => seen.push(sequence(&frame).to_string()),
            Err(end) => {
                seen.push(format!("{end:?}"));
                break;
            }
        }
    }
    seen
}
