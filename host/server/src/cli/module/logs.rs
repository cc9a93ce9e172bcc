//! Prints and follows a module's log.

use std::collections::VecDeque;
use std::time::Duration;

use clap::Args;
use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::Value;

use crate::cli::client::{self, HubClient, event_data};
use crate::cli::module::{Remote, format};
use crate::cli::output::write;

/// Maximum number of lines per answer of the hub, and of printed lines remembered while following.
const MAX_LINES: usize = 200;
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(in crate::cli) struct Logs {
    /// Module name
    #[arg(value_parser = client::segment)]
    name: String,
    /// Maximum number of lines (at most 200)
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Follow the log until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Print each line as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Logs {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        if self.follow {
            return self.follow(&hub).await;
        }
        let page = hub.get(&self.path(self.limit as usize)).await?;
        for line in page["items"].as_array().into_iter().flatten().rev() {
            self.print(line)?;
        }
        Ok(())
    }

    fn path(&self, limit: usize) -> String {
        format!("/api/manage/modules/{}/logs?limit={limit}", self.name)
    }

    /// Prints lines and reconnects, until the hub refuses.
    async fn follow(&self, hub: &HubClient) -> anyhow::Result<()> {
        let mut printed = VecDeque::new();
        let mut limit = self.limit as usize;
        let mut backoff = INITIAL_BACKOFF;
        loop {
            let request = hub.request(Method::GET, &self.path(limit)).header("accept", "text/event-stream");
            let mut events = match hub.answer(request).await {
                Ok(response) => event_data(response),
                Err(error) if printed.is_empty() || !error.is_transient() => return Err(error.into()),
                Err(_) => {
                    tokio::time::sleep(backoff).await;
                    backoff = MAX_BACKOFF.min(backoff * 2);
                    continue;
                }
            };
            // After a reconnect the hub repeats lines it sent before.
            let mut known: Vec<String> = printed.iter().cloned().collect();
            while let Some(line) = events.next().await {
                if let Some(at) = known.iter().position(|known| *known == line) {
                    known.remove(at);
                    continue;
                }
                self.print(&serde_json::from_str(&line).unwrap_or_default())?;
                printed.push_back(line);
                if printed.len() > MAX_LINES {
                    printed.pop_front();
                }
            }
            eprintln!("(connection lost; reconnecting)");
            limit = MAX_LINES;
            backoff = INITIAL_BACKOFF;
            tokio::time::sleep(backoff).await;
        }
    }

    fn print(&self, line: &Value) -> std::io::Result<()> {
        if self.json {
            return write(format_args!("{line}\n"));
        }
        let at = format::timestamp(&line["at"]);
        let (point, level) = (format::text(line, "point"), format::text(line, "level"));
        let (version, message) = (&line["version"], format::text(line, "message"));
        write(format_args!("{at} v{version} {point:<11} {level:<5} {message}\n"))
    }
}
