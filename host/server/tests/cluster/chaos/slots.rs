//! Reservations: never more than a server has slots, and no refusal while one is certainly free.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::client::{At, Client, Effect, uuid};
use super::report::{Check, Checked, Violation};
use super::run::Stop;
use super::served::{Offline, keep_online};
use super::site::Site;

pub const LOAD: &str = "slots";
const SERVERS: usize = 2;
const SLOTS: usize = 3;
/// Duration of a reservation.
const RESERVED: Duration = Duration::from_secs(15);
/// Maximum difference between the database's clock and the client's.
const TOLERANCE: Duration = Duration::from_millis(500);
/// No slot is seen to end later than this.
const MOST_LATE: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
struct Find {
    sent: At,
    answered: At,
    found: Found,
}

#[derive(Clone, Debug, PartialEq)]
enum Found {
    Server(String),
    AllFull,
    /// Refused, or another result.
    Nothing,
    Unknown,
}

/// Requests slots until it is stopped, then checks the results.
pub async fn run(client: Client, site: Arc<Site>, stop: Stop) -> Check {
    let mut finds = vec![];
    let servers: Vec<_> = (0..SERVERS).map(|server| format!("arena-{server}")).collect();
    let beats = servers.iter().map(|server| keep_online(&client, server, "arena", SLOTS, &stop));
    let find = async {
        while !stop.is_set() {
            let number = finds.len();
            let body = json!({"playerUuid": uuid(number), "playerName": format!("p{number}"), "serverType": "arena"});
            let reply = client.post("/api/plugin/matchmaking/find", &body).await;
            let found = match (reply.effect(), reply.body["matchedServer"]["serverId"].as_str()) {
                (Effect::Done, Some(server)) => Found::Server(server.to_owned()),
                (Effect::Done, None) if reply.body["result"] == "ALL_SERVERS_FULL" => Found::AllFull,
                (Effect::Done | Effect::None, _) => Found::Nothing,
                (Effect::Unknown, _) => Found::Unknown,
            };
            finds.push(Find { sent: reply.sent, answered: reply.answered, found });
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
    };
    let (offline, ()) = tokio::join!(futures_util::future::join_all(beats), find);
    let offline = offline.concat();
    Box::pin(async move {
        let lateness = |from, to| site.lateness(from, to);
        for find in &mut finds {
            if matches!(find.found, Found::Server(_)) && site.recorder.is_lost(find.sent, find.answered) {
                find.found = Found::Unknown;
            }
        }
        let done = finds.iter().filter(|find| matches!(find.found, Found::Server(_))).map(|find| find.answered);
        let violations = check(client.network, &finds, &offline, lateness);
        Checked { size: finds.len(), done: done.collect(), violations, ..Checked::default() }
    })
}

fn check(network: usize, finds: &[Find], offline: &[Offline], lateness: impl Fn(At, At) -> Duration) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    for find in finds {
        if let Found::Server(server) = &find.found {
            let certain = |other: &&Find| {
                // Reservations answered before, and not expired when this one is answered at last.
                other.found == find.found
                    && other.answered <= find.answered
                    && find.answered < other.sent + RESERVED - TOLERANCE
                    && !offline.iter().any(|offline| {
                        offline.server == *server && other.sent <= offline.to && offline.from <= find.answered
                    })
            };
            let held = finds.iter().filter(certain).count();
            if held > SLOTS {
                violate(find.sent, format!("More slots are reserved than there are: {held} of {SLOTS} on {server}"));
            }
        }
        let all_online = !offline.iter().any(|offline| offline.from <= find.answered && find.sent <= offline.to);
        if find.found == Found::AllFull && all_online {
            let may_hold =
                |other: &&Find| matches!(other.found, Found::Server(_) | Found::Unknown) && other.sent <= find.answered;
            let ends = |other: &Find| other.answered + RESERVED + TOLERANCE;
            let mut held = finds.iter().filter(may_hold).filter(|other| find.sent <= ends(other)).count();
            if held < SERVERS * SLOTS {
                // The lateness is expensive to compute.
                let late = |other: &&Find| {
                    ends(other) < find.sent
                        && find.sent <= ends(other) + MOST_LATE
                        && find.sent <= ends(other) + lateness(other.sent, find.answered)
                };
                held += finds.iter().filter(may_hold).filter(late).count();
            }
            if held < SERVERS * SLOTS {
                violate(find.sent, format!("No slot was given though some are free: at most {held} are reserved"));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(at: u64, found: Found) -> Find {
        Find { sent: At::from_secs(at), answered: At::from_secs(at), found }
    }

    fn check(network: usize, finds: &[Find], offline: &[Offline]) -> Vec<Violation> {
        super::check(network, finds, offline, |_, _| Duration::ZERO)
    }

    #[test]
    fn wrong_reservations_are_noticed() {
        let server = || Found::Server("arena-0".to_owned());
        let finds = |times: &[u64]| times.iter().map(|at| find(*at, server())).collect::<Vec<_>>();
        assert!(check(0, &finds(&[0, 1, 2, 15, 16, 17]), &[]).is_empty());
        let offline = |server: &str, from, to| {
            [Offline { server: server.to_owned(), from: At::from_secs(from), to: At::from_secs(to) }]
        };
        assert!(
            check(0, &finds(&[0, 1, 2, 14]), &offline("arena-0", 3, 9)).is_empty(),
            "what was reserved before is gone"
        );
        for other in [offline("arena-1", 3, 9), offline("arena-0", 15, 19)] {
            assert_eq!(check(0, &finds(&[0, 1, 2, 14]), &other).len(), 1);
        }
        let more = check(0, &finds(&[0, 1, 2, 14]), &[]);
        assert!(more.len() == 1 && more[0].what.starts_with("More slots are reserved"), "{more:?}");
        let full = [finds(&[0, 0, 0, 0, 0]), vec![find(3, Found::AllFull)]].concat();
        let at_3 = |offline: &[Offline]| {
            let found = check(0, &full, offline).into_iter();
            found.filter(|found| found.at == At::from_secs(3)).collect::<Vec<_>>()
        };
        assert!(at_3(&offline("arena-1", 1, 4)).is_empty(), "half of the slots are not there");
        let late = [finds(&[0, 0, 0, 1, 1, 1]), vec![find(17, Found::AllFull)]].concat();
        let at_17 = |late_by| {
            let lateness = |_, _| Duration::from_secs(late_by);
            super::check(0, &late, &[], lateness).into_iter().filter(|found| found.at == At::from_secs(17)).count()
        };
        assert_eq!((at_17(0), at_17(1), at_17(2)), (1, 1, 0), "the first ones end up to so much late");
        let full = at_3(&[]);
        assert!(full.len() == 1 && full[0].what.starts_with("No slot was given"), "{full:?}");
    }
}
