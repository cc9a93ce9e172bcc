//! Uploading a module.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use reqwest::Method;

use crate::cli::module::{Remote, chain, workshop};

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
            chain::put(&hub, point, &name, version, &wish).await?;
        }
        Ok(())
    }
}

fn stem(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    Ok(stem.context("the file's name can't be a module's; give one with --name")?.to_owned())
}
