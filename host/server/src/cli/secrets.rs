//! `hub admin secrets …`: works on the database directly, even while a hub is running.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hub_db::Db;
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin};
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::{Settings, StorageArgs};
use crate::ids::Ids;
use crate::secrets::{self, SealingKey};

#[derive(Subcommand, Debug)]
pub(super) enum Secrets {
    /// Replace the secrets; links, updates and sessions between nodes that the replaced ones signed stay valid until the
    /// next rotation
    Rotate(Rotate),
    /// Delete all secrets whose key is lost, while no hub is running; the next start creates new ones
    Renew(Renew),
}

#[derive(Args, Debug)]
pub(super) struct Rotate {
    /// Refuse the replaced secrets at once: links become invalid, node agents have to be downloaded again
    #[arg(long)]
    now: bool,
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
        let purposes = rotated?;
        if self.json {
            print_json!(json!({"rotated": purposes}));
        } else if purposes.is_empty() {
            println!("no secret has been needed yet");
        } else {
            println!("replaced: {}", purposes.join(", "));
        }
        Ok(())
    }

    async fn rotate(&self, settings: &Settings, db: &Db) -> anyhow::Result<Vec<String>> {
        let path = settings.secrets_key_file();
        let key = SealingKey::read(&path)?;
        let key = key.with_context(|| format!("{} is missing; name it by --secrets-key", path.display()))?;
        let (clock, ids) = (Clock::System, Ids::System);
        let origin = Origin::command_line(&clock, &ids);
        let rotated = db.transaction(async |mut tx| {
            let purposes = secrets::rotate(&mut tx, &key, &ids, clock.now(), self.now).await?;
            let change = Change::new(Action::SecretsRotated, "").after(json!({"purposes": purposes}));
            audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
            Ok::<_, hub_db::Error>(purposes)
        });
        rotated.await.with_context(|| format!("cannot replace the secrets with the key {}", path.display()))
    }
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
        println!("people with a second factor sign in with a recovery code and set it up again.");
        Ok(())
    }
}
