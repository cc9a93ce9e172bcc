//! Messages in the players' languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;
use tokio::time::Instant;
use uuid::Uuid;

use crate::model::{LanguageSource, LocalizationCatalog, PlayerLanguage};
use crate::{HubClient, HubError};

/// Messages by key.
pub(super) type Messages = BTreeMap<String, String>;

/// Messages in the players' languages. Answers immediately, from memory. While the hub is away it answers what was known last, and before the
/// first answer the defaults of the plugin.
#[derive(Debug)]
pub struct LocalizationCache {
    client: HubClient,
    pub(super) namespaces: Vec<String>,
    /// By language.
    pub(super) defaults: HashMap<String, Messages>,
    default_locale: String,
    /// The latest answers, and the times when they were asked for.
    languages: RwLock<HashMap<Uuid, (PlayerLanguage, Instant)>>,
    catalog: RwLock<Option<Arc<LocalizationCatalog>>>,
}

impl LocalizationCache {
    pub(super) fn new(
        client: HubClient,
        namespaces: Vec<String>,
        defaults: HashMap<String, Messages>,
        default_locale: String,
    ) -> Self {
        let (languages, catalog) = (RwLock::default(), RwLock::default());
        Self { client, namespaces, defaults, default_locale, languages, catalog }
    }

    /// A message in a player's language.
    pub fn text(&self, player: Uuid, key: &str) -> String {
        self.text_in(&self.locale(player), key)
    }

    /// A message in a language, else in the default language, else as the plugin has it; else the key.
    pub fn text_in(&self, locale: &str, key: &str) -> String {
        let catalog = self.catalog();
        let of_hub = catalog.as_ref().and_then(|catalog| {
            let in_locale = |locale: &str| catalog.messages.get(locale)?.get(key);
            in_locale(locale).or_else(|| in_locale(&catalog.default_locale))
        });
        let own = |locale: &str| self.defaults.get(locale)?.get(key);
        let text = of_hub.or_else(|| own(locale)).or_else(|| own(&self.default_locale));
        text.cloned().unwrap_or_else(|| key.to_owned())
    }

    /// A player's language, or the default one.
    pub fn locale(&self, player: Uuid) -> String {
        let chosen = self.language(player).and_then(|language| language.locale);
        let of_network = || self.catalog().map(|catalog| catalog.default_locale.clone());
        chosen.or_else(of_network).unwrap_or_else(|| self.default_locale.clone())
    }

    /// Returns the known language of a player, with its source: a chosen one need not be asked for again.
    pub fn language(&self, player: Uuid) -> Option<PlayerLanguage> {
        self.languages.read().get(&player).map(|(language, _)| language.clone())
    }

    /// The catalog as it was read last; none before the first time.
    pub fn catalog(&self) -> Option<Arc<LocalizationCatalog>> {
        self.catalog.read().clone()
    }

    /// Sets a player's language at the hub and here; no locale unsets it.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn set_language(
        &self,
        player: Uuid,
        locale: Option<&str>,
        source: LanguageSource,
    ) -> Result<PlayerLanguage, HubError> {
        let stored = self.client.put_player_locale(player, locale, source).await?;
        // From now on: what was asked meanwhile may not show it.
        self.put(player, stored.clone(), Instant::now());
        Ok(stored)
    }

    /// An answer to a question that was asked at this time; dropped where a later one was answered before.
    pub(super) fn put(&self, player: Uuid, language: PlayerLanguage, asked_at: Instant) {
        let mut languages = self.languages.write();
        if languages.get(&player).is_none_or(|(_, known)| *known <= asked_at) {
            languages.insert(player, (language, asked_at));
        }
    }

    pub(super) fn prune(&self, is_online: impl Fn(&Uuid) -> bool) {
        self.languages.write().retain(|player, _| is_online(player));
    }

    pub(super) async fn refresh_language(&self, player: Uuid) -> Result<(), HubError> {
        let asked_at = Instant::now();
        let language = self.client.get_player_locale(player).await?;
        self.put(player, language, asked_at);
        Ok(())
    }

    pub(super) async fn refresh_catalog(&self) -> Result<(), HubError> {
        let read = self.client.get_catalog(&self.namespaces).await?;
        let mut catalog = self.catalog.write();
        // An answer that was overtaken by a newer one is dropped.
        if catalog.as_ref().is_none_or(|known| known.version <= read.version) {
            *catalog = Some(Arc::new(read));
        }
        Ok(())
    }

    /// Registers the plugin's defaults under the first namespace.
    pub(super) async fn register_defaults(&self) -> Result<(), HubError> {
        let Some(namespace) = self.namespaces.first() else { return Ok(()) };
        for (locale, entries) in &self.defaults {
            self.client.register_default_messages(namespace, locale, entries).await?;
        }
        Ok(())
    }
}
