//! `hub network …`: works on the database directly, also while a hub serves it.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::StorageArgs;
use crate::ids::Ids;
use crate::networks::service;
use crate::values::Identifier;

#[derive(Subcommand, Debug)]
pub(super) enum Network {
    /// Create a network and its first key, which may do everything but the operator's work
    Create(Create),
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

impl Network {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Create(create) = self;
        let db = open_database(&create.storage).await?;
        let created = service::create_network(&db, &Clock::System, &Ids::System, create.name.as_str()).await;
        db.close().await;
        let (network, key) = created?;
        if create.json {
            println!("{}", json!({"networkId": network, "name": create.name, "apiKey": key.text}));
        } else {
            println!("network  {} ({network})", create.name);
            println!("API key  {}", key.text);
            println!("The key is shown this once; the hub keeps only a hash of it.");
        }
        Ok(())
    }
}
