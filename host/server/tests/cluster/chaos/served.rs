//! Every request is answered in time, with a correct status; after the last fault all networks are served again soon.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::client::{At, Client, Failure, Record, answer_limit};
use super::money;
use super::report::{Checked, Violation, secs};
use super::run::Stop;
use super::stalls::Stalls;
use super::stream::Reader;
use super::{told, worlds};

pub const LOAD: &str = "served";
/// After a node's process was disturbed, connections to it may still break.
const SETTLED: Duration = Duration::from_secs(3);

/// A time in which a node's process could not answer: it was paused, killed, stopped or started.
#[derive(Clone, Copy, Debug)]
pub struct Disturbance {
    pub node: usize,
    pub from: At,
    pub to: At,
}

/// A time in which a server may have been offline: earlier reservations there no longer count.
#[derive(Clone, Debug)]
pub struct Offline {
    pub server: String,
    pub from: At,
    pub to: At,
}

/// Registers a server and sends heartbeats for it until it is stopped. Heartbeats may hang for longer than a server stays
/// online without them.
pub async fn keep_online(client: &Client, server: &str, kind: &str, slots: usize, stop: &Stop) -> Vec<Offline> {
    let registration = json!({"serverId": server, "serverType": kind, "gameType": "MINECRAFT", "role": "GAME",
        "maxPlayers": slots, "host": "10.0.0.1", "port": 25565});
    let mut offline = vec![];
    let (mut is_known, mut last) = (false, At::ZERO);
    while !stop.is_set() {
        let mut is_alive = true;
        if is_known {
            let beat = client.post("/api/plugin/servers/heartbeat", &json!({"serverId": server})).await;
            is_known = beat.code() != "unknown_server";
            is_alive = beat.is_success();
            if is_alive {
                last = beat.sent;
            }
        } else {
            let registered = client.post("/api/plugin/servers/register", &registration).await;
            is_known = registered.is_success();
            if is_known {
                offline.push(Offline { server: server.to_owned(), from: last, to: registered.answered });
                last = registered.sent;
            }
        }
        tokio::time::sleep(Duration::from_millis(if is_known && is_alive { 3_000 } else { 300 })).await;
    }
    offline
}

/// Waits until every node serves every network and every reader receives its events; returns the networks that exceeded
/// the limit, without delays caused by the machine.
pub async fn wait(clients: &[(Client, Vec<Reader>)], stalls: &Stalls, round: usize) -> Vec<Violation> {
    let checks = clients.iter().map(async |(client, readers)| {
        let client = client.for_load(LOAD);
        let began = client.recorder.now();
        let nodes = client.urls.lock().unwrap().clone();
        let nodes = nodes.into_iter().enumerate().filter_map(|(node, url)| Some((node, url?)));
        let pays = nodes.map(|node| is_served(&client, node, round));
        let hears = told::is_told(&client, readers, format!("after-{round}"), 6 * answer_limit());
        let (paid, is_heard) = tokio::join!(futures_util::future::join_all(pays), hears);
        let now = client.recorder.now();
        let (took, stalled) = (now - began, stalls.between(began, now));
        if took - stalled <= answer_limit() {
            return None;
        }
        let (paid, is_heard) = (
            if paid.iter().all(|paid| *paid) { "" } else { ", no payment or no server online" },
            if is_heard { "" } else { ", streams are silent" },
        );
        let what = format!(
            "Not served again in time: it took {:.1} s, {:.1} s of them stalled{paid}{is_heard}",
            secs(took),
            secs(stalled)
        );
        Some(Violation { network: client.network, load: LOAD, at: began, what })
    });
    futures_util::future::join_all(checks).await.into_iter().flatten().collect()
}

/// Pays at one node and finds a server that is online, repeatedly until both succeed.
async fn is_served(client: &Client, node: (usize, String), round: usize) -> bool {
    let began = client.recorder.now();
    let key = format!("probe-{round}-{}", node.0);
    let path = "/api/plugin/economy/team/probe/currencies/modify";
    let body = json!({"currency": "coins", "amount": 1});
    let mut is_paid = false;
    while client.recorder.now() < began + 6 * answer_limit() {
        if !is_paid {
            is_paid = client.send_to(node.clone(), Method::POST, path, Some(&body), Some(&key)).await.is_success();
        }
        let server = async || {
            let path = format!("/api/manage/servers/{}", worlds::NODE);
            client.send_to(node.clone(), Method::GET, &path, None, None).await.body["online"] == true
        };
        if is_paid && server().await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}

/// Longest time between two payments of one network that overlaps this one.
pub fn outage(records: &[Record], networks: usize, from: At, to: At) -> Duration {
    let longest = |network: usize| {
        let paid = records.iter().filter(|record| {
            let is_paid = record.load == money::LOAD && record.result == Ok(200);
            is_paid && record.network == network && record.what.contains("/modify")
        });
        let mut times: Vec<_> = paid.map(|record| record.answered).collect();
        times.sort_unstable();
        let touching = times.windows(2).filter(|pair| pair[0] <= to && pair[1] >= from);
        touching.map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    };
    (0..networks).map(longest).max().unwrap_or_default()
}

/// Checks the answers to all requests. `stalled` is the delay caused by the machine between two times.
pub fn check(records: &[Record], disturbances: &[Disturbance], stalled: impl Fn(At, At) -> Duration) -> Checked {
    let requests: Vec<_> = records.iter().filter(|record| record.node.is_some()).collect();
    let violations = requests.iter().filter_map(|record| {
        let took = record.answered.saturating_sub(record.sent);
        let is_disturbed = disturbances.iter().any(|disturbance| {
            let is_there = Some(disturbance.node) == record.node;
            is_there && disturbance.from <= record.answered && record.sent <= disturbance.to + SETTLED
        });
        let is_late = || {
            let is_slow = took > answer_limit() && !is_disturbed;
            is_slow && took - stalled(record.sent, record.answered) > answer_limit()
        };
        let what = match record.result {
            Err(Failure::TimedOut) if is_late() => "No answer in time",
            Ok(1..500 | 503) if is_late() => "A late answer",
            Err(Failure::Lost) if !is_disturbed => "A connection ended without an answer",
            Err(Failure::NotSent) if !is_disturbed => "A connection was refused",
            Ok(500) => "An internal error",
            Ok(501 | 502 | 504..) => "An unknown error",
            Ok(503) if record.code.is_empty() => "A refusal without a code",
            _ => return None,
        };
        let what = format!("{what}: {} after {:.1} s: {} {}", record.load, secs(took), record.what, record.code);
        Some(Violation { network: record.network, load: record.load, at: record.sent, what })
    });
    Checked { size: requests.len(), violations: violations.collect(), ..Checked::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(result: Result<u16, Failure>, took: u64) -> Record {
        let (sent, answered) = (At::from_secs(100), At::from_secs(100 + took));
        let (what, code) = (String::new(), "code".to_owned());
        Record { network: 0, load: LOAD, node: Some(1), sent, answered, what, result, code }
    }

    #[test]
    fn wrong_answers_are_noticed() {
        let found_after = |stalled: Duration, record: Record, disturbed: Option<(usize, u64, u64)>| {
            let disturbed = disturbed.map(|(node, from, to)| {
                let (from, to) = (At::from_secs(from), At::from_secs(to));
                Disturbance { node, from, to }
            });
            let violations = check(&[record], disturbed.as_slice(), |_, _| stalled).violations;
            violations.first().map(|violation| violation.what.split(':').next().unwrap().to_owned())
        };
        let found = |record: Record, disturbed| found_after(Duration::ZERO, record, disturbed);
        let found_so = |record: Record, disturbed| found(record, disturbed).unwrap_or_default();
        assert_eq!(found(record(Ok(200), 9), None), None);
        assert_eq!(found(record(Ok(503), 9), None), None);
        assert_eq!(found_so(record(Ok(200), 11), None), "A late answer");
        assert_eq!(found(record(Ok(200), 11), Some((1, 99, 105))), None);
        assert_eq!(found_after(Duration::from_secs(1), record(Ok(200), 11), None), None);
        assert_eq!(found_so(record(Err(Failure::TimedOut), 11), Some((2, 99, 105))), "No answer in time");
        assert_eq!(found_so(record(Err(Failure::TimedOut), 11), Some((1, 90, 96))), "No answer in time");
        assert_eq!(found_so(record(Err(Failure::Lost), 1), None), "A connection ended without an answer");
        assert_eq!(found_so(record(Err(Failure::NotSent), 1), None), "A connection was refused");
        assert_eq!(found_so(record(Ok(500), 1), Some((1, 99, 105))), "An internal error");
        assert_eq!(found_so(record(Ok(502), 1), None), "An unknown error");
        assert_eq!(found_so(Record { code: String::new(), ..record(Ok(503), 1) }, None), "A refusal without a code");
    }

    #[test]
    fn the_longest_time_without_a_payment_is_measured() {
        let at = |sent: u64, network| {
            let time = At::from_secs(sent);
            let what = "POST /modify".to_owned();
            Record { network, load: money::LOAD, sent: time, answered: time, what, ..record(Ok(200), 0) }
        };
        let records = [at(1, 0), at(2, 0), at(7, 0), at(8, 0), at(1, 1), at(8, 1)];
        assert_eq!(outage(&records[..4], 1, At::from_secs(3), At::from_secs(4)), Duration::from_secs(5));
        assert_eq!(outage(&records[..4], 1, At::from_secs(0), At::from_millis(1500)), Duration::from_secs(1));
        assert_eq!(outage(&records, 2, At::from_secs(3), At::from_secs(4)), Duration::from_secs(7));
    }
}
