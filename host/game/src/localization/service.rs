//! The rules of localization.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;

use hub_db::Tx;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::compute::{MANY_ROWS, compute_if};
use crate::events::{self, EventKind};
use crate::http::answer::json_size;
use crate::http::error::ApiError;
use crate::http::if_match::{Changed, IfMatch, revision_of};
use crate::limits::{self, Limit, QuotaExceeded, Usage, check_rows, check_storage, row_bytes};
use crate::localization::CatalogWrites;
use crate::localization::body::LocalizationCatalog;
use crate::localization::model::{INITIAL_LOCALE, Locale, LocaleCode, LocalizationMessage, MessageKey, Namespace};
pub(super) use crate::localization::store::messages::MessageFilter;
use crate::localization::store::messages::{self, DefaultsJson, EffectiveRow, MessageRow, MessageScope};
use crate::localization::store::{self, CatalogRow, LocaleRow};
use crate::values::NetworkId;

/// Errors of requests about localization.
#[derive(Debug, Error)]
pub(super) enum LocalizationError {
    /// No override to delete.
    #[error("This message has no override.")]
    NoOverride,
    /// The default locale can only be replaced by another.
    #[error("A network needs a default locale: make another locale the default instead.")]
    DefaultNeeded,
    /// The default locale is always enabled.
    #[error("The default locale must be enabled.")]
    DefaultDisabled,
    /// Another change came first.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<LocalizationError> for ApiError {
    fn from(error: LocalizationError) -> Self {
        let message = error.to_string();
        match error {
            LocalizationError::NoOverride => Self::not_found("unknown_override", message),
            LocalizationError::DefaultNeeded => Self::bad_request("default_locale_needed", message),
            LocalizationError::DefaultDisabled => Self::bad_request("default_locale_disabled", message),
            LocalizationError::Changed(changed) => changed.into(),
            LocalizationError::Quota(exceeded) => exceeded.into(),
            LocalizationError::Database(error) => error.into(),
        }
    }
}

/// All locales, and their codes by key.
struct Locales {
    sorted: Vec<Locale>,
    codes: HashMap<String, LocaleCode>,
}

impl Locales {
    /// Adds the default if it is not stored.
    fn new(catalog: &CatalogRow, mut rows: Vec<LocaleRow>) -> Self {
        if rows.iter().all(|row| row.locale_key != catalog.default_key) {
            rows.extend(unstored_locale(&catalog.default_key));
        }
        let codes = rows.iter().map(|row| (row.locale_key.clone(), row.locale.clone())).collect();
        // By key, default first.
        rows.sort_by_cached_key(|row| (row.locale_key != catalog.default_key, row.locale_key.clone()));
        Self { sorted: rows.into_iter().map(|row| to_locale(row, catalog)).collect(), codes }
    }
}

fn unstored_locale(key: &str) -> Option<LocaleRow> {
    let locale = key.parse().ok()?;
    Some(LocaleRow { locale_key: key.to_owned(), locale, display_name: None, enabled: true })
}

fn to_locale(row: LocaleRow, catalog: &CatalogRow) -> Locale {
    Locale {
        display_name: row.display_name.unwrap_or_else(|| row.locale.to_string()),
        is_default: row.locale_key == catalog.default_key,
        enabled: row.enabled,
        locale: row.locale,
    }
}

async fn read_locales(app: &App, network: NetworkId) -> Result<(CatalogRow, Locales), LocalizationError> {
    // The version first: later reads may be newer, which the next event corrects, but never older.
    let catalog = store::catalog(&app.db, network).await?;
    let locales = Locales::new(&catalog, store::locales(&app.db, network).await?);
    Ok((catalog, locales))
}

/// All locales, default first.
pub(super) async fn locales(app: &App, network: NetworkId) -> Result<Vec<Locale>, LocalizationError> {
    Ok(read_locales(app, network).await?.1.sorted)
}

/// Whole catalog, or some namespaces of it. A key in several of them is taken from the first.
pub(super) async fn catalog(
    app: &App,
    network: NetworkId,
    namespaces: Option<&[Namespace]>,
) -> Result<LocalizationCatalog, LocalizationError> {
    let (catalog, locales) = read_locales(app, network).await?;
    let rows = messages::effective(&app.db, network, namespaces).await?;
    let messages = compute_if(rows.len() > MANY_ROWS, || by_locale(rows, &locales, namespaces)).await;
    let default_locale = locales.codes.get(&catalog.default_key).cloned();
    let default_locale = default_locale.or_else(|| INITIAL_LOCALE.parse().ok()).ok_or(hub_db::Error::NotFound)?;
    Ok(LocalizationCatalog { version: catalog.version, default_locale, locales: locales.sorted, messages })
}

/// Texts by locale and key. A key in several namespaces is taken from the first.
fn by_locale(
    mut rows: Vec<EffectiveRow>,
    locales: &Locales,
    namespaces: Option<&[Namespace]>,
) -> BTreeMap<String, BTreeMap<String, String>> {
    if let Some(namespaces) = namespaces {
        rows.sort_by_key(|row| namespaces.iter().position(|namespace| namespace.as_str() == row.namespace));
    }
    let mut messages = BTreeMap::<String, BTreeMap<String, String>>::new();
    for row in rows {
        let Some(code) = locales.codes.get(&row.locale_key) else { continue };
        let texts = messages.entry(code.to_string()).or_default();
        texts.entry(row.message_key).or_insert(row.text);
    }
    messages
}

/// Version of the catalog after a change.
#[derive(Serialize, ToSchema)]
pub(super) struct CatalogVersion {
    #[schema(example = 7)]
    version: i64,
}

/// Stores the catalog's next version and notifies the network's servers.
async fn bump_version(app: &App, tx: &mut Tx, network: NetworkId, default_key: &str) -> Result<(), hub_db::Error> {
    let version = store::bump_catalog(tx, network, default_key).await?;
    let payload = CatalogVersion { version };
    events::publish_in(app, tx, network, EventKind::LocalizationUpdated, None, payload).await
}

/// Registers missing default texts and returns their number. Every server calls this at its start and nearly always
/// nothing is missing, so that is checked first.
pub(super) async fn add_defaults<'a>(
    app: &App,
    network: NetworkId,
    namespace: &Namespace,
    locale: &LocaleCode,
    entries: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<usize, LocalizationError> {
    let scope = MessageScope { namespace, locale_key: locale.key() };
    let entries: Vec<_> = entries.collect();
    let mut stored = 0;
    for (key, text) in &entries {
        check_text(app, text)?;
        stored += row_bytes(&[namespace.as_str(), scope.locale_key.as_str(), key, text]);
    }
    let defaults = DefaultsJson::from_pairs(entries.into_iter());
    let missing = messages::count_missing(&app.db, network, &scope, &defaults).await?;
    if missing == 0 {
        return Ok(0);
    }
    let _turn = app.state::<CatalogWrites>().0.lock(network).await;
    check_messages(app, network, missing, defaults.bytes()).await?;
    let replaced = messages::stored_bytes(&app.db, network, &scope);
    check_storage::<LocalizationError>(app, network, stored, replaced).await?;
    app.db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            let added = messages::add_defaults(&mut tx, network, &scope, &defaults).await?;
            if !added.is_empty() {
                add_locale(app, &mut tx, network, locale).await?;
            }
            if added.contains(&true) {
                bump_version(app, &mut tx, network, &catalog.default_key).await?;
            }
            Ok(added.len())
        })
        .await
}

/// Refuses messages beyond the network's limits for one catalog. Called one by one: uncommitted writes are in no
/// count, and in a full catalog each call counts all of it.
async fn check_messages(app: &App, network: NetworkId, added: i64, bytes: i64) -> Result<(), LocalizationError> {
    let _adding =
        check_rows::<LocalizationError>(app, network, messages::CATALOG_BYTES, bytes, ready(Ok(bytes <= 0))).await?;
    check_rows(app, network, messages::MESSAGES, added, ready(Ok(added == 0))).await.map(drop)
}

fn check_text(app: &App, text: &str) -> Result<(), QuotaExceeded> {
    limits::check(app, Limit::MessageBytes, 0, json_size(&text) as i64)
}

/// Stores a new locale. False if it exists.
async fn add_locale(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    locale: &LocaleCode,
) -> Result<bool, LocalizationError> {
    let added = store::insert_locale(tx, network, locale).await?;
    if added {
        // The locale is included.
        let count = store::count_locales(tx, network).await?;
        limits::check(app, Limit::Locales, count - 1, 1)?;
    }
    Ok(added)
}

/// Texts of a message, of which its revision is made.
fn texts(row: &MessageRow) -> Texts<'_> {
    Texts { default: row.default_text.as_deref(), r#override: row.override_text.as_deref() }
}

#[derive(Serialize)]
struct Texts<'r> {
    default: Option<&'r str>,
    r#override: Option<&'r str>,
}

/// Name of a message: its namespace, locale and key.
type MessageId<'i> = (&'i Namespace, &'i LocaleCode, &'i MessageKey);

fn to_message(row: MessageRow, locale: &LocaleCode) -> LocalizationMessage {
    LocalizationMessage {
        revision: revision_of(&texts(&row)),
        effective: row.effective().unwrap_or_default().to_owned(),
        namespace: row.namespace,
        locale: locale.clone(),
        key: row.message_key,
        default: row.default_text,
        r#override: row.override_text,
    }
}

/// Audit log name of a message.
fn message_name(namespace: &Namespace, locale: &LocaleCode, key: &MessageKey) -> String {
    format!("{locale}/{}/{}", namespace.as_str(), key.as_str())
}

/// Sets the operator's override of a message.
pub(super) async fn put_override(
    app: &App,
    network: NetworkId,
    (namespace, locale, key): MessageId<'_>,
    text: &str,
    expected: IfMatch,
    origin: &Origin,
) -> Result<LocalizationMessage, LocalizationError> {
    let scope = MessageScope { namespace, locale_key: locale.key() };
    check_text(app, text)?;
    let _turn = app.state::<CatalogWrites>().0.lock(network).await;
    let stored = messages::overridden(&app.db, network, &scope, key).await?;
    let before = stored.as_ref().map_or_else(|| -(json_size(key) as i64), |text| json_size(text) as i64);
    let added = i64::from(stored.is_none());
    check_messages(app, network, added, json_size(&text) as i64 - before).await?;
    let bytes = row_bytes(&[namespace.as_str(), scope.locale_key.as_str(), key.as_str(), text]);
    let replaced = messages::message_bytes(&app.db, network, &scope, key);
    check_storage::<LocalizationError>(app, network, bytes, replaced).await?;
    app.db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            add_locale(app, &mut tx, network, locale).await?;
            let before = messages::get(&mut tx, network, &scope, key).await?;
            expected.check(before.as_ref().map(texts).as_ref())?;
            let after = messages::put_override(&mut tx, network, &scope, key, text).await?;
            let is_same = before.as_ref().and_then(MessageRow::effective) == after.effective();
            if !is_same {
                bump_version(app, &mut tx, network, &catalog.default_key).await?;
            }
            let change = Change::new(Action::MessagePut, message_name(namespace, locale, key)).after(text);
            let overridden = before.and_then(|row| row.override_text);
            let change = if let Some(before) = overridden { change.before(before) } else { change };
            audit::record(&mut tx, network, origin, change).await?;
            let stored = store::locale(&mut tx, network, &scope.locale_key).await?;
            let locale = stored.map_or_else(|| locale.clone(), |row| row.locale);
            Ok(to_message(after, &locale))
        })
        .await
}

/// Restores a message's default. Without one the message is deleted.
pub(super) async fn delete_override(
    app: &App,
    network: NetworkId,
    (namespace, locale, key): MessageId<'_>,
    expected: IfMatch,
    origin: &Origin,
) -> Result<(), LocalizationError> {
    let scope = MessageScope { namespace, locale_key: locale.key() };
    let (bytes, messages) = app
        .db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            let before = messages::get(&mut tx, network, &scope, key).await?;
            let Some(before) = before.filter(|row| row.override_text.is_some()) else {
                return Err(LocalizationError::NoOverride);
            };
            expected.check(Some(&texts(&before)))?;
            messages::delete_override(&mut tx, network, &scope, key).await?;
            if before.override_text != before.default_text {
                bump_version(app, &mut tx, network, &catalog.default_key).await?;
            }
            let change = Change::new(Action::MessageDeleted, message_name(namespace, locale, key));
            audit::record(&mut tx, network, origin, change.before(&before.override_text)).await?;
            let bytes = before.override_text.as_ref().map_or(0, json_size) as i64;
            Ok::<_, LocalizationError>((bytes, i64::from(before.default_text.is_none())))
        })
        .await?;
    app.state::<Usage>().removed(network, Limit::CatalogBytes, bytes);
    app.state::<Usage>().removed(network, Limit::Messages, messages);
    Ok(())
}

/// Changes of a locale; absent fields are unchanged.
#[derive(Clone, Debug)]
pub(super) struct LocaleUpdate {
    pub(super) display_name: Option<String>,
    pub(super) is_default: Option<bool>,
    pub(super) enabled: Option<bool>,
}

/// Creates or changes a locale.
pub(super) async fn put_locale(
    app: &App,
    network: NetworkId,
    code: &LocaleCode,
    (update, expected): (&LocaleUpdate, IfMatch),
    origin: &Origin,
) -> Result<Locale, LocalizationError> {
    app.db
        .transaction(async |mut tx| {
            let before = store::lock_catalog(&mut tx, network).await?;
            let added = add_locale(app, &mut tx, network, code).await?;
            let stored = store::locale(&mut tx, network, &code.key()).await?;
            let stored = stored.ok_or(hub_db::Error::NotFound)?;
            // The first default is shown before it is stored.
            let shown = if added { unstored_locale(&before.default_key) } else { Some(stored.clone()) };
            let shown = shown.filter(|row| row.locale_key == code.key()).map(|row| to_locale(row, &before));
            expected.check(shown.as_ref())?;
            let mut row = stored.clone();
            row.display_name = update.display_name.clone().or(row.display_name);
            row.enabled = update.enabled.unwrap_or(row.enabled);
            let mut catalog = before.clone();
            match update.is_default {
                Some(true) => catalog.default_key.clone_from(&row.locale_key),
                Some(false) if catalog.default_key == row.locale_key => return Err(LocalizationError::DefaultNeeded),
                _ => {}
            }
            let locale = to_locale(row.clone(), &catalog);
            if locale.is_default && !locale.enabled {
                return Err(LocalizationError::DefaultDisabled);
            }
            let change = Change::new(Action::LocalePut, code).after(&locale);
            let change = if added { change } else { change.before(to_locale(stored.clone(), &before)) };
            audit::record(&mut tx, network, origin, change).await?;
            let has_changed = added || row != stored || catalog != before;
            if row != stored {
                store::update_locale(&mut tx, network, &row).await?;
            }
            if has_changed {
                bump_version(app, &mut tx, network, &catalog.default_key).await?;
            }
            Ok(locale)
        })
        .await
}

/// Page of the filtered messages by namespace, locale and key, and their number.
pub(super) async fn messages(
    app: &App,
    network: NetworkId,
    filter: &MessageFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<LocalizationMessage>, i64), LocalizationError> {
    let (_, locales) = read_locales(app, network).await?;
    let (rows, total) = messages::list(&app.db, network, filter, limit, offset).await?;
    let messages = rows.into_iter().filter_map(|row| {
        let locale = locales.codes.get(&row.locale_key)?;
        Some(to_message(row, locale))
    });
    Ok((messages.collect(), total))
}
