//! `/api/public/appeals/{code}`: for players, without a key.

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::appeals::model::{Appeal, AppealState};
use crate::appeals::service;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, public_endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::limits::{self, Limits};
use crate::punishments::PunishmentKind;
use crate::values::Text;

/// Routes without a key.
pub(super) fn router() -> Endpoints {
    public_endpoints![read_appealed_punishment, create_appeal]
}

/// A request that counts for its address.
struct Counted;

impl FromRequestParts<App> for Counted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let remote = limits::remote_address(&parts.extensions);
        app.state::<Limits>().addresses.count_appeal(remote, app.clock.now())?;
        Ok(Self)
    }
}

/// A punished player's appeal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnAppeal)]
struct OwnAppeal {
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    state: AppealState,
    /// Staff's answer.
    #[schema(example = "Welcome back.")]
    answer: Option<String>,
}

impl From<Appeal> for OwnAppeal {
    fn from(appeal: Appeal) -> Self {
        Self { at: appeal.at, state: appeal.state, answer: appeal.answer }
    }
}

/// A punishment, without its player.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppealedPunishment)]
struct AppealedBody {
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<String>,
    /// Null is never.
    #[schema(example = 1_804_680_000_000_i64)]
    expires_at: Option<Millis>,
    /// Earliest first.
    appeals: Vec<OwnAppeal>,
}

/// Read a punishment by its appeal code
///
/// Until 30 days after its end. An address has 20 requests a minute.
#[utoipa::path(get, path = "/api/public/appeals/{code}", operation_id = "get_appealed_punishment", tag = "Appeals",
    params(("code" = String, Path, description = "Code of the punishment, as its player was shown", example = "K7QMZ2RWXA9P")),
    responses((status = 200, body = AppealedBody),
        (status = 404, body = ErrorBody, description = "No such code, or its punishment ended over 30 days ago"),
        (status = 429, body = ErrorBody, description = "Too many requests from one address; see `Retry-After`")))]
async fn read_appealed_punishment(
    _counted: Counted,
    State(app): State<App>,
    Path(code): Path<String>,
) -> Result<Json<AppealedBody>, ApiError> {
    let (found, appeals) = service::of_code(&app, &normalized(&code)).await?;
    Ok(Json(AppealedBody {
        r#type: found.punishment.kind,
        reason: found.punishment.reason,
        expires_at: found.punishment.expires_at,
        appeals: appeals.into_iter().map(OwnAppeal::from).collect(),
    }))
}

/// A code as players type it: in any case.
fn normalized(code: &str) -> String {
    code.trim().to_ascii_uppercase()
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewAppeal)]
struct CreateAppeal {
    #[schema(value_type = Text<2000>, example = "It was my brother.")]
    text: Text<2000>,
    /// Way to reach the player.
    #[schema(example = "steve@example.org")]
    contact: Option<Text<200>>,
}

/// Appeal a punishment
///
/// One that is in force, once at a time and three times in all. An address has 20 requests a minute. Streams and webhooks
/// that name it get an `APPEAL_CREATED` event.
#[utoipa::path(post, path = "/api/public/appeals/{code}", operation_id = "create_appeal", tag = "Appeals",
    params(("code" = String, Path, description = "Code of the punishment, as its player was shown", example = "K7QMZ2RWXA9P")),
    responses((status = 201, body = OwnAppeal),
        (status = 404, body = ErrorBody, description = "No such code, or its punishment ended over 30 days ago"),
        (status = 409, body = ErrorBody, description = "It has ended, an appeal waits, or there were three"),
        (status = 429, body = ErrorBody, description = "Too many requests from one address; see `Retry-After`")))]
async fn create_appeal(
    _counted: Counted,
    State(app): State<App>,
    Path(code): Path<String>,
    Json(body): Json<CreateAppeal>,
) -> Result<(StatusCode, Json<OwnAppeal>), ApiError> {
    if body.text.as_str().trim().is_empty() {
        return Err(ApiError::invalid("In the body, `text`: must not be blank."));
    }
    let contact = body.contact.as_ref().map(Text::as_str);
    let appeal = service::create(&app, &normalized(&code), body.text.as_str(), contact).await?;
    Ok((StatusCode::CREATED, Json(appeal.into())))
}
