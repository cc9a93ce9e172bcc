//! The threads that calls run on.
//!
//! A call begins at the hub's own priority, unless its network is busy, and continues at background priority once it
//! has computed for longer than most do. A thread can't raise its priority again, so from then on it takes background
//! work only.

use crate::priority::{self, Priority};
use parking_lot::Mutex;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Time for which a thread without work stays.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason for a task without output.
pub(crate) const PANICKED: &str = "the task panicked";

type Task = Box<dyn FnOnce() + Send>;

/// A pool that grows with the number of concurrent tasks; its users bound them.
#[derive(Default)]
pub(crate) struct ThreadPool(Arc<Idle>);

/// Threads without work, by their priority. Last in, first out: its data is still in the CPU's caches.
#[derive(Default)]
struct Idle {
    normal: Mutex<Vec<IdleThread>>,
    background: Mutex<Vec<IdleThread>>,
}

type IdleThread = (ThreadId, SyncSender<Task>);

impl Idle {
    fn threads(&self, priority: Priority) -> &Mutex<Vec<IdleThread>> {
        match priority {
            Priority::Normal => &self.normal,
            Priority::Background => &self.background,
        }
    }
}

impl ThreadPool {
    /// Runs a task and returns its output; an error if it panicked or there is no thread for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        priority: Priority,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let (sender, output) = tokio::sync::oneshot::channel();
        let task = Box::new(move || {
            let _ = sender.send(task());
        });
        self.start(priority, task).map_err(|error| format!("there is no thread for it: {error}"))?;
        output.await.map_err(|_| PANICKED.into())
    }

    /// Runs a future to its end on a background thread, and drops it when its caller stops waiting.
    pub(crate) async fn run_background_async<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        let runtime = tokio::runtime::Handle::current();
        let (caller, dropped) = tokio::sync::oneshot::channel::<()>();
        let until_dropped = async move {
            tokio::select! {
                output = future => Some(output),
                _ = dropped => None,
            }
        };
        let output = self.run(Priority::Background, move || runtime.block_on(until_dropped)).await;
        drop(caller);
        output?.ok_or_else(|| "its caller has gone".into())
    }

    fn start(&self, priority: Priority, mut task: Task) -> io::Result<()> {
        loop {
            let Some((_, thread)) = self.0.threads(priority).lock().pop() else { break };
            match thread.send(task) {
                Ok(()) => return Ok(()),
                Err(refused) => task = refused.0,
            }
        }
        let idle = Arc::downgrade(&self.0);
        thread::Builder::new().name("module-call".into()).spawn(move || work(&idle, priority, task)).map(drop)
    }
}

/// One thread, from its first task to its end.
fn work(idle: &Weak<Idle>, priority: Priority, first: Task) {
    if priority == Priority::Background {
        priority::lower();
    }
    let mut next = Some(first);
    while let Some(task) = next {
        // The caller notices a panic by the missing answer; the panic hook logs it.
        let _ = catch_unwind(AssertUnwindSafe(task));
        next = wait_for_task(idle);
    }
}

fn wait_for_task(idle: &Weak<Idle>) -> Option<Task> {
    let (sender, tasks) = sync_channel(1);
    let (me, priority) = (thread::current().id(), Priority::current());
    idle.upgrade()?.threads(priority).lock().push((me, sender));
    if let Ok(task) = tasks.recv_timeout(IDLE_TIMEOUT) {
        return Some(task);
    }
    idle.upgrade()?.threads(priority).lock().retain(|(thread, _)| *thread != me);
    // One may have been sent just before.
    tasks.try_recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn thread_of(pool: &ThreadPool, priority: Priority, task: fn()) -> ThreadId {
        let task = move || {
            task();
            thread::current().id()
        };
        let thread = pool.run(priority, task).await.unwrap();
        // It waits for the next task only after the answer is out.
        while [Priority::Normal, Priority::Background]
            .iter()
            .all(|&priority| pool.0.threads(priority).lock().iter().all(|it| it.0 != thread))
        {
            thread::yield_now();
        }
        thread
    }

    #[tokio::test]
    async fn a_thread_is_used_again_and_once_lowered_for_background_tasks_only() {
        let pool = ThreadPool::default();
        let first = thread_of(&pool, Priority::Normal, || {}).await;
        assert_eq!(thread_of(&pool, Priority::Normal, priority::lower).await, first);
        let second = thread_of(&pool, Priority::Normal, || {}).await;
        assert_ne!(second, first);
        assert_eq!(thread_of(&pool, Priority::Background, || {}).await, first);
        assert_eq!(thread_of(&pool, Priority::Normal, || {}).await, second);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_pool_goes_on() {
        let pool = ThreadPool::default();
        assert!(pool.run(Priority::Normal, || panic!("on purpose")).await.is_err());
        assert_eq!(pool.run(Priority::Normal, || 1).await, Ok(1));
    }
}
