//! The hub's side.

use super::protocol::{self, Header};
use super::{Compiled, Compiler};
use crate::componentize::precheck;
use crate::confined::{self, ChildFailure, ProcessLimits};
use crate::error::PrepareError;
use crate::limits::CompileLimits;
use crate::priority::Priority;
use crate::threads::ThreadPool;
use bytes::Bytes;
use std::process::ExitStatus;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::Child;
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
                let mut command = confined::command(program, "compile-module");
                command.env("RAYON_NUM_THREADS", limits.threads.to_string());
                let child = confined::start(command).await;
                let child = child.map_err(|error| internal(format!("the compiler did not start: {error}")))?;
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

/// Sends the child an upload and reads its answer.
async fn exchange(limits: CompileLimits, mut child: Child, bytes: &[u8]) -> Result<Compiled, PrepareError> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(internal("the compiler has no pipes"));
    };
    let process = ProcessLimits { memory_bytes: limits.memory_bytes, cpu_seconds: limits.cpu_seconds };
    let header = Header { limits: process, upload_bytes: bytes.len() as u64 };
    let exchange = async {
        let send = async move {
            // A child that died early does not read to the end; its exit status shows the reason.
            let _ = stdin.write_all(&header.to_bytes()).await;
            let _ = stdin.write_all(bytes).await;
        };
        let mut stdout = BufReader::new(stdout);
        let ((), read, errors) = tokio::join!(send, protocol::read(&mut stdout), confined::read_errors(stderr));
        let answer = read?;
        let status = child.wait().await?;
        std::io::Result::Ok((status, answer, errors))
    };
    let Ok(answered) = tokio::time::timeout(limits.wall, exchange).await else {
        let seconds = limits.wall.as_secs_f32();
        return Err(PrepareError::Invalid(format!("compiling it took longer than {seconds} s")));
    };
    let (status, answer, errors) =
        answered.map_err(|error| internal(format!("the compiler's pipes broke: {error}")))?;
    match answer {
        Some((confinement, outcome)) if status.success() => {
            confinement.warn_once();
            outcome.map_err(PrepareError::Invalid)
        }
        _ => Err(PrepareError::Invalid(exit_reason(limits, status, &errors))),
    }
}

fn exit_reason(limits: CompileLimits, status: ExitStatus, errors: &[u8]) -> String {
    match ChildFailure::new(status, errors) {
        ChildFailure::CpuTime => {
            format!("compiling it took more than {} s of CPU time, or was killed by the system", limits.cpu_seconds)
        }
        ChildFailure::Memory => format!("compiling it took more than {} MiB of memory", limits.memory_bytes >> 20),
        ChildFailure::Other(reason) => format!("the compiler failed on it ({reason})"),
    }
}

fn internal(why: impl Into<String>) -> PrepareError {
    PrepareError::Internal(why.into())
}
