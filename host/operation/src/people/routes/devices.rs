//! Signing in a device, such as a command line, by a code that a person confirms in the console.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::SignedIn;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::http::hub_url::HubUrl;
use crate::people::model::{DEVICE_INTERVAL, Verdict};
use crate::people::routes::sign_in::{SessionBody, answer};
use crate::people::service::{self, DeviceSignIn, Sender};
use crate::secret_text::SecretText;
use crate::values::Text;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeviceSignInRequest)]
pub(super) struct Begin {
    /// Name of the device, which the person sees.
    #[schema(value_type = String, max_length = 100, example = "hub on workstation")]
    client: Text<100>,
}

/// A sign-in that waits for a person.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceSignIn)]
pub(super) struct Begun {
    /// Secret of the device, by which it gets its session.
    #[schema(value_type = String, example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    device_code: SecretText,
    /// Code for the person to compare, or to type.
    #[schema(example = "WDJB-MJHT")]
    user_code: String,
    /// Page of the console that asks for the code. Null if the hub does not know its public URL.
    #[schema(example = "https://hub.example/console/me/device")]
    verification_url: Option<String>,
    expires_at: Millis,
    /// Time to wait between two requests for the session.
    #[schema(example = 2000)]
    interval_ms: Millis,
}

/// Begin to sign in a device
///
/// For programs without a browser of their own. The person opens the page, signs in there and confirms the code; meanwhile the
/// program asks for its session. A code is good for ten minutes.
#[utoipa::path(post, path = "/api/people/devices", operation_id = "start_device_sign_in", tag = "People",
    responses((status = 200, body = Begun),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn begin(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    Json(body): Json<Begin>,
) -> Result<Json<Begun>, ApiError> {
    let DeviceSignIn { device_code, user_code, expires_at } =
        service::begin_device(&app, sender.address, body.client.as_str()).await?;
    let verification_url = hub.0.map(|hub| format!("{hub}/console/me/device"));
    let (device_code, interval_ms) = (device_code.into(), DEVICE_INTERVAL);
    Ok(Json(Begun { device_code, user_code, verification_url, expires_at, interval_ms }))
}

/// A device that wants to be signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingDevice)]
pub(super) struct Waiting {
    /// Name that the device gave itself.
    #[schema(example = "hub on workstation")]
    client: String,
    /// Address that it was asked from.
    #[schema(example = "203.0.113.7")]
    address: String,
    expires_at: Millis,
}

/// Read the sign-in of a code
///
/// For the signed-in person who is asked to confirm it.
#[utoipa::path(get, path = "/api/people/devices/{userCode}", operation_id = "get_device_sign_in", tag = "People",
    params(("userCode" = String, Path, description = "Code that the device shows, in any case", example = "WDJB-MJHT")),
    responses((status = 200, body = Waiting),
        (status = 401, body = ErrorBody, description = "No session"),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn read(
    who: SignedIn,
    State(app): State<App>,
    Path(code): Path<String>,
) -> Result<Json<Waiting>, ApiError> {
    let device = service::device_of_code(&app, &who, &code).await?;
    Ok(Json(Waiting { client: device.client, address: device.address, expires_at: device.expires_at }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeviceDecision)]
pub(super) struct Decide {
    /// True: sign it in as this person. False: refuse it.
    confirmed: bool,
}

/// Confirm or refuse the sign-in of a device
///
/// The device gets a session of the signed-in person, with all that the person may do.
#[utoipa::path(post, path = "/api/people/devices/{userCode}", operation_id = "decide_device_sign_in", tag = "People",
    params(("userCode" = String, Path, description = "Code that the device shows, in any case", example = "WDJB-MJHT")),
    responses((status = 204, description = "Decided"),
        (status = 401, body = ErrorBody, description = "No session"),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn decide(
    who: SignedIn,
    State(app): State<App>,
    Path(code): Path<String>,
    Json(body): Json<Decide>,
) -> Result<StatusCode, ApiError> {
    let verdict = if body.confirmed { Verdict::Confirmed } else { Verdict::Refused };
    service::decide_device(&app, &who, &code, verdict).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceSessionRequest)]
pub(super) struct Finish {
    /// Secret of the device.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    device_code: String,
}

/// Get the session of a device
///
/// Until a person has decided, the answer is 400 `device_pending`. A session is given out once.
#[utoipa::path(post, path = "/api/people/device-sessions", operation_id = "create_device_session", tag = "People",
    responses((status = 200, body = SessionBody),
        (status = 403, body = ErrorBody, description = "The person refused, or has signed out meanwhile")))]
pub(super) async fn finish(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    Json(body): Json<Finish>,
) -> Result<Response, ApiError> {
    let session = service::finish_device(&app, sender.address, &body.device_code).await?;
    answer(&app, &hub, session, false).await
}
