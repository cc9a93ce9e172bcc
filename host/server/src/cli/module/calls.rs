//! Lists the latest calls of an extension point.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::client::{self, HubClient};
use crate::cli::module::{Remote, format, recorded};

#[derive(Args, Debug)]
pub(in crate::cli) struct Calls {
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    #[arg(long, value_parser = client::segment)]
    point: String,
    /// Only calls with a failed module; with --module, only those in which that module failed
    #[arg(long)]
    failed: bool,
    /// Only calls of this module
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// Maximum number of calls (at most 200)
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Append the calls to this file as test cases, one per called module
    #[arg(long, value_name = "CASES.JSON")]
    save: Option<PathBuf>,
    /// Print JSON
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
        let (mut cases, mut left_out) = (vec![], 0);
        // Oldest first, in the order of the calls.
        for item in calls["items"].as_array().into_iter().flatten().rev() {
            let call = recorded::find(hub, Some(&self.point), format::text(item, "callId")).await?;
            let parts: Vec<_> = recorded::parts(&call).filter(|part| self.is_wanted(part)).collect();
            if parts.is_empty() && !self.failed && self.module.is_none() {
                cases.push(recorded::case(&call, None, None));
            }
            let (repeatable, others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| recorded::is_repeatable(part));
            left_out += others.len();
            cases.extend(repeatable.into_iter().map(|part| recorded::case(&call, Some(part), None)));
        }
        let before = if file.exists() {
            std::fs::read_to_string(file).with_context(|| format!("cannot read {path}"))?
        } else {
            String::new()
        };
        let (text, new) =
            recorded::append(&before, &cases).with_context(|| format!("{path} is not a JSON array of cases"))?;
        std::fs::write(file, text).with_context(|| format!("cannot write {path}"))?;
        if self.json {
            print_json!(json!({"file": file, "added": new, "leftOut": left_out}));
            return Ok(());
        }
        println!("{path}: {} added", format::count(new, "case"));
        if left_out > 0 {
            let calls = format::count(left_out, "call");
            println!("skipped {calls}: the hub was late or could not load the module, so no test case can");
        }
        Ok(())
    }

    /// True if the options select a module's part of a call.
    fn is_wanted(&self, part: &Value) -> bool {
        self.module.as_ref().is_none_or(|module| part["name"] == module.as_str())
            && (!self.failed || !["ok", "late"].contains(&format::text(part, "outcome")))
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
