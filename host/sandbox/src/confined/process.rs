//! The hub's side of a child process.

use crate::priority;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};

/// Signals that the kernel sends to a child over its limits.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
/// Maximum bytes of a child's standard error that are kept.
const STDERR_BYTES: u64 = 4096;

/// Command that has the hub's executable do one task in a child, which is killed when its handle is dropped.
pub fn command(program: &Path, task: &str) -> Command {
    let mut command = Command::new(program);
    command
        .arg0("hub")
        .arg(task)
        // The hub's environment may hold secrets.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts a child from a nice thread, so that it is nice from its first instruction: loading a large program takes
/// milliseconds.
///
/// # Errors
/// The system refuses a thread or a process.
pub async fn start(mut command: Command) -> io::Result<Child> {
    let runtime = tokio::runtime::Handle::current();
    let (started, starting) = tokio::sync::oneshot::channel();
    let start = move || {
        let _within = runtime.enter();
        priority::set_nice();
        let child = command.spawn();
        // It holds the child's ends of pipes.
        drop(command);
        let _ = started.send(child);
    };
    std::thread::Builder::new().name("child-starter".into()).spawn(start)?;
    starting.await.map_err(io::Error::other)?
}

/// Beginning of a child's standard error. All of it is read, so that the child never blocks on it.
pub async fn read_errors(stderr: ChildStderr) -> Vec<u8> {
    let mut beginning = Vec::new();
    let mut head = stderr.take(STDERR_BYTES);
    let _ = head.read_to_end(&mut beginning).await;
    let _ = tokio::io::copy(&mut head.into_inner(), &mut tokio::io::sink()).await;
    beginning
}

/// Reason for the end of a child that gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildFailure {
    /// It took more than its processor time, or the system killed it.
    CpuTime,
    /// It took more than its memory.
    Memory,
    /// It crashed or failed, with its status and what it wrote to its standard error.
    Other(String),
}

impl ChildFailure {
    /// Reason by a child's exit status and its standard error.
    pub fn new(status: ExitStatus, errors: &[u8]) -> Self {
        let errors = String::from_utf8_lossy(errors);
        let errors = errors.trim();
        match status.signal() {
            Some(SIGXCPU | SIGKILL) => Self::CpuTime,
            _ if errors.contains("memory allocation of") || errors.contains("Cannot allocate memory") => Self::Memory,
            Some(signal) => Self::Other(format!("signal {signal}: {errors}")),
            None => Self::Other(format!("{status}: {errors}")),
        }
    }
}
