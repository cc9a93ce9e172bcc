//! Confinement of a child before it reads untrusted bytes: files, the network, other processes.
//!
//! Two layers, each sufficient for files and TCP: Landlock, which knows objects, and an allowlist of the system calls
//! that computing needs. All others fail like on a kernel that lacks them, so that libraries take their fallbacks.

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};
use libc::{c_long, c_ulong};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Once;

/// Newest version of Landlock whose rights are all listed here; older kernels enforce those they know.
const LANDLOCK: ABI = ABI::V6;
/// Names memory areas for debuggers.
const PR_SET_VMA: c_ulong = 0x5356_4d41;

/// System calls that computing needs, with any arguments: memory, threads that run, and files that are open.
const ALLOWED: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Confinement of a child, beside seccomp and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// True if Landlock is enforced.
    pub landlock: bool,
}

impl Confinement {
    /// Logs once which confinement the kernel lacks.
    pub fn warn_once(self) {
        static WARNED: Once = Once::new();
        if !self.landlock {
            WARNED.call_once(|| {
                tracing::warn!(
                    "this kernel has no Landlock: the hub's child processes are confined by seccomp and limits alone"
                );
            });
        }
    }
}

/// Denies this thread, and those it starts, all files but one to read, TCP ports, and signals and abstract sockets of
/// other processes.
///
/// # Errors
/// The kernel has Landlock and refuses the rules.
pub fn restrict_objects(readable: Option<&File>) -> io::Result<Confinement> {
    let restrict = || -> Result<_, RulesetError> {
        let mut ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?;
        if let Some(file) = readable {
            ruleset = ruleset.add_rule(PathBeneath::new(file, AccessFs::ReadFile))?;
        }
        ruleset.restrict_self()
    };
    let status = restrict().map_err(io::Error::other)?;
    Ok(Confinement { landlock: status.ruleset != RulesetStatus::NotEnforced })
}

/// Restricts all threads of this process, and those they start, to the system calls that computing needs.
///
/// # Errors
/// The kernel refuses the filter.
pub fn restrict_system_calls() -> io::Result<()> {
    let apply = || -> Result<(), Box<dyn std::error::Error>> {
        seccompiler::apply_filter_all_threads(&filter()?)?;
        Ok(())
    };
    apply().map_err(|error| io::Error::other(format!("the process can't be confined by seccomp: {error}")))
}

fn filter() -> Result<BpfProgram, Box<dyn std::error::Error>> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = ALLOWED.iter().map(|&call| (call, vec![])).collect();
    let own_process = u64::from(std::process::id());
    let (eq, threads) = (SeccompCmpOp::Eq, libc::CLONE_THREAD as u64);
    for (call, argument, compare, value) in [
        // Threads and no processes. `clone3` hides its flags in memory and is missing, so that `clone` is used.
        (libc::SYS_clone, 0, SeccompCmpOp::MaskedEq(threads), threads),
        (libc::SYS_prctl, 0, eq.clone(), libc::PR_SET_NAME as u64),
        (libc::SYS_prctl, 0, eq.clone(), PR_SET_VMA),
        // Its own limits, which it can only lower, and signals to itself as `abort` sends them.
        (libc::SYS_prlimit64, 0, eq.clone(), 0),
        (libc::SYS_tgkill, 0, eq, own_process),
    ] {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, compare, value)?;
        rules.entry(call).or_default().push(SeccompRule::new(vec![condition])?);
    }
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, missing, SeccompAction::Allow, architecture)?;
    Ok(BpfProgram::try_from(filter)?)
}
