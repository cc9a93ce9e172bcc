//! A run: the load, the faults in rounds, and the checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, join_all};
use hub::http_client;
use tokio::task::JoinHandle;

use super::client::{At, Client, Recorder, answer_limit};
use super::faults::{Draw, Drawer, KINDS, lacks};
use super::report::{Check, Checked, Injected, Report, Violation, secs};
use super::site::Site;
use super::stalls::Stalls;
use super::stream::Reader;
use super::{commands, data, items, money, served, slots, told, worlds};

/// Networks with a load.
pub const NETWORKS: usize = 3;
/// Between two rounds.
const CALM: Duration = Duration::from_secs(2);
/// In each network an operation of each load succeeds at least this often.
const IDLE_LIMIT: Duration = Duration::from_mins(3);

/// Tells the load to end.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Parameters of the run: `HUB_CHAOS="SECONDS SEED [KIND,KIND…]"`.
struct Order {
    seconds: u64,
    seed: u64,
    kinds: Vec<&'static str>,
    /// Folder for logs and the report.
    folder: PathBuf,
}

impl Order {
    fn read() -> Self {
        let text = std::env::var("HUB_CHAOS").expect("HUB_CHAOS is what scripts/chaos is given");
        let words: Vec<_> = text.split_whitespace().collect();
        let number = |word: usize| words[word].parse().expect("seconds and seed are numbers");
        let kinds = words.get(2).map_or_else(
            || KINDS.to_vec(),
            |list| {
                let known = |name| KINDS.into_iter().find(|kind| *kind == name);
                list.split(',')
                    .map(|name| known(name).unwrap_or_else(|| panic!("{name} is none of {KINDS:?}")))
                    .collect()
            },
        );
        let folder = PathBuf::from(std::env::var("HUB_CHAOS_FOLDER").expect("HUB_CHAOS_FOLDER is a folder"));
        Self { seconds: number(0), seed: number(1), kinds, folder }
    }
}

/// One network's load.
struct Load {
    client: Client,
    readers: Vec<Reader>,
    running: Vec<(&'static str, JoinHandle<Check>)>,
}

impl Load {
    fn start(client: Client, site: &Arc<Site>, stop: &Stop, stop_reading: &Stop) -> Self {
        let reader = |name, server: &str, reconnect| {
            Reader::start(name, client.for_load(told::LOAD), server.to_owned(), reconnect, stop_reading.clone())
        };
        // The first is a game server and stays; the other reconnects often.
        let readers = vec![reader("staying", "isle", None), reader("leaving", "watch", Some(Duration::from_secs(5)))];
        let stop = || stop.clone();
        let runs: [(_, BoxFuture<'static, Check>); 7] = [
            (money::LOAD, money::run(client.for_load(money::LOAD), stop()).boxed()),
            (items::LOAD, items::run(client.for_load(items::LOAD), stop()).boxed()),
            (data::LOAD, data::run(client.for_load(data::LOAD), stop()).boxed()),
            (slots::LOAD, slots::run(client.for_load(slots::LOAD), Arc::clone(site), stop()).boxed()),
            (told::LOAD, told::run(client.for_load(told::LOAD), readers.clone(), stop()).boxed()),
            (commands::LOAD, commands::run(client.for_load(commands::LOAD), readers[0].clone(), stop()).boxed()),
            (worlds::LOAD, worlds::run(client.for_load(worlds::LOAD), readers[0].clone(), stop()).boxed()),
        ];
        let running = runs.into_iter().map(|(name, run)| (name, tokio::spawn(run))).collect();
        Self { client, readers, running }
    }
}

/// One round: its faults, then the time until all networks are served again.
async fn round(
    site: &Arc<Site>,
    served: &[(Client, Vec<Reader>)],
    number: usize,
    draws: Vec<Draw>,
) -> (Vec<Injected>, Vec<Violation>) {
    let began = site.recorder.now();
    for draw in &draws {
        eprintln!(
            "{:8.1} s  round {number}: {} {:?} after {:.1} s",
            secs(began),
            draw.kind,
            draw.fault,
            secs(draw.start)
        );
    }
    let is_alone = draws.len() == 1;
    let clients: Vec<_> = served.iter().map(|(client, _)| client.clone()).collect();
    let faults = join_all(draws.into_iter().map(async |draw| {
        tokio::time::sleep(draw.start).await;
        let at = site.recorder.now();
        draw.fault.inject(site, &clients, is_alone).await;
        let (what, healed) = (format!("{:?}", draw.fault), site.recorder.now());
        Injected { kind: draw.kind, what, at, healed, outage: Duration::ZERO, is_alone, recovery: Duration::ZERO }
    }));
    let mut faults = faults.await;
    let healed = site.recorder.now();
    let violations = served::wait(served, &site.stalls, number).await;
    let recovery = site.recorder.now() - healed;
    eprintln!("{:8.1} s  served again after {:.1} s", secs(site.recorder.now()), secs(recovery));
    for violation in &violations {
        eprintln!("            network {}: {}", violation.network, violation.what);
    }
    faults.iter_mut().for_each(|fault| fault.recovery = recovery);
    (faults, violations)
}

/// Waits for loads to end; one that hangs is a violation.
async fn finish(loads: Vec<Load>, report: &mut Report, site: &Site, began: At) {
    let (limit, recorder) = (6 * answer_limit(), &site.recorder);
    let lasting = (began, recorder.now());
    let mut checks = vec![];
    for load in loads {
        for (name, running) in load.running {
            match site.stalls.at_most(limit, recorder, running).await {
                Some(check) => checks.push((name, load.client.network, check.expect("a load that does not panic"))),
                None => report.add(name, hanging(name, load.client.network, recorder.now())),
            }
        }
    }
    for (name, network, check) in checks {
        match site.stalls.at_most(limit, recorder, check).await {
            Some(mut checked) => {
                note_pause(&mut checked, name, network, lasting);
                report.add(name, checked);
            }
            None => report.add(name, hanging(name, network, recorder.now())),
        }
    }
}

fn hanging(load: &'static str, network: usize, at: At) -> Checked {
    let violations = vec![Violation { network, load, at, what: "It does not end".to_owned() }];
    Checked { violations, ..Checked::default() }
}

/// Longest time without an acknowledgement, between the begin and the end of the faults, and its start.
fn longest_pause(mut done: Vec<At>, began: At, ended: At) -> (Duration, At) {
    done.retain(|at| (began..ended).contains(at));
    done.extend([began, ended]);
    done.sort_unstable();
    let pauses = done.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
    pauses.max().unwrap_or_default()
}

/// Records the longest pause of a load, and counts one that is too long as a violation.
fn note_pause(checked: &mut Checked, load: &'static str, network: usize, (began, ended): (At, At)) {
    let (idle, at) = longest_pause(checked.done.clone(), began, ended);
    checked.idle = idle;
    // A short run may have no operation of a slow load.
    if idle >= IDLE_LIMIT.min(ended - began) && ended - began >= IDLE_LIMIT / 3 {
        let what = format!("Nothing was acknowledged: for {:.1} s", secs(idle));
        checked.violations.push(Violation { network, load, at, what });
    }
}

/// Maximum time that the machine could have kept a request of the longest allowed duration waiting.
fn longest_stall(stalls: &Stalls, end: At) -> Duration {
    let moments = (0..end.as_secs()).map(At::from_secs);
    moments.map(|from| stalls.between(from, from + answer_limit())).max().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "scripts/chaos runs it"]
async fn chaos() {
    let order = Order::read();
    let recorder = Recorder::new();
    let site = Site::start(&order.folder, recorder.clone()).await;
    let stalls = site.stalls.clone();
    let mut report = Report { seconds: order.seconds, seed: order.seed, ..Report::default() };
    let (there, lacking): (Vec<_>, Vec<_>) = order.kinds.into_iter().partition(|kind| lacks(kind, &site).is_none());
    report.left_out.extend(lacking.into_iter().map(|kind| format!("{kind}, because {}", lacks(kind, &site).unwrap())));
    let http = http_client::builder().unwrap().pool_idle_timeout(Duration::from_secs(1)).build().unwrap();
    let (stop, stop_reading) = (Stop::default(), Stop::default());
    let mut loads = vec![];
    for network in 0..NETWORKS {
        let key = site.network(&format!("chaos-{network}")).await;
        let (http, urls, next) = (http.clone(), Arc::clone(&site.urls), Arc::new(AtomicUsize::new(0)));
        let client = Client { http, urls, key, network, load: served::LOAD, recorder: recorder.clone(), next };
        loads.push(Load::start(client, &site, &stop, &stop_reading));
    }
    let clients: Vec<_> = loads.iter().map(|load| (load.client.clone(), load.readers.clone())).collect();
    // All networks are served before the first fault.
    let mut not_served = served::wait(&clients, &stalls, 0).await;
    let began = recorder.now();
    let mut drawer = Drawer::new(order.seed, there);
    let mut number = 0;
    while recorder.now() < began + Duration::from_secs(order.seconds) {
        number += 1;
        let (faults, violations) = round(&site, &clients, number, drawer.round()).await;
        report.faults.extend(faults);
        not_served.extend(violations);
        tokio::time::sleep(CALM).await;
    }
    stop.set();
    report.rounds = number;
    report.add(served::LOAD, Checked { size: number, violations: not_served, ..Checked::default() });
    finish(loads, &mut report, &site, began).await;
    stop_reading.set();
    for (history, found) in std::mem::take(&mut *site.found.lock().unwrap()) {
        report.add(history, found);
    }
    let records = recorder.records();
    report.add(
        "answers",
        served::check(&records, &site.disturbances.lock().unwrap(), |from, to| stalls.between(from, to)),
    );
    report.stalls = longest_stall(&stalls, recorder.now());
    for fault in &mut report.faults {
        fault.outage = served::outage(&records, NETWORKS, fault.at, fault.healed + fault.recovery);
    }
    let text = report.text(&records);
    std::fs::write(order.folder.join("report.md"), &text).unwrap();
    println!("{text}");
    assert_eq!(report.violations(), 0, "violations; logs are in {}", order.folder.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_does_nothing_is_noticed() {
        let at = At::from_secs;
        let found = |done: &[u64], ended| {
            let mut checked = Checked { done: done.iter().map(|second| at(*second)).collect(), ..Checked::default() };
            note_pause(&mut checked, money::LOAD, 0, (at(10), at(ended)));
            let at = checked.violations.first().map(|violation| violation.at.as_secs());
            (checked.idle.as_secs(), at)
        };
        assert_eq!(found(&[], 60), (50, None), "too short to tell");
        assert_eq!(found(&[5], 100), (90, Some(10)));
        assert_eq!(found(&[20, 180, 190], 300), (160, None));
        assert_eq!(found(&[190, 20], 500), (310, Some(190)));
    }
}
