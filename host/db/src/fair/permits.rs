//! Permits to use one of several equal things, such as connections or processors.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::FairQueue;

/// Permits shared among tenants. A tenant gets one more as long as it holds fewer than are free: alone it holds half of
/// them, and a later tenant always finds some, since permits in use cannot be revoked. Among waiting tenants, the one
/// that holds the fewest is next; equals take turns.
#[derive(Clone, Debug)]
pub struct FairPermits(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified when all permits are back after [`FairPermits::close`].
    all_back: Notify,
}

#[derive(Debug)]
struct State {
    total: usize,
    free: usize,
    /// True if tenants leave some for others.
    is_shared: bool,
    held: HashMap<Uuid, usize>,
    waiting: FairQueue<oneshot::Sender<FairPermit>>,
    closed: bool,
}

/// A permit, held until it is dropped.
#[derive(Debug)]
pub struct FairPermit {
    tenant: Uuid,
    /// `None` once it is taken back.
    permits: Option<Arc<Shared>>,
}

impl FairPermits {
    /// Shared permits: tenants leave some for others.
    pub fn new(total: usize) -> Self {
        Self::with(total, true)
    }

    /// Permits in the order of requests, without shares.
    pub(crate) fn unshared(total: usize) -> Self {
        Self::with(total, false)
    }

    fn with(total: usize, is_shared: bool) -> Self {
        let total = total.max(1);
        let state =
            State { total, free: total, is_shared, held: HashMap::new(), waiting: FairQueue::default(), closed: false };
        Self(Arc::new(Shared { state: Mutex::new(state), all_back: Notify::new() }))
    }

    /// A permit, if the tenant need not wait for it.
    pub fn try_acquire(&self, tenant: Uuid) -> Option<FairPermit> {
        let mut state = self.0.state.lock();
        // A waiting tenant may have none now, so this overtakes no other.
        (!state.closed && state.may_hold_more(tenant)).then(|| {
            state.take(tenant);
            FairPermit::new(tenant, &self.0)
        })
    }

    /// Waits for a permit. `None` after [`FairPermits::close`].
    pub async fn acquire(&self, tenant: Uuid) -> Option<FairPermit> {
        let granted = {
            let mut state = self.0.state.lock();
            if state.closed {
                return None;
            }
            if state.may_hold_more(tenant) {
                state.take(tenant);
                return Some(FairPermit::new(tenant, &self.0));
            }
            let (grant, granted) = oneshot::channel();
            state.waiting.push(tenant, grant);
            granted
        };
        granted.await.ok()
    }

    /// Numbers of permits held, of all permits, and of waiting callers.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let state = self.0.state.lock();
        (state.total - state.free, state.total, state.waiting.len())
    }

    /// Grants permits to callers already waiting only, and waits until all are back.
    pub(crate) async fn close(&self) {
        self.0.state.lock().closed = true;
        loop {
            let back = self.0.all_back.notified();
            {
                let state = self.0.state.lock();
                if state.free == state.total && state.waiting.is_empty() {
                    return;
                }
            }
            back.await;
        }
    }
}

impl State {
    fn may_hold_more(&self, tenant: Uuid) -> bool {
        let held = if self.is_shared { self.held.get(&tenant).copied().unwrap_or(0) } else { 0 };
        held < self.free
    }

    fn take(&mut self, tenant: Uuid) {
        self.free -= 1;
        *self.held.entry(tenant).or_default() += 1;
    }

    fn give_back(&mut self, tenant: Uuid) {
        self.free += 1;
        if let Some(held) = self.held.get_mut(&tenant) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&tenant);
            }
        }
    }

    /// The waiting tenant that is next, if it may hold one more.
    fn next(&self) -> Option<Uuid> {
        let held = |tenant: &Uuid| self.held.get(tenant).copied().unwrap_or(0);
        // The first of equals.
        self.waiting.turns().min_by_key(held).filter(|tenant| self.may_hold_more(*tenant))
    }
}

impl Shared {
    /// Grants free permits to waiting callers.
    fn grant(self: &Arc<Self>, state: &mut State) {
        while let Some(tenant) = state.next() {
            let Some(waiter) = state.waiting.pop_of(tenant) else { return };
            state.take(tenant);
            if let Err(mut unwanted) = waiter.send(FairPermit::new(tenant, self)) {
                // Its `Drop` would lock the state once more.
                unwanted.permits = None;
                state.give_back(tenant);
            }
        }
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        let Some(permits) = self.permits.take() else { return };
        let mut state = permits.state.lock();
        state.give_back(self.tenant);
        permits.grant(&mut state);
        if state.closed && state.free == state.total {
            permits.all_back.notify_waiters();
        }
    }
}

impl FairPermit {
    fn new(tenant: Uuid, permits: &Arc<Shared>) -> Self {
        Self { tenant, permits: Some(Arc::clone(permits)) }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const A: Uuid = Uuid::from_u128(1);
    const B: Uuid = Uuid::from_u128(2);
    const C: Uuid = Uuid::from_u128(3);

    /// All permits that the tenant can acquire at once.
    fn all_of(permits: &FairPermits, tenant: Uuid) -> Vec<FairPermit> {
        std::iter::from_fn(|| permits.try_acquire(tenant)).collect()
    }

    #[test]
    fn a_tenant_leaves_as_many_as_it_holds() {
        for (total, shares) in [(1, [1, 0, 0]), (2, [1, 1, 0]), (4, [2, 1, 1]), (8, [4, 2, 1]), (20, [10, 5, 3])] {
            let permits = FairPermits::new(total);
            let held = [A, B, C].map(|tenant| all_of(&permits, tenant));
            assert_eq!(held.each_ref().map(Vec::len), shares, "of {total}");
            drop(held);
            assert_eq!(all_of(&permits, C).len(), shares[0]);
        }
        assert_eq!(all_of(&FairPermits::unshared(5), A).len(), 5);
    }

    #[test]
    fn holder_of_the_fewest_is_next_and_equals_take_turns() {
        let permits = FairPermits::new(4);
        let (mut of_a, of_b, of_c) = (all_of(&permits, A), all_of(&permits, B), all_of(&permits, C));
        let mut waiting: Vec<_> = [A, A, B, C].map(|tenant| (tenant, Box::pin(permits.acquire(tenant)))).into();
        let mut next = || {
            let position = waiting.iter_mut().position(|(_, waiter)| waiter.now_or_never().is_some());
            position.map(|position| waiting.remove(position).0)
        };
        assert_eq!(next(), None);
        // One is free and all hold one at least.
        of_a.pop();
        assert_eq!(next(), None);
        // Now A holds none.
        of_a.pop();
        assert_eq!(next(), Some(A));
        drop((of_b, of_c));
        assert!(next().is_some());
    }

    #[tokio::test]
    async fn permit_of_an_abandoned_wait_goes_to_the_next() {
        let permits = FairPermits::new(1);
        let held = permits.try_acquire(A).unwrap();
        let mut gone = Box::pin(permits.acquire(B));
        assert!(gone.as_mut().now_or_never().is_none());
        let mut next = Box::pin(permits.acquire(C));
        assert!(next.as_mut().now_or_never().is_none());
        drop(gone);
        drop(held);
        assert!(next.as_mut().now_or_never().flatten().is_some());
        // Granted, but never taken.
        let held = permits.acquire(A).await.unwrap();
        let mut granted = Box::pin(permits.acquire(B));
        assert!(granted.as_mut().now_or_never().is_none());
        drop(held);
        drop(granted);
        assert!(permits.try_acquire(C).is_some());
    }

    #[tokio::test]
    async fn closing_waits_for_all_and_then_grants_none() {
        let permits = FairPermits::new(2);
        let held = permits.try_acquire(A).unwrap();
        let mut closing = Box::pin(permits.close());
        assert!(closing.as_mut().now_or_never().is_none());
        assert!(permits.try_acquire(B).is_none());
        drop(held);
        assert!(closing.as_mut().now_or_never().is_some());
        assert!(permits.acquire(B).await.is_none());
    }
}
