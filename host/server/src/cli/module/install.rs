//! Installs a published module: checks who signed it, says what it asks for, and uploads it.

use clap::Args;
use hub_sandbox::manifest::{self, Manifest};
use semver::Version;
use serde_json::{Value, json};

use crate::cli::client::segment;
use crate::cli::module::index::{Entry, Index, Place};
use crate::cli::module::{Remote, format, push};

#[derive(Args, Debug)]
pub(in crate::cli) struct Install {
    /// Module, the newest version unless one is given; without it, what the index has
    #[arg(value_name = "NAME[@VERSION]", value_parser = wanted)]
    module: Option<Wanted>,
    /// Address or folder of the index
    #[arg(long, env = "HUB_MODULE_INDEX", value_name = "URL|DIR")]
    index: String,
    /// Key of the publisher, as they told it; needed once
    #[arg(long, value_name = "KEY")]
    publisher: Option<String>,
    /// Only say what it asks for
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    version: Option<Version>,
}

fn wanted(typed: &str) -> Result<Wanted, String> {
    let (name, version) = typed.split_once('@').map_or((typed, None), |(name, version)| (name, Some(version)));
    let version =
        version.map(|it| it.parse().map_err(|_| format!("`{it}` is no version such as 1.2.0"))).transpose()?;
    Ok(Wanted { name: segment(name)?, version })
}

impl Install {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let place = Place::parse(&self.index)?;
        let index = place.index(self.publisher.as_deref()).await?;
        let Some(Wanted { name, version }) = &self.module else {
            self.list(&index);
            return Ok(());
        };
        let entry = index.find(name, version.as_ref())?;
        let component = place.component(entry).await?;
        let invalid = |error: manifest::Invalid| anyhow::anyhow!("the manifest of {}: {error}", entry.file);
        let manifest =
            manifest::read(&component).map_err(invalid)?.map(Manifest::parse).transpose().map_err(invalid)?;
        if !self.json {
            println!("{} {} by {} ({})", entry.name, entry.version, index.publisher.name, index.publisher.key);
            print!("{}", asked(manifest.as_ref()));
        }
        let mut answer = json!({"entry": entry, "publisher": index.publisher, "asks": manifest.as_ref().map(|it| &it.needs),
            "config": manifest.as_ref().and_then(|it| it.config.as_ref())});
        if !self.dry_run {
            let module = push::install(&self.remote.client()?, &entry.name, component).await?;
            if !self.json {
                println!(
                    "{} is version {} of this network; activate it by\n  {}",
                    entry.name,
                    module["version"],
                    next(entry, manifest.as_ref())
                );
            }
            answer["module"] = module;
        }
        if self.json {
            print_json!(answer);
        }
        Ok(())
    }

    fn list(&self, index: &Index) {
        if self.json {
            print_json!(json!({"publisher": index.publisher, "modules": index.entries().collect::<Vec<_>>()}));
            return;
        }
        println!("published by {} ({})", index.publisher.name, index.publisher.key);
        let row = |entry: &Entry| {
            [entry.name.clone(), entry.version.to_string(), format::bytes(entry.size), entry.description.clone()]
        };
        let rows: Vec<_> = index.entries().map(row).collect();
        print!("{}", format::table(["name", "version", "size", "description"], &rows));
    }
}

/// Rights that a module asks for, and the form of its configuration.
fn asked(manifest: Option<&Manifest>) -> String {
    let mut lines = vec![];
    let needs = manifest.and_then(|it| serde_json::to_value(&it.needs).ok()).unwrap_or_default();
    for (name, values) in needs.as_object().into_iter().flatten() {
        let values: Vec<_> = values.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !values.is_empty() {
            lines.push(format!("  {name}: {}", values.join(", ")));
        }
    }
    lines.insert(0, if lines.is_empty() { "it asks for nothing" } else { "it asks for" }.to_owned());
    let schema = manifest.and_then(|it| it.config.as_ref()).map(manifest::Schema::to_json);
    if let Some(schema) = schema {
        lines.push("its configuration has".to_owned());
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name.as_str()));
            let kind = field["type"].as_str().unwrap_or("any");
            let title = field["title"].as_str().or(field["description"].as_str()).unwrap_or_default();
            lines.push(format!("  {name} ({kind}{}) {title}", if is_required { ", required" } else { "" }));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Command that activates it.
fn next(entry: &Entry, manifest: Option<&Manifest>) -> String {
    let mut command = format!("hub module activate {}", entry.name);
    if let Some(manifest) = manifest {
        let needs = serde_json::to_value(&manifest.needs).unwrap_or_default();
        if needs
            .as_object()
            .is_some_and(|all| all.values().any(|it| it.as_array().is_some_and(|list| !list.is_empty())))
        {
            command = format!("{command} --grants '{needs}'");
        }
        if manifest.config.is_some() {
            command += " --config @config.json";
        }
    }
    command
}
