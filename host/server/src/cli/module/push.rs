//! Uploading a module.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::cli::client::{CallError, HubClient};
use crate::cli::module::{Remote, chain, workshop};

/// Between two looks at a module that is being compiled.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Before it is tried again where other uploads are under way.
const ROOM_AGAIN: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(in crate::cli) struct Push {
    /// A component, or a module's folder, which is built first
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Its name: 1 to 64 of a-z, 0-9 and -, beginning with a letter [default: the file's name]
    #[arg(long)]
    name: Option<String>,
    /// Put it into this point's chain at once; may be given several times
    #[arg(long = "activate", value_name = "POINT")]
    points: Vec<String>,
    #[command(flatten)]
    place: chain::Place,
    #[command(flatten)]
    remote: Remote,
}

impl Push {
    /// Where the module is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn once(&self) -> anyhow::Result<()> {
        let wish = self.place.read()?;
        let file = workshop::component(self.path.clone()).await?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => stem(&file)?,
        };
        let bytes = std::fs::read(&file).with_context(|| format!("{} can't be read", file.display()))?;
        let hub = self.remote.client()?;
        let module = upload(&hub, &name, bytes.into()).await?;
        let version = module["version"].as_i64().context("the hub's answer has no version")?;
        let module = settled(&hub, &name, version, module).await?;
        println!("{name} version {version} is {}", module["state"].as_str().unwrap_or("unknown"));
        if module["state"] != "READY" {
            anyhow::bail!("it can't be a module: {}", module["reason"].as_str().unwrap_or_default());
        }
        for point in &self.points {
            chain::put(&hub, point, &name, version, &wish).await?;
        }
        Ok(())
    }
}

/// Uploads it, once the hub has room for it.
async fn upload(hub: &HubClient, name: &str, bytes: Bytes) -> anyhow::Result<Value> {
    loop {
        let upload = hub
            .request(Method::POST, "/api/manage/modules")
            .query(&[("name", name)])
            .header("Content-Type", "application/wasm")
            .body(bytes.clone());
        match hub.send(upload).await {
            Err(CallError::Refused { status: StatusCode::TOO_MANY_REQUESTS, said }) => {
                eprintln!("{said} Waiting.");
                tokio::time::sleep(ROOM_AGAIN).await;
            }
            answer => return Ok(answer?),
        }
    }
}

/// The version once it is no longer COMPILING.
async fn settled(hub: &HubClient, name: &str, version: i64, mut module: Value) -> anyhow::Result<Value> {
    if module["state"] == "COMPILING" {
        eprintln!("{name} version {version} is COMPILING; waiting.");
    }
    while module["state"] == "COMPILING" {
        tokio::time::sleep(LOOK_AGAIN).await;
        module = hub.get(&format!("/api/manage/modules/{name}/{version}")).await?;
    }
    Ok(module)
}

fn stem(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    Ok(stem.context("the file's name can't be a module's; give one with --name")?.to_owned())
}
