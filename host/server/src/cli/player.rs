//! `hub admin player …`: works on the database directly, even while a hub is running.

use std::pin::pin;

use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;

use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::Blobs;
use crate::cli::open_database;
use crate::cli::output::write;
use crate::clock::{Clock, Millis};
use crate::components::tables;
use crate::config::{Settings, StorageArgs};
use crate::data_folder;
use crate::erasure::{self, Eraser};
use crate::ids::Ids;
use crate::modules::open_store;
use crate::networks::service;
use crate::values::{NetworkId, PlayerId};

/// Rows read at a time.
const BATCH: i64 = 1_000;

#[derive(Subcommand, Debug)]
pub(super) enum Player {
    /// Print all data that a network stores about a player, as one JSON object
    Export(Named),
    /// Permanently erase all data that a network stores about a player
    Forget(Forget),
    /// Print erased players of all networks as JSON lines, for `hub admin restore --forgotten`
    Forgotten(Forgotten),
}

#[derive(Args, Debug)]
pub(super) struct Named {
    /// Player UUID
    player: PlayerId,
    /// Network id or name
    #[arg(long)]
    network: String,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Forget {
    #[command(flatten)]
    named: Named,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Work on a player's data.
enum Work {
    Export,
    Forget { json: bool },
}

#[derive(Args, Debug)]
pub(super) struct Forgotten {
    /// Only erasures at or after this time, in milliseconds since 1970
    #[arg(long, value_name = "MS", default_value_t = 0)]
    after: Millis,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Player {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Export(named) => named.run(Work::Export).await,
            Self::Forget(Forget { named, json }) => named.run(Work::Forget { json }).await,
            Self::Forgotten(forgotten) => forgotten.run().await,
        }
    }
}

impl Named {
    async fn run(self, work: Work) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_blobs(&settings)?;
        let db = open_database(&self.storage).await?;
        let module_store = open_store(&settings, &db).await?;
        let origin = Origin::command_line(&Clock::System, &Ids::System);
        let done = async {
            let network = service::resolve_network(&db, &self.network).await?;
            let Work::Forget { json } = work else {
                return self.export(&db, &module_store, &origin, network).await;
            };
            erasure::service::record(&db, &origin, network, self.player).await?;
            let blobs = Blobs::open(&settings, &db)?;
            // A running hub may still have the data in memory.
            let eraser = Eraser {
                db: &db,
                module_store: &module_store,
                blobs: &blobs,
                clock: &Clock::System,
                tables: tables(),
                has_other_nodes: true,
            };
            erasure::service::erase_recorded(&eraser, &Ids::System, network, self.player).await?;
            if json {
                print_json!(serde_json::json!({"networkId": network, "playerUuid": self.player}));
            } else {
                println!("{} is erased in {network}", self.player);
            }
            Ok(())
        };
        let done = done.await;
        module_store.close().await;
        db.close().await;
        done
    }

    async fn export(
        &self,
        db: &hub_db::Db,
        module_store: &hub_db::Db,
        origin: &Origin,
        network: NetworkId,
    ) -> anyhow::Result<()> {
        let change = Change::new(Action::PlayerExported, self.player);
        audit::record_alone(db, network, origin, change).await?;
        let chunks = erasure::export(db, module_store, tables(), network, self.player, Clock::System.now()).await?;
        let mut chunks = pin!(chunks);
        while let Some(chunk) = chunks.try_next().await? {
            write(format_args!("{}", std::str::from_utf8(&chunk)?))?;
        }
        Ok(())
    }
}

impl Forgotten {
    async fn run(self) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let printed = async {
            let mut position = (self.after, NetworkId(uuid::Uuid::nil()), PlayerId(uuid::Uuid::nil()));
            loop {
                let rows = erasure::service::list_after(&db, position, BATCH).await?;
                let Some(last) = rows.last() else { return anyhow::Ok(()) };
                position = (last.forgotten_at, last.network_id, last.player_uuid);
                let text: String = rows.iter().map(erasure::to_line).collect();
                write(format_args!("{text}"))?;
            }
        };
        let printed = printed.await;
        db.close().await;
        printed
    }
}
