//! All SQL of localization.

pub(super) mod messages;

use hub_db::{Db, Error, Tx, next_number};

use crate::localization::model::{INITIAL_LOCALE, LocaleCode};
use crate::values::NetworkId;

/// Version of a catalog, and key of its default locale.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct CatalogRow {
    pub(super) version: i64,
    pub(super) default_key: String,
}

impl Default for CatalogRow {
    /// State before anything is stored.
    fn default() -> Self {
        Self { version: 0, default_key: INITIAL_LOCALE.to_owned() }
    }
}

pub(super) async fn catalog(db: &Db, network: NetworkId) -> Result<CatalogRow, Error> {
    let row = db
        .query("SELECT version, default_key FROM localization_catalogs WHERE network_id = $1")
        .bind(network)
        .optional()
        .await?;
    Ok(row.unwrap_or_default())
}

/// Creates the catalog if missing and locks it until the transaction ends.
pub(super) async fn lock_catalog(tx: &mut Tx, network: NetworkId) -> Result<CatalogRow, Error> {
    let initial = CatalogRow::default();
    tx.query(
        "INSERT INTO localization_catalogs (network_id, version, default_key) VALUES ($1, $2, $3)
         ON CONFLICT (network_id) DO UPDATE SET version = localization_catalogs.version
         RETURNING version, default_key",
    )
    .bind(network)
    .bind(initial.version)
    .bind(&initial.default_key)
    .one()
    .await
}

/// Counts a change of the catalog. Returns its new version.
pub(super) async fn bump_catalog(tx: &mut Tx, network: NetworkId, default_key: &str) -> Result<i64, Error> {
    let (version,) = tx
        .query(concat!(
            "UPDATE localization_catalogs SET version = ",
            next_number!("localization_catalogs.version"),
            ", default_key = $2 WHERE network_id = $1 RETURNING version"
        ))
        .bind(network)
        .bind(default_key)
        .one()
        .await?;
    Ok(version)
}

/// Locale as stored.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct LocaleRow {
    pub(super) locale_key: String,
    pub(super) locale: LocaleCode,
    pub(super) display_name: Option<String>,
    pub(super) enabled: bool,
}

/// Locales by key.
pub(super) async fn locales(db: &Db, network: NetworkId) -> Result<Vec<LocaleRow>, Error> {
    db.query(
        "SELECT locale_key, locale, display_name, enabled FROM localization_locales
         WHERE network_id = $1 ORDER BY locale_key",
    )
    .bind(network)
    .all()
    .await
}

pub(super) async fn locale(tx: &mut Tx, network: NetworkId, key: &str) -> Result<Option<LocaleRow>, Error> {
    tx.query(
        "SELECT locale_key, locale, display_name, enabled FROM localization_locales
         WHERE network_id = $1 AND locale_key = $2",
    )
    .bind(network)
    .bind(key)
    .optional()
    .await
}

/// Stores a new locale. False if it exists.
pub(super) async fn insert_locale(tx: &mut Tx, network: NetworkId, code: &LocaleCode) -> Result<bool, Error> {
    let added = tx
        .query(
            "INSERT INTO localization_locales (network_id, locale_key, locale, enabled) VALUES ($1, $2, $3, $4)
             ON CONFLICT (network_id, locale_key) DO NOTHING",
        )
        .bind(network)
        .bind(code.key())
        .bind(code)
        .bind(true)
        .execute()
        .await?;
    Ok(added > 0)
}

pub(super) async fn count_locales(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) =
        tx.query("SELECT COUNT(*) FROM localization_locales WHERE network_id = $1").bind(network).one().await?;
    Ok(count)
}

pub(super) async fn update_locale(tx: &mut Tx, network: NetworkId, row: &LocaleRow) -> Result<(), Error> {
    tx.query(
        "UPDATE localization_locales SET display_name = $3, enabled = $4 WHERE network_id = $1 AND locale_key = $2",
    )
    .bind(network)
    .bind(&row.locale_key)
    .bind(&row.display_name)
    .bind(row.enabled)
    .execute()
    .await?;
    Ok(())
}
