//! What a point's chain runs.

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::client::HubClient;
use crate::cli::module::Remote;

#[derive(Args, Debug)]
pub(in crate::cli) struct Activate {
    name: String,
    version: i64,
    /// The extension point: matchmaking, chat or punishment
    #[arg(long)]
    point: String,
    /// Its configuration: a JSON object, or @ and the name of a file that holds one [default: what it has]
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Rollback {
    /// The extension point: matchmaking, chat or punishment
    #[arg(long)]
    point: String,
    #[command(flatten)]
    remote: Remote,
}

impl Activate {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = self.config.as_deref().map(config).transpose()?;
        put(&self.remote.client(), &self.point, &self.name, self.version, config).await
    }
}

impl Rollback {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let path = format!("/api/manage/extension-points/{}/rollback", self.point);
        tell(&self.remote.client().post(&path, &json!({})).await?);
        Ok(())
    }
}

/// A configuration as the command line gives it.
fn config(text: &str) -> anyhow::Result<Map<String, Value>> {
    let text = match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("{file} can't be read"))?,
        None => text.to_owned(),
    };
    serde_json::from_str(&text).context("the configuration must be one JSON object")
}

/// Puts a version into the chain: in the place of the version that is there, else at the end.
pub(super) async fn put(
    hub: &HubClient,
    point: &str,
    name: &str,
    version: i64,
    config: Option<Map<String, Value>>,
) -> anyhow::Result<()> {
    let path = format!("/api/manage/extension-points/{point}");
    let chain = hub.get(&path).await?;
    let mut modules = chain["modules"].as_array().cloned().unwrap_or_default();
    let at = modules.iter().position(|module| module["name"] == name).unwrap_or_else(|| {
        modules.push(json!({"name": name}));
        modules.len() - 1
    });
    modules[at]["version"] = version.into();
    if let Some(config) = config {
        modules[at]["config"] = Value::Object(config);
    }
    let put = hub.put(&path, &json!({"modules": modules})).await?;
    tell(&put);
    for warning in put["warnings"].as_array().into_iter().flatten() {
        let (name, message) = (warning["name"].as_str().unwrap_or("?"), warning["message"].as_str().unwrap_or("?"));
        eprintln!("WARNING: {name} {} is active, but {message}", warning["version"]);
    }
    Ok(())
}

fn tell(chain: &Value) {
    let modules = chain["modules"].as_array().cloned().unwrap_or_default();
    let names: Vec<_> = modules
        .iter()
        .map(|module| format!("{} {}", module["name"].as_str().unwrap_or("?"), module["version"]))
        .collect();
    let names = if names.is_empty() { "the built-in behaviour".to_owned() } else { names.join(", then ") };
    println!("{}: {names}", chain["point"].as_str().unwrap_or("?"));
}
