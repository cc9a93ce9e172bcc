//! The kernel's word on its clock.

/// True if a time service (NTP, PTP) keeps the machine's clock: a source of time of its own.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "no safe function reads this")]
pub(super) fn is_synchronised() -> bool {
    // SAFETY: all fields are integers; `modes` 0 changes nothing.
    let (state, timex) = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut timex), timex)
    };
    (0..libc::TIME_ERROR).contains(&state) && timex.status & libc::STA_UNSYNC == 0
}

/// Other systems have no such word.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_synchronised() -> bool {
    false
}
