//! Making recorded calls again, on the hub or here.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hub_sandbox::test_case::{Answer, TestCase, one_line};
use serde_json::{Map, Value, json};

use crate::cli::client::HubClient;
use crate::cli::module::report::{report, report_of};
use crate::cli::module::workshop::{self, Workshop};
use crate::cli::module::{Remote, chain, recorded, show};

/// As on the hub, time does not decide what a replay comes to.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Args, Debug)]
pub(in crate::cli) struct Replay {
    /// The module
    #[arg(required_unless_present = "local")]
    name: Option<String>,
    #[arg(required_unless_present = "local")]
    version: Option<i64>,
    /// The extension point: matchmaking, chat or punishment
    #[arg(long, required_unless_present = "call")]
    point: Option<String>,
    /// How many of the newest calls, at most 1,000
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "call")]
    last: u32,
    /// This one call
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Run it here, with this component or with what this folder's source gives
    #[arg(long, value_name = "DIR|WASM", requires = "call")]
    local: Option<PathBuf>,
    /// The configuration to run with: a JSON object, or @ and a file that holds one [default: what it had then]
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Replay {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = self.config.as_deref().map(|text| chain::object("configuration", text)).transpose()?;
        let hub = self.remote.client()?;
        let answer = match (&self.local, &self.call) {
            (Some(module), Some(id)) => {
                let call = recorded::find(&hub, self.point.as_deref(), id).await?;
                here(module.clone(), &call, self.name.as_deref(), config.as_ref()).await?
            }
            (_, Some(id)) => self.on_the_hub(&hub, Some(id), config).await?,
            _ => self.on_the_hub(&hub, None, config).await?,
        };
        let many = answer.get("examples").is_some();
        println!(
            "{}",
            if self.json {
                answer.to_string()
            } else if many {
                summary(&answer)
            } else {
                one(&answer)
            }
        );
        Ok(())
    }

    async fn on_the_hub(
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
        let (name, version) = (self.name.as_deref().unwrap_or_default(), self.version.unwrap_or_default());
        Ok(hub.post(&format!("/api/manage/modules/{name}/{version}/replay"), &body).await?)
    }
}

/// Makes a call again on this machine; what comes of it is in the form of the hub's own replays.
async fn here(
    module: PathBuf,
    call: &Value,
    name: Option<&str>,
    config: Option<&Map<String, Value>>,
) -> anyhow::Result<Value> {
    let workshop = Workshop::open_to_debug(module).await?;
    let own = workshop.file.file_stem().and_then(|stem| stem.to_str());
    // The part it has, or would have: its own, else the only one there was.
    let mut parts = recorded::parts(call);
    let only = parts.next().filter(|_| parts.next().is_none());
    let part = match name {
        Some(name) => recorded::part(call, name),
        None => own.and_then(|own| recorded::part(call, own)).or(only),
    };
    let case: TestCase = recorded::read_case(call, part, config)?;
    workshop.check_serves(case.point)?;
    let limits = workshop::limits(case.point, Some(PATIENCE));
    let (hub, step) = (case.host(), &case.steps[0]);
    let report = workshop
        .sandbox
        .call_json(&workshop.module, limits, hub.at(step.now_ms), case.context(step), &step.input)
        .await;
    let mut answer = report_of(&report);
    answer["callId"] = call["callId"].clone();
    answer["at"] = call["at"].clone();
    answer["input"] = step.input.to_json();
    answer["config"] = Value::Object(case.config.clone());
    answer["recorded"] = recorded::answer(call, part);
    answer["unrecorded"] = hub.unrecorded().into();
    answer["same"] = (step.expect.as_ref() == Some(&Answer::of(&report))).into();
    Ok(answer)
}

/// A replay of one call.
fn one(answer: &Value) -> String {
    let mut lines = vec![format!("call    {} at {}", show::text(answer, "callId"), show::moment(&answer["at"]))];
    lines.push(format!("input   {}", one_line(&answer["input"])));
    lines.push(format!("config  {}", one_line(&answer["config"])));
    lines.push(format!("then    {}", one_line(&answer["recorded"])));
    lines.push(report(answer));
    lines.extend(unrecorded(answer));
    lines.join("\n")
}

/// A replay of many calls.
fn summary(answer: &Value) -> String {
    let counts = ["same", "different", "failed"].map(|count| format!("{} {count}", answer[count]));
    let calls = usize::try_from(answer["calls"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    let mut lines = vec![format!("{}: {}", show::count(calls, "call"), counts.join(", "))];
    lines.extend(unrecorded(answer));
    for example in answer["examples"].as_array().into_iter().flatten() {
        lines.push(format!("\ncall    {} at {}", show::text(example, "callId"), show::moment(&example["at"])));
        lines.push(format!("input   {}", one_line(&example["input"])));
        lines.push(format!("then    {}", one_line(&example["recorded"])));
        let mut now = example.clone();
        now["output"] = example["replayed"].clone();
        lines.push(report(&now));
    }
    lines.join("\n")
}

fn unrecorded(answer: &Value) -> Option<String> {
    let calls =
        answer["unrecorded"].as_u64().and_then(|calls| usize::try_from(calls).ok()).filter(|calls| *calls > 0)?;
    Some(format!(
        "({} of it nobody had asked then; there the hub has nothing but the store it shows)",
        show::count(calls, "host call")
    ))
}
