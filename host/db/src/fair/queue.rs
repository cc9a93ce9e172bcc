//! A queue in which tenants take turns.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

/// First in, first out for each tenant; tenants take turns, one item each. So an item waits for its own tenant's
/// earlier items, and for at most as many of any other tenant's.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    /// None of them is empty.
    by_tenant: HashMap<Uuid, VecDeque<T>>,
    /// Tenants in the order of their turns: each tenant in `by_tenant` once.
    turns: VecDeque<Uuid>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { by_tenant: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<T> FairQueue<T> {
    pub(crate) fn push(&mut self, tenant: Uuid, item: T) {
        let items = self.by_tenant.entry(tenant).or_default();
        if items.is_empty() {
            self.turns.push_back(tenant);
        }
        items.push_back(item);
    }

    /// Number of a tenant's queued items.
    pub(crate) fn len_of(&self, tenant: Uuid) -> usize {
        self.by_tenant.get(&tenant).map_or(0, VecDeque::len)
    }

    /// Number of queued items of all tenants.
    pub(crate) fn len(&self) -> usize {
        self.by_tenant.values().map(VecDeque::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Tenants with queued items, in the order of their turns.
    pub(crate) fn turns(&self) -> impl Iterator<Item = Uuid> {
        self.turns.iter().copied()
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let tenant = self.turns.pop_front()?;
        self.take_first(tenant)
    }

    /// Takes the next item of a tenant, regardless of turns.
    pub(crate) fn pop_of(&mut self, tenant: Uuid) -> Option<T> {
        let position = self.turns.iter().position(|it| *it == tenant)?;
        self.turns.remove(position);
        self.take_first(tenant)
    }

    /// Takes the first item of a tenant that is not in `turns`, and puts it at their end if it has more.
    fn take_first(&mut self, tenant: Uuid) -> Option<T> {
        let items = self.by_tenant.get_mut(&tenant)?;
        let item = items.pop_front();
        if items.is_empty() {
            self.by_tenant.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Uuid = Uuid::from_u128(1);
    const B: Uuid = Uuid::from_u128(2);
    const C: Uuid = Uuid::from_u128(3);

    #[test]
    fn tenants_take_turns_and_keep_their_own_order() {
        let mut queue = FairQueue::default();
        for (tenant, item) in [(A, 1), (A, 2), (A, 3), (B, 10), (A, 4), (B, 11), (C, 20)] {
            queue.push(tenant, item);
        }
        assert_eq!(queue.len_of(A), 4);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [1, 10, 20, 2, 11, 3, 4]);
        assert!(queue.is_empty() && queue.len_of(A) == 0);
    }

    #[test]
    fn last_tenant_waits_for_one_item_of_each_other() {
        let mut queue = FairQueue::default();
        (0..1_000).for_each(|item| queue.push(A, item));
        assert_eq!(queue.pop(), Some(0));
        queue.push(B, -1);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(-1), Some(2)]);
    }

    #[test]
    fn an_item_taken_out_of_turn_costs_the_turn() {
        let mut queue = FairQueue::default();
        for (tenant, item) in [(A, 1), (A, 2), (B, 10), (B, 11)] {
            queue.push(tenant, item);
        }
        assert_eq!(queue.pop_of(B), Some(10));
        assert_eq!(queue.turns().collect::<Vec<_>>(), [A, B]);
        assert_eq!([queue.pop_of(C), queue.pop(), queue.pop(), queue.pop()], [None, Some(1), Some(11), Some(2)]);
    }
}
