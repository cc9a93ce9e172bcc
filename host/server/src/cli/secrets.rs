//! `hub admin secrets …`: works on the database directly, even while a hub is running.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hub_db::Db;
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin};
use crate::cli::{format, open_database};
use crate::clock::Clock;
use crate::cluster;
use crate::component::reseal_networks;
use crate::components::tables;
use crate::config::{Settings, StorageArgs};
use crate::ids::Ids;
use crate::people::reseal_second_factors;
use crate::secrets::{self, KeyState, SealingKey};

#[derive(Subcommand, Debug)]
pub(super) enum Secrets {
    /// Replace the secrets and their key; links, updates and sessions between nodes that the replaced ones signed stay valid
    /// until the next rotation
    Rotate(Rotate),
    /// Delete all secrets whose key is lost, while no hub is running; the next start creates new ones
    Renew(Renew),
}

#[derive(Args, Debug)]
pub(super) struct Rotate {
    /// Refuse the replaced secrets at once: links become invalid, node agents have to be downloaded again
    #[arg(long)]
    now: bool,
    /// Keep the secrets key, for example if its file cannot be written here; replace the secrets alone
    #[arg(long)]
    keep_key: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Renew {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

/// Time in which a running hub reads a changed key.
const NOTICED: Duration = Duration::from_millis(1_500);

/// Result of a rotation.
struct Rotated {
    purposes: Vec<String>,
    /// Number of rows with secrets that the new key sealed; none if the key was kept.
    resealed: Option<u64>,
}

impl Secrets {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Rotate(rotate) => rotate.run().await,
            Self::Renew(renew) => renew.run().await,
        }
    }
}

impl Rotate {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        let db = open_database(&self.storage).await?;
        let rotated = self.rotate(&settings, &db).await;
        db.close().await;
        let Rotated { purposes, resealed } = rotated?;
        let key_file = settings.secrets_key_file();
        if self.json {
            print_json!(json!({"rotated": purposes, "resealed": resealed, "keyFile": key_file}));
            return Ok(());
        }
        if purposes.is_empty() {
            println!("no secret has been needed yet");
        } else {
            println!("replaced: {}", purposes.join(", "));
        }
        if let Some(rows) = resealed {
            println!("sealed again, by a new key: {}", format::count(rows as usize, "row"));
            println!("Copy {} again to where you keep it.", key_file.display());
        }
        Ok(())
    }

    async fn rotate(&self, settings: &Settings, db: &Db) -> anyhow::Result<Rotated> {
        let path = settings.secrets_key_file();
        let key = SealingKey::read(&path)?;
        let key = key.with_context(|| format!("{} is missing; name it by --secrets-key", path.display()))?;
        let replacing = || format!("cannot replace the secrets with the key {}", path.display());
        if self.keep_key {
            let purposes = self.replace(db, &key).await.with_context(replacing)?;
            return Ok(Rotated { purposes, resealed: None });
        }
        anyhow::ensure!(secrets::key_state(&path, db).await? == KeyState::Fits, replacing());
        // First the file, then the nodes, then the rows: at any moment everything is sealed by a generation that all have.
        let before = key;
        let key = before.with_next()?;
        anyhow::ensure!(replace_key(db, &path, &before, &key).await?, "another rotation is under way; try again");
        cluster::hand_out_key(db, &key).await?;
        let purposes = self.replace(db, &key).await.with_context(replacing)?;
        let mut resealed = reseal_networks(db, tables(), &key).await?;
        resealed += reseal_second_factors(db, &key).await?;
        // Before the oldest generation goes, a hub on this machine knows the newest.
        tokio::time::sleep(NOTICED).await;
        // Unless another rotation has begun: its file has all generations, and stays.
        replace_key(db, &path, &key, &key.with_kept()).await?;
        Ok(Rotated { purposes, resealed: Some(resealed) })
    }

    /// Replaces the hub's own secrets.
    async fn replace(&self, db: &Db, key: &SealingKey) -> Result<Vec<String>, hub_db::Error> {
        let (clock, ids) = (Clock::System, Ids::System);
        let origin = Origin::command_line(&clock, &ids);
        db.transaction(async |mut tx| {
            let purposes = secrets::rotate(&mut tx, key, &ids, clock.now(), self.now).await?;
            let change = Change::new(Action::SecretsRotated, "").after(json!({"purposes": purposes}));
            audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
            Ok::<_, hub_db::Error>(purposes)
        })
        .await
    }
}

/// Puts a key into the place of the one before, in the database and in its file. False if another rotation was first. The
/// file is written while no other rotation can write it, and before anything else is sealed by the key.
async fn replace_key(db: &Db, path: &Path, before: &SealingKey, key: &SealingKey) -> anyhow::Result<bool> {
    db.transaction(async |mut tx| {
        let is_first = secrets::set_key(&mut tx, before, key).await?;
        if is_first {
            key.save(path).context("if it is managed elsewhere, pass --keep-key")?;
        }
        Ok::<_, anyhow::Error>(is_first)
    })
    .await
}

impl Renew {
    async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::of_storage(&self.storage)?;
        let db = open_database(&self.storage).await?;
        let renewed = secrets::create_again(&settings.secrets_key_file(), &db).await;
        db.close().await;
        renewed?;
        if self.json {
            print_json!(json!({"keyFile": settings.secrets_key_file()}));
            return Ok(());
        }
        println!("All secrets are deleted. Start the hub, with this key at every node:");
        println!("{}", settings.secrets_key_file().display());
        println!("Links given out before are invalid; node agents have to be downloaded again;");
        println!("people with a second factor sign in with a recovery code and set it up again;");
        println!("owners set the URLs and secrets of their webhooks again; appeals need a new punishment's code.");
        Ok(())
    }
}
