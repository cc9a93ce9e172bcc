//! Catalog management by the network's owner.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::NetworkManage;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch};
use crate::http::page::{Limit, Page, PageNumber, PageQuery};
use crate::localization::model::{LocaleCode, LocalizationMessage, ManagedLocale, MessageKey, MessageText, Namespace};
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
    /// Only messages in this locale.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "en_us")]
    locale: Option<LocaleCode>,
    /// Only messages of this namespace.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "lobby")]
    namespace: Option<Namespace>,
    /// Only messages with this in key or text.
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
/// Ordered by namespace, locale and key, with default and override.
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
    /// Text, at most 16,384 characters; its size as JSON is limited (`messageBytes`).
    #[schema(value_type = String, max_length = 16384, example = "Hello and welcome!")]
    value: MessageText,
}

/// Override a message
///
/// The text has precedence over defaults of plugins, now and later. Messages without a default can be created too.
/// Messages and their size are limited (`messages`, `messageBytes`, `catalogBytes`). If a text of the catalog changes,
/// its version increases and every server gets a `LOCALIZATION_UPDATED` event.
///
/// With `If-Match` it changes the message only at that `revision`, 0 if there is to be none: else it is 409
/// `revision_changed` with the message as it is now.
#[utoipa::path(put, path = "/api/manage/localization/messages/{locale}/{namespace}/{key}", tag = "Localization",
    security(("apiKey" = ["network:manage"])),
    params(("locale" = LocaleCode, Path), ("namespace" = Namespace, Path), ("key" = String, Path, example = "welcome"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = LocalizationMessage),
        (status = 409, body = ErrorBody, description = "Somebody changed the message since the revision of `If-Match`")))]
async fn put_message(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((locale, namespace, key)): Path<(LocaleCode, Namespace, MessageKey)>,
    expected: IfMatch,
    Json(body): Json<PutMessage>,
) -> Result<Json<LocalizationMessage>, ApiError> {
    let text = body.value.as_str();
    let (id, origin) = ((&namespace, &locale, &key), caller.origin(&app));
    Ok(Json(service::put_override(&app, caller.network, id, text, expected, &origin).await?))
}

/// Delete an override
///
/// Restores the plugin's default; without one the message is deleted. With `If-Match` only at that `revision`.
#[utoipa::path(delete, path = "/api/manage/localization/messages/{locale}/{namespace}/{key}", tag = "Localization",
    security(("apiKey" = ["network:manage"])),
    params(("locale" = LocaleCode, Path), ("namespace" = Namespace, Path), ("key" = String, Path, example = "welcome"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 204, description = "Taken back"),
        (status = 404, body = ErrorBody, description = "The message has no override"),
        (status = 409, body = ErrorBody, description = "Somebody changed the message since the revision of `If-Match`")))]
async fn delete_message(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((locale, namespace, key)): Path<(LocaleCode, Namespace, MessageKey)>,
    expected: IfMatch,
) -> Result<StatusCode, ApiError> {
    let (id, origin) = ((&namespace, &locale, &key), caller.origin(&app));
    service::delete_override(&app, caller.network, id, expected, &origin).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the locales for the owner
///
/// The default first, then by name.
#[utoipa::path(get, path = "/api/manage/localization/locales", tag = "Localization",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<ManagedLocale>)))]
async fn list_managed_locales(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ManagedLocale>>, ApiError> {
    let locales = service::locales(&app, caller.network).await?;
    Ok(Json(Page::paginate(locales, query.page, query.limit).map(ManagedLocale::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LocaleSettings)]
struct PutLocale {
    /// Display name; unchanged if absent.
    #[schema(example = "English")]
    display_name: Option<Text<255>>,
    /// Make it the default; unchanged if absent. `false` for the current default is 400 `default_locale_needed`: make
    /// another locale the default instead.
    #[schema(example = true)]
    is_default: Option<bool>,
    /// Offer it to players; unchanged if absent, `true` for a new locale. The default must be enabled (400
    /// `default_locale_disabled`).
    #[schema(example = true)]
    enabled: Option<bool>,
}

/// Add or change a locale
///
/// After a change the catalog's version increases and every server gets a `LOCALIZATION_UPDATED` event.
///
/// With `If-Match` only at that `revision`, 0 if there is to be none: else it is 409 `revision_changed`.
#[utoipa::path(put, path = "/api/manage/localization/locales/{locale}", tag = "Localization",
    security(("apiKey" = ["network:manage"])), params(("locale" = LocaleCode, Path),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = ManagedLocale),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn put_locale(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(locale): Path<LocaleCode>,
    expected: IfMatch,
    Json(body): Json<PutLocale>,
) -> Result<Json<ManagedLocale>, ApiError> {
    let update = LocaleUpdate {
        display_name: body.display_name.map(Text::into_string).filter(|name| !name.trim().is_empty()),
        is_default: body.is_default,
        enabled: body.enabled,
    };
    let change = (&update, expected);
    Ok(Json(service::put_locale(&app, caller.network, &locale, change, &caller.origin(&app)).await?.into()))
}
