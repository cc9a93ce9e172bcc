//! The queue in front of the writer, in which tenants take turns.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

use super::job::Job;
use crate::{Error, fair::FairQueue};

/// Maximum number of a tenant's queued jobs; further ones are refused. At the rate of a slow disk they wait for seconds
/// already.
const MAX_QUEUED: usize = 4_096;

/// State shared by the sender and the receiver.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when there is a job, or no more will come.
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Jobs ahead of all tenants'.
    reserved: VecDeque<Job>,
    jobs: FairQueue<Job>,
    /// True if no more jobs are accepted.
    closed: bool,
}

/// The callers' end.
pub(super) struct Sender(Arc<Shared>);

/// The writer's end. When dropped, it closes the queue and drops its jobs, which notifies their callers.
pub(super) struct Receiver(Arc<Shared>);

/// Queue of a job.
#[derive(Clone, Copy, Debug)]
pub(super) enum WriterQueue {
    /// A tenant's queue.
    Tenant(Uuid),
    /// Queue that never waits behind a tenant's.
    Reserved,
}

pub(super) fn channel() -> (Sender, Receiver) {
    let shared = Arc::new(Shared::default());
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// A start that fails leaves no writer behind.
impl Drop for Sender {
    fn drop(&mut self) {
        self.close();
    }
}

impl Sender {
    pub(super) fn send(&self, queue: WriterQueue, job: Job) -> Result<(), Error> {
        let mut state = self.0.state.lock();
        if state.closed {
            return Err(Error::Closed);
        }
        match queue {
            WriterQueue::Reserved => state.reserved.push_back(job),
            WriterQueue::Tenant(tenant) if state.jobs.len_of(tenant) >= MAX_QUEUED => return Err(Error::Busy),
            WriterQueue::Tenant(tenant) => state.jobs.push(tenant, job),
        }
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }

    /// Accepts no more jobs; queued ones are still done.
    pub(super) fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.changed.notify_one();
    }

    /// Number of queued jobs.
    pub(super) fn len(&self) -> usize {
        let state = self.0.state.lock();
        state.reserved.len() + state.jobs.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.state.lock().closed
    }
}

impl Receiver {
    /// The next job; `None` once the queue is closed and empty.
    pub(super) async fn recv(&mut self) -> Option<Job> {
        loop {
            {
                let mut state = self.0.state.lock();
                if let Some(job) = state.next() {
                    return Some(job);
                }
                if state.closed {
                    return None;
                }
            }
            self.0.changed.notified().await;
        }
    }

    /// The next job, if one is queued.
    pub(super) fn try_recv(&mut self) -> Option<Job> {
        self.0.state.lock().next()
    }
}

impl State {
    fn next(&mut self) -> Option<Job> {
        self.reserved.pop_front().or_else(|| self.jobs.pop())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let jobs = {
            let mut state = self.0.state.lock();
            state.closed = true;
            (std::mem::take(&mut state.reserved), std::mem::take(&mut state.jobs))
        };
        drop(jobs);
    }
}
