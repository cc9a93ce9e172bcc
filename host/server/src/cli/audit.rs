//! `hub admin audit …`: reads the database directly, even while a hub is running.

use clap::{Args, Subcommand};
use hub_db::Db;

use crate::audit;
use crate::auth::OPERATOR_NETWORK;
use crate::cli::open_database;
use crate::cli::output::write;
use crate::components::components;
use crate::config::StorageArgs;
use crate::networks::service;

#[derive(Subcommand, Debug)]
pub(super) enum Audit {
    /// Print the audit log of a network or of the operator as JSON lines, oldest first
    Export(Export),
}

#[derive(Args, Debug)]
pub(super) struct Export {
    /// Network id or name
    #[arg(required_unless_present = "operator")]
    network: Option<String>,
    /// Print the operator's own log
    #[arg(long, conflicts_with = "network")]
    operator: bool,
    /// Only entries after the entry with this id
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    after: String,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Export(export) = self;
        let db = open_database(&export.storage).await?;
        let exported = export.run(&db).await;
        db.close().await;
        exported
    }
}

impl Export {
    async fn run(self, db: &Db) -> anyhow::Result<()> {
        let network = match self.network.as_deref() {
            None => OPERATOR_NETWORK,
            Some(given) => service::resolve_network(db, given).await?,
        };
        let mut after = self.after;
        loop {
            let rows = audit::service::next(db, network, &after).await?;
            let Some(last) = rows.last().map(|row| row.id.clone()) else { return Ok(()) };
            let text: String = rows.into_iter().map(|row| audit::to_line(components(), network, row)).collect();
            write(format_args!("{text}"))?;
            after = last;
        }
    }
}
