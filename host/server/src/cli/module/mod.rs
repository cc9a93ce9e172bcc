//! `hub module …`: what an author does, and what an owner does with the result. All but building goes through the
//! hub's HTTP API.

mod build;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::cli::client::HubClient;

#[derive(Subcommand, Debug)]
pub(super) enum Module {
    /// Build a module's component from its Rust source
    Build(Build),
    /// Upload a module
    Push(Push),
    /// Put a version into a point's chain, in the place of the version that is there or else at the end
    Activate(Activate),
    /// Restore the chain that a point had before
    Rollback(Rollback),
    /// Print the newest lines of a module's log
    Logs(Logs),
}

/// The hub and the key to call it with.
#[derive(Args, Debug)]
struct Remote {
    /// The hub
    #[arg(long = "hub", env = "HUB_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A key with the scope modules:write
    #[arg(long, env = "HUB_KEY", hide_env_values = true)]
    key: String,
}

impl Remote {
    fn client(&self) -> HubClient {
        HubClient::new(&self.url, &self.key)
    }
}

#[derive(Args, Debug)]
pub(super) struct Build {
    /// The module's folder, with its Cargo.toml
    #[arg(default_value = ".")]
    dir: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct Push {
    /// A component, or a module's folder, which is built first
    path: PathBuf,
    /// Its name: 1 to 64 of a-z, 0-9 and -, beginning with a letter [default: the file's name]
    #[arg(long)]
    name: Option<String>,
    /// Put it into this point's chain at once; may be given several times
    #[arg(long = "activate", value_name = "POINT")]
    points: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(super) struct Activate {
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
pub(super) struct Rollback {
    /// The extension point: matchmaking, chat or punishment
    #[arg(long)]
    point: String,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(super) struct Logs {
    name: String,
    /// How many lines, at most 200
    #[arg(long, default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

impl Module {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Build(build) => {
                let built = build::build(&build.dir)?;
                println!("built {} ({} bytes)", built.file.display(), built.bytes);
                Ok(())
            }
            Self::Push(push) => push.run().await,
            Self::Activate(activate) => {
                let config = activate.config.as_deref().map(config).transpose()?;
                let hub = activate.remote.client();
                put_into_chain(&hub, &activate.point, &activate.name, activate.version, config).await
            }
            Self::Rollback(rollback) => {
                let path = format!("/api/manage/extension-points/{}/rollback", rollback.point);
                tell_chain(&rollback.remote.client().post(&path, &json!({})).await?);
                Ok(())
            }
            Self::Logs(logs) => logs.run().await,
        }
    }
}

impl Push {
    async fn run(self) -> anyhow::Result<()> {
        let file = if self.path.is_dir() { build::build(&self.path)?.file } else { self.path };
        let name = match self.name {
            Some(name) => name,
            None => stem(&file)?,
        };
        let bytes = std::fs::read(&file).with_context(|| format!("{} can't be read", file.display()))?;
        let hub = self.remote.client();
        let upload = hub
            .request(Method::POST, "/api/manage/modules")
            .query(&[("name", name.as_str())])
            .header("Content-Type", "application/wasm")
            .body(bytes);
        let module = hub.send(upload).await?;
        let version = module["version"].as_i64().context("the hub's answer has no version")?;
        println!("{name} version {version} is {}", module["state"].as_str().unwrap_or("unknown"));
        if !self.points.is_empty() && module["state"] != "READY" {
            anyhow::bail!("it is not READY yet; activate it later with `hub module activate {name} {version}`");
        }
        for point in &self.points {
            put_into_chain(&hub, point, &name, version, None).await?;
        }
        Ok(())
    }
}

impl Logs {
    async fn run(self) -> anyhow::Result<()> {
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

fn stem(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    Ok(stem.context("the file's name can't be a module's; give one with --name")?.to_owned())
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
async fn put_into_chain(
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
    tell_chain(&hub.put(&path, &json!({"modules": modules})).await?);
    Ok(())
}

fn tell_chain(chain: &Value) {
    let modules = chain["modules"].as_array().cloned().unwrap_or_default();
    let names: Vec<_> = modules
        .iter()
        .map(|module| format!("{} {}", module["name"].as_str().unwrap_or("?"), module["version"]))
        .collect();
    let names = if names.is_empty() { "the built-in behaviour".to_owned() } else { names.join(", then ") };
    println!("{}: {names}", chain["point"].as_str().unwrap_or("?"));
}
