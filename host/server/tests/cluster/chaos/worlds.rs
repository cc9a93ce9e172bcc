//! One world that is opened, kept alive, saved and unloaded again and again: it has one lease at a time, which ends
//! only when it must, and boots from the last acknowledged snapshot.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::client::{At, Client, Effect, Reply};
use super::report::{Check, Checked, Violation};
use super::run::Stop;
use super::stream::{Reader, Seen};

pub const LOAD: &str = "worlds";
/// The game server, which is always kept online.
pub const NODE: &str = "isle";
/// Duration of a lease after each heartbeat.
const LEASE: Duration = Duration::from_secs(60);
/// Maximum time from the call that opens a lease until its node hears of it, and of the call that ends it.
const OPENING: Duration = Duration::from_secs(20);

/// The game server's record of one lease.
#[derive(Clone, Debug)]
struct Lease {
    fence: i64,
    /// The snapshot it booted from.
    booted_from: Option<String>,
    at: At,
    /// Time of the last acknowledged request that renewed it.
    renewed: At,
    /// Time at which a callback was refused because it has ended.
    ended: Option<At>,
    /// Contents of its snapshots, and their effects.
    saved: Vec<(String, Effect)>,
    /// True if an older copy of the database may lack its begin, its renewals or its end.
    is_lost: bool,
    /// True if the game server gave it up itself.
    is_over: bool,
}

struct Driver {
    client: Client,
    leases: Vec<Lease>,
    violations: Vec<Violation>,
}

/// Runs the world until it is stopped, then checks its leases.
pub async fn run(client: Client, node: Reader, stop: Stop) -> Check {
    let mut driver = Driver { client: client.clone(), leases: vec![], violations: vec![] };
    let beats = super::served::keep_online(&client, NODE, "islands", 50, &stop);
    let lives = async {
        for life in 0.. {
            if stop.is_set() {
                break;
            }
            if driver.live(life, node.listen()).await.is_none() {
                // Like a node that starts fresh.
                let body = json!({"nodeServerId": NODE});
                let path = "/api/plugin/worlds/release-all";
                driver.client.send_until_answered(Method::POST, path, Some(&body), None).await;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::join!(beats, lives);
    Box::pin(async move {
        let mut violations = driver.violations;
        for lease in &mut driver.leases {
            // Its first renewal is the call that opened it, a moment before the node heard of it.
            let opened = lease.at.saturating_sub(OPENING);
            lease.is_lost = client.recorder.is_lost(opened, lease.ended.unwrap_or(lease.renewed) + OPENING);
        }
        violations.extend(check(client.network, &driver.leases));
        let done = driver.leases.iter().filter(|lease| lease.is_over).map(|lease| lease.renewed).collect();
        Checked { size: driver.leases.len(), done, violations, ..Checked::default() }
    })
}

impl Driver {
    /// One life of the world; `None` if the node does not know its outcome.
    async fn live(&mut self, life: usize, mut events: broadcast::Receiver<Seen>) -> Option<()> {
        let id = self.open().await?;
        let told = tokio::time::timeout(Duration::from_secs(15), next_open(&mut events, &id)).await.ok()??;
        let booted_from = match told["snapshotUrl"].as_str() {
            Some(url) => Some(self.download(url).await?),
            None => None,
        };
        let at = self.client.recorder.now();
        let fence = told["fence"].as_i64()?;
        let (ended, saved, is_lost, is_over) = (None, vec![], false, false);
        self.leases.push(Lease { fence, booted_from, at, renewed: at, ended, saved, is_lost, is_over });
        self.call(&id, "ready", json!({})).await?;
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.call(&id, "heartbeat", json!({"playerCount": 1})).await?;
        }
        let saved = self.save(&id, format!("life {life}")).await?;
        self.call(&id, "unloaded", saved).await?;
        self.leases.last_mut()?.is_over = true;
        Some(())
    }

    /// Opens the world at two nodes at once; both must answer the same lease.
    async fn open(&mut self) -> Option<String> {
        let body = json!({"ownerScope": "party", "ownerId": "p", "gameId": "islands", "preferNode": NODE});
        let path = "/api/plugin/worlds/open";
        let (one, two) = tokio::join!(self.client.post(path, &body), self.client.post(path, &body));
        let id = |reply: &Reply| reply.body["worldInstanceId"].as_str().map(str::to_owned);
        let (first, second) = (id(&one), id(&two));
        if let (Some(first), Some(second)) = (&first, &second)
            && first != second
        {
            let what = format!("A world has two leases: {first} and {second}");
            self.violations.push(Violation { network: self.client.network, load: LOAD, at: one.sent, what });
        }
        first.or(second)
    }

    /// Calls back until it is answered; `None` if the hub refuses it.
    async fn call(&mut self, id: &str, what: &str, more: Value) -> Option<()> {
        let lease = self.leases.last_mut()?;
        let mut body = json!({"nodeServerId": NODE, "fence": lease.fence});
        body.as_object_mut()?.extend(more.as_object()?.clone());
        let path = format!("/api/plugin/worlds/{id}/{what}");
        let reply = self.client.send_until_answered(Method::POST, &path, Some(&body), None).await;
        if reply.is_success() {
            lease.renewed = reply.sent;
            return Some(());
        }
        if reply.code() == "lease_ended" || reply.code() == "unknown_world" {
            lease.ended = Some(reply.answered);
        }
        None
    }

    /// Uploads a snapshot; returns the outcome of `unloaded`.
    async fn save(&mut self, id: &str, content: String) -> Option<Value> {
        let path = format!("/api/plugin/worlds/{id}/upload-url");
        for _ in 0..20 {
            let link = self.client.send_until_answered(Method::POST, &path, Some(&json!({})), None).await;
            let (url, key) = (link.body["url"].as_str()?.to_owned(), link.body["blobKey"].clone());
            let reply = self.follow(Method::PUT, &url, content.clone()).await;
            self.leases.last_mut()?.saved.push((content.clone(), reply.effect()));
            if reply.is_success() {
                return Some(json!({"blobKey": key, "sizeBytes": content.len()}));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        None
    }

    async fn download(&self, url: &str) -> Option<String> {
        for _ in 0..20 {
            let reply = self.follow(Method::GET, url, String::new()).await;
            if reply.is_success() {
                return reply.body.as_str().map(str::to_owned);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        None
    }

    /// Calls a signed link at any node.
    async fn follow(&self, method: Method, link: &str, body: String) -> Reply {
        let path = link.find("/api/").map_or(link, |start| &link[start..]);
        let (node, url) = self.client.next_node();
        let what = format!("{method} snapshot {body}");
        let request = self.client.http.request(method, format!("{url}{path}")).body(body);
        self.client.run(node, what, request).await
    }
}

/// Next lease for the node; `None` if events are missing.
async fn next_open(events: &mut broadcast::Receiver<Seen>, id: &str) -> Option<Value> {
    loop {
        let seen = events.recv().await.ok()?;
        match seen.name.as_str() {
            "WORLD_OPEN" if seen.data["worldId"].to_string() == id => return Some(seen.data),
            "RESYNC" => return None,
            _ => {}
        }
    }
}

fn check(network: usize, leases: &[Lease]) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    // Snapshots from which the next lease may boot.
    let mut possible = vec![None::<String>];
    let (mut last_fence, mut was_lost) = (0, false);
    for lease in leases {
        // A lease that the database has lost may be told again, with the same fence.
        if lease.fence < last_fence || (lease.fence == last_fence && !was_lost) {
            violate(lease.at, format!("A fence does not rise: {lease:?} after {last_fence}"));
        }
        (last_fence, was_lost) = (lease.fence, lease.is_lost);
        if !possible.contains(&lease.booted_from) {
            violate(lease.at, format!("A world booted from another snapshot: {lease:?}, not {possible:?}"));
        }
        if let Some(ended) =
            lease.ended.filter(|ended| !lease.is_over && !lease.is_lost && *ended < lease.renewed + LEASE)
        {
            violate(ended, format!("A lease ended before its time: {lease:?}"));
        }
        for (content, effect) in &lease.saved {
            if *effect == Effect::Done && !lease.is_lost {
                possible.clear();
            }
            if *effect != Effect::None {
                possible.push(Some(content.clone()));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(fence: i64, booted_from: Option<&str>, saved: &str, effect: Effect) -> Lease {
        let (booted_from, saved) = (booted_from.map(str::to_owned), vec![(saved.to_owned(), effect)]);
        let (at, ended) = (At::ZERO, None);
        Lease { fence, booted_from, at, renewed: at, ended, saved, is_lost: false, is_over: false }
    }

    #[test]
    fn wrong_leases_are_noticed() {
        let found = |leases: &[Lease]| {
            let violations = check(0, leases).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let first = lease(1, None, "a", Effect::Done);
        let ended = |seconds| Lease { ended: Some(At::from_secs(seconds)), ..first.clone() };
        assert!(
            found(&[ended(61), lease(2, Some("a"), "b", Effect::Unknown), lease(4, Some("a"), "", Effect::None)])
                .is_empty()
        );
        assert!(
            found(&[first.clone(), lease(2, Some("a"), "b", Effect::Unknown), lease(3, Some("b"), "", Effect::None)])
                .is_empty()
        );
        assert_eq!(found(&[first.clone(), lease(1, Some("a"), "b", Effect::Done)]), ["A fence does not rise"]);
        let old = "A world booted from another snapshot";
        assert_eq!(found(&[first.clone(), lease(2, None, "b", Effect::Done)]), [old]);
        assert_eq!(
            found(&[first.clone(), lease(2, Some("a"), "b", Effect::None), lease(3, Some("b"), "", Effect::None)]),
            [old]
        );
        assert_eq!(found(&[ended(59)]), ["A lease ended before its time"]);
    }
}
