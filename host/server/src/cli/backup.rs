//! `hub admin backup` and `hub admin restore`: a whole hub, backed up while it runs and restored into an empty
//! database.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use hub_db::Db;
use serde::Deserialize;

use crate::archive::backup::{self, BackupReport};
use crate::auth::Origin;
use crate::blobs::Blobs;
use crate::cli::{connect, format, open_database, progress};
use crate::clock::{Clock, Millis};
use crate::components::tables;
use crate::config::{Settings, StorageArgs};
use crate::data_folder;
use crate::erasure::{self, Eraser};
use crate::identity;
use crate::ids::Ids;
use crate::modules::open_store;
use crate::modules::service::pause_restored;
use crate::secrets;
use crate::values::{NetworkId, PlayerId};

#[derive(Args, Debug)]
pub(super) struct Backup {
    /// File to write; it must not exist yet. It contains all data, but not the key of `--secrets-key`: keep that apart
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Restore {
    /// File written by `hub admin backup`
    file: PathBuf,
    /// Newer list of erased players, printed by `hub admin player forgotten`; they are erased again
    #[arg(long, value_name = "FILE")]
    forgotten: Option<PathBuf>,
    /// The restored hub takes the place of the one that was backed up, which does not run any more
    #[arg(long)]
    same_cluster: bool,
    /// Modules handle events and run schedules again at once; without it they wait until they are activated again
    #[arg(long)]
    resume_modules: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Backup {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        data_folder::require_blobs(&settings)?;
        let db = open_database(&self.storage).await?;
        let module_store = open_store(&settings, &db).await?;
        let making = backup::backup(&settings, &db, &module_store, tables(), &Ids::System, &self.file);
        let made = progress::with_bytes("written:", making).await;
        module_store.close().await;
        db.close().await;
        let report = made?;
        if self.json {
            print_json!(report);
            return Ok(());
        }
        println!("{}: {}", self.file.display(), amounts(&report));
        if !report.has_files {
            println!("Files are in the S3 store, not in the backup: also back up the bucket.");
        }
        Ok(())
    }
}

fn amounts(report: &BackupReport) -> String {
    format!("{}, {}", format::count(report.rows as usize, "row"), format::count(report.files as usize, "file"))
}

impl Restore {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        // Read first: a mistake in this file must not leave a half-finished restore.
        let forgotten = self.forgotten()?;
        let settings = Settings::of_storage(&self.storage)?;
        let db = connect(&settings).await?;
        let module_store = open_store(&settings, &db).await?;
        let finally = async |blobs: &Blobs| {
            identity::restored(&db, &Ids::System, self.same_cluster).await?;
            if !self.resume_modules {
                pause_restored(&db).await?;
            }
            forget_again(&db, &module_store, blobs, &forgotten).await
        };
        let restoring = backup::restore(&settings, &db, &module_store, tables(), &Ids::System, &self.file, finally);
        let restored = progress::with_bytes("read:", hub_db::without_time_limit(Box::pin(restoring))).await;
        let has_new_secrets = match &restored {
            Ok(_) => secrets::open_restored(&settings, &db).await,
            Err(_) => Ok(false),
        };
        module_store.close().await;
        db.close().await;
        let (report, has_new_secrets) = (restored?, has_new_secrets?);
        if self.json {
            print_json!(report);
        } else {
            let folder = data_folder::shown(&settings);
            println!("restored into {}: {}", folder.display(), amounts(&report));
        }
        if has_new_secrets {
            eprintln!(
                "{} is not the key of this backup: the hub's secrets were made again. Links given out before are \
                 invalid; node agents have to be downloaded again; people with a second factor sign in with a recovery \
                 code and set it up again; owners set the URLs and secrets of their webhooks again; codes of \
                 appeals are no longer known.",
                settings.secrets_key_file().display()
            );
        }
        Ok(())
    }

    fn forgotten(&self) -> anyhow::Result<Vec<(Millis, NetworkId, PlayerId)>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Line {
            network_id: NetworkId,
            player_uuid: PlayerId,
            forgotten_at: Millis,
        }

        let Some(path) = &self.forgotten else { return Ok(vec![]) };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let read = |(index, line): (usize, &str)| {
            let line: Line =
                serde_json::from_str(line).with_context(|| format!("{}, line {}", path.display(), index + 1))?;
            Ok((line.forgotten_at, line.network_id, line.player_uuid))
        };
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(read).collect()
    }
}

/// Repeats erasures made after the backup and those in progress at the time of the backup.
async fn forget_again(
    db: &Db,
    module_store: &Db,
    blobs: &Blobs,
    forgotten: &[(Millis, NetworkId, PlayerId)],
) -> anyhow::Result<()> {
    let origin = Origin::command_line(&Clock::System, &Ids::System);
    erasure::service::record_again(db, &origin, forgotten).await?;
    let clock = &Clock::System;
    let eraser = Eraser { db, module_store, blobs, clock, tables: tables(), has_other_nodes: false };
    erasure::service::erase_unfinished(&eraser, &Ids::System).await?;
    Ok(())
}
