//! Work on what others wrote, weighed before it is done.
//!
//! A reader of somebody else's file gets its input and its output through a budget, and a renderer its text through
//! that of its turn to compute, so that there is no way to read or make without drawing from it. Whatever a file or a
//! template makes the hub expand is multiplied out and drawn before it is made.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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
    /// Processor time: of the process that reads a file, or of the thread that has a turn.
    pub time: Duration,
}

/// Reason for ending the work early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    Bytes(u64),
    Steps(u64),
    Memory(u64),
    Time(Duration),
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(most) => write!(f, "it unpacks to more than {} MiB", most >> 20),
            Self::Steps(most) => write!(f, "it has more than {most} parts"),
            Self::Memory(most) => write!(f, "reading it takes more than {} MiB of memory", most >> 20),
            Self::Time(most) => write!(f, "reading it takes more than {} s of processor time", most.as_secs()),
        }
    }
}

impl std::error::Error for Exhausted {}

/// Budget of one piece of work.
#[derive(Debug)]
pub struct Budget {
    allowance: Allowance,
    bytes: Cell<u64>,
    steps: Cell<u64>,
    memory: Cell<u64>,
    clock: ClockId,
    /// Processor time at the beginning.
    began: Duration,
    until_check: Cell<u32>,
}

impl Budget {
    /// Begins the work of this process.
    pub fn begin(allowance: Allowance) -> Self {
        Self::begin_by(ClockId::ProcessCPUTime, allowance)
    }

    /// Begins work of this thread, which does nothing else until it ends.
    pub fn begin_on_thread(allowance: Allowance) -> Self {
        Self::begin_by(ClockId::ThreadCPUTime, allowance)
    }

    fn begin_by(clock: ClockId, allowance: Allowance) -> Self {
        Self {
            allowance,
            bytes: Cell::new(allowance.bytes),
            steps: Cell::new(allowance.steps),
            memory: Cell::new(allowance.memory),
            clock,
            began: processor_time(clock),
            until_check: Cell::new(0),
        }
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
        let Some(left) = self.until_check.get().checked_sub(1) else {
            self.until_check.set(DRAWS_PER_CHECK);
            let spent = processor_time(self.clock).saturating_sub(self.began);
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

pub(crate) fn processor_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Allowance = Allowance { bytes: 100, steps: 2, memory: 10, time: Duration::from_secs(3600) };

    #[test]
    fn every_amount_ends() {
        let budget = Budget::begin(SMALL);
        assert_eq!(budget.bytes(60), Ok(()));
        assert_eq!(budget.product(41, 1), Err(Exhausted::Bytes(100)), "what is refused is not drawn");
        assert_eq!(budget.product(20, 2), Ok(()));
        assert_eq!(budget.product(usize::MAX, usize::MAX), Err(Exhausted::Bytes(100)));
        assert_eq!((budget.steps(2), budget.steps(1)), (Ok(()), Err(Exhausted::Steps(2))));
        assert_eq!((budget.memory(10), budget.memory(1)), (Ok(()), Err(Exhausted::Memory(10))));
    }

    #[test]
    fn processor_time_ends() {
        let allowance = Allowance { bytes: u64::MAX, time: Duration::from_millis(20), ..SMALL };
        for budget in [Budget::begin(allowance), Budget::begin_on_thread(allowance)] {
            let exhausted = std::iter::repeat_with(|| budget.bytes(1)).find_map(Result::err);
            assert_eq!(exhausted, Some(Exhausted::Time(allowance.time)));
        }
    }
}
