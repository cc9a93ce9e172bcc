//! Players' languages.

use axum::extract::State;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::PlayersWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::localization::LocaleCode;
use crate::players::language::{PlayerLanguage, Source};
use crate::players::service;
use crate::punishments::NameRight;
use crate::values::{Identifier, PlayerId, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![get_player_locale, put_player_locale]
}

/// Get a player's language
///
/// Both fields are null if it was never set.
#[utoipa::path(get, path = "/api/plugin/localization/players/{uuid}/locale", tag = "Localization",
    security(("apiKey" = ["players:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = PlayerLanguage)))]
async fn get_player_locale(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Json<PlayerLanguage>, ApiError> {
    Ok(Json(service::language(&app, caller.network, player).await?.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct UsernameQuery {
    /// Player name, stored with the language, and for an unknown player with the player.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "Steve")]
    username: Option<Identifier>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LanguageChoice)]
struct PutLanguage {
    /// Locale; null unsets the language, regardless of the source.
    locale: Option<LocaleCode>,
    /// PLAYER (default) if chosen by the player, AUTO if detected.
    source: Option<Source>,
}

/// Set a player's language
///
/// Stores the language, replacing any existing one, and returns it. PLAYER asks connectors not to ask the player
/// again, AUTO allows it. Locales need not exist in the catalog. An unknown player is created.
#[utoipa::path(put, path = "/api/plugin/localization/players/{uuid}/locale", tag = "Localization",
    security(("apiKey" = ["players:write", "plugin"])), params(("uuid" = PlayerId, Path), UsernameQuery),
    responses((status = 200, body = PlayerLanguage)))]
async fn put_player_locale(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<UsernameQuery>,
    Json(body): Json<PutLanguage>,
) -> Result<Json<PlayerLanguage>, ApiError> {
    let language = body.locale.map(|locale| (locale, body.source.unwrap_or(Source::Player)));
    let username = (query.username.as_ref(), NameRight::of(&caller));
    Ok(Json(service::set_language(&app, caller.network, player, username, language).await?.into()))
}
