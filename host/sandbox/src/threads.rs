//! The threads that calls run on.
//!
//! A call begins at the priority of the hub itself, where its network has not been busy. One that computes for longer
//! than most goes on at the lowest there is: it gets what nobody else wants, and makes way at once. A thread may not
//! raise its own priority again, so from then on it runs only what begins at the lowest.

use crate::priority;
use parking_lot::Mutex;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How long a thread without work stays.
const STAYS: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// How a job begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As the hub itself runs.
    Normal,
    /// Behind everything else.
    GivesWay,
}

/// A pool that grows with the jobs there are at once; whoever uses it bounds them.
#[derive(Default)]
pub(crate) struct Threads(Arc<Pool>);

#[derive(Default)]
struct Pool {
    normal: Idle,
    give_way: Idle,
}

/// Threads without work. The last to come is the first to go: what it needs is still in the CPU's caches.
type Idle = Mutex<Vec<(ThreadId, SyncSender<Job>)>>;

impl Pool {
    fn idle(&self, pace: Pace) -> &Idle {
        match pace {
            Pace::Normal => &self.normal,
            Pace::GivesWay => &self.give_way,
        }
    }
}

thread_local! {
    static PACE: Cell<Pace> = const { Cell::new(Pace::Normal) };
}

/// Makes this thread give way to everything else from now on.
pub(crate) fn give_way() {
    if PACE.replace(Pace::GivesWay) == Pace::Normal {
        priority::idle();
    }
}

/// Whether this thread does.
pub(crate) fn gives_way() -> bool {
    PACE.get() == Pace::GivesWay
}

impl Threads {
    /// Runs a job and gives what it returns; an error where it panicked or there is no thread for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        pace: Pace,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let job = Box::new(move || {
            let _ = answer.send(job());
        });
        self.start(pace, job).map_err(|error| format!("there is no thread for it: {error}"))?;
        answered.await.map_err(|_| "the host panicked".into())
    }

    /// Runs a future to its end on a thread, and drops it where its caller does not wait any more.
    pub(crate) async fn run_async<T: Send + 'static>(
        &self,
        pace: Pace,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        let runtime = tokio::runtime::Handle::current();
        let (waits, gone) = tokio::sync::oneshot::channel::<()>();
        let until_gone = async move {
            tokio::select! {
                outcome = work => Some(outcome),
                _ = gone => None,
            }
        };
        let outcome = self.run(pace, move || runtime.block_on(until_gone)).await;
        drop(waits);
        outcome?.ok_or_else(|| "nobody waits for it".into())
    }

    fn start(&self, pace: Pace, mut job: Job) -> io::Result<()> {
        loop {
            let Some((_, thread)) = self.0.idle(pace).lock().pop() else { break };
            match thread.send(job) {
                Ok(()) => return Ok(()),
                Err(refused) => job = refused.0,
            }
        }
        let pool = Arc::downgrade(&self.0);
        thread::Builder::new().name("module-call".into()).spawn(move || work(&pool, pace, job)).map(drop)
    }
}

/// One thread, from its first job to its end.
fn work(pool: &Weak<Pool>, pace: Pace, first: Job) {
    if pace == Pace::GivesWay {
        give_way();
    }
    let mut next = Some(first);
    while let Some(job) = next {
        // Its caller learns of a panic by getting no answer; the panic hook has told the operator.
        let _ = catch_unwind(AssertUnwindSafe(job));
        next = wait(pool);
    }
}

/// Waits for the next job, for a while.
fn wait(pool: &Weak<Pool>) -> Option<Job> {
    let (sender, jobs) = sync_channel(1);
    let (me, pace) = (thread::current().id(), PACE.get());
    pool.upgrade()?.idle(pace).lock().push((me, sender));
    if let Ok(job) = jobs.recv_timeout(STAYS) {
        return Some(job);
    }
    pool.upgrade()?.idle(pace).lock().retain(|(thread, _)| *thread != me);
    // One may have been sent just before.
    jobs.try_recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn thread_of(threads: &Threads, pace: Pace, job: fn()) -> ThreadId {
        let ran = move || {
            job();
            thread::current().id()
        };
        let thread = threads.run(pace, ran).await.unwrap();
        // It waits for the next job only after the answer is out.
        while [Pace::Normal, Pace::GivesWay]
            .iter()
            .all(|&pace| threads.0.idle(pace).lock().iter().all(|it| it.0 != thread))
        {
            thread::yield_now();
        }
        thread
    }

    #[tokio::test]
    async fn a_thread_is_used_again_and_only_for_what_gives_way_once_it_did() {
        let threads = Threads::default();
        let first = thread_of(&threads, Pace::Normal, || {}).await;
        assert_eq!(thread_of(&threads, Pace::Normal, give_way).await, first);
        let second = thread_of(&threads, Pace::Normal, || {}).await;
        assert_ne!(second, first);
        assert_eq!(thread_of(&threads, Pace::GivesWay, || {}).await, first);
        assert_eq!(thread_of(&threads, Pace::Normal, || {}).await, second);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_pool_goes_on() {
        let threads = Threads::default();
        assert!(threads.run(Pace::Normal, || panic!("on purpose")).await.is_err());
        assert_eq!(threads.run(Pace::Normal, || 1).await, Ok(1));
    }
}
