//! `hub admin cluster …`: works on the database directly.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::open_database;
use crate::config::StorageArgs;
use crate::identity;
use crate::ids::Ids;

#[derive(Subcommand, Debug)]
pub(super) enum Cluster {
    /// Make a copied database a hub of its own, so that it can share NATS with the original. Run it before the copy's
    /// first start, and give the copy a blob store of its own
    Separate(Separate),
}

#[derive(Args, Debug)]
pub(super) struct Separate {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Cluster {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Separate(separate) = self;
        let db = open_database(&separate.storage).await?;
        let separated = identity::separate(&db, &Ids::System).await;
        db.close().await;
        let id = separated?;
        if separate.json {
            print_json!(json!({"clusterId": id}));
        } else {
            println!("this database is a hub of its own, with the id {id}");
        }
        Ok(())
    }
}
