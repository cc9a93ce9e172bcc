//! One document changed by compare-and-set: its versions are one chain, and no read is older than earlier acknowledged
//! writes.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{At, Client, Effect, Recorder, uuid};
use super::report::{Check, Checked, Violation};
use super::run::Stop;

pub const LOAD: &str = "data";
const WRITERS: usize = 2;
/// Minimum distance between the versions of two epochs.
const EPOCH: i64 = 1_000_000;

/// A value that was read, or written and acknowledged.
#[derive(Clone, Debug)]
struct Seen {
    sent: At,
    answered: At,
    version: i64,
    value: String,
    is_write: bool,
}

#[derive(Default)]
struct History {
    seen: Vec<Seen>,
    /// Values whose writes were refused, with the time.
    refused: Vec<(At, String)>,
    /// Writes that an older copy of the database may lack, of which no more is known.
    lost: Recorder,
}

/// Changes the document until it is stopped, then reads it once more and checks.
pub async fn run(client: Client, stop: Stop) -> Check {
    let path = format!("/api/plugin/players/{}/data/global/counter", uuid(1));
    let writers = (0..WRITERS).map(|writer| change(&client, &path, writer, &stop));
    let mut history = History { lost: client.recorder.clone(), ..History::default() };
    for part in futures_util::future::join_all(writers).await {
        history.seen.extend(part.seen);
        history.refused.extend(part.refused);
    }
    Box::pin(async move {
        history.seen.extend(read(&client, &path).await);
        let size = history.seen.len() + history.refused.len();
        let done = history.seen.iter().filter(|seen| seen.is_write).map(|seen| seen.answered).collect();
        Checked { size, done, violations: check(client.network, &history), ..Checked::default() }
    })
}

async fn read(client: &Client, path: &str) -> Option<Seen> {
    let reply = client.get(path).await;
    let value = reply.body["data"].as_str()?.to_owned();
    let version = reply.body["version"].as_i64()?;
    Some(Seen { sent: reply.sent, answered: reply.answered, version, value, is_write: false })
}

async fn change(client: &Client, path: &str, writer: usize, stop: &Stop) -> History {
    let mut history = History::default();
    for attempt in 0.. {
        if stop.is_set() {
            break;
        }
        let read = read(client, path).await;
        let version = read.as_ref().map(|read| read.version);
        let value = json!({"write": format!("{writer}-{attempt}"), "after": version.unwrap_or(0)}).to_string();
        history.seen.extend(read);
        let reply = client.send(Method::PUT, path, Some(&json!({"data": value, "version": version})), None).await;
        match reply.effect() {
            Effect::Done => history.seen.push(Seen {
                sent: reply.sent,
                answered: reply.answered,
                version: reply.body["version"].as_i64().unwrap(),
                value,
                is_write: true,
            }),
            Effect::None => history.refused.push((reply.sent, value)),
            Effect::Unknown => {}
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    history
}

fn check(network: usize, history: &History) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    let mut versions = BTreeMap::<i64, &Seen>::new();
    for seen in &history.seen {
        let first = versions.entry(seen.version).or_insert(seen);
        if first.value != seen.value {
            violate(seen.sent, format!("A version has two values: {first:?}, {seen:?}"));
        }
        let value: Value = serde_json::from_str(&seen.value).unwrap();
        let after = value["after"].as_i64().unwrap();
        // A document that does not exist is created without a version, and versions of another epoch begin far above.
        let is_of_next_epoch = seen.version - after > EPOCH && history.lost.is_lost(At::ZERO, seen.answered);
        if after != seen.version - 1 && after != 0 && !is_of_next_epoch {
            violate(seen.sent, format!("A write followed another version than it named: {seen:?}"));
        }
    }
    for (at, value) in &history.refused {
        if let Some(seen) = history.seen.iter().find(|seen| seen.value == *value) {
            violate(*at, format!("A refused write was made: {seen:?}"));
        }
    }
    // In the order of real time no version is older than an earlier known one.
    let (mut by_start, mut by_end): (Vec<_>, Vec<_>) = (history.seen.iter().collect(), history.seen.iter().collect());
    by_start.sort_by_key(|seen| seen.sent);
    by_end.sort_by_key(|seen| seen.answered);
    let (mut known, mut ended) = (None::<&Seen>, by_end.into_iter().peekable());
    for seen in by_start {
        while let Some(before) = ended.next_if(|before| before.answered < seen.sent) {
            if !history.lost.is_lost(before.sent, before.answered) {
                known = known.filter(|known| known.version >= before.version).or(Some(before));
            }
        }
        if let Some(known) = known.filter(|known| known.version > seen.version - i64::from(seen.is_write)) {
            violate(seen.sent, format!("An old version came after a newer one: {seen:?} after {known:?}"));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at: u64, version: i64, after: i64, is_write: bool) -> Seen {
        let value = json!({"write": format!("w{version}"), "after": after}).to_string();
        Seen { sent: At::from_millis(at), answered: At::from_millis(at + 1), version, value, is_write }
    }

    #[test]
    fn wrong_documents_are_noticed() {
        let found = |seen: Vec<Seen>, refused: Vec<(At, String)>| {
            let violations = check(0, &History { seen, refused, ..History::default() }).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (first, second) = (seen(0, 1, 0, true), seen(10, 2, 1, true));
        let refused = |seen: &Seen| vec![(At::ZERO, seen.value.clone())];
        assert!(
            found(vec![first.clone(), seen(5, 1, 0, false), second.clone()], refused(&seen(9, 3, 2, true))).is_empty()
        );
        let other = Seen { value: json!({"write": "x", "after": 1}).to_string(), ..second.clone() };
        assert!(
            found(vec![first.clone(), second.clone(), other], vec![]).contains(&"A version has two values".to_owned())
        );
        let lost = "A write followed another version than it named";
        assert_eq!(found(vec![first.clone(), second.clone(), seen(20, 4, 2, true)], vec![]), [lost]);
        assert_eq!(found(vec![first.clone()], refused(&first)), ["A refused write was made"]);
        let stale = "An old version came after a newer one";
        assert_eq!(found(vec![first.clone(), second.clone(), seen(20, 1, 0, false)], vec![]), [stale]);
        let after_loss = |seen: Vec<Seen>| {
            let history = History { seen, ..History::default() };
            history.lost.note_lost(At::from_millis(8), At::from_millis(15));
            check(0, &history).len()
        };
        let (older, next) = (seen(20, 1, 0, false), seen(30, 5 * EPOCH, 1, true));
        assert_eq!(after_loss(vec![first.clone(), second.clone(), older, next]), 0);
        let twice = Seen { value: json!({"write": "x", "after": 1}).to_string(), ..seen(30, 2, 1, true) };
        assert_eq!(after_loss(vec![first, second, twice]), 1, "the version is given twice");
    }
}
