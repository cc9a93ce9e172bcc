//! Chat lines and bans: each acknowledged one is stored and delivered to every reader, once and in order, or covered by
//! a RESYNC.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{At, Client, Effect, uuid};
use super::report::{Check, Checked, Violation};
use super::run::Stop;
use super::stream::{Reader, Seen};

pub const LOAD: &str = "told";

/// A chat line or a ban, by its text.
#[derive(Clone, Debug)]
struct Sent {
    kind: Kind,
    text: String,
    sent: At,
    answered: At,
    effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is published when it is sent.
    Line,
    /// A change, whose event waits in the database until the bus has it.
    Ban,
}

/// Chats and bans until it is stopped; then, after a time for the readers, checks the events they saw.
pub async fn run(client: Client, readers: Vec<Reader>, stop: Stop) -> Check {
    for reader in &readers {
        reader.opened().await;
    }
    let (lines, mut bans) = tokio::join!(chat(&client, &stop), ban(&client, &stop));
    Box::pin(async move {
        let mut checked = Checked::default();
        for ban in &mut bans {
            ban.effect = ban.effect.unless(client.recorder.is_lost(ban.sent, ban.answered));
        }
        for ban in bans.iter().filter(|ban| ban.effect != Effect::Unknown) {
            let path = format!("/api/plugin/punishments/player-name/{}", ban.text);
            let stored = client.send_until_answered(Method::GET, &path, None, None).await;
            let count = stored.body.as_array().map_or(0, Vec::len);
            checked.violations.extend(check_stored(client.network, ban, count));
        }
        let sent = [lines.clone(), bans.clone()].concat();
        let all_seen: Vec<_> = readers.iter().map(|reader| (reader.name, reader.seen())).collect();
        checked.violations.extend(check_sequence(client.network, &all_seen));
        for (reader, seen) in &all_seen {
            let seen: Vec<_> = seen.iter().filter_map(text_of).collect();
            checked.size += seen.len();
            checked.violations.extend(check(client.network, reader, &sent, &seen));
            checked.violations.extend(check_order(client.network, reader, &sent, &seen));
        }
        checked.size += sent.len();
        let done = sent.iter().filter(|sent| sent.effect == Effect::Done);
        checked.done = done.map(|sent| sent.answered).collect();
        checked
    })
}

async fn chat(client: &Client, stop: &Stop) -> Vec<Sent> {
    let mut lines = vec![];
    while !stop.is_set() {
        lines.push(send_line(client, format!("line-{}", lines.len())).await);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    lines
}

/// Sends a line of chat, once.
async fn send_line(client: &Client, text: String) -> Sent {
    let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": text, "serverId": "isle"});
    let reply = client.post("/api/plugin/chat", &body).await;
    Sent { kind: Kind::Line, text, sent: reply.sent, answered: reply.answered, effect: reply.effect() }
}

async fn ban(client: &Client, stop: &Stop) -> Vec<Sent> {
    let mut bans = vec![];
    while !stop.is_set() {
        let text = format!("p{}", bans.len());
        let body = json!({"playerName": text, "type": "BAN"});
        let reply = client.post("/api/plugin/punishments/create-by-name", &body).await;
        bans.push(Sent { kind: Kind::Ban, text, sent: reply.sent, answered: reply.answered, effect: reply.effect() });
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    bans
}

/// Text of an event, or a notice of missing ones.
fn text_of(seen: &Seen) -> Option<(At, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match seen.name.as_str() {
        "RESYNC" => Some((seen.at, None)),
        "CHAT" => Some((seen.at, Some(text(&seen.data["message"])?))),
        "PUNISHMENT" => Some((seen.at, Some(text(&seen.data["punishment"]["playerName"])?))),
        _ => None,
    }
}

fn check_stored(network: usize, ban: &Sent, count: usize) -> Option<Violation> {
    let what = match (ban.effect, count) {
        (Effect::Done, 0) => "An acknowledged ban is lost",
        (Effect::None, 1..) => "A refused ban was made",
        (_, 2..) => "A ban was made twice",
        _ => return None,
    };
    Some(Violation { network, load: LOAD, at: ban.sent, what: format!("{what}: {}", ban.text) })
}

fn check(network: usize, reader: &str, sent: &[Sent], seen: &[(At, Option<String>)]) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    let by_text: HashMap<_, _> = sent.iter().map(|sent| (sent.text.as_str(), sent)).collect();
    let known: Vec<Option<&Sent>> =
        seen.iter().map(|(_, text)| text.as_deref().and_then(|text| by_text.get(text).copied())).collect();
    // Since the last RESYNC, after which events may be repeated.
    let mut texts = HashSet::new();
    for (at, text) in seen {
        match text {
            None => texts.clear(),
            // Events that waited for the bus in an older database were told before that took its place.
            Some(text) if !texts.insert(text) && !by_text.get(text.as_str()).is_some_and(|sent| is_again(sent)) => {
                violate(*at, format!("An event was delivered twice: {text} to the reader {reader}"));
            }
            Some(_) => {}
        }
    }
    let told: HashSet<_> = seen.iter().filter_map(|(_, text)| text.as_deref()).collect();
    for event in sent.iter().filter(|event| event.effect == Effect::Done && !told.contains(event.text.as_str())) {
        // The events that certainly came before and after the missing one; a RESYNC between them must cover it.
        let before = known.iter().rposition(|other| other.is_some_and(|other| precedes(other, event)));
        let from = before.map_or(0, |before| before + 1);
        let after = known[from..].iter().position(|other| other.is_some_and(|other| precedes(event, other)));
        let to = after.map_or(seen.len(), |after| from + after);
        if !seen[from..to].iter().any(|(_, text)| text.is_none()) {
            violate(event.sent, format!("An acknowledged event was missing: {} to the reader {reader}", event.text));
        }
    }
    violations
}

/// True for a ban that the database may have lost since: it may be there again, and wait for the bus again.
fn is_again(sent: &Sent) -> bool {
    sent.kind == Kind::Ban && sent.effect == Effect::Unknown
}

/// True if an event must be delivered before another, which was sent after its answer. Exception: a line need not wait
/// for the ban before it, whose event may wait for the bus.
fn precedes(first: &Sent, second: &Sent) -> bool {
    first.answered < second.sent && (first.kind == Kind::Line || second.kind == Kind::Ban)
}

/// Checks that acknowledged events are delivered in the order in which they were sent, except for those answered before
/// a RESYNC, which covers them.
fn check_order(network: usize, reader: &str, sent: &[Sent], seen: &[(At, Option<String>)]) -> Vec<Violation> {
    let mut violations = vec![];
    let by_text: HashMap<_, _> = sent.iter().map(|sent| (sent.text.as_str(), sent)).collect();
    // The last sent one of each kind among those delivered since the last RESYNC.
    let mut newest = [(Kind::Line, None::<&Sent>), (Kind::Ban, None)];
    let mut resync = None::<At>;
    for (at, text) in seen {
        let Some(text) = text else {
            resync = Some(*at);
            newest.iter_mut().for_each(|(_, newest)| *newest = None);
            continue;
        };
        let Some(event) = by_text.get(text.as_str()).copied() else { continue };
        for (kind, newest) in &mut newest {
            let overtaken = newest.filter(|newest| precedes(event, newest));
            let is_stood_for = |newest: &&Sent| resync.is_some_and(|at| event.answered.max(newest.answered) < at);
            let overtaken = overtaken.filter(|newest| event.effect == Effect::Done && !is_stood_for(newest));
            if let Some(newest) = overtaken {
                let what = format!("Events were delivered in another order: {text} after {} to {reader}", newest.text);
                violations.push(Violation { network, load: LOAD, at: *at, what });
            }
            if *kind == event.kind {
                *newest = newest.filter(|newest| newest.sent > event.sent).or(Some(event));
            }
        }
    }
    violations
}

/// Checks that a network's events are one sequence: all readers get the same event under an id, and ids rise.
fn check_sequence(network: usize, readers: &[(&str, Vec<Seen>)]) -> Vec<Violation> {
    let mut violations = vec![];
    let mut events = HashMap::<(u64, u64), (&str, &Value)>::new();
    for (reader, seen) in readers {
        let mut last = None::<(u64, u64)>;
        for event in seen {
            let mut violate = |what: String| {
                violations.push(Violation { network, load: LOAD, at: event.at, what: format!("{what} to {reader}") });
            };
            let Some(id) = event.id.filter(|_| event.name != "RESYNC") else {
                last = None;
                continue;
            };
            if let Some(last) = last.filter(|last| last.0 == id.0 && last.1 >= id.1) {
                violate(format!("Ids do not rise: {id:?} after {last:?}"));
            }
            last = Some(id);
            let told = (event.name.as_str(), &event.data);
            let first = *events.entry(id).or_insert(told);
            if first != told {
                violate(format!("An id names two events: {id:?}, {first:?} and {told:?}"));
            }
        }
    }
    violations
}

/// Sends a line and waits until all readers saw it, or a RESYNC; false if that exceeds the limit.
pub async fn is_told(client: &Client, readers: &[Reader], text: String, limit: Duration) -> bool {
    let began = client.recorder.now();
    let expired = || client.recorder.now() > began + limit;
    // A reader gets no events from before its first stream.
    let opened = join_all(readers.iter().map(Reader::opened));
    if tokio::time::timeout(limit, opened).await.is_err() {
        return false;
    }
    for attempt in 0.. {
        let line = send_line(client, format!("{text}-{attempt}")).await;
        let told = |seen: &Seen| text_of(seen).is_some_and(|(_, told)| told.as_deref() == Some(&line.text));
        while line.effect == Effect::Done && !expired() {
            if readers.iter().all(|reader| reader.has_seen(line.sent, told)) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if expired() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(at: u64, effect: Effect) -> Sent {
        Sent {
            kind: Kind::Line,
            text: format!("t{at}"),
            sent: At::from_secs(at),
            answered: At::from_millis(at * 1000 + 5),
            effect,
        }
    }

    fn found(sent: &[Sent], seen: &[&str]) -> Vec<String> {
        let seen: Vec<_> =
            seen.iter().map(|text| (At::ZERO, (*text != "RESYNC").then(|| (*text).to_owned()))).collect();
        let violations = [check(0, "r", sent, &seen), check_order(0, "r", sent, &seen)].concat().into_iter();
        violations.map(|violation| violation.what.split(" to ").next().unwrap().to_owned()).collect()
    }

    #[test]
    fn wrong_streams_are_noticed() {
        let all = [1, 2, 3, 4].map(|at| sent(at, Effect::Done));
        assert!(found(&all, &["t1", "t2", "t3", "t4"]).is_empty());
        assert!(found(&all, &["t1", "RESYNC", "t4"]).is_empty());
        assert!(found(&all, &["t1", "t2", "RESYNC"]).is_empty());
        assert_eq!(found(&all, &["t1", "t2", "t4"]), ["An acknowledged event was missing: t3"]);
        // A RESYNC elsewhere does not cover it.
        assert_eq!(found(&all, &["RESYNC", "t1", "t3", "t4"]), ["An acknowledged event was missing: t2"]);
        assert_eq!(found(&all, &["t1", "t3", "RESYNC", "t4"]), ["An acknowledged event was missing: t2"]);
        assert_eq!(found(&all, &["t1", "t2", "t2", "t3", "t4"]), ["An event was delivered twice: t2"]);
        assert_eq!(found(&all, &["t1", "t3", "t2", "t4"]), ["Events were delivered in another order: t2 after t3"]);
        let told = |at, text: &str| (At::from_secs(at), Some(text.to_owned()));
        let order = |resync| {
            let seen = [(At::from_secs(resync), None), told(9, "t3"), told(9, "t2")];
            check_order(0, "r", &all, &seen).len()
        };
        assert_eq!((order(2), order(4)), (1, 0), "a RESYNC covers earlier answers, in any order");
        let unknown = [sent(1, Effect::Done), sent(2, Effect::Unknown), sent(3, Effect::None)];
        assert!(found(&unknown, &["t1"]).is_empty());
    }

    #[test]
    fn a_line_need_not_wait_for_a_ban() {
        let ban = |at| Sent { kind: Kind::Ban, ..sent(at, Effect::Done) };
        let all = [ban(1), sent(2, Effect::Done), ban(3), ban(4)];
        assert!(found(&all, &["t1", "t2", "t3", "t4"]).is_empty());
        assert!(found(&all, &["t2", "t1", "t3", "t4"]).is_empty());
        assert_eq!(found(&all, &["t1", "t3", "t2", "t4"]), ["Events were delivered in another order: t2 after t3"]);
        assert_eq!(found(&all, &["t1", "t2", "t4", "t3"]), ["Events were delivered in another order: t3 after t4"]);
        // The ban before a line came late, after the RESYNC that covers the line.
        assert!(found(&all, &["RESYNC", "t1", "t3", "t4"]).is_empty());
        assert_eq!(found(&all, &["t1", "t3", "RESYNC", "t4"]), ["An acknowledged event was missing: t2"]);
    }

    #[test]
    fn a_wrong_sequence_is_noticed() {
        let seen = |name: &str, id, data: &str| Seen { at: At::ZERO, name: name.to_owned(), id, data: json!(data) };
        let event = |sequence, data| seen("CHAT", Some((7, sequence)), data);
        let first = vec![event(1, "a"), event(2, "b")];
        let check = |second: Vec<Seen>| {
            let violations = check_sequence(0, &[("r", first.clone()), ("s", second)]).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let resync = seen("RESYNC", Some((7, 2)), "");
        assert!(check(vec![event(1, "a"), event(2, "b"), event(4, "d")]).is_empty());
        assert!(check(vec![event(2, "b"), resync, event(2, "b"), seen("CHAT", Some((8, 1)), "c")]).is_empty());
        assert_eq!(check(vec![event(1, "b")]), ["An id names two events"]);
        assert_eq!(check(vec![event(2, "b"), event(1, "a")]), ["Ids do not rise"]);
        assert_eq!(check(vec![event(1, "a"), event(1, "a")]), ["Ids do not rise"]);
    }

    #[test]
    fn wrong_bans_are_noticed() {
        let what = |effect, count| check_stored(0, &sent(1, effect), count).map(|violation| violation.what);
        assert_eq!([what(Effect::Done, 1), what(Effect::None, 0), what(Effect::Unknown, 1)], [None, None, None]);
        assert_eq!(what(Effect::Done, 0).unwrap(), "An acknowledged ban is lost: t1");
        assert_eq!(what(Effect::None, 1).unwrap(), "A refused ban was made: t1");
        assert_eq!(what(Effect::Done, 2).unwrap(), "A ban was made twice: t1");
    }
}
