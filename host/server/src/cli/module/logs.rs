//! Reading a module's log.

use clap::Args;
use serde_json::Value;

use crate::cli::module::Remote;

#[derive(Args, Debug)]
pub(in crate::cli) struct Logs {
    name: String,
    /// How many lines, at most 200
    #[arg(long, default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

impl Logs {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let path = format!("/api/manage/modules/{}/logs?limit={}", self.name, self.limit);
        let page = self.remote.client().get(&path).await?;
        let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
        for line in page["items"].as_array().into_iter().flatten().rev() {
            println!(
                "{} v{} {:<11} {:<5} {}",
                line["at"],
                line["version"],
                text(line, "point"),
                text(line, "level"),
                text(line, "message")
            );
        }
        Ok(())
    }
}
