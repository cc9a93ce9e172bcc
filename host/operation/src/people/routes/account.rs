//! Routes for a signed-in person's own account.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::SignedIn;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::http::hub_url::HubUrl;
use crate::people::model::Password;
use crate::people::routes::sign_in::{MeBody, cookie, me_of};
use crate::people::service::{self, Enrollment};
use crate::secret_text::SecretText;
use crate::values::NetworkId;

/// Get the signed-in person
#[utoipa::path(get, path = "/api/people/me", operation_id = "get_signed_in_person", tag = "People",
    responses((status = 200, body = MeBody), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn me(who: SignedIn, State(app): State<App>) -> Result<Json<MeBody>, ApiError> {
    Ok(Json(me_of(&app, &who.person, who.csrf_token).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = InvitationJoin)]
pub(super) struct Join {
    /// Code from the mail.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    token: String,
}

/// The joined network.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JoinedNetwork)]
pub(super) struct Joined {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
}

/// Accept an invitation with an existing account
///
/// Only with the account that has the invited address.
#[utoipa::path(post, path = "/api/people/join", operation_id = "join_network", tag = "People",
    responses((status = 200, body = Joined), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn join(
    who: SignedIn,
    State(app): State<App>,
    Json(body): Json<Join>,
) -> Result<Json<Joined>, ApiError> {
    let network_id = service::join(&app, &who, &body.token).await?;
    Ok(Json(Joined { network_id }))
}

/// An answer that also deletes the cookie.
fn signed_out(hub: &HubUrl) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(cookie) = cookie(hub, "", 0) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Sign out
#[utoipa::path(post, path = "/api/people/sign-out", operation_id = "sign_out", tag = "People",
    responses((status = 204, description = "Signed out"), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn sign_out(who: SignedIn, State(app): State<App>, hub: HubUrl) -> Result<Response, ApiError> {
    service::sign_out(&app, &who).await?;
    Ok(signed_out(&hub))
}

/// Sign out everywhere
///
/// Ends all sessions of the person, in effect within a second.
#[utoipa::path(post, path = "/api/people/sign-out-everywhere", operation_id = "sign_out_everywhere", tag = "People",
    responses((status = 204, description = "Signed out"), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn sign_out_everywhere(
    who: SignedIn,
    State(app): State<App>,
    hub: HubUrl,
) -> Result<Response, ApiError> {
    service::sign_out_everywhere(&app, &who).await?;
    Ok(signed_out(&hub))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PasswordChange)]
pub(super) struct ChangePassword {
    #[serde(deserialize_with = "Password::to_check")]
    #[schema(value_type = String, example = "correct horse battery staple")]
    current: Password,
    new: Password,
}

/// Change the password
///
/// Ends all other sessions.
#[utoipa::path(post, path = "/api/people/password", operation_id = "change_password", tag = "People",
    responses((status = 204, description = "Changed"),
        (status = 401, body = ErrorBody, description = "No session, or the current password is wrong")))]
pub(super) async fn change_password(
    who: SignedIn,
    State(app): State<App>,
    Json(body): Json<ChangePassword>,
) -> Result<StatusCode, ApiError> {
    service::change_password(&app, &who, &body.current, &body.new).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SecondFactorRequest)]
pub(super) struct Enroll {
    #[serde(deserialize_with = "Password::to_check")]
    #[schema(value_type = String, example = "correct horse battery staple")]
    password: Password,
}

/// Set up a second factor
///
/// For an authenticator app (TOTP). It takes effect once one of its codes is confirmed.
#[utoipa::path(post, path = "/api/people/second-factor", operation_id = "enroll_second_factor", tag = "People",
    responses((status = 201, body = Enrollment),
        (status = 401, body = ErrorBody, description = "No session, or the password is wrong")))]
pub(super) async fn enroll(
    who: SignedIn,
    State(app): State<App>,
    Json(body): Json<Enroll>,
) -> Result<(StatusCode, Json<Enrollment>), ApiError> {
    Ok((StatusCode::CREATED, Json(service::enroll(&app, &who, &body.password).await?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SecondFactorConfirmation)]
pub(super) struct Confirm {
    /// Code shown by the app.
    #[schema(example = "123456")]
    code: String,
}

/// Replacements for codes of the second factor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecoveryCodes)]
pub(super) struct RecoveryCodesBody {
    /// Each is valid once; they are shown only once.
    recovery_codes: Vec<SecretText>,
}

/// Confirm the second factor
///
/// From now on signing in needs a code. The recovery codes replace it if the app is lost.
#[utoipa::path(post, path = "/api/people/second-factor/confirm", operation_id = "confirm_second_factor", tag = "People",
    responses((status = 200, body = RecoveryCodesBody),
        (status = 401, body = ErrorBody, description = "No session, or the code is wrong")))]
pub(super) async fn confirm(
    who: SignedIn,
    State(app): State<App>,
    Json(body): Json<Confirm>,
) -> Result<Json<RecoveryCodesBody>, ApiError> {
    Ok(Json(RecoveryCodesBody { recovery_codes: service::confirm(&app, &who, &body.code).await? }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SecondFactorRemoval)]
pub(super) struct Disable {
    #[serde(deserialize_with = "Password::to_check")]
    #[schema(value_type = String, example = "correct horse battery staple")]
    password: Password,
    /// Code of the second factor, or a recovery code.
    #[schema(example = "123456")]
    code: Option<String>,
}

/// Remove the second factor
#[utoipa::path(post, path = "/api/people/second-factor/disable", operation_id = "disable_second_factor", tag = "People",
    responses((status = 204, description = "Removed"),
        (status = 401, body = ErrorBody, description = "No session, or the password or the code is wrong")))]
pub(super) async fn disable(
    who: SignedIn,
    State(app): State<App>,
    Json(body): Json<Disable>,
) -> Result<StatusCode, ApiError> {
    service::disable(&app, &who, &body.password, body.code.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}
