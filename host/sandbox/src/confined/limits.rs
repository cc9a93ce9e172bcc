//! Limits of a process.

use rlimit::Resource;
use serde::{Deserialize, Serialize};
use std::{fs, io};

/// Limits that a process sets itself for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Processor time over all threads, in seconds.
    pub cpu_seconds: u64,
}

impl ProcessLimits {
    /// The same, with the memory beyond the address space that this process has taken so far.
    ///
    /// # Errors
    /// The system does not tell how much that is.
    pub fn beyond_current_use(self) -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let size = status
            .lines()
            .find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix("kB")?.trim().parse().ok());
        let kibibytes: u64 = size.ok_or_else(|| io::Error::other("/proc/self/status has no size"))?;
        Ok(Self { memory_bytes: self.memory_bytes.saturating_add(kibibytes << 10), ..self })
    }

    /// Sets the limits. No file can be written either.
    ///
    /// # Errors
    /// A limit can't be set.
    pub fn set(self) -> io::Result<()> {
        let Self { memory_bytes, cpu_seconds } = self;
        Resource::AS.set(memory_bytes, memory_bytes)?;
        // The signal of the soft limit names the reason; the hard one follows if that did not end it.
        Resource::CPU.set(cpu_seconds, cpu_seconds.saturating_add(1))?;
        Resource::CORE.set(0, 0)?;
        Resource::FSIZE.set(0, 0)
    }
}
