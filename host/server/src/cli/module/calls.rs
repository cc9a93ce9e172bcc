//! The latest calls of an extension point.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use reqwest::Method;
use serde_json::Value;

use crate::cli::client::HubClient;
use crate::cli::module::{Remote, format, recorded};

#[derive(Args, Debug)]
pub(in crate::cli) struct Calls {
    /// The extension point: matchmaking, chat or punishment
    point: String,
    /// Only calls in which a module failed
    #[arg(long)]
    failed: bool,
    /// Only calls in which this module was called
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// How many, at most 200
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Add them to this file as test cases, one for each module that was called
    #[arg(long, value_name = "CASES.JSON")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Calls {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let path = format!("/api/manage/extension-points/{}/calls", self.point);
        let mut request = hub.request(Method::GET, &path).query("limit", self.limit);
        if self.failed {
            request = request.query("failed", true);
        }
        if let Some(module) = &self.module {
            request = request.query("module", module);
        }
        let calls = hub.send(request).await?;
        if let Some(file) = &self.save {
            return self.save(&hub, &calls, file).await;
        }
        if self.json {
            println!("{calls}");
            return Ok(());
        }
        let rows: Vec<_> = calls["items"].as_array().into_iter().flatten().map(row).collect();
        print!("{}", format::table(["call", "at", "µs", "modules"], &rows));
        println!("{} of {}", rows.len(), calls["total"]);
        Ok(())
    }

    async fn save(&self, hub: &HubClient, calls: &Value, file: &Path) -> anyhow::Result<()> {
        let path = file.display();
        let mut cases = vec![];
        // The oldest first, as they happened.
        for item in calls["items"].as_array().into_iter().flatten().rev() {
            let call = recorded::find(hub, Some(&self.point), format::text(item, "callId")).await?;
            let is_asked_for =
                |part: &&Value| self.module.as_ref().is_none_or(|module| part["name"] == module.as_str());
            let parts: Vec<_> = recorded::parts(&call).filter(is_asked_for).collect();
            if parts.is_empty() {
                cases.push(recorded::case(&call, None, None));
            }
            cases.extend(parts.into_iter().map(|part| recorded::case(&call, Some(part), None)));
        }
        let before = if file.exists() {
            std::fs::read_to_string(file).with_context(|| format!("{path} can't be read"))?
        } else {
            String::new()
        };
        let (text, new) =
            recorded::append(&before, &cases).with_context(|| format!("{path} is no JSON array of cases"))?;
        std::fs::write(file, text).with_context(|| format!("{path} can't be written"))?;
        println!("{path}: {} added", format::count(new, "case"));
        Ok(())
    }
}

fn row(call: &Value) -> [String; 4] {
    let modules = call["modules"].as_array().into_iter().flatten();
    let modules: Vec<_> = modules
        .map(|part| format!("{} {}: {}", format::text(part, "name"), part["version"], format::text(part, "outcome")))
        .collect();
    let modules = if modules.is_empty() { "the built-in behaviour".to_owned() } else { modules.join(", ") };
    [
        format::text(call, "callId").to_owned(),
        format::timestamp(&call["at"]),
        format::number(call["micros"].as_u64().unwrap_or(0)),
        modules,
    ]
}
