//! `POST /api/plugin/players/{uuid}/session` and `PUT …/session/{fence}`.

use std::net::IpAddr;
use std::pin::pin;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{PlayersWrite, RevocationWatch, Scope};
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::deliveries::ClaimText;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody, ErrorDetails, LoginVerdict};
use crate::http::extract::{Json, JsonUpTo, Path};
use crate::player_sessions::service::open;
use crate::player_sessions::{Opened, PreviousState};
use crate::players::includes::{Included, Includes};
use crate::players::model::{DataKey, JsonText, LoadRequest};
use crate::players::routes::profile::LoadedPlayer;
use crate::players::sessions::save::{self, SavedSession, SessionSave};
use crate::players::{login, profile, service};
use crate::punishments::{IpAddress, NameRight};
use crate::values::{Identifier, Label, PlayerId, not_blank};

/// Maximum size of the body of a save in bytes: data is text in JSON, which escapes quotation marks.
const SAVE_LIMIT: usize = 2 * 1024 * 1024;
const DEFAULT_WAIT: Millis = 3_000;
const MAX_WAIT: Millis = 10_000;

pub(super) fn opening() -> Endpoints {
    endpoints![open_session: long repeatable retry_on_owner ends_with_caller]
}

pub(super) fn router() -> Endpoints {
    endpoints![save_session]
}

/// Request for a player's session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerSessionRequest)]
struct OpenSession {
    /// Server that asks; it must be online.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Time to wait for another server to save and close its session, in milliseconds; default 3,000.
    #[schema(minimum = 0, maximum = 10_000, example = 3_000)]
    wait_ms: Option<Millis>,
    /// Game mode of the profile's namespaces; default `global`.
    #[schema(example = "global")]
    game_mode: Option<Label>,
    /// The player's engine, one of the hub's; the first reported one stays.
    #[schema(example = "MINECRAFT")]
    game_type: Option<Identifier>,
    /// The player's current name.
    #[schema(example = "Notch")]
    username: Option<Identifier>,
    /// The player's address, IPv4 or IPv6: it is located and not stored.
    #[schema(example = "203.0.113.7")]
    ip: Option<String>,
    /// Areas to include in the profile, as in `include` of a load.
    #[schema(example = json!(["permissions", "data:inventory"]))]
    include: Option<Vec<String>>,
}

/// An opened session, with the player's profile.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenedPlayerSession)]
struct OpenedSession {
    /// Number of the session, higher than those of all earlier sessions of the network. Saves name it.
    #[schema(example = 42)]
    fence: i64,
    /// True if the session before was not closed by its server: what that server had not saved is not in the profile.
    taken_over: bool,
    /// Server of the session before; null if there was none.
    #[schema(example = "lobby-1")]
    previous_server_id: Option<Identifier>,
    /// End of the session before; null if there was none.
    previous_state: Option<PreviousState>,
    /// Answer of a load, read after the session before had ended.
    profile: LoadedPlayer,
}

/// Open a player's session
///
/// Call it when the player has joined the server, and apply nothing of the player before its answer. A server that has
/// the player's session is asked to save (`SESSION_REQUESTED`, to it alone), and the call waits until it closed its
/// session, went offline, or `waitMs` is over; 500 ms if it has no event stream that names the event. Then the old session
/// has ended, and its fence is refused. Several that wait come in the order in which they asked; a later one whose time is
/// over lets the earlier ones go before it at once. Up to 1,000 openings of a network may wait (429).
///
/// The same server again gets a new fence at once. Opening again is safe. The profile is the answer of a load with the same
/// values.
///
/// With `login` in `include` the network's modules are asked first if the player may join. A refusal opens no session: 403
/// `login_refused`, with `login`.
#[utoipa::path(post, path = "/api/plugin/players/{uuid}/session", tag = "Player sessions", operation_id = "open_player_session",
    security(("apiKey" = ["players:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = OpenedSession),
        (status = 403, body = ErrorBody, description = "The network's modules refuse the player, or the key may not do this"),
        (status = 503, body = ErrorBody, description = "The hub stops, or the network moves to another node; open again")))]
async fn open_session(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    lease: RequestLease,
    Path(player): Path<PlayerId>,
    Json(body): Json<OpenSession>,
) -> Result<Json<OpenedSession>, ApiError> {
    let wait = body.wait_ms.unwrap_or(DEFAULT_WAIT);
    if !(0..=MAX_WAIT).contains(&wait) {
        return Err(ApiError::invalid(format!("In the body, `waitMs`: must be 0 to {MAX_WAIT}.")));
    }
    let includes = Includes::of(body.include.as_deref().unwrap_or_default())
        .map_err(|reason| ApiError::invalid(format!("In the body, `include`: {reason}.")))?;
    includes.check_scopes(&caller)?;
    let ip = not_blank(body.ip.as_deref()).map(|ip| ip.trim().parse::<IpAddr>()).transpose();
    let ip = ip.map_err(|_| ApiError::invalid("In the body, `ip`: must be an IPv4 or IPv6 address."))?;
    let request = LoadRequest { username: body.username, game_type: body.game_type.map(Identifier::into_string), ip };
    let (network, address) = (caller.network, request.ip.map(IpAddress::from));
    let game_mode = body.game_mode.unwrap_or_else(Label::global);
    service::check_online(&app, network, &body.server_id)?;
    let login = if includes.login {
        Some(admitted(login::check(&app, &caller, player, &request, Some(&body.server_id)).await?)?)
    } else {
        None
    };
    let visit = service::check_visit(&app, network, player, request, NameRight::of(&caller)).await?;
    // The right to it may end while it waits.
    let watched = app.state::<RevocationWatch>().watch_caller(&caller, &[Scope::PlayersWrite, Scope::Plugin]);
    let revoked = watched.revoked();
    let mut opening = pin!(open(&app, network, player, &body.server_id, (wait, &visit), &lease));
    let opened = loop {
        tokio::select! {
            opened = &mut opening => break opened?,
            () = revoked.cancelled() => watched.check()?,
        }
    };
    let profile = service::profile_of_visit(&app, network, player, &game_mode).await?;
    let included = profile::include(&app, network, &includes, &profile, &game_mode, address).await?;
    let included = Included { login, ..included };
    let taken_over = opened.is_taken_over();
    let Opened { fence, previous } = opened;
    let (previous_server_id, previous_state) = previous.unzip();
    let profile = LoadedPlayer { profile: profile.into(), included };
    profile::check_size(&profile)?;
    Ok(Json(OpenedSession { fence, taken_over, previous_server_id, previous_state, profile }))
}

/// Refuses a player whom the modules do not allow.
fn admitted(login: LoginVerdict) -> Result<LoginVerdict, ApiError> {
    if login.allowed {
        return Ok(login);
    }
    let reason = login.reason.clone().unwrap_or_default();
    let details = ErrorDetails { login: Some(login), ..ErrorDetails::default() };
    Err(ApiError::new(StatusCode::FORBIDDEN, "login_refused", reason).details(details))
}

/// Namespace in a save.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionData {
    /// Default `global`.
    #[schema(example = "global")]
    game_mode: Option<Label>,
    #[schema(example = "inventory")]
    namespace: Label,
    /// One JSON value as text, at most 256 KiB; it is stored byte for byte.
    data: JsonText,
}

/// Save of a session.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PlayerSessionSave)]
struct SaveSession {
    /// Namespaces to write, each once; at most 1 MiB together.
    #[schema(max_items = 32, example = json!([{"namespace": "inventory", "data": "{\"coins\":5}"}]))]
    data: Option<Vec<SessionData>>,
    /// Claims of deliveries that this save carries out, which it settles as DELIVERED. They need the scope
    /// `deliveries:write`, too.
    #[schema(value_type = Option<Vec<String>>, max_items = 32, example = json!(["42.mZ0fQ7"]))]
    complete: Option<Vec<ClaimText>>,
    /// True to end the session with this save.
    #[schema(example = true)]
    close: Option<bool>,
    /// Rising number of the save within the session. One that is not above the last is 409 `stale_save`, so that a save
    /// that was sent again does not undo a later one.
    #[schema(minimum = 0, example = 7)]
    number: Option<i64>,
}

/// Save a player's session
///
/// Writes the data, settles the deliveries and closes the session, all or nothing. A fence that is not that of the open
/// session is 409 `stale_session`, a claim that is not good 409 `stale_claim`. The same body right after has no second
/// effect and the same answer, also after `close`, until a newer session is opened.
#[utoipa::path(put, path = "/api/plugin/players/{uuid}/session/{fence}", tag = "Player sessions", operation_id = "save_player_session",
    security(("apiKey" = ["players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ("fence" = i64, Path, description = "Fence of the session", example = 1)), request_body = SaveSession,
    responses((status = 200, body = SavedSession),
        (status = 409, body = ErrorBody, description = "The session is over, or a claim or the number is outdated")))]
async fn save_session(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    Path((player, fence)): Path<(PlayerId, i64)>,
    JsonUpTo(body): JsonUpTo<SAVE_LIMIT, SaveSession>,
) -> Result<Json<SavedSession>, ApiError> {
    let entry = |entry: SessionData| {
        let game_mode = entry.game_mode.unwrap_or_else(Label::global);
        (DataKey { player, game_mode, namespace: entry.namespace }, entry.data)
    };
    if body.complete.as_ref().is_some_and(|claims| !claims.is_empty()) {
        caller.require(&[Scope::DeliveriesWrite, Scope::Plugin])?;
    }
    let save = SessionSave {
        entries: body.data.unwrap_or_default().into_iter().map(entry).collect(),
        claims: body.complete.unwrap_or_default(),
        closes: body.close.unwrap_or(false),
        number: body.number,
    };
    Ok(Json(save::save(&app, &caller, player, fence, &save).await?))
}
