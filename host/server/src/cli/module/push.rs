//! Uploads a module.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::cli::client::{self, HubClient};
use crate::cli::module::{Remote, chain, local};

/// Interval between polls of a compilation.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Delay before retrying an upload that is held up by others.
const RETRY_DELAY: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(in crate::cli) struct Push {
    /// Component, or module folder (built first)
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Module name: 1 to 64 of a-z, 0-9 and -, beginning with a letter [default: the file's name]
    #[arg(long, value_parser = client::segment)]
    name: Option<String>,
    /// Activate the module at this extension point; repeatable
    #[arg(long = "activate", value_name = "POINT")]
    points: Vec<String>,
    #[command(flatten)]
    link: chain::LinkArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Push {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn run(&self) -> anyhow::Result<()> {
        let (settings, hub) = (self.link.read()?, self.remote.client()?);
        let file = local::build_component(self.path.clone()).await?;
        let name = self.name.clone().map_or_else(|| file_stem(&file), Ok)?;
        let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut module = install(&hub, &name, bytes).await?;
        let version = module["version"].as_i64().context("the hub's answer has no version")?;
        if !self.json {
            println!("{name} version {version} is READY");
        }
        let mut chains = vec![];
        for point in &self.points {
            let chain = chain::put(&hub, point, &name, version, &settings).await?;
            if self.json {
                chain::print_warnings(&chain);
            } else {
                chain::print_chain(&chain, false);
            }
            chains.push(chain);
        }
        if self.json {
            module["extensionPoints"] = chains.into();
            print_json!(module);
        }
        Ok(())
    }
}

/// Uploads a module and waits until its version is ready. Returns the version.
pub(super) async fn install(hub: &HubClient, name: &str, component: Vec<u8>) -> anyhow::Result<Value> {
    let module = upload(hub, name, component.into()).await?;
    let version = module["version"].as_i64().context("the hub's answer has no version")?;
    let module = wait_until_compiled(hub, name, version, module).await?;
    if module["state"] != "READY" {
        anyhow::bail!("{name} version {version} was rejected: {}", module["reason"].as_str().unwrap_or_default());
    }
    Ok(module)
}

/// Uploads a module, retrying until the hub accepts it.
async fn upload(hub: &HubClient, name: &str, bytes: Bytes) -> anyhow::Result<Value> {
    loop {
        let upload = hub
            .request(Method::POST, "/api/manage/modules")
            .query("name", name)
            .body(bytes.clone(), "application/wasm");
        match hub.send(upload).await {
            Err(error) if error.status() == Some(StatusCode::TOO_MANY_REQUESTS) => {
                eprintln!("{} Waiting.", error.message());
                tokio::time::sleep(RETRY_DELAY).await;
            }
            answer => return Ok(answer?),
        }
    }
}

/// Waits for the end of a version's compilation, and returns the version.
pub(in crate::cli) async fn wait_until_compiled(
    hub: &HubClient,
    name: &str,
    version: i64,
    mut module: Value,
) -> anyhow::Result<Value> {
    if module["state"] == "COMPILING" {
        eprintln!("{name} version {version} is COMPILING; waiting.");
    }
    while module["state"] == "COMPILING" {
        tokio::time::sleep(POLL_INTERVAL).await;
        module = hub.get(&format!("/api/manage/modules/{name}/{version}")).await?;
    }
    Ok(module)
}

fn file_stem(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    Ok(stem.context("the file's name is not a valid module name; pass one with --name")?.to_owned())
}
