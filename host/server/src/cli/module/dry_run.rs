//! Running a version on the hub once, without effect.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::module::report::format_report;
use crate::cli::module::{Remote, chain};

#[derive(Args, Debug)]
pub(in crate::cli) struct DryRun {
    name: String,
    version: i64,
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
        let path = format!("/api/manage/modules/{}/{}/dry-run", self.name, self.version);
        let answer: Value = self.remote.client()?.post(&path, &body).await?;
        println!("{}", if self.json { answer.to_string() } else { format_report(&answer) });
        Ok(())
    }
}
