//! The system's figures about this process.

use rustix::time::{ClockId, clock_gettime};

/// Bytes of memory; none if the system does not report it.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Open files; none if the system does not report them.
pub(super) fn open_files() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

/// Milliseconds of processor time.
pub(super) fn cpu_millis() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(u64::try_from(used.tv_nsec).unwrap_or(0) / 1_000_000)
}
