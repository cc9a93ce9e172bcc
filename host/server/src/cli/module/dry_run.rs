//! Runs a version on the hub once, without effect.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::client;
use crate::cli::module::report::format_report;
use crate::cli::module::{Remote, chain, newest_version};

#[derive(Args, Debug)]
pub(in crate::cli) struct DryRun {
    /// Module name
    #[arg(value_parser = client::segment)]
    name: String,
    /// Version [default: the newest READY version]
    version: Option<i64>,
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    #[arg(long)]
    point: String,
    /// Input: a JSON object, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    input: String,
    /// Configuration: a JSON object, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl DryRun {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = self.config.as_deref().map(|text| chain::parse_object("configuration", text)).transpose()?;
        let body = json!({
            "point": self.point, "input": chain::parse_object("input", &self.input)?,
            "config": config.unwrap_or_else(Map::new),
        });
        let hub = self.remote.client()?;
        let version = match self.version {
            Some(version) => version,
            None => newest_version(&hub, &self.name).await?,
        };
        let answer: Value = hub.post(&format!("/api/manage/modules/{}/{version}/dry-run", self.name), &body).await?;
        if self.json {
            print_json!(answer);
        } else {
            println!("{}", format_report(&answer));
        }
        Ok(())
    }
}
