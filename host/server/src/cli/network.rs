//! `hub admin network …`: works on the database directly, even while a hub is running.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use hub_db::Db;
use serde_json::{Value, json};

use crate::archive::{self, ImportOptions, Report};
use crate::auth::Origin;
use crate::blobs::Blobs;
use crate::cli::network_move::{ForgetMove, Move};
use crate::cli::{connect, open_database, progress};
use crate::clock::Clock;
use crate::components::tables;
use crate::config::{Settings, StorageArgs};
use crate::data_folder;
use crate::ids::Ids;
use crate::modules::open_store;
use crate::networks::admin::{self, NetworkChange, NetworkRow};
use crate::networks::deletion::Deletion;
use crate::networks::service;
use crate::values::{Identifier, Label};

/// Interval between polls for the end of a deletion.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Subcommand, Debug)]
pub(super) enum Network {
    /// Create a network and its first API key, which can do everything except operator tasks
    Create(Create),
    /// List the networks, oldest first
    List(List),
    /// Rename a network or change its plan
    Set(Set),
    /// Suspend a network: all its requests are refused, and nothing is done for it, for example before a move
    Suspend(Named),
    /// Resume a suspended network and cancel its pending deletion
    Resume(Named),
    /// Suspend a network and delete it in seven days
    Delete(Delete),
    /// Export a network to a file, including its secrets
    Export(Export),
    /// Import a network from an export file
    Import(Import),
    /// Move a network to another hub, which it is forwarded to from then on
    Move(Move),
    /// Stop forwarding a network that has moved
    ForgetMove(ForgetMove),
}

#[derive(Args, Debug)]
pub(super) struct Create {
    /// Network name; must not be in use
    name: Identifier,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Named {
    /// Network id or name
    network: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Set {
    /// Network id or name
    network: String,
    /// New name
    #[arg(long, required_unless_present = "plan")]
    name: Option<Identifier>,
    /// New plan
    #[arg(long)]
    plan: Option<Label>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Delete {
    /// Network id or name
    network: String,
    /// Delete immediately; this cannot be undone
    #[arg(long)]
    now: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Export {
    /// Network id or name
    network: String,
    /// File to write; it must not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Import {
    /// File written by `hub admin network export`
    file: PathBuf,
    /// Plan of the network, whatever the file says
    #[arg(long, value_name = "NAME", default_value = "default")]
    plan: String,
    /// Also import the operator's own network, whose keys have full access
    #[arg(long)]
    operator: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Network {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
            Self::List(list) => list.run().await,
            Self::Set(set) => set.run().await,
            Self::Delete(delete) => delete.run().await,
            Self::Suspend(named) => named.set_suspended(true).await,
            Self::Resume(named) => named.set_suspended(false).await,
            Self::Export(export) => export.run().await,
            Self::Import(import) => import.run().await,
            Self::Move(it) => it.run().await,
            Self::ForgetMove(forget) => forget.run().await,
        }
    }
}

fn origin() -> Origin {
    Origin::command_line(&Clock::System, &Ids::System)
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_whole(&settings)?;
        // The first command creates the hub.
        if settings.database.is_none() && !settings.database_file().is_file() {
            eprintln!("created a new hub in {}", data_folder::shown(&settings).display());
        }
        let db = connect(&settings).await?;
        let created = service::create_network(&db, &Clock::System, &Ids::System, self.name.as_str()).await;
        db.close().await;
        let (network, key) = created?;
        if self.json {
            print_json!(json!({"networkId": network, "name": self.name, "apiKey": key.text}));
        } else {
            println!("network  {} ({network})", self.name);
            println!("API key  {}", key.text.expose());
            println!("Store the key now: it is shown only once.");
        }
        Ok(())
    }
}

impl Named {
    async fn set_suspended(self, suspended: bool) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let changed = async {
            let network = service::resolve_network(&db, &self.network).await?;
            let change = NetworkChange { suspended: Some(suspended), ..NetworkChange::default() };
            admin::change(&db, &origin(), network, change).await
        };
        let changed = changed.await;
        db.close().await;
        print_network(&changed?, self.json);
        Ok(())
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let listed = admin::list(&db, i64::MAX, 0).await;
        db.close().await;
        let (networks, _) = listed?;
        if self.json {
            print_json!(networks.iter().map(to_json).collect::<Value>());
            return Ok(());
        }
        for network in &networks {
            print_network(network, false);
        }
        Ok(())
    }
}

fn to_json(network: &NetworkRow) -> Value {
    let NetworkRow { network_id, name, plan, suspended, created_at, delete_at } = network;
    json!({
        "networkId": network_id, "name": name, "plan": plan, "suspended": suspended,
        "createdAt": created_at, "deleteAt": delete_at,
    })
}

fn print_network(network: &NetworkRow, json: bool) {
    if json {
        print_json!(to_json(network));
        return;
    }
    let state = match (network.delete_at, network.suspended) {
        (Some(_), _) => "to be deleted",
        (None, true) => "suspended",
        (None, false) => "active",
    };
    println!("{}  {:<30} {:<15} {state}", network.network_id, network.name, network.plan);
}

impl Set {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let changed = async {
            let network = service::resolve_network(&db, &self.network).await?;
            let (name, plan) = (self.name.as_ref().map(Identifier::as_str), self.plan.as_ref().map(Label::as_str));
            admin::change(&db, &origin(), network, NetworkChange { name, plan, suspended: None }).await
        };
        let changed = changed.await;
        db.close().await;
        print_network(&changed?, self.json);
        Ok(())
    }
}

impl Delete {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_blobs(&settings)?;
        let db = open_database(&self.storage).await?;
        let module_store = open_store(&settings, &db).await?;
        let deleted = self.delete(&settings, &db, &module_store).await;
        module_store.close().await;
        db.close().await;
        deleted
    }

    async fn delete(&self, settings: &Settings, db: &Db, module_store: &Db) -> anyhow::Result<()> {
        let clock = Clock::System;
        let network = service::resolve_network(db, &self.network).await?;
        let delete_at = admin::delete(db, &origin(), network, self.now).await?;
        if !self.now {
            let text = format!(
                "{network} is suspended and will be deleted in seven days; `hub admin network resume` cancels this"
            );
            self.print(&json!({"networkId": network, "deleteAt": delete_at}), &text);
            return Ok(());
        }
        // A running hub that serves the network has to notice first. It may also delete it earlier.
        clock.sleep_until(clock.moment_of(delete_at)).await;
        let blobs = Blobs::open(settings, db)?;
        let deletion = Deletion { db, module_store, blobs: &blobs, clock: &clock, ids: &Ids::System, tables: tables() };
        while !admin::is_deleted(db, network).await? {
            deletion.run_due(network).await?;
            clock.sleep(POLL_INTERVAL).await;
        }
        self.print(&json!({"networkId": network, "deletedAt": clock.now()}), &format!("{network} is deleted"));
        Ok(())
    }

    fn print(&self, json: &Value, text: &str) {
        if self.json {
            print_json!(json);
        } else {
            println!("{text}");
        }
    }
}

impl Export {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_blobs(&settings)?;
        let db = open_database(&self.storage).await?;
        let store = open_store(&settings, &db).await?;
        let exported = async {
            let network = service::resolve_network(&db, &self.network).await?;
            archive::export(&settings, &db, &store, tables(), network, &self.out).await
        };
        let exported = progress::with_bytes("written:", exported).await;
        store.close().await;
        db.close().await;
        print_report(&exported?, self.json);
        Ok(())
    }
}

impl Import {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_blobs(&settings)?;
        let db = open_database(&self.storage).await?;
        let store = open_store(&settings, &db).await?;
        let options = ImportOptions { from: &self.file, plan: &self.plan, allow_operator: self.operator };
        let importing = archive::import(&settings, &db, &store, tables(), &Ids::System, options);
        let imported = progress::with_bytes("read:", hub_db::without_time_limit(Box::pin(importing))).await;
        store.close().await;
        db.close().await;
        print_report(&imported?, self.json);
        Ok(())
    }
}

fn print_report(report: &Report, json: bool) {
    let Report { network, name, rows, files } = report;
    if json {
        print_json!(json!({"networkId": network, "name": name, "rows": rows, "files": files}));
    } else {
        println!("network  {name} ({network}): {rows} rows, {files} files");
    }
}
