//! The hub's side.

use std::io::{self, BufReader, PipeReader};
use std::path::Path;
use std::process::ExitStatus;

use hub_sandbox::confined::{self, ChildFailure, ProcessLimits};
use thiserror::Error;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Message, ReadRequest};
use crate::app::App;
use crate::executable::own_executable;
use crate::imports::model::{Import, ImportFailure};
use crate::imports::record::Item;
use crate::limits::{self, Limit};

/// Limits of the child: memory beyond what it takes at its start, and processor time. They are above those of its
/// [budget](super::child), which names what is too large; these end what does not draw from it.
const LIMITS: ProcessLimits = ProcessLimits { memory_bytes: 256 << 20, cpu_seconds: 240 };
/// Number of chunks by which the reader may be ahead of the writer, and rows of a chunk.
const READ_AHEAD: usize = 2;
const CHUNK: usize = 256;
/// Size of the messages of a chunk at which it is passed on, whatever the number of its rows.
const CHUNK_BYTES: usize = 1 << 20;
/// Reason for a failure that is the hub's, which its log names.
pub(in crate::imports) const OWN_ERROR: &str =
    "The hub failed to read the file; its operator finds the reason in its log.";

/// Reader of a file in a child process, which is killed when this is dropped.
pub(in crate::imports) struct FileReader {
    child: Child,
    /// The child ends when this is closed.
    _stdin: ChildStdin,
    errors: JoinHandle<Vec<u8>>,
    progress: mpsc::Receiver<Result<Progress, ImportFailure>>,
    limits: ProcessLimits,
}

/// Part of the reading of a file, in this order.
pub(in crate::imports) enum Progress {
    /// The whole file was read once: number of its records.
    Checked(i64),
    /// The next records.
    Items(Vec<Item>),
    Done,
}

/// Reason for not reading on.
#[derive(Debug, Error)]
pub(in crate::imports) enum ReadError {
    /// The file can't be imported.
    #[error("{}", .0.message)]
    Failed(ImportFailure),
    /// The system refused a process or its pipes.
    #[error("the reader of the file did not start: {0}")]
    System(#[from] io::Error),
}

impl FileReader {
    /// Starts to read a file from the position of its import.
    pub(in crate::imports) async fn start(app: &App, import: &Import, file: &Path) -> Result<Self, ReadError> {
        let settings = &app.settings.imports;
        let program = settings.reader.clone().map_or_else(own_executable, Ok).map_err(io::Error::other)?;
        let limits = settings.limits.unwrap_or(LIMITS);
        let request = ReadRequest {
            limits,
            file: std::path::absolute(file)?,
            kind: import.kind,
            options: import.options.clone(),
            created_at: import.created_at,
            records: limits::bound(app, Limit::ImportRecords),
            done: import.done,
        };
        let (stdout, to_hub) = io::pipe()?;
        let mut command = confined::command(&program, "read-import");
        // Allocators take memory as it is needed, so that the limit is for memory in use.
        command.env("MIMALLOC_ARENA_RESERVE", "0").env("MALLOC_ARENA_MAX", "1").stdout(to_hub);
        let mut child = confined::start(command).await?;
        let (Some(mut stdin), Some(stderr)) = (child.stdin.take(), child.stderr.take()) else {
            return Err(io::Error::other("it has no pipes").into());
        };
        let request = serde_json::to_string(&request).map_err(io::Error::other)? + "\n";
        // A child that died early does not read it; its exit status shows the reason.
        let _ = stdin.write_all(request.as_bytes()).await;
        let (send, progress) = mpsc::channel(READ_AHEAD);
        tokio::task::spawn_blocking(move || receive(stdout, &send));
        Ok(Self { child, _stdin: stdin, errors: tokio::spawn(confined::read_errors(stderr)), progress, limits })
    }

    /// Waits for the next part.
    pub(in crate::imports) async fn next(&mut self) -> Result<Progress, ReadError> {
        if let Some(progress) = self.progress.recv().await {
            return progress.map_err(ReadError::Failed);
        }
        // One that only closed its output; the status of one that has ended stays.
        self.child.start_kill()?;
        let status = self.child.wait().await?;
        let errors = (&mut self.errors).await.map_err(io::Error::other)?;
        let message = end_reason(self.limits, status, &errors);
        Err(ReadError::Failed(ImportFailure { line: None, message }))
    }
}

/// Receives the child's messages until it ends, or nobody waits for them.
fn receive(stdout: PipeReader, send: &mpsc::Sender<Result<Progress, ImportFailure>>) {
    let (mut stdout, mut buffer) = (BufReader::with_capacity(1 << 16, stdout), vec![]);
    let (mut chunk, mut rows, mut bytes) = (vec![], 0, 0);
    let send = |progress| send.blocking_send(progress).is_ok();
    loop {
        let goes_on = match Message::read(&mut stdout, &mut buffer) {
            Ok(Some(Message::Confined(confinement))) => {
                confinement.warn_once();
                true
            }
            Ok(Some(Message::Checked(records))) => send(Ok(Progress::Checked(records))),
            Ok(Some(Message::Item(item))) => {
                rows += item.record.rows();
                bytes += buffer.len();
                chunk.push(item);
                let is_full = rows >= CHUNK || bytes >= CHUNK_BYTES;
                if is_full {
                    (rows, bytes) = (0, 0);
                }
                !is_full || send(Ok(Progress::Items(std::mem::take(&mut chunk))))
            }
            Ok(Some(Message::Failed(failure))) => {
                send(Err(failure));
                false
            }
            Ok(Some(Message::Done)) => {
                let _ = send(Ok(Progress::Items(std::mem::take(&mut chunk)))) && send(Ok(Progress::Done));
                false
            }
            Ok(None) => false,
            Err(error) => {
                tracing::error!(%error, "the reader of an import answered wrongly");
                let message = OWN_ERROR.to_owned();
                send(Err(ImportFailure { line: None, message }));
                false
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// Reason for the end of a child that did not read to the end.
fn end_reason(limits: ProcessLimits, status: ExitStatus, errors: &[u8]) -> String {
    let ProcessLimits { memory_bytes, cpu_seconds } = limits;
    match ChildFailure::new(status, errors) {
        ChildFailure::CpuTime => {
            format!("Reading the file took more than {cpu_seconds} s of processor time, or the system ended it.")
        }
        ChildFailure::Memory => format!("Reading the file took more than {} MiB of memory.", memory_bytes >> 20),
        ChildFailure::Other(reason) => {
            tracing::error!(reason, "the reader of an import failed");
            OWN_ERROR.to_owned()
        }
    }
}
