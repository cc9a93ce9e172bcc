//! The hub's side.

use super::protocol::{self, Header};
use super::{Compiled, Compiler, UPLOAD_BYTES};
use crate::componentize::glance;
use crate::limits::CompileLimits;
use crate::sandbox::PrepareError;
use crate::threads::{Pace, Threads};
use bytes::Bytes;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use wasmtime::Engine;

/// Compiles, a few at a time.
pub(crate) struct Compile {
    compiler: Compiler,
    limits: CompileLimits,
    places: Semaphore,
}

/// Uploads up to this size are looked at here first: that takes milliseconds, and a process is seldom started in vain.
/// Larger ones are for the child and its limits alone.
const GLANCE_BYTES: usize = 1 << 20;
/// Signals of the kernel's that have a meaning here.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
/// Bytes of the child's standard error that are kept.
const STDERR_BYTES: u64 = 4096;

impl Compile {
    pub(crate) fn new(compiler: Compiler, limits: CompileLimits, at_once: usize) -> Self {
        Self { compiler, limits, places: Semaphore::new(at_once) }
    }

    /// Compiles an upload. Waiting for a place does not count against its time.
    pub(crate) async fn compile(
        &self,
        engine: &Engine,
        threads: &Threads,
        bytes: &Bytes,
    ) -> Result<Compiled, PrepareError> {
        let most = self.limits.module_bytes;
        if bytes.len() > most {
            return Err(PrepareError::Invalid(format!("it has {} bytes, more than {most}", bytes.len())));
        }
        if bytes.len() <= GLANCE_BYTES {
            let bytes = bytes.clone();
            let glanced = threads.run(Pace::GivesWay, move || glance(&bytes)).await;
            glanced.map_err(|error| internal(format!("the validator: {error}")))?.map_err(PrepareError::Invalid)?;
        }
        let _place = self.places.acquire().await.map_err(|_| internal("the hub is stopping"))?;
        self.compile_now(engine, threads, bytes).await
    }

    async fn compile_now(&self, engine: &Engine, threads: &Threads, bytes: &Bytes) -> Result<Compiled, PrepareError> {
        match &self.compiler {
            Compiler::Child(program) => {
                let (limits, bytes) = (self.limits, bytes.clone());
                let child = start(command(program, &limits, bytes.len())).await?;
                // All that goes through the pipes is copied there: tens of milliseconds of work, which can wait.
                let compiled = threads.run_async(Pace::GivesWay, async move { talk(limits, child, &bytes).await });
                compiled.await.map_err(|error| internal(format!("the compiler: {error}")))?
            }
            Compiler::InProcess => {
                let (engine, bytes) = (engine.clone(), bytes.clone());
                tokio::task::spawn_blocking(move || super::compile(&engine, &bytes))
                    .await
                    .map_err(|error| internal(format!("the compiler panicked: {error}")))?
                    .map_err(PrepareError::Invalid)
            }
        }
    }
}

fn command(program: &Path, limits: &CompileLimits, upload_bytes: usize) -> Command {
    let mut command = Command::new(program);
    command
        .arg0("hub")
        .arg("compile-module")
        // Nothing of the hub's environment, secrets included, is the child's business.
        .env_clear()
        .env("RAYON_NUM_THREADS", limits.threads.to_string())
        .env(UPLOAD_BYTES, upload_bytes.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts the child, as a child of a thread that has the priority the child is to have: until a large program runs takes
/// milliseconds. It is not the lowest, at which nothing would be done on a machine that is always busy.
async fn start(mut command: Command) -> Result<Child, PrepareError> {
    let failed = |error: &dyn std::fmt::Display| internal(format!("the compiler did not start: {error}"));
    let runtime = tokio::runtime::Handle::current();
    let (started, starting) = tokio::sync::oneshot::channel();
    let start = move || {
        let _within = runtime.enter();
        crate::priority::nice();
        let _ = started.send(command.spawn());
    };
    std::thread::Builder::new().name("module-compiler".into()).spawn(start).map_err(|error| failed(&error))?;
    starting.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// Gives the child an upload and takes its answer.
async fn talk(limits: CompileLimits, mut child: Child, bytes: &[u8]) -> Result<Compiled, PrepareError> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(internal("the compiler has no pipes"));
    };
    let header = Header { memory_bytes: limits.memory_bytes, cpu_seconds: limits.cpu_seconds };
    let talk = async {
        let feed = async move {
            // A child that died early does not read to the end; its status tells why.
            let _ = stdin.write_all(&header.to_bytes()).await;
            let _ = stdin.write_all(bytes).await;
        };
        let mut complaint = Vec::new();
        let mut stdout = BufReader::new(stdout);
        let listen = async {
            let mut head = stderr.take(STDERR_BYTES);
            let _ = head.read_to_end(&mut complaint).await;
            // The rest is read too, so that the child never waits for it to be.
            let _ = tokio::io::copy(&mut head.into_inner(), &mut tokio::io::sink()).await;
        };
        let ((), read, ()) = tokio::join!(feed, protocol::read(&mut stdout), listen);
        let answer = read?;
        let status = child.wait().await?;
        std::io::Result::Ok((status, answer, complaint))
    };
    let Ok(talked) = tokio::time::timeout(limits.wall, talk).await else {
        let seconds = limits.wall.as_secs_f32();
        return Err(PrepareError::Invalid(format!("compiling it took longer than {seconds} s")));
    };
    let (status, answer, complaint) =
        talked.map_err(|error| internal(format!("the compiler's pipes broke: {error}")))?;
    match answer {
        Some(outcome) if status.success() => outcome.map_err(PrepareError::Invalid),
        _ => Err(PrepareError::Invalid(cause_of_death(limits, status, &complaint))),
    }
}

fn cause_of_death(limits: CompileLimits, status: ExitStatus, complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let complaint = complaint.trim();
    match status.signal() {
        Some(SIGXCPU | SIGKILL) => {
            format!("compiling it took more than {} s of CPU time, or was killed by the system", limits.cpu_seconds)
        }
        _ if complaint.contains("memory allocation of") || complaint.contains("Cannot allocate memory") => {
            format!("compiling it took more than {} MiB of memory", limits.memory_bytes >> 20)
        }
        Some(signal) => format!("the compiler crashed on it (signal {signal}): {complaint}"),
        None => format!("the compiler failed on it ({status}): {complaint}"),
    }
}

fn internal(why: impl Into<String>) -> PrepareError {
    PrepareError::Internal(why.into())
}
