//! Running a version on the hub once, without effect.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::module::report::format_report;
use crate::cli::module::{Remote, chain, newest_version};

#[derive(Args, Debug)]
pub(in crate::cli) struct DryRun {
    /// The module's name
    name: String,
    /// The version [default: the newest that is READY]
    version: Option<i64>,
    /// The extension point: matchmaking, chat or punishment
    #[arg(long)]
    point: String,
    /// What it is given: a JSON object, or @ and the name of a file that holds one
    #[arg(long, value_name = "JSON|@FILE")]
    input: String,
    /// Its configuration, likewise
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Print the hub's answer as it is
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
        println!("{}", if self.json { answer.to_string() } else { format_report(&answer) });
        Ok(())
    }
}
