//! `hub key …`: works on the database directly, also while a hub serves it.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::auth::{AddressRange, Bindings, OPERATOR_NETWORK, Scope, Scopes};
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::StorageArgs;
use crate::ids::Ids;
use crate::networks::service::{self, NewKey};
use crate::values::Identifier;

#[derive(Subcommand, Debug)]
pub(super) enum Key {
    /// Create a key of a network, or the operator's
    Create(Create),
}

#[derive(Args, Debug)]
pub(super) struct Create {
    /// The network's id or name
    #[arg(long, value_name = "ID", required_unless_present = "operator")]
    network: Option<String>,
    /// What the key may do; may be given several times
    #[arg(long = "scope", value_name = "S", required_unless_present = "operator")]
    scopes: Vec<Scope>,
    /// A server that the key speaks for, and no other; may be given several times
    #[arg(long = "server", value_name = "ID")]
    servers: Vec<Identifier>,
    /// An address or range of addresses that the key may be used from, and no other; may be given several times
    #[arg(long = "address", value_name = "CIDR")]
    addresses: Vec<AddressRange>,
    /// Create a key for the operator of the whole hub
    #[arg(long, conflicts_with_all = ["network", "scopes", "servers"])]
    operator: bool,
    /// What you call it
    #[arg(long, default_value = "made on the command line")]
    name: Identifier,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Key {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Create(create) = self;
        let scopes: Scopes = if create.operator {
            [Scope::Operator].into_iter().collect()
        } else {
            anyhow::ensure!(!create.scopes.contains(&Scope::Operator), "the operator's key is made with --operator");
            create.scopes.iter().copied().collect()
        };
        let db = open_database(&create.storage).await?;
        let network = match create.network.as_deref() {
            None => OPERATOR_NETWORK,
            Some(given) => service::resolve_network(&db, given).await?,
        };
        let bindings = Bindings {
            servers: Some(create.servers).filter(|servers| !servers.is_empty()),
            addresses: Some(create.addresses).filter(|addresses| !addresses.is_empty()),
        };
        let new = NewKey { name: create.name.into_string(), scopes, expires_at: None, bindings };
        let created = service::create_key(&db, &Clock::System, &Ids::System, network, new).await;
        db.close().await;
        let key = created?;
        if create.json {
            println!("{}", json!({"keyId": key.id, "apiKey": key.text}));
        } else {
            println!("key id   {}", key.id.0);
            println!("API key  {}", key.text.expose());
            println!("The key is shown this once; the hub keeps only a hash of it.");
        }
        Ok(())
    }
}
