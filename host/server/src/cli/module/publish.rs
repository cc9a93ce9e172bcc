//! Publishes a version of a module in an index.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use hub_sandbox::manifest::{self, Manifest};
use semver::Version;

use crate::cli::module::index::{self, Entry, PublisherKey};
use crate::cli::module::local;

#[derive(Args, Debug)]
pub(in crate::cli) struct Publish {
    /// Version, such as 1.2.0
    version: Version,
    /// Component, or module folder (built first)
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Module name [default: the manifest's, or the file's]
    #[arg(long, value_parser = crate::cli::client::segment)]
    name: Option<String>,
    /// Folder of the index, which a web server may serve as it is
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// Publisher's key; a new one is made where there is none [default: publisher.key in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Name of the publisher, for a new index
    #[arg(long, value_name = "NAME")]
    publisher_name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let file = local::build_component(self.path).await?;
        let component = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let invalid = |error: manifest::Invalid| anyhow::anyhow!("the manifest of {}: {error}", file.display());
        let manifest =
            manifest::read(&component).map_err(invalid)?.map(Manifest::parse).transpose().map_err(invalid)?;
        let (own, description) = manifest.map(|it| (it.name, it.description)).unwrap_or_default();
        let stem = || file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        let name = self.name.or(own).or_else(stem).context("the file has no name: pass one with --name")?;
        let entry = Entry::new(&name, self.version, description.unwrap_or_default(), &component)?;
        let key = PublisherKey::open(&self.key_file.map_or_else(PublisherKey::default_file, Ok)?)?;
        index::add(&self.index, &key, self.publisher_name.as_deref(), entry.clone(), &component)?;
        if self.json {
            print_json!(serde_json::json!({"entry": entry, "publisher": key.public()}));
        } else {
            println!("{} {} is in {}, signed by {}", entry.name, entry.version, self.index.display(), key.public());
        }
        Ok(())
    }
}
