//! The catalog, for connectors.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::Plugin;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::localization::body::LocalizationCatalog;
use crate::localization::model::{Locale, LocaleCode, MessageKey, MessageText, Namespace};
use crate::localization::service;

/// Maximum number of namespaces per request.
const MAX_NAMESPACES: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![get_catalog: large_answer, register_default_messages: transactional, list_locales]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct CatalogQuery {
    /// Namespaces separated by commas, at most 100; if absent, the whole catalog.
    #[serde(default, deserialize_with = "parse_namespaces")]
    #[param(value_type = Option<String>, example = "lobby,core")]
    namespace: Option<Vec<Namespace>>,
}

fn parse_namespaces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Namespace>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<Namespace> = names.map(str::parse).collect::<Result<_, _>>().map_err(de::Error::custom)?;
    if names.len() > MAX_NAMESPACES {
        return Err(de::Error::custom(format_args!("must be at most {MAX_NAMESPACES} namespaces")));
    }
    Ok((!names.is_empty()).then_some(names))
}

/// Get the catalog
///
/// Texts of all messages: overrides of the operator, or else defaults of plugins. For a key in several namespaces, the
/// first requested namespace has precedence, or without `namespace` the first by name.
#[utoipa::path(get, path = "/api/plugin/localization/catalog", tag = "Localization",
    security(("apiKey" = ["plugin"])), params(CatalogQuery), responses((status = 200, body = LocalizationCatalog)))]
async fn get_catalog(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Query(query): Query<CatalogQuery>,
) -> Result<Json<LocalizationCatalog>, ApiError> {
    Ok(Json(service::catalog(&app, caller.network, query.namespace.as_deref()).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
struct DefaultMessages {
    namespace: Namespace,
    locale: LocaleCode,
    /// Message texts, at most 16,384 characters, by keys of at most 255; their size as JSON is limited
    /// (`messageBytes`).
    #[schema(value_type = BTreeMap<String, String>, example = json!({"welcome": "Welcome!", "full": "Sorry, full."}))]
    entries: Entries,
}

/// Names the entry with an invalid key, unlike `serde_path_to_error`.
#[derive(Debug)]
struct Entries(BTreeMap<String, MessageText>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = BTreeMap::<String, MessageText>::deserialize(deserializer)?;
        for key in entries.keys() {
            key.parse::<MessageKey>().map_err(|reason| de::Error::custom(format_args!("the key {key:?} {reason}")))?;
        }
        Ok(Self(entries))
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InsertedMessages)]
struct Inserted {
    /// Number of messages without an earlier default.
    #[schema(example = 2)]
    inserted: usize,
}

/// Register default messages
///
/// Adds missing messages and changes nothing else, neither earlier defaults nor overrides of the operator: safe to
/// call at every server start. If a text of the catalog changes, every server gets a `LOCALIZATION_UPDATED` event with
/// the new `version`.
#[utoipa::path(post, path = "/api/plugin/localization/defaults", tag = "Localization",
    security(("apiKey" = ["plugin"])), responses((status = 200, body = Inserted)))]
async fn register_default_messages(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<DefaultMessages>,
) -> Result<Json<Inserted>, ApiError> {
    let entries = body.entries.0.iter().map(|(key, text)| (key.as_str(), text.as_str()));
    let inserted = service::add_defaults(&app, caller.network, &body.namespace, &body.locale, entries).await?;
    Ok(Json(Inserted { inserted }))
}

/// List the locales
///
/// The default first, then by name. A locale exists once a message or settings were sent for it; the default is `en`
/// until the operator chooses another.
#[utoipa::path(get, path = "/api/plugin/localization/locales", tag = "Localization",
    security(("apiKey" = ["plugin"])), responses((status = 200, body = Vec<Locale>)))]
async fn list_locales(Plugin(caller): Plugin, State(app): State<App>) -> Result<Json<Vec<Locale>>, ApiError> {
    Ok(Json(service::locales(&app, caller.network).await?))
}
