//! Time that this machine kept processes waiting for a processor, which is no fault of a hub: waits of runnable
//! threads, counted by Linux, and moments in which nothing ran.

use std::collections::HashMap;
use std::fs;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::client::{At, Recorder};

const INTERVAL: Duration = Duration::from_millis(200);
/// Maximum wait of a thread.
const LONGEST: Duration = Duration::from_mins(1);

/// Some waiting between two times.
#[derive(Clone, Copy)]
struct Wait {
    from: At,
    to: At,
    lasting: Duration,
}

/// Last reading of one thread.
#[derive(Default)]
struct Thread {
    /// Total wait since it began.
    total: Duration,
    waits: Vec<Wait>,
}

#[derive(Default)]
struct Readings {
    threads: HashMap<u32, HashMap<u32, Thread>>,
    /// Delays of the readings themselves.
    late: Vec<Wait>,
}

/// Readings since the start.
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

    /// Records the total wait of each thread of a process.
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

    /// Maximum delay of a request by the machine between two times: in each second, the wait of the longest-waiting
    /// thread. Only one thread at a time works for the request.
    pub fn between(&self, from: At, to: At) -> Duration {
        let readings = self.0.lock().unwrap();
        let second = Duration::from_secs(1);
        let mut total = Duration::ZERO;
        let mut begin = from;
        while begin < to {
            let end = to.min(begin + second);
            let waits = readings.threads.values().flat_map(HashMap::values).map(|thread| &thread.waits);
            let longest = waits.chain([&readings.late]).map(|waits| overlap(waits, begin, end)).max();
            // Waits are counted from their earliest possible start, so those of one thread may overlap.
            total += longest.unwrap_or_default().min(end - begin);
            begin = end;
        }
        total
    }

    /// Waits for a future for at most `limit`, plus delays caused by the machine.
    pub async fn at_most<T>(&self, limit: Duration, recorder: &Recorder, work: impl Future<Output = T>) -> Option<T> {
        let began = recorder.now();
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(Duration::from_secs(1).min(limit), &mut work).await {
                return Some(done);
            }
            let now = recorder.now();
            if now - began - self.between(began, now) >= limit || now - began >= 5 * limit {
                return None;
            }
        }
    }
}

/// Part of the waiting that fell between two times, if it was even. Waits are in the order of their ends.
fn overlap(waits: &[Wait], from: At, to: At) -> Duration {
    let first = waits.partition_point(|wait| wait.to <= from);
    // Later ones began later.
    let last = waits.partition_point(|wait| wait.to <= to + LONGEST);
    let part = |wait: &Wait| {
        let common = wait.to.min(to).saturating_sub(wait.from.max(from));
        wait.lasting.mul_f64(common.as_secs_f64() / (wait.to - wait.from).as_secs_f64()).min(common)
    };
    waits[first..last].iter().filter(|wait| wait.from < wait.to).map(part).sum()
}

/// Total wait of each thread of a process for a processor since it began.
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
    fn waits_of_threads_are_counted_by_overlap() {
        let (at, second) = (At::from_secs, Duration::from_secs(1));
        let stalls = Stalls::default();
        stalls.note_threads(1, at(0), at(2), vec![(10, second), (11, Duration::ZERO)]);
        stalls.note_threads(1, at(2), at(4), vec![(10, second), (11, 4 * second)]);
        assert_eq!(stalls.between(at(0), at(2)), 2 * second, "thread 11 waited since 0");
        assert_eq!(stalls.between(at(1), at(3)), 2 * second);
        assert_eq!(stalls.between(at(4), at(9)), Duration::ZERO);
        stalls.note_threads(2, at(4), at(6), vec![(20, second)]);
        assert_eq!(stalls.between(at(3), at(9)), 2 * second, "one after the other");
        stalls.note_threads(3, at(4), at(6), vec![(30, 2 * second)]);
        assert_eq!(stalls.between(at(3), at(9)), 3 * second, "the longer one of two at once");
        stalls.note_late(at(6), at(9));
        stalls.note_threads(4, at(20), at(21), vec![(40, 4 * second)]);
        stalls.note_threads(4, at(21), at(22), vec![(40, 8 * second)]);
        assert_eq!(stalls.between(at(18), at(21)), 3 * second, "no more than there was time");
        let late = stalls.between(at(6), at(9));
        assert!(late.abs_diff(3 * second - INTERVAL) < Duration::from_millis(1), "{late:?}");
        assert!(threads(std::process::id()).len() > 1);
    }
}
