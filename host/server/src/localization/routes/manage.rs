//! The catalog, for the network's owner.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::NetworkManage;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber, PageQuery};
use crate::localization::model::{Locale, LocaleCode, LocalizationMessage, MessageKey, MessageText, Namespace};
use crate::localization::service::{self, LocaleUpdate, MessageFilter};
use crate::values::{Text, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![
        list_messages: large_answer,
        put_message: publishing,
        delete_message: publishing,
        list_managed_locales,
        put_locale: publishing,
    ]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct MessagesQuery {
    /// Only those in this language.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "en_us")]
    locale: Option<LocaleCode>,
    /// Only those of this namespace.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "lobby")]
    namespace: Option<Namespace>,
    /// Only those with this in the key or in what they say.
    #[param(example = "welcome")]
    search: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
}

/// List messages
///
/// By namespace, locale and key, each with what a plugin registered and what the owner made of it.
#[utoipa::path(get, path = "/api/manage/localization/messages", tag = "Localization",
    security(("apiKey" = ["network:manage"])), params(MessagesQuery),
    responses((status = 200, body = Page<LocalizationMessage>)))]
async fn list_messages(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<MessagesQuery>,
) -> Result<Json<Page<LocalizationMessage>>, ApiError> {
    let filter = MessageFilter {
        namespace: query.namespace,
        locale_key: query.locale.as_ref().map(LocaleCode::key),
        search: not_blank(query.search.as_deref()).map(str::to_owned),
    };
    let offset = query.page.offset(query.limit);
    let (messages, total) = service::messages(&app, caller.network, &filter, query.limit.0, offset).await?;
    Ok(Json(Page::new(messages, query.page, query.limit, total)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MessageOverride)]
struct PutMessage {
    /// What it is to say, at most 16,384 characters; its bytes as JSON are counted (`messageBytes`).
    #[schema(value_type = String, max_length = 16384, example = "Hello and welcome!")]
    value: MessageText,
}

/// Change a message
///
/// What is sent counts over what plugins register, now and later. A message that no plugin has registered may be put
/// as well. Messages and their bytes are counted (`messages`, `messageBytes`, `catalogBytes`). Where the catalog says something else than before, its version rises and every server gets a
/// `LOCALIZATION_UPDATED` event.
#[utoipa::path(put, path = "/api/manage/localization/messages/{locale}/{namespace}/{key}", tag = "Localization",
    security(("apiKey" = ["network:manage"])),
    params(("locale" = LocaleCode, Path), ("namespace" = Namespace, Path), ("key" = String, Path, example = "welcome")),
    responses((status = 200, body = LocalizationMessage)))]
async fn put_message(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((locale, namespace, key)): Path<(LocaleCode, Namespace, MessageKey)>,
    Json(body): Json<PutMessage>,
) -> Result<Json<LocalizationMessage>, ApiError> {
    let text = body.value.as_str();
    Ok(Json(service::put_override(&app, caller.network, &namespace, &locale, &key, text, &caller.origin(&app)).await?))
}

/// Take a change of a message back
///
/// It says again what a plugin registered; where none did, it is gone.
#[utoipa::path(delete, path = "/api/manage/localization/messages/{locale}/{namespace}/{key}", tag = "Localization",
    security(("apiKey" = ["network:manage"])),
    params(("locale" = LocaleCode, Path), ("namespace" = Namespace, Path), ("key" = String, Path, example = "welcome")),
    responses((status = 204, description = "Taken back"),
        (status = 404, body = ErrorBody, description = "The owner has not changed this message")))]
async fn delete_message(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((locale, namespace, key)): Path<(LocaleCode, Namespace, MessageKey)>,
) -> Result<StatusCode, ApiError> {
    service::delete_override(&app, caller.network, &namespace, &locale, &key, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the locales for their owner
///
/// The default first, then by name.
#[utoipa::path(get, path = "/api/manage/localization/locales", tag = "Localization",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<Locale>)))]
async fn list_managed_locales(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Locale>>, ApiError> {
    Ok(Json(Page::paginate(service::locales(&app, caller.network).await?, query.page, query.limit)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LocaleSettings)]
struct PutLocale {
    /// A name for people; stays as it is when absent.
    #[schema(example = "English")]
    display_name: Option<Text<255>>,
    /// Whether it is the default; stays as it is when absent. `false` for the one that is the default is 400
    /// `default_locale_needed`: make another one the default instead.
    #[schema(example = true)]
    is_default: Option<bool>,
    /// Whether players are to be offered it; stays as it is when absent, and is `true` for a new one. The default must
    /// be enabled (400 `default_locale_disabled`).
    #[schema(example = true)]
    enabled: Option<bool>,
}

/// Add or change a locale
///
/// Where that changes anything, the catalog's version rises and every server gets a `LOCALIZATION_UPDATED` event.
#[utoipa::path(put, path = "/api/manage/localization/locales/{locale}", tag = "Localization",
    security(("apiKey" = ["network:manage"])), params(("locale" = LocaleCode, Path)),
    responses((status = 200, body = Locale)))]
async fn put_locale(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(locale): Path<LocaleCode>,
    Json(body): Json<PutLocale>,
) -> Result<Json<Locale>, ApiError> {
    let update = LocaleUpdate {
        display_name: body.display_name.map(Text::into_string).filter(|name| !name.trim().is_empty()),
        is_default: body.is_default,
        enabled: body.enabled,
    };
    Ok(Json(service::put_locale(&app, caller.network, &locale, &update, &caller.origin(&app)).await?))
}
