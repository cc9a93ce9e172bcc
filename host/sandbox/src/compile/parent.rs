//! The hub's side.

use super::protocol::{self, Confinement, Header};
use super::{Compiled, Compiler};
use crate::componentize::precheck;
use crate::error::PrepareError;
use crate::limits::CompileLimits;
use crate::priority::{self, Priority};
use crate::threads::ThreadPool;
use bytes::Bytes;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Once;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use wasmtime::Engine;

/// Compiles, a few at a time.
pub(crate) struct ModuleCompiler {
    compiler: Compiler,
    limits: CompileLimits,
    permits: Semaphore,
}

/// Maximum size of uploads that are checked here first, within milliseconds, so that few children are started in vain.
/// Larger ones are read by the child alone, within its limits.
const PRECHECK_BYTES: usize = 1 << 20;
/// Signals that the kernel sends to a child over its limits.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
/// Maximum bytes of the child's standard error that are kept.
const STDERR_BYTES: u64 = 4096;

impl ModuleCompiler {
    pub(crate) fn new(compiler: Compiler, limits: CompileLimits, at_once: usize) -> Self {
        Self { compiler, limits, permits: Semaphore::new(at_once) }
    }

    /// Compiles an upload. Waiting for a permit does not count against its time.
    pub(crate) async fn compile(
        &self,
        engine: &Engine,
        threads: &ThreadPool,
        bytes: &Bytes,
    ) -> Result<Compiled, PrepareError> {
        let most = self.limits.module_bytes;
        if bytes.len() > most {
            return Err(PrepareError::Invalid(format!("it has {} bytes, more than {most}", bytes.len())));
        }
        if bytes.len() <= PRECHECK_BYTES {
            let bytes = bytes.clone();
            let checked = threads.run(Priority::Background, move || precheck(&bytes)).await;
            checked.map_err(|error| internal(format!("the validator: {error}")))?.map_err(PrepareError::Invalid)?;
        }
        let _permit = self.permits.acquire().await.map_err(|_| internal("the hub is stopping"))?;
        self.compile_now(engine, threads, bytes).await
    }

    async fn compile_now(
        &self,
        engine: &Engine,
        threads: &ThreadPool,
        bytes: &Bytes,
    ) -> Result<Compiled, PrepareError> {
        match &self.compiler {
            Compiler::Child(program) => {
                let (limits, bytes) = (self.limits, bytes.clone());
                let child = start(command(program, &limits)).await?;
                // Copying the bytes through the pipes is tens of milliseconds of work.
                let compiled = threads.run_background_async(async move { exchange(limits, child, &bytes).await });
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

fn command(program: &Path, limits: &CompileLimits) -> Command {
    let mut command = Command::new(program);
    command
        .arg0("hub")
        .arg("compile-module")
        // The hub's environment may hold secrets.
        .env_clear()
        .env("RAYON_NUM_THREADS", limits.threads.to_string())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts the child from a nice thread, so that it is nice from its first instruction: loading a large program takes
/// milliseconds.
async fn start(mut command: Command) -> Result<Child, PrepareError> {
    let failed = |error: &dyn std::fmt::Display| internal(format!("the compiler did not start: {error}"));
    let runtime = tokio::runtime::Handle::current();
    let (started, starting) = tokio::sync::oneshot::channel();
    let start = move || {
        let _within = runtime.enter();
        priority::set_nice();
        let _ = started.send(command.spawn());
    };
    std::thread::Builder::new().name("module-compiler".into()).spawn(start).map_err(|error| failed(&error))?;
    starting.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// Sends the child an upload and reads its answer.
async fn exchange(limits: CompileLimits, mut child: Child, bytes: &[u8]) -> Result<Compiled, PrepareError> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(internal("the compiler has no pipes"));
    };
    let header =
        Header { memory_bytes: limits.memory_bytes, cpu_seconds: limits.cpu_seconds, upload_bytes: bytes.len() as u64 };
    let exchange = async {
        let send = async move {
            // A child that died early does not read to the end; its exit status shows the reason.
            let _ = stdin.write_all(&header.to_bytes()).await;
            let _ = stdin.write_all(bytes).await;
        };
        let mut error_output = Vec::new();
        let mut stdout = BufReader::new(stdout);
        let receive_errors = async {
            let mut head = stderr.take(STDERR_BYTES);
            let _ = head.read_to_end(&mut error_output).await;
            // The rest is read too, so that the child never blocks on it.
            let _ = tokio::io::copy(&mut head.into_inner(), &mut tokio::io::sink()).await;
        };
        let ((), read, ()) = tokio::join!(send, protocol::read(&mut stdout), receive_errors);
        let answer = read?;
        let status = child.wait().await?;
        std::io::Result::Ok((status, answer, error_output))
    };
    let Ok(answered) = tokio::time::timeout(limits.wall, exchange).await else {
        let seconds = limits.wall.as_secs_f32();
        return Err(PrepareError::Invalid(format!("compiling it took longer than {seconds} s")));
    };
    let (status, answer, error_output) =
        answered.map_err(|error| internal(format!("the compiler's pipes broke: {error}")))?;
    match answer {
        Some((confinement, outcome)) if status.success() => {
            warn_once(confinement);
            outcome.map_err(PrepareError::Invalid)
        }
        _ => Err(PrepareError::Invalid(exit_reason(limits, status, &error_output))),
    }
}

/// Logs once which confinement the kernel lacks.
fn warn_once(confinement: Confinement) {
    static WARNED: Once = Once::new();
    if !confinement.landlock {
        WARNED.call_once(|| {
            tracing::warn!(
                "this kernel has no Landlock: the compiler of modules is confined by seccomp and limits alone"
            );
        });
    }
}

fn exit_reason(limits: CompileLimits, status: ExitStatus, error_output: &[u8]) -> String {
    let error_output = String::from_utf8_lossy(error_output);
    let error_output = error_output.trim();
    match status.signal() {
        Some(SIGXCPU | SIGKILL) => {
            format!("compiling it took more than {} s of CPU time, or was killed by the system", limits.cpu_seconds)
        }
        _ if error_output.contains("memory allocation of") || error_output.contains("Cannot allocate memory") => {
            format!("compiling it took more than {} MiB of memory", limits.memory_bytes >> 20)
        }
        Some(signal) => format!("the compiler crashed on it (signal {signal}): {error_output}"),
        None => format!("the compiler failed on it ({status}): {error_output}"),
    }
}

fn internal(why: impl Into<String>) -> PrepareError {
    PrepareError::Internal(why.into())
}
