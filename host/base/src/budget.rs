//! Work that the hub does for one network, weighed before it is done.
//!
//! A reader of somebody else's file gets its input and its output through a budget, so that there is no way to read
//! without drawing from it. Whatever a file makes the hub expand is multiplied out and drawn before it is made.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::values::NetworkId;

/// Number of draws between two looks at the clock, which cost a system call each.
const DRAWS_PER_CHECK: u32 = 64;

/// Amounts that one piece of work may take.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Bytes read, after unpacking, and bytes made of them.
    pub bytes: u64,
    /// Records, rows and parts.
    pub steps: u64,
    /// Bytes kept until the work ends.
    pub memory: u64,
    /// Processor time of the thread.
    pub time: Duration,
}

/// Reason for ending the work early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// It was cancelled, or the hub stops.
    Cancelled,
    Bytes(u64),
    Steps(u64),
    Memory(u64),
    Time(Duration),
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("it was cancelled"),
            Self::Bytes(most) => write!(f, "it unpacks to more than {} MiB", most >> 20),
            Self::Steps(most) => write!(f, "it has more than {most} parts"),
            Self::Memory(most) => write!(f, "reading it takes more than {} MiB of memory", most >> 20),
            Self::Time(most) => write!(f, "reading it takes more than {} s of processor time", most.as_secs()),
        }
    }
}

impl std::error::Error for Exhausted {}

/// Ends the work that draws from the budgets made with it.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Budget of one network's work on one thread.
#[derive(Debug)]
pub struct Budget {
    network: NetworkId,
    allowance: Allowance,
    bytes: Cell<u64>,
    steps: Cell<u64>,
    memory: Cell<u64>,
    /// Processor time of the thread at the beginning.
    began: Duration,
    until_check: Cell<u32>,
    cancel: CancelFlag,
}

impl Budget {
    /// Begins on the thread that does the work.
    pub fn begin(network: NetworkId, allowance: Allowance, cancel: CancelFlag) -> Self {
        Self {
            network,
            allowance,
            bytes: Cell::new(allowance.bytes),
            steps: Cell::new(allowance.steps),
            memory: Cell::new(allowance.memory),
            began: thread_time(),
            until_check: Cell::new(0),
            cancel,
        }
    }

    /// Network that the work is for.
    pub fn network(&self) -> NetworkId {
        self.network
    }

    /// Draws bytes that are about to be read or made.
    pub fn bytes(&self, count: u64) -> Result<(), Exhausted> {
        self.check()?;
        draw(&self.bytes, count).ok_or(Exhausted::Bytes(self.allowance.bytes))
    }

    /// Draws `count` texts of `length` bytes that are about to be made.
    pub fn product(&self, count: usize, length: usize) -> Result<(), Exhausted> {
        let bytes = (count as u64).checked_mul(length as u64).ok_or(Exhausted::Bytes(self.allowance.bytes))?;
        self.bytes(bytes)
    }

    /// Draws records or parts that are about to be read.
    pub fn steps(&self, count: u64) -> Result<(), Exhausted> {
        self.check()?;
        draw(&self.steps, count).ok_or(Exhausted::Steps(self.allowance.steps))
    }

    /// Draws memory that stays in use until the work ends.
    pub fn memory(&self, bytes: usize) -> Result<(), Exhausted> {
        draw(&self.memory, bytes as u64).ok_or(Exhausted::Memory(self.allowance.memory))
    }

    fn check(&self) -> Result<(), Exhausted> {
        if self.cancel.is_cancelled() {
            return Err(Exhausted::Cancelled);
        }
        let Some(left) = self.until_check.get().checked_sub(1) else {
            self.until_check.set(DRAWS_PER_CHECK);
            let spent = thread_time().saturating_sub(self.began);
            return if spent > self.allowance.time { Err(Exhausted::Time(self.allowance.time)) } else { Ok(()) };
        };
        self.until_check.set(left);
        Ok(())
    }
}

fn draw(from: &Cell<u64>, count: u64) -> Option<()> {
    from.set(from.get().checked_sub(count)?);
    Some(())
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::OPERATOR_NETWORK;

    const SMALL: Allowance = Allowance { bytes: 100, steps: 2, memory: 10, time: Duration::from_secs(3600) };

    #[test]
    fn every_amount_ends() {
        let budget = Budget::begin(OPERATOR_NETWORK, SMALL, CancelFlag::default());
        assert_eq!(budget.bytes(60), Ok(()));
        assert_eq!(budget.product(41, 1), Err(Exhausted::Bytes(100)), "what is refused is not drawn");
        assert_eq!(budget.product(20, 2), Ok(()));
        assert_eq!(budget.product(usize::MAX, usize::MAX), Err(Exhausted::Bytes(100)));
        assert_eq!((budget.steps(2), budget.steps(1)), (Ok(()), Err(Exhausted::Steps(2))));
        assert_eq!((budget.memory(10), budget.memory(1)), (Ok(()), Err(Exhausted::Memory(10))));
    }

    #[test]
    fn a_cancelled_budget_gives_nothing() {
        let flag = CancelFlag::default();
        let budget = Budget::begin(OPERATOR_NETWORK, SMALL, flag.clone());
        flag.cancel();
        assert_eq!((budget.bytes(0), budget.steps(0)), (Err(Exhausted::Cancelled), Err(Exhausted::Cancelled)));
    }

    #[test]
    fn processor_time_ends() {
        let allowance = Allowance { bytes: u64::MAX, time: Duration::from_millis(20), ..SMALL };
        let budget = Budget::begin(OPERATOR_NETWORK, allowance, CancelFlag::default());
        let exhausted = std::iter::repeat_with(|| budget.bytes(1)).find_map(Result::err);
        assert_eq!(exhausted, Some(Exhausted::Time(allowance.time)));
    }
}
