//! `hub serve`.

use std::io::{BufWriter, Write as _};

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::app::App;
use crate::clock::Clock;
use crate::config::{ServeArgs, Settings};
use crate::data_folder;
use crate::ids::Ids;
use crate::lifecycle;
use crate::serve::{self, Server};
use crate::traces::Traces;

/// Lines of the log that wait to be written: some megabytes.
const MOST_WAITING_LINES: usize = 10_000;

#[derive(Args, Debug)]
pub(super) struct Serve {
    #[command(flatten)]
    args: ServeArgs,
}

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mut settings = Settings::of_serve(&self.args)?;
        let traces = settings.otlp.as_deref().map(Traces::start).transpose()?;
        let _log = log_to_stderr("info", traces.as_ref());
        serve::open_files::raise_limit();
        let listener = serve::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        settings.listen = address;
        if !settings.data.exists() {
            tracing::info!(folder = %data_folder::shown(&settings).display(), "making a new data folder");
        }
        let app = lifecycle::start(settings, Clock::System, Ids::System).await?;
        let server = Server::new(app.clone());
        // Whoever started it may have closed the output.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "listening on http://{address}").and_then(|()| out.flush());
        stop_on_signal(app.clone())?;
        server.run(listener).await;
        lifecycle::finish_stop(&app).await;
        tracing::info!("stopped");
        if let Some(traces) = traces {
            traces.stop().await;
        }
        Ok(())
    }
}

/// Logs to standard error until the guard is dropped: JSON unless that is a terminal. `HUB_LOG` filters, such as
/// `info,hub=debug`. Spans go to the receiver of traces, if there is one.
pub(super) fn log_to_stderr(default: &str, traces: Option<&Traces>) -> WorkerGuard {
    let filter = EnvFilter::try_from_env("HUB_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // Each request is a line. None waits for whoever reads them: what they do not take is dropped.
    let log = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MOST_WAITING_LINES);
    let (log, guard) = log.finish(BufWriter::with_capacity(1 << 16, std::io::stderr()));
    let lines = tracing_subscriber::fmt::layer().with_writer(log);
    let lines = if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        lines.boxed()
    } else {
        lines.json().flatten_event(true).boxed()
    };
    tracing_subscriber::registry().with(traces.map(Traces::layer)).with(lines.with_filter(filter)).init();
    guard
}

/// The first SIGTERM or Ctrl-C shuts the hub down, the second forces it.
pub(super) fn stop_on_signal(app: App) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let mut is_stopping = false;
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if is_stopping {
                std::process::exit(130);
            }
            is_stopping = true;
            tracing::info!("shutting down; Ctrl-C again forces it");
            let app = app.clone();
            tokio::spawn(async move { lifecycle::stop(&app).await });
        }
    });
    Ok(())
}
