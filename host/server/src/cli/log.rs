//! The log, on standard error.

use std::fmt;
use std::io::{BufWriter, IsTerminal as _, stderr};

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

use crate::http::request_id::REQUEST_LINES;
use crate::traces::Traces;

/// Lines of the log that wait to be written: some megabytes.
const MOST_WAITING_LINES: usize = 10_000;

/// Logs to standard error until the guard is dropped: JSON unless that is a terminal. `HUB_LOG` filters, such as
/// `info,hub=debug`. Spans go to the receiver of traces, if there is one.
pub(super) fn log_to_stderr(default: &str, traces: Option<&Traces>) -> WorkerGuard {
    let filter = EnvFilter::try_from_env("HUB_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // Each request is a line. None waits for whoever reads them: what they do not take is dropped.
    let log = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MOST_WAITING_LINES);
    let (log, guard) = log.finish(BufWriter::with_capacity(1 << 16, stderr()));
    let lines = tracing_subscriber::fmt::layer().with_writer(log);
    let lines = if stderr().is_terminal() {
        lines.boxed()
    } else {
        let format = JsonLines(tracing_subscriber::fmt::format().json().flatten_event(true));
        lines.fmt_fields(JsonFields::new()).event_format(format).boxed()
    };
    tracing_subscriber::registry().with(traces.map(Traces::layer)).with(lines.with_filter(filter)).init();
    guard
}

/// Lines of JSON. Those of requests are written field by field: to build a document of each costs a fifth of what a short
/// request does.
struct JsonLines(Format<Json>);

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
    /// Writes a field, whose value is JSON. Names of fields are plain.
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
