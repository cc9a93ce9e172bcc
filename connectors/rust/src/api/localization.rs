//! Messages, languages, config documents.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::model::{ConfigDocument, LanguageSource, LocalizationCatalog, PlayerLanguage};
use crate::{HubClient, HubError};

impl HubClient {
    /// The messages of these namespaces; without any, of all. Of two namespaces with the same key the first one named counts.
    pub async fn get_catalog(&self, namespaces: &[String]) -> Result<LocalizationCatalog, HubError> {
        let named = (!namespaces.is_empty()).then(|| namespaces.join(","));
        self.plugin(Method::GET, &["localization", "catalog"]).query_if("namespace", named).send().await
    }

    /// Adds the messages that are missing; never overwrites one, so do it at every start.
    pub async fn register_default_messages(
        &self,
        namespace: &str,
        locale: &str,
        entries: &BTreeMap<String, String>,
    ) -> Result<(), HubError> {
        let body = json!({"namespace": namespace, "locale": locale, "entries": entries});
        self.plugin(Method::POST, &["localization", "defaults"]).json(&body).safe().run().await
    }

    /// A player's language.
    pub async fn get_player_locale(&self, player: Uuid) -> Result<PlayerLanguage, HubError> {
        self.plugin(Method::GET, &["localization", "players", &player.to_string(), "locale"]).send().await
    }

    /// Sets a player's language; no locale unsets it.
    pub async fn put_player_locale(
        &self,
        player: Uuid,
        locale: Option<&str>,
        source: LanguageSource,
    ) -> Result<PlayerLanguage, HubError> {
        let request = self.plugin(Method::PUT, &["localization", "players", &player.to_string(), "locale"]);
        request.json(&json!({"locale": locale, "source": source})).send().await
    }

    /// Stores a default where nothing is stored, and returns the effective document. Do it at every start.
    pub async fn register_config_document(
        &self,
        group: &str,
        namespace: &str,
        default: &Value,
    ) -> Result<ConfigDocument, HubError> {
        let body = json!({"group": group, "namespace": namespace, "defaultDoc": default});
        self.plugin(Method::POST, &["config", "register"]).json(&body).safe().send().await
    }

    /// Stores a document of at most 256 KiB; all servers get `CONFIG_UPDATED`.
    pub async fn publish_config_document(
        &self,
        group: &str,
        namespace: &str,
        doc: &Value,
    ) -> Result<ConfigDocument, HubError> {
        let body = json!({"group": group, "namespace": namespace, "doc": doc});
        self.plugin(Method::POST, &["config", "publish"]).json(&body).safe().send().await
    }

    /// A document; none where there is none.
    pub async fn get_config_document(&self, group: &str, namespace: &str) -> Result<Option<ConfigDocument>, HubError> {
        self.plugin(Method::GET, &["config", group, namespace]).find().await
    }
}
