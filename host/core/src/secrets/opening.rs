//! Opens the sealing key when a hub or a command starts, and decides on a missing or another one.

use std::path::Path;

use anyhow::Context as _;
use hub_db::Db;

use crate::config::Settings;
use crate::secrets::sealing_key::SealingKey;
use crate::secrets::{check, store, unseal_all};

/// State of the key's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// It opens the database's secrets.
    Fits,
    /// There is none yet, and no secret that it would have to open.
    Unused,
    /// There is none for the database's secrets.
    Missing,
    /// It is another hub's.
    Other,
}

/// Compares the key's file with the database. It changes nothing.
pub async fn key_state(path: &Path, db: &Db) -> anyhow::Result<KeyState> {
    let (key, rows) = (SealingKey::read(path)?, store::all(db).await?);
    Ok(match key {
        None if rows.is_empty() => KeyState::Unused,
        None => KeyState::Missing,
        Some(key) if rows.iter().all(|(purpose, stored)| unseal_all(&key, purpose, stored).is_ok()) => KeyState::Fits,
        Some(_) => KeyState::Other,
    })
}

/// Opens the key of a hub that starts. The first start creates it; a node without it asks the others (`ask`, which fails
/// while others run that do not answer). A hub alone with its database continues without a lost key, with new secrets;
/// among several nodes that would end the others' secrets, unless there are none. A node whose key was replaced while it was
/// down asks, too.
pub async fn open_key<F>(settings: &Settings, db: &Db, ask: impl FnOnce() -> F) -> anyhow::Result<SealingKey>
where
    F: Future<Output = anyhow::Result<Option<SealingKey>>>,
{
    let path = settings.secrets_key_file();
    let shown = path.display();
    match key_state(&path, db).await? {
        KeyState::Missing if settings.database.is_none() => {
            tracing::warn!(
                "{shown} is missing, with which the database's secrets were sealed: they are made again. Links given out \
                 before are invalid; node agents have to be downloaded again; people with a second factor sign in with a \
                 recovery code; owners of webhooks set their URLs and secrets again"
            );
            create_again(&path, db).await
        }
        KeyState::Missing => {
            if let Some(key) = received(&path, db, ask().await?).await? {
                return Ok(key);
            }
            anyhow::ensure!(
                !store::seals_anything(db).await?,
                "{shown} is missing, with which the database's secrets were sealed, and no other node runs that has it; \
                 start a node that has it first, or name it by --secrets-key (HUB_SECRETS_KEY); if it is lost, run `hub \
                 admin secrets renew`"
            );
            tracing::warn!("{shown} is missing; it is made again, because it sealed nothing so far");
            create_again(&path, db).await
        }
        KeyState::Other => {
            // The key may have been replaced while this node was down.
            let other = if settings.database.is_some() { newer(&path, ask().await?)? } else { None };
            received(&path, db, other).await?.with_context(|| {
                format!(
                    "{shown} does not open the secrets in the database, which another key sealed; give all nodes the same \
                     file by --secrets-key (HUB_SECRETS_KEY); if the file of this database is lost, run `hub admin secrets \
                     renew`"
                )
            })
        }
        KeyState::Fits | KeyState::Unused => {
            let (key, is_given) = match SealingKey::read(&path)? {
                Some(key) => (key, true),
                None => (SealingKey::create(&path)?, false),
            };
            if check(db, &key).await.context("could not store a secret")? {
                return Ok(key);
            }
            // Another node started at the same time and was first. A file that the operator gave is not replaced.
            let other = if is_given { None } else { ask().await? };
            received(&path, db, other).await?.with_context(|| {
                format!(
                    "another node started first, with another secrets key than {shown}; give all nodes the same file by \
                     --secrets-key (HUB_SECRETS_KEY)"
                )
            })
        }
    }
}

/// Key of a command that reads or writes sealed columns. A database without secrets gets one.
pub async fn key_of_database(settings: &Settings, db: &Db) -> anyhow::Result<SealingKey> {
    let path = settings.secrets_key_file();
    let shown = path.display();
    match key_state(&path, db).await? {
        KeyState::Missing => anyhow::bail!(
            "{shown} is missing, with which the database's secrets are sealed; put it there, or name it by --secrets-key \
             (HUB_SECRETS_KEY)"
        ),
        KeyState::Other => anyhow::bail!(
            "{shown} does not open the secrets in the database, which another key sealed; name that one by --secrets-key \
             (HUB_SECRETS_KEY)"
        ),
        KeyState::Fits | KeyState::Unused => {
            let key = match SealingKey::read(&path)? {
                Some(key) => key,
                None => SealingKey::create(&path)?,
            };
            anyhow::ensure!(
                check(db, &key).await?,
                "a node started at the same time, with another secrets key than {shown}"
            );
            Ok(key)
        }
    }
}

/// A key from another node, if it has the generations of the file's.
fn newer(path: &Path, key: Option<SealingKey>) -> anyhow::Result<Option<SealingKey>> {
    let own = SealingKey::read(path)?;
    Ok(key.filter(|key| own.is_some_and(|own| key.includes(&own))))
}

/// Keeps a key from another node, if it is the database's.
async fn received(path: &Path, db: &Db, key: Option<SealingKey>) -> anyhow::Result<Option<SealingKey>> {
    let Some(key) = key else { return Ok(None) };
    if !check(db, &key).await? {
        return Ok(None);
    }
    if let Err(error) = key.save(path) {
        // The key would be lost with the last node.
        if !path.exists() {
            return Err(error);
        }
        tracing::warn!("{error:#}; this node has the newest secrets key until it stops: put the key into that file");
        return Ok(Some(key));
    }
    tracing::info!("{} was received from another node", path.display());
    Ok(Some(key))
}

/// Deletes secrets that no key opens, and creates a key if there is none.
pub async fn create_again(path: &Path, db: &Db) -> anyhow::Result<SealingKey> {
    let key = match SealingKey::read(path)? {
        Some(key) => key,
        None => SealingKey::create(path)?,
    };
    store::delete_all(db).await?;
    check(db, &key).await?;
    Ok(key)
}

/// Makes a restored database usable; true if its secrets had to be made again, without their key.
pub async fn open_restored(settings: &Settings, db: &Db) -> anyhow::Result<bool> {
    let path = settings.secrets_key_file();
    if matches!(key_state(&path, db).await?, KeyState::Fits | KeyState::Unused) {
        return Ok(false);
    }
    create_again(&path, db).await?;
    Ok(true)
}
