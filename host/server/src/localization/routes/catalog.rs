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

/// The most namespaces named at once.
const MAX_NAMESPACES: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![get_catalog: large_answer, register_default_messages: transactional, list_locales]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct CatalogQuery {
    /// Namespaces with commas between, at most 100; the whole catalog when absent.
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
/// What every message says, the operator's changes over what plugins registered. A key that several namespaces share
/// is that of the first one named, or without `namespace` of the first by name.
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
    /// What each message says, at most 16,384 characters, by a key of at most 255; its bytes as JSON are counted
    /// (`messageBytes`).
    #[schema(value_type = BTreeMap<String, String>, example = json!({"welcome": "Welcome!", "full": "Sorry, full."}))]
    entries: Entries,
}

/// `serde_path_to_error` names no entry whose key is wrong; this does.
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
    /// How many messages had no default before.
    #[schema(example = 2)]
    inserted: usize,
}

/// Register what messages say by default
///
/// Adds what is missing and changes nothing that is there, neither an earlier default nor what the operator made of
/// it: safe whenever a server starts. Where the catalog says something else than before, every server gets a
/// `LOCALIZATION_UPDATED` event with the new `version`.
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
/// The default first, then by name. A locale is there once a message or its settings were sent for it; the default is
/// `en` until the operator chooses another.
#[utoipa::path(get, path = "/api/plugin/localization/locales", tag = "Localization",
    security(("apiKey" = ["plugin"])), responses((status = 200, body = Vec<Locale>)))]
async fn list_locales(Plugin(caller): Plugin, State(app): State<App>) -> Result<Json<Vec<Locale>>, ApiError> {
    Ok(Json(service::locales(&app, caller.network).await?))
}
