//! Replays recorded calls, on the hub or locally.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hub_sandbox::test_case::{Answer, TestCase, one_line};
use serde_json::{Map, Value, json};

use crate::cli::client::{self, HubClient};
use crate::cli::module::local::{self, LocalModule};
use crate::cli::module::report::{format_report, report_json};
use crate::cli::module::{Remote, chain, format, newest_version, recorded};

/// Same as on the hub: long enough that time does not decide a replay.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args, Debug)]
pub(in crate::cli) struct Replay {
    /// Module name
    #[arg(required_unless_present = "local", value_parser = client::segment)]
    name: Option<String>,
    /// Version [default: the newest READY version]
    version: Option<i64>,
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    #[arg(long, required_unless_present = "call", value_parser = client::segment)]
    point: Option<String>,
    /// Number of latest calls (at most 1,000)
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "call")]
    last: u32,
    /// Id of a single call
    #[arg(long, value_name = "ID", value_parser = client::segment)]
    call: Option<String>,
    /// Run locally, with this component or module folder
    #[arg(long, value_name = "DIR|WASM", requires = "call")]
    local: Option<PathBuf>,
    /// Configuration: a JSON object, or @FILE [default: the recorded one]
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Replay {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = self.config.as_deref().map(|text| chain::parse_object("configuration", text)).transpose()?;
        let hub = self.remote.client()?;
        let answer = match (&self.local, &self.call) {
            (Some(module), Some(id)) => {
                let call = recorded::find(&hub, self.point.as_deref(), id).await?;
                replay_locally(module.clone(), &call, self.name.as_deref(), config.as_ref()).await?
            }
            (_, Some(id)) => self.replay_on_hub(&hub, Some(id), config).await?,
            _ => self.replay_on_hub(&hub, None, config).await?,
        };
        let has_examples = answer.get("examples").is_some();
        if self.json {
            print_json!(answer);
        } else {
            println!("{}", if has_examples { summary(&answer) } else { call_report(&answer) });
        }
        Ok(())
    }

    async fn replay_on_hub(
        &self,
        hub: &HubClient,
        call: Option<&str>,
        config: Option<Map<String, Value>>,
    ) -> anyhow::Result<Value> {
        let mut body = json!({"config": config});
        body["point"] = match (&self.point, call) {
            (None, Some(id)) => recorded::find(hub, None, id).await?["point"].clone(),
            (point, _) => json!(point),
        };
        match call {
            Some(id) => body["callId"] = id.into(),
            None => body["last"] = self.last.into(),
        }
        let name = self.name.as_deref().unwrap_or_default();
        let version = match self.version {
            Some(version) => version,
            None => newest_version(hub, name).await?,
        };
        Ok(hub.post(&format!("/api/manage/modules/{name}/{version}/replay"), &body).await?)
    }
}

/// Replays a call on this machine. The result has the format of the hub's answer.
async fn replay_locally(
    module: PathBuf,
    call: &Value,
    name: Option<&str>,
    config: Option<&Map<String, Value>>,
) -> anyhow::Result<Value> {
    let local = LocalModule::open_for_debugging(module).await?;
    let stem = local.file.file_stem().and_then(|stem| stem.to_str());
    // The module's own part, or else the only one.
    let mut parts = recorded::parts(call);
    let only = parts.next().filter(|_| parts.next().is_none());
    let part = match name {
        Some(name) => recorded::part(call, name),
        None => stem.and_then(|stem| recorded::part(call, stem)).or(only),
    };
    let case: TestCase = recorded::read_case(call, part, config)?;
    local.check_serves(case.point)?;
    let limits = local::limits(case.point, Some(TIMEOUT));
    let (hub, step) = (case.host(), &case.steps[0]);
    let report =
        local.sandbox.call_json(&local.module, limits, hub.at(step.now_ms), case.context(step), &step.input).await;
    let mut answer = report_json(&report);
    answer["callId"] = call["callId"].clone();
    answer["at"] = call["at"].clone();
    answer["input"] = step.input.to_json();
    answer["config"] = Value::Object(case.config.clone());
    answer["recorded"] = recorded::answer(call, part);
    answer["unrecorded"] = hub.unrecorded().into();
    answer["same"] = (step.expect.as_ref() == Some(&Answer::of(&report))).into();
    Ok(answer)
}

/// Formats a replay of one call.
fn call_report(answer: &Value) -> String {
    let mut lines = vec![format!("call    {} at {}", format::text(answer, "callId"), format::timestamp(&answer["at"]))];
    lines.push(format!("input   {}", one_line(&answer["input"])));
    lines.push(format!("config  {}", one_line(&answer["config"])));
    lines.push(format!("then    {}", one_line(&answer["recorded"])));
    lines.push(format_report(answer));
    lines.extend(unrecorded(answer));
    lines.join("\n")
}

/// Formats a replay of many calls.
fn summary(answer: &Value) -> String {
    let counts = ["same", "different", "failed"].map(|count| format!("{} {count}", answer[count]));
    let calls = usize::try_from(answer["calls"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    let mut lines = vec![format!("{}: {}", format::count(calls, "call"), counts.join(", "))];
    lines.extend(unrecorded(answer));
    for example in answer["examples"].as_array().into_iter().flatten() {
        lines.push(format!("\ncall    {} at {}", format::text(example, "callId"), format::timestamp(&example["at"])));
        lines.push(format!("input   {}", one_line(&example["input"])));
        lines.push(format!("then    {}", one_line(&example["recorded"])));
        let mut replayed = example.clone();
        replayed["output"] = example["replayed"].clone();
        lines.push(format_report(&replayed));
    }
    lines.join("\n")
}

fn unrecorded(answer: &Value) -> Option<String> {
    let calls =
        answer["unrecorded"].as_u64().and_then(|calls| usize::try_from(calls).ok()).filter(|calls| *calls > 0)?;
    Some(format!(
        "({} without a recorded answer; only the shown store was available)",
        format::count(calls, "host call")
    ))
}
