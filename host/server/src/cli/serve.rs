//! `hub serve`.

use std::io::Write as _;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::cli::log::log_to_stderr;
use crate::clock::Clock;
use crate::config::{ServeArgs, Settings};
use crate::data_folder;
use crate::ids::Ids;
use crate::lifecycle;
use crate::people;
use crate::serve::waiting::{self, Missing};
use crate::serve::{self, Server};
use crate::traces::Traces;

#[derive(Args, Debug)]
pub(super) struct Serve {
    #[command(flatten)]
    args: ServeArgs,
}

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mut settings = Settings::of_serve(&self.args)?;
        crate::components::check_limits(&settings)?;
        let traces = settings.otlp.as_deref().map(Traces::start).transpose()?;
        let _log = log_to_stderr("info", traces.as_ref());
        serve::open_files::raise_limit();
        ignore_hangup()?;
        let listener = serve::bind(settings.listen.resolve("--listen").await?).await?;
        let address = listener.local_addr()?;
        settings.listen = address.into();
        if !settings.data.exists() {
            tracing::info!(folder = %data_folder::shown(&settings).display(), "creating data folder");
        }
        data_folder::require_whole(&settings)?;
        let _lock = data_folder::lock(&settings)?;
        let missing = Missing::default();
        let start = lifecycle::start_when_possible(settings, Clock::System, Ids::System, |kind| missing.set(kind));
        let app = waiting::until(&listener, &missing, start).await?;
        let server = Server::new(app.clone());
        // The output may be closed already.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "listening on http://{address}").and_then(|()| out.flush());
        if let Some(link) = first_operator_link(&app).await {
            let line = "this hub has no people yet: make its first operator at";
            let _ = writeln!(out, "{line} {link}").and_then(|()| out.flush());
        }
        stop_on_signal(app.clone())?;
        give_back_memory();
        server.run(listener).await;
        lifecycle::finish_stop(&app).await;
        tracing::info!("stopped");
        if let Some(traces) = traces {
            traces.stop().await;
        }
        Ok(())
    }
}

/// Link to the page that makes the first operator of a hub without people. A hub whose database fails has none.
async fn first_operator_link(app: &App) -> Option<String> {
    let code = people::service::first_operator_code(app).await.ok()??;
    Some(app.settings.url(&format!("/console/first?code={code}")))
}

/// Returns memory that only the start needed, such as the generated API documents: the allocator would keep it until
/// there is load.
#[allow(unsafe_code, reason = "the allocator offers no safe function for this")]
fn give_back_memory() {
    // SAFETY: may be called at any time, from any thread.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Ignores SIGHUP, which comes when a terminal closes, or from an operator who expects a reload. Settings are read at the
/// start alone.
fn ignore_hangup() -> std::io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            tracing::info!("SIGHUP changes nothing; restart the hub to apply changed settings");
        }
    });
    Ok(())
}

/// Shuts the hub down on the first SIGTERM or Ctrl-C and forces it on the second.
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
