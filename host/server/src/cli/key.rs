//! `hub admin key …`: works on the database directly, even while a hub is running.

use clap::{Args, Subcommand};
use hub_db::Db;
use serde_json::{Value, json};

use crate::auth::{AddressRange, Bindings, KeyId, KeyRow, OPERATOR_NETWORK, Origin, Scope, Scopes};
use crate::cli::format::timestamp;
use crate::cli::open_database;
use crate::clock::Clock;
use crate::component::Left;
use crate::components::components;
use crate::config::StorageArgs;
use crate::ids::Ids;
use crate::networks::service::{self, NewKey};
use crate::values::{Identifier, NetworkId};

#[derive(Subcommand, Debug)]
pub(super) enum Key {
    /// Create an API key for a network or the operator
    Create(Create),
    /// List the API keys of a network or the operator; their secrets are not stored
    List(List),
    /// Revoke an API key; running hubs apply this within a second
    Revoke(Revoke),
}

/// Owner of the keys.
#[derive(Args, Debug)]
struct Holder {
    /// Network id or name
    #[arg(long, value_name = "ID", required_unless_present = "operator")]
    network: Option<String>,
    /// Use the operator's keys
    #[arg(long, conflicts_with = "network")]
    operator: bool,
}

#[derive(Args, Debug)]
pub(super) struct List {
    #[command(flatten)]
    holder: Holder,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Revoke {
    /// Key id as printed by `hub admin key list`; also the part of the key between its underscores
    key: String,
    #[command(flatten)]
    holder: Holder,
    /// Keep what the key created; by default its keys and webhooks, and those of its keys, end with it
    #[arg(long)]
    keep: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Create {
    /// Network id or name
    #[arg(long, value_name = "ID", required_unless_present = "operator")]
    network: Option<String>,
    /// Scope of the key; repeatable
    #[arg(long = "scope", value_name = "S", required_unless_present = "operator")]
    scopes: Vec<Scope>,
    /// Restrict the key to this server; repeatable
    #[arg(long = "server", value_name = "ID")]
    servers: Vec<Identifier>,
    /// Restrict the key to this IP address or range; repeatable
    #[arg(long = "address", value_name = "CIDR")]
    addresses: Vec<AddressRange>,
    /// Create an operator key, valid for the whole hub
    #[arg(long, conflicts_with_all = ["network", "scopes", "servers"])]
    operator: bool,
    /// Display name
    #[arg(long, default_value = "made on the command line")]
    name: Identifier,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Key {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
            Self::List(list) => list.run().await,
            Self::Revoke(revoke) => revoke.run().await,
        }
    }
}

/// Finds a network by name or id; none is the operator's.
async fn find_network(db: &Db, given: Option<&str>) -> anyhow::Result<NetworkId> {
    match given {
        None => Ok(OPERATOR_NETWORK),
        Some(given) => Ok(service::resolve_network(db, given).await?),
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let scopes: Scopes = if self.operator {
            [Scope::Operator].into_iter().collect()
        } else {
            anyhow::ensure!(!self.scopes.contains(&Scope::Operator), "create operator keys with --operator");
            self.scopes.iter().copied().collect()
        };
        let db = open_database(&self.storage).await?;
        let network = find_network(&db, self.network.as_deref()).await?;
        let bindings = Bindings {
            servers: Some(self.servers).filter(|servers| !servers.is_empty()),
            addresses: Some(self.addresses).filter(|addresses| !addresses.is_empty()),
        };
        let new = NewKey { name: self.name.into_string(), scopes, expires_at: None, bindings };
        let created = service::create_key(&db, &Clock::System, &Ids::System, network, new).await;
        db.close().await;
        let key = created?;
        if self.json {
            print_json!(json!({"keyId": key.id, "apiKey": key.text}));
        } else {
            println!("key id   {}", key.id.0);
            println!("API key  {}", key.text.expose());
            println!("Store the key now: it is shown only once.");
        }
        Ok(())
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let listed = async {
            let network = find_network(&db, self.holder.network.as_deref()).await?;
            Ok::<_, anyhow::Error>(service::list_keys(&db, network, i64::MAX, 0).await?.0)
        };
        let listed = listed.await;
        db.close().await;
        let keys = listed?;
        if self.json {
            print_json!(keys.iter().map(to_json).collect::<Value>());
            return Ok(());
        }
        for key in &keys {
            let mut notes: Vec<_> =
                key.last_used_at.map(|at| format!("used {}", timestamp(&json!(at)))).into_iter().collect();
            notes.extend(key.expires_at.map(|at| format!("expires {}", timestamp(&json!(at)))));
            println!("{}  {:<24} {:<40} {}", key.key_id.0, key.name, scopes(key).join(" "), notes.join(", "));
        }
        Ok(())
    }
}

impl Revoke {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let id = KeyId(self.key);
        let origin = Origin::command_line(&Clock::System, &Ids::System);
        let revoked = async {
            let network = find_network(&db, self.holder.network.as_deref()).await?;
            Ok::<_, anyhow::Error>(service::revoke_key(&db, components(), &origin, network, &id, !self.keep).await?)
        };
        let revoked = revoked.await;
        db.close().await;
        let left = revoked?;
        if self.json {
            print_json!(json!({"keyId": id, "revoked": true, "left": left}));
            return Ok(());
        }
        println!("{} is revoked", id.0);
        for Left { kind, id, name, ended, network_id } in left {
            let (kind, name) = (kind.as_str(), name.unwrap_or_default());
            let place = network_id.map(|network| format!(" of the network {network}")).unwrap_or_default();
            println!("it created: {kind} {id} {name}{place} ({})", if ended { "ended" } else { "stays" });
        }
        Ok(())
    }
}

fn scopes(key: &KeyRow) -> Vec<String> {
    Scopes::from_text(&key.scopes).iter().map(|scope| scope.to_string()).collect()
}

fn to_json(key: &KeyRow) -> Value {
    let Bindings { servers, addresses } = key.bindings();
    json!({
        "keyId": key.key_id, "name": key.name, "scopes": scopes(key), "createdAt": key.created_at, "createdBy": key.created_by,
        "lastUsedAt": key.last_used_at, "expiresAt": key.expires_at, "servers": servers, "addresses": addresses,
    })
}
