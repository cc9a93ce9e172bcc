//! `hub chat`: what players said, over a hub's HTTP API.

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;

use crate::cli::format::{table, text, timestamp};
use crate::cli::remote::Remote;

const LINES: &str = "/api/manage/chat";

#[derive(Args, Debug)]
pub(super) struct Chat {
    /// Only lines of this player
    #[arg(long, value_name = "UUID")]
    player: Option<String>,
    /// Only lines from this server
    #[arg(long, value_name = "ID")]
    server: Option<String>,
    /// Only lines before the one with this id
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// Lines around the one with this id
    #[arg(long, value_name = "ID", conflicts_with = "before")]
    around: Option<String>,
    /// Only lines with this text, in any case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Maximum number of lines, up to 200
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Chat {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let limit = Some(self.limit.to_string());
        let filters = [
            ("playerUuid", self.player),
            ("serverId", self.server),
            ("before", self.before),
            ("around", self.around),
            ("search", self.search),
            ("limit", limit),
        ];
        let mut url = reqwest::Url::parse("http://hub").context("no URL")?;
        for (name, value) in filters {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let page = hub.get(&format!("{LINES}?{}", url.query().unwrap_or_default())).await?;
        if self.json {
            print_json!(page);
        } else {
            print!("{}", show(page["items"].as_array().map_or(&[][..], Vec::as_slice)));
        }
        Ok(())
    }
}

/// Oldest first, as one reads.
fn show(lines: &[Value]) -> String {
    let row = |line: &Value| {
        [
            timestamp(&line["at"]),
            text(line, "serverId").to_owned(),
            text(line, "playerName").to_owned(),
            text(line, "verdict").to_lowercase(),
            text(line, "message").to_owned(),
            text(line, "id").to_owned(),
        ]
    };
    let rows: Vec<_> = lines.iter().rev().map(row).collect();
    table(["at", "server", "player", "verdict", "message", "id"], &rows)
}
