//! Logging to standard error.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Stderr, Write, stderr};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::http::request_id::{REQUEST_LINES, RequestId};
use crate::traces::Traces;

/// Maximum number of buffered log lines: some megabytes.
const MOST_WAITING_LINES: usize = 10_000;
/// Delay between writes. Without it the writer thread would wake up for each line.
const PAUSE: Duration = Duration::from_millis(5);

/// Logs to standard error until the guard is dropped: JSON unless it is a terminal. `HUB_LOG` filters, for example
/// `info,hub=debug`. Spans go to the trace collector, if one is configured.
pub(super) fn log_to_stderr(default: &str, traces: Option<&Traces>) -> WorkerGuard {
    let filter = EnvFilter::try_from_env("HUB_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // There is one line per request. Requests never wait for the log: lines are dropped when the buffer is full.
    let log = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MOST_WAITING_LINES);
    let (log, guard) = log.finish(Paced(BufWriter::with_capacity(1 << 16, stderr())));
    let lines = tracing_subscriber::fmt::layer().with_writer(log);
    let lines = if stderr().is_terminal() {
        lines.event_format(WithRequest(tracing_subscriber::fmt::format())).boxed()
    } else {
        let format = JsonLines(WithRequest(tracing_subscriber::fmt::format().json().flatten_event(true)));
        lines.fmt_fields(JsonFields::new()).event_format(format).boxed()
    };
    tracing_subscriber::registry().with(traces.map(Traces::layer)).with(lines.with_filter(filter)).init();
    guard
}

/// Writer that pauses after each write: the lines that come meanwhile are written together.
struct Paced(BufWriter<Stderr>);

impl Write for Paced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Called by the log's thread when no line is queued.
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

/// Adds the request id to log lines.
struct WithRequest<F>(Format<F>);

impl<S, N, F: Clone> FormatEvent<S, N> for WithRequest<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    Format<F>: FormatEvent<S, N>,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Some(id) = RequestId::current() else { return self.0.format_event(ctx, writer, event) };
        let mut line = String::new();
        let format = self.0.clone().with_ansi(writer.has_ansi_escapes());
        format.format_event(ctx, Writer::new(&mut line), event)?;
        // A valid id needs no escapes.
        match line.strip_suffix("}\n").filter(|object| object.starts_with('{')) {
            Some(object) => writeln!(writer, "{object},\"request\":\"{}\"}}", id.as_str()),
            None => writeln!(writer, "{} request={}", line.trim_end_matches('\n'), id.as_str()),
        }
    }
}

/// JSON lines. Lines about requests are written field by field: building a document for each costs a fifth of a short
/// request.
struct JsonLines(WithRequest<Json>);

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        if metadata.target() != REQUEST_LINES {
            return self.0.format_event(ctx, writer, event);
        }
        writer.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut writer)?;
        write!(writer, "\",\"level\":\"{}\"", metadata.level())?;
        let mut fields = JsonFieldWriter { writer: &mut writer, result: Ok(()) };
        event.record(&mut fields);
        fields.result?;
        writeln!(writer, ",\"target\":\"{REQUEST_LINES}\"}}")
    }
}

struct JsonFieldWriter<'a, 'w> {
    writer: &'a mut Writer<'w>,
    result: fmt::Result,
}

impl JsonFieldWriter<'_, '_> {
    /// Writes a field whose value is JSON. Field names need no escaping.
    fn write(&mut self, field: &Field, value: impl fmt::Display) {
        self.result = self.result.and_then(|()| write!(self.writer, ",\"{field}\":{value}"));
    }
}

impl Visit for JsonFieldWriter<'_, '_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match serde_json::to_string(value) {
            Ok(json) => self.write(field, json),
            Err(_) => self.result = Err(fmt::Error),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
