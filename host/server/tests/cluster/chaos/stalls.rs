//! How long this machine kept processes waiting for a processor, for which no hub is to blame: threads that could have run
//! and did not, as Linux counts them, and whole moments in which nothing ran.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::client::{At, Recorder};

const INTERVAL: Duration = Duration::from_millis(200);
/// No thread waits for longer.
const LONGEST: Duration = Duration::from_mins(1);

/// Some waiting between two times.
#[derive(Clone, Copy)]
struct Wait {
    from: At,
    to: At,
    lasting: Duration,
}

/// What was seen of one thread.
#[derive(Default)]
struct Thread {
    /// How long it has waited since it began.
    total: Duration,
    waits: Vec<Wait>,
}

#[derive(Default)]
struct Readings {
    threads: HashMap<u32, HashMap<u32, Thread>>,
    /// By how much the readings themselves were late.
    late: Vec<Wait>,
}

/// What was read, since it was started.
#[derive(Clone, Default)]
pub struct Stalls(Arc<Mutex<Readings>>);

impl Stalls {
    /// Watches this process and those that `pids` names, for as long as this process runs.
    pub fn watch(recorder: Recorder, pids: impl Fn() -> Vec<u32> + Send + 'static) -> Self {
        let stalls = Self::default();
        let watching = stalls.clone();
        std::thread::spawn(move || {
            let mut before = recorder.now();
            loop {
                std::thread::sleep(INTERVAL);
                let now = recorder.now();
                watching.note_late(before, now);
                for pid in pids().into_iter().chain([std::process::id()]) {
                    watching.note_threads(pid, before, now, threads(pid));
                }
                before = now;
            }
        });
        stalls
    }

    fn note_late(&self, before: At, now: At) {
        let lasting = (now - before).saturating_sub(INTERVAL);
        self.0.lock().unwrap().late.push(Wait { from: before, to: now, lasting });
    }

    /// Notes how long each thread of a process has waited since it began.
    fn note_threads(&self, pid: u32, before: At, now: At, threads: Vec<(u32, Duration)>) {
        let mut readings = self.0.lock().unwrap();
        let known = readings.threads.entry(pid).or_default();
        for (id, total) in threads {
            let thread = known.entry(id).or_default();
            let lasting = total.saturating_sub(thread.total);
            if !lasting.is_zero() {
                // It is counted when it ends, so it may have begun before the last reading.
                let from = before.min(now.saturating_sub(lasting));
                thread.waits.push(Wait { from, to: now, lasting });
                thread.total = total;
            }
        }
    }

    /// At most how long a request at some time had to wait for a processor: in each process, as long as the thread that
    /// waited longest.
    pub fn between(&self, from: At, to: At) -> Duration {
        let readings = self.0.lock().unwrap();
        let waited = |threads: &HashMap<u32, Thread>| threads.values().map(|it| overlap(&it.waits, from, to)).max();
        let waited: Duration = readings.threads.values().filter_map(waited).sum();
        (waited + overlap(&readings.late, from, to)).min(to.saturating_sub(from))
    }
}

/// How much of the waiting was at some time. Waits are in the order of their ends.
fn overlap(waits: &[Wait], from: At, to: At) -> Duration {
    let first = waits.partition_point(|wait| wait.to <= from);
    // Later ones began later.
    let last = waits.partition_point(|wait| wait.to <= to + LONGEST);
    let common = |wait: &Wait| wait.to.min(to).saturating_sub(wait.from.max(from)).min(wait.lasting);
    waits[first..last].iter().map(common).sum()
}

/// How long each thread of a process has waited for a processor since it began.
fn threads(pid: u32) -> Vec<(u32, Duration)> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let wait = |thread: fs::DirEntry| {
        let numbers = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = numbers.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name().to_str()?.parse().ok()?, Duration::from_nanos(nanos)))
    };
    threads.filter_map(wait).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_waited_meanwhile_is_counted() {
        let (at, second) = (At::from_secs, Duration::from_secs(1));
        let stalls = Stalls::default();
        stalls.note_threads(1, at(0), at(2), vec![(10, second), (11, Duration::ZERO)]);
        stalls.note_threads(1, at(2), at(4), vec![(10, second), (11, 4 * second)]);
        assert_eq!(stalls.between(at(0), at(2)), 2 * second, "thread 11 waited since 0");
        assert_eq!(stalls.between(at(1), at(3)), 2 * second);
        assert_eq!(stalls.between(at(4), at(9)), Duration::ZERO);
        stalls.note_threads(2, at(4), at(6), vec![(20, second)]);
        assert_eq!(stalls.between(at(3), at(9)), 2 * second, "each process has its part");
        stalls.note_late(at(6), at(9));
        assert_eq!(stalls.between(at(6), at(9)), 3 * second - INTERVAL);
        assert!(threads(std::process::id()).len() > 1);
    }
}
