//! `hub network …`: works on the database directly, also while a hub serves it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::archive::{self, Report};
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::{Settings, StorageArgs};
use crate::ids::Ids;
use crate::modules::open_store;
use crate::networks::service;
use crate::values::Identifier;

#[derive(Subcommand, Debug)]
pub(super) enum Network {
    /// Create a network and its first key, which may do everything but the operator's work
    Create(Create),
    /// Refuse all requests of a network, as before it is moved
    Suspend(Named),
    /// Serve a network again that was suspended
    Resume(Named),
    /// Write all of a network to a file, its secrets included
    Export(Export),
    /// Bring a network in from such a file, from either database into either
    Import(Import),
}

#[derive(Args, Debug)]
pub(super) struct Create {
    /// The network's name; one that exists is an error
    name: Identifier,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Named {
    /// The network's id or name
    network: String,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Export {
    /// The network's id or name
    network: String,
    /// The file to write, which must not be there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Import {
    /// The file that `hub network export` wrote
    file: PathBuf,
    /// Also import the operator's own network, whose keys may do everything
    #[arg(long)]
    operator: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Network {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
            Self::Suspend(named) => named.set_suspended(true).await,
            Self::Resume(named) => named.set_suspended(false).await,
            Self::Export(export) => export.run().await,
            Self::Import(import) => import.run().await,
        }
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let created = service::create_network(&db, &Clock::System, &Ids::System, self.name.as_str()).await;
        db.close().await;
        let (network, key) = created?;
        if self.json {
            println!("{}", json!({"networkId": network, "name": self.name, "apiKey": key.text}));
        } else {
            println!("network  {} ({network})", self.name);
            println!("API key  {}", key.text.expose());
            println!("The key is shown this once; the hub keeps only a hash of it.");
        }
        Ok(())
    }
}

impl Named {
    async fn set_suspended(self, suspended: bool) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let changed = async {
            let network = service::resolve_network(&db, &self.network).await?;
            service::set_suspended(&db, network, suspended).await
        };
        let changed = changed.await;
        db.close().await;
        Ok(changed?)
    }
}

impl Export {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        let db = open_database(&self.storage).await?;
        let store = open_store(&settings, &db).await?;
        let exported = async {
            let network = service::resolve_network(&db, &self.network).await?;
            archive::export(&settings, &db, &store, network, &self.out).await
        };
        let exported = exported.await;
        store.close().await;
        db.close().await;
        print_report(&exported?, self.json);
        Ok(())
    }
}

impl Import {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        let db = open_database(&self.storage).await?;
        let store = open_store(&settings, &db).await?;
        let importing = archive::import(&settings, &db, &store, &Ids::System, &self.file, self.operator);
        let imported = hub_db::without_time_limit(Box::pin(importing)).await;
        store.close().await;
        db.close().await;
        print_report(&imported?, self.json);
        Ok(())
    }
}

fn print_report(report: &Report, json: bool) {
    let Report { network, name, rows, files } = report;
    if json {
        println!("{}", json!({"networkId": network, "name": name, "rows": rows, "files": files}));
    } else {
        println!("network  {name} ({network}): {rows} rows, {files} files");
    }
}
