//! Budget of the work that the hub does for a network behind its requests: jobs, passes over all networks, and tasks
//! that serve one. Their runners make it, so that none of them starts without.
//!
//! Such work may go on for hours as long as each of its steps is small: a step ends where the work waits, and one
//! statement reads only so much.

use std::fmt;
use std::task::Poll;
use std::time::Duration;

use hub_db::with_tenant_reading;
use rustix::time::ClockId;

use crate::budget::{Allowance, processor_time};
use crate::compute::TURN;
use crate::values::NetworkId;

/// Amounts that one step may take: a turn to compute, and what surrounds it.
const STEP: Allowance = Allowance { time: TURN.time.saturating_mul(2), ..TURN };

/// Reason for ending the work early: one of its steps took more processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget(Duration);

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a step of it takes more than {} s of processor time", self.0.as_secs())
    }
}

impl std::error::Error for OverBudget {}

/// Does `work` as a network's, within the budget of each of its steps. After a step over its budget the rest of the work
/// is dropped; a statement over it [fails](hub_db::Error::TooLarge).
pub fn within_steps<T>(
    network: NetworkId,
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, OverBudget>> {
    within(STEP, network, work)
}

fn within<T>(
    step: Allowance,
    network: NetworkId,
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, OverBudget>> {
    // Large, and held by several futures around it.
    let mut work = Box::pin(work);
    let steps = std::future::poll_fn(move |context| {
        let began = processor_time(ClockId::ThreadCPUTime);
        let polled = work.as_mut().poll(context);
        let took = processor_time(ClockId::ThreadCPUTime).saturating_sub(began);
        match polled {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending if took > step.time => Poll::Ready(Err(OverBudget(step.time))),
            Poll::Pending => Poll::Pending,
        }
    });
    with_tenant_reading(network.0, step.memory, steps)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use hub_db::current_tenant;
    use tokio::task::yield_now;
    use uuid::Uuid;

    use super::*;

    const NETWORK: NetworkId = NetworkId(Uuid::from_u128(1));
    const SMALL: Allowance = Allowance { time: Duration::from_millis(20), ..STEP };

    /// Computes for so long by the clock of this thread.
    fn compute_for(time: Duration) {
        let began = processor_time(ClockId::ThreadCPUTime);
        while processor_time(ClockId::ThreadCPUTime).saturating_sub(began) < time {
            black_box(());
        }
    }

    #[tokio::test]
    async fn a_long_step_ends_the_work_and_many_short_ones_do_not() {
        let mut steps = 0;
        let many = within(SMALL, NETWORK, async {
            for _ in 0..10 {
                compute_for(SMALL.time / 4);
                yield_now().await;
            }
            current_tenant()
        });
        assert_eq!(many.await, Ok(NETWORK.0));
        let long = within(SMALL, NETWORK, async {
            for _ in 0..10 {
                steps += 1;
                compute_for(SMALL.time * 2);
                yield_now().await;
            }
        });
        assert_eq!(long.await, Err(OverBudget(SMALL.time)));
        assert_eq!(steps, 1);
        let done = within(SMALL, NETWORK, async { compute_for(SMALL.time * 2) });
        assert_eq!(done.await, Ok(()), "its work is done");
    }
}
