//! The rules of localization.

use std::collections::{BTreeMap, HashMap};

use hub_db::Tx;
use serde::Serialize;
use thiserror::Error;

use crate::app::App;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::localization::body::CatalogBody;
use crate::localization::model::{FIRST_DEFAULT, Language, Locale, LocaleCode, Message, MessageKey, Namespace};
use crate::localization::store::messages::{self, Entries, Filter, MessageRow, Place};
use crate::localization::store::{self, CatalogRow, LocaleRow, languages};
use crate::values::{NetworkId, PlayerId};

/// The most locales of a network.
pub const MOST_LOCALES: i64 = 500;

/// What can be wrong with a request about localization.
#[derive(Debug, Error)]
pub enum LocalizationError {
    /// No override to take away.
    #[error("The operator has not changed this message.")]
    NoOverride,
    /// The default locale may only give way to another.
    #[error("A network has exactly one default locale: make another one the default instead.")]
    DefaultNeeded,
    /// The default locale is always enabled.
    #[error("The default locale must be enabled.")]
    DefaultDisabled,
    /// One locale more than there may be.
    #[error("A network has at most {MOST_LOCALES} locales.")]
    TooManyLocales,
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
            LocalizationError::TooManyLocales => Self::bad_request("too_many_locales", message),
            LocalizationError::Database(error) => error.into(),
        }
    }
}

/// The locales as they are shown, and each one's spelling by its key.
struct Locales {
    shown: Vec<Locale>,
    spelled: HashMap<String, LocaleCode>,
}

impl Locales {
    /// The default is among them, whether or not it was ever written down.
    fn new(catalog: &CatalogRow, mut rows: Vec<LocaleRow>) -> Self {
        if rows.iter().all(|row| row.locale_key != catalog.default_key) {
            rows.extend(implied(&catalog.default_key));
        }
        let spelled = rows.iter().map(|row| (row.locale_key.clone(), row.locale.clone())).collect();
        // By key, the default first.
        rows.sort_by(|a, b| {
            let rank = |row: &LocaleRow| (row.locale_key != catalog.default_key, row.locale_key.clone());
            rank(a).cmp(&rank(b))
        });
        Self { shown: rows.into_iter().map(|row| shown(row, catalog)).collect(), spelled }
    }

    fn spell(&self, key: &str) -> Option<&LocaleCode> {
        self.spelled.get(key)
    }
}

/// A locale that nobody has written down.
fn implied(key: &str) -> Option<LocaleRow> {
    let locale = LocaleCode::try_from(key.to_owned()).ok()?;
    Some(LocaleRow { locale_key: key.to_owned(), locale, display_name: None, enabled: true })
}

fn shown(row: LocaleRow, catalog: &CatalogRow) -> Locale {
    Locale {
        display_name: row.display_name.unwrap_or_else(|| row.locale.as_str().to_owned()),
        is_default: row.locale_key == catalog.default_key,
        enabled: row.enabled,
        locale: row.locale,
    }
}

async fn all_locales(app: &App, network: NetworkId) -> Result<(CatalogRow, Locales), LocalizationError> {
    // The version before all else: what is read after it may be newer, which the next event mends, but never older.
    let catalog = store::catalog(&app.db, network).await?;
    let locales = Locales::new(&catalog, store::locales(&app.db, network).await?);
    Ok((catalog, locales))
}

/// All locales, the default first.
pub async fn locales(app: &App, network: NetworkId) -> Result<Vec<Locale>, LocalizationError> {
    Ok(all_locales(app, network).await?.1.shown)
}

/// What the catalog says, all of it or in some namespaces. A key that several of them share is the first one's.
pub(super) async fn catalog(
    app: &App,
    network: NetworkId,
    namespaces: Option<&[Namespace]>,
) -> Result<CatalogBody, LocalizationError> {
    let (catalog, locales) = all_locales(app, network).await?;
    let mut rows = messages::effective(&app.db, network, namespaces).await?;
    if let Some(named) = namespaces {
        let place = |name: &str| named.iter().position(|namespace| namespace.as_str() == name);
        rows.sort_by_key(|row| place(&row.namespace));
    }
    let mut messages = BTreeMap::<String, BTreeMap<String, String>>::new();
    for row in rows {
        let Some(locale) = locales.spell(&row.locale_key) else { continue };
        let of_locale = messages.entry(locale.as_str().to_owned()).or_default();
        of_locale.entry(row.message_key).or_insert(row.text);
    }
    let first = LocaleCode::try_from(FIRST_DEFAULT.to_owned()).ok();
    let default_locale = locales.spell(&catalog.default_key).cloned().or(first);
    let default_locale = default_locale.ok_or(hub_db::Error::NotFound)?;
    Ok(CatalogBody { version: catalog.version, default_locale, locales: locales.shown, messages })
}

/// The catalog's version, where a call has changed it.
type Changed = Option<i64>;

async fn raise(tx: &mut Tx, network: NetworkId, mut catalog: CatalogRow) -> Result<Changed, hub_db::Error> {
    catalog.version += 1;
    store::set_catalog(tx, network, &catalog).await?;
    Ok(Some(catalog.version))
}

/// Registers what a plugin says where nothing is registered yet; how many messages that were. Every server asks this as
/// it starts, and nearly always all is there, so that is looked at first.
pub async fn add_defaults<'a>(
    app: &App,
    network: NetworkId,
    namespace: &Namespace,
    locale: &LocaleCode,
    entries: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<usize, LocalizationError> {
    let place = Place { namespace: namespace.clone(), locale_key: locale.key() };
    let entries = Entries::of(entries);
    if messages::missing(&app.db, network, &place, &entries).await? == 0 {
        return Ok(0);
    }
    let (inserted, changed) = app
        .db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            let added = messages::add_defaults(&mut tx, network, &place, &entries).await?;
            if !added.is_empty() {
                note_locale(&mut tx, network, locale).await?;
            }
            let changes = added.contains(&true);
            let changed = if changes { raise(&mut tx, network, catalog).await? } else { None };
            Ok::<_, LocalizationError>((added.len(), changed))
        })
        .await?;
    tell(app, network, changed).await;
    Ok(inserted)
}

async fn note_locale(tx: &mut Tx, network: NetworkId, locale: &LocaleCode) -> Result<bool, LocalizationError> {
    let added = store::add_locale(tx, network, locale).await?;
    if added && store::count_locales(tx, network).await? > MOST_LOCALES {
        return Err(LocalizationError::TooManyLocales);
    }
    Ok(added)
}

fn message(row: MessageRow, locale: &LocaleCode) -> Message {
    Message {
        effective: row.effective().unwrap_or_default().to_owned(),
        namespace: row.namespace,
        locale: locale.clone(),
        key: row.message_key,
        default: row.default_text,
        r#override: row.override_text,
    }
}

/// Makes of a message what the operator wants it to say.
pub async fn put_override(
    app: &App,
    network: NetworkId,
    namespace: &Namespace,
    locale: &LocaleCode,
    key: &MessageKey,
    text: &str,
) -> Result<Message, LocalizationError> {
    let place = Place { namespace: namespace.clone(), locale_key: locale.key() };
    let (message, changed) = app
        .db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            note_locale(&mut tx, network, locale).await?;
            let before = messages::get(&mut tx, network, &place, key).await?;
            let after = messages::put_override(&mut tx, network, &place, key, text).await?;
            let same = before.as_ref().and_then(MessageRow::effective) == after.effective();
            let changed = if same { None } else { raise(&mut tx, network, catalog).await? };
            let spelled = store::locale(&mut tx, network, &place.locale_key).await?;
            let spelled = spelled.map_or_else(|| locale.clone(), |row| row.locale);
            Ok::<_, LocalizationError>((message(after, &spelled), changed))
        })
        .await?;
    tell(app, network, changed).await;
    Ok(message)
}

/// Lets a message say again what a plugin registered. One that none did is gone.
pub async fn drop_override(
    app: &App,
    network: NetworkId,
    namespace: &Namespace,
    locale: &LocaleCode,
    key: &MessageKey,
) -> Result<(), LocalizationError> {
    let place = Place { namespace: namespace.clone(), locale_key: locale.key() };
    let changed = app
        .db
        .transaction(async |mut tx| {
            let catalog = store::lock_catalog(&mut tx, network).await?;
            let before = messages::get(&mut tx, network, &place, key).await?;
            let Some(before) = before.filter(|row| row.override_text.is_some()) else {
                return Err(LocalizationError::NoOverride);
            };
            messages::drop_override(&mut tx, network, &place, key).await?;
            let same = before.override_text == before.default_text;
            Ok(if same { None } else { raise(&mut tx, network, catalog).await? })
        })
        .await?;
    tell(app, network, changed).await;
    Ok(())
}

/// How a locale is to be; what is none stays as it is.
#[derive(Clone, Debug, Default)]
pub struct LocaleWish {
    /// A name for people.
    pub display_name: Option<String>,
    /// Whether it is to be the default.
    pub is_default: Option<bool>,
    /// Whether players are to be offered it.
    pub enabled: Option<bool>,
}

/// Writes a locale down, or changes it.
pub async fn put_locale(
    app: &App,
    network: NetworkId,
    code: &LocaleCode,
    wish: &LocaleWish,
) -> Result<Locale, LocalizationError> {
    let (locale, changed) = app
        .db
        .transaction(async |mut tx| {
            let before = store::lock_catalog(&mut tx, network).await?;
            let added = note_locale(&mut tx, network, code).await?;
            let stored = store::locale(&mut tx, network, &code.key()).await?;
            let stored = stored.ok_or(hub_db::Error::NotFound)?;
            let mut row = stored.clone();
            row.display_name = wish.display_name.clone().or(row.display_name);
            row.enabled = wish.enabled.unwrap_or(row.enabled);
            let mut catalog = before.clone();
            match wish.is_default {
                Some(true) => catalog.default_key.clone_from(&row.locale_key),
                Some(false) if catalog.default_key == row.locale_key => return Err(LocalizationError::DefaultNeeded),
                _ => {}
            }
            let locale = shown(row.clone(), &catalog);
            if locale.is_default && !locale.enabled {
                return Err(LocalizationError::DefaultDisabled);
            }
            let changes = added || row != stored || catalog != before;
            if row != stored {
                store::set_locale(&mut tx, network, &row).await?;
            }
            let changed = if changes { raise(&mut tx, network, catalog).await? } else { None };
            Ok((locale, changed))
        })
        .await?;
    tell(app, network, changed).await;
    Ok(locale)
}

/// Which messages an editor wants to see; what is none does not count.
#[derive(Clone, Debug, Default)]
pub struct MessageFilter {
    /// Of this namespace.
    pub namespace: Option<Namespace>,
    /// In this language.
    pub locale: Option<LocaleCode>,
    /// With this in the key or in what they say.
    pub search: Option<String>,
}

/// The wanted messages by namespace, locale and key, and how many there are.
pub async fn messages(
    app: &App,
    network: NetworkId,
    wanted: &MessageFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Message>, i64), LocalizationError> {
    let filter = Filter {
        namespace: wanted.namespace.as_ref().map(|name| name.as_str().to_owned()),
        locale_key: wanted.locale.as_ref().map(LocaleCode::key),
        search: wanted.search.clone(),
    };
    let (_, locales) = all_locales(app, network).await?;
    let (rows, total) = messages::list(&app.db, network, &filter, limit, offset).await?;
    let messages = rows.into_iter().filter_map(|row| {
        let locale = locales.spell(&row.locale_key)?;
        Some(message(row, locale))
    });
    Ok((messages.collect(), total))
}

/// A player's language.
pub async fn language(app: &App, network: NetworkId, player: PlayerId) -> Result<Language, LocalizationError> {
    Ok(languages::get(&app.db, network, player).await?)
}

/// Stores a player's language, whatever it was before, or that there is none.
pub async fn set_language(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    username: Option<&str>,
    language: Language,
) -> Result<Language, LocalizationError> {
    languages::put(&app.db, network, player, username.map(str::to_owned), language.clone()).await?;
    Ok(language)
}

#[derive(Serialize)]
struct Payload {
    version: i64,
}

/// Tells the network's servers of a change. It is stored already: a bus that takes nothing any more is no failure, its
/// clients read anew when they come back.
async fn tell(app: &App, network: NetworkId, changed: Changed) {
    let Some(version) = changed else { return };
    let payload = Payload { version };
    if let Err(error) = events::publish(app, network, EventKind::LocalizationUpdated, None, payload).await {
        tracing::warn!(%error, version, "could not tell of a change of the catalog");
    }
}
