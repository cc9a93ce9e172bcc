//! What needs no session: signing in, accepting an invitation, a lost password.

use axum::extract::{FromRequestParts, State};
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Role, SESSION_COOKIE};
use crate::clock::Millis;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::http::hub_url::HubUrl;
use crate::http::request_id::RequestId;
use crate::limits;
use crate::people::model::{MembershipRow, Password, SESSION_TTL};
use crate::people::service::{self, Attempt, Me, NewPerson, Sender, Session};
use crate::secret_text::SecretText;
use crate::values::{Identifier, NetworkId};

impl<S: Send + Sync> FromRequestParts<S> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let request_id = parts.extensions.get::<RequestId>().cloned();
        Ok(Self { address: limits::remote_address(&parts.extensions), request_id })
    }
}

/// A network that a person is a member of.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkMembership)]
pub(super) struct MembershipBody {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
    #[schema(example = "mynetwork")]
    name: String,
    #[schema(value_type = Role)]
    role: String,
}

impl From<MembershipRow> for MembershipBody {
    fn from(row: MembershipRow) -> Self {
        let MembershipRow { network_id, name, role } = row;
        Self { network_id, name, role }
    }
}

/// Who is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignedInPerson)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct MeBody {
    #[schema(example = "p_4fTq0ZkX91ab4fTq")]
    pub(super) person_id: String,
    #[schema(example = "alex@example.org")]
    pub(super) email: String,
    #[schema(example = "Alex")]
    pub(super) name: String,
    /// Whether this person may do the operator's work.
    pub(super) operator: bool,
    pub(super) second_factor: bool,
    /// Whether a password signs this person in.
    pub(super) has_password: bool,
    /// Whether they have signed in by OpenID Connect.
    pub(super) has_open_id: bool,
    /// One of them is named by the header `X-Network-Id` of every request for it.
    pub(super) networks: Vec<MembershipBody>,
    /// What changes that go by the cookie carry in `X-CSRF-Token`.
    pub(super) csrf_token: String,
}

/// What `me` answers of a person.
pub(super) async fn me_of(app: &App, person: &str, csrf_token: String) -> Result<MeBody, ApiError> {
    let Me { person, networks, has_openid } = service::me(app, person).await?;
    Ok(MeBody {
        person_id: person.person_id,
        email: person.email,
        name: person.name,
        operator: person.is_operator,
        second_factor: person.totp_confirmed,
        has_password: person.password_hash.is_some(),
        has_open_id: has_openid,
        networks: networks.into_iter().map(MembershipBody::from).collect(),
        csrf_token,
    })
}

/// A session that has just begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewSession)]
pub(super) struct SessionBody {
    /// For `Authorization: Bearer …`. Null where the session is a cookie, which no script of a page reads.
    #[schema(value_type = Option<String>, example = "hubs_4fTq0ZkX91ab4fTq_…")]
    token: Option<SecretText>,
    expires_at: Millis,
    person: MeBody,
}

/// The answer to who has signed in: with the token, or with the cookie.
pub(super) async fn answer(app: &App, hub: &HubUrl, session: Session, is_cookie: bool) -> Result<Response, ApiError> {
    let Session { person, token, csrf_token, expires_at } = session;
    let person = me_of(app, &person.person_id, csrf_token).await?;
    let cookie = is_cookie.then(|| cookie(hub, token.text.expose(), SESSION_TTL / 1000)).flatten();
    let body = SessionBody { token: (!is_cookie).then_some(token.text), expires_at, person };
    let mut response = Json(body).into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Refuses to begin a session as cookie where a form of another site's page may have sent the request: it would sign the
/// browser's user in as somebody else.
fn require_own_page(is_cookie: bool, headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !is_cookie || kind.trim_start().to_ascii_lowercase().starts_with("application/json") {
        return Ok(());
    }
    Err(ApiError::invalid("A session as cookie needs the header Content-Type: application/json."))
}

/// The session's cookie: no script reads it, no other site's page sends it, and it goes over TLS alone, but to a hub that
/// is not reached by TLS.
pub(super) fn cookie(hub: &HubUrl, token: &str, seconds: Millis) -> Option<HeaderValue> {
    let secure = secure(hub);
    let text = format!("{SESSION_COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    text.try_into().ok()
}

/// The attribute of cookies that go over TLS alone.
pub(super) fn secure(hub: &HubUrl) -> &'static str {
    let is_plain = hub.0.as_deref().is_some_and(|url| url.starts_with("http://"));
    if is_plain { "" } else { "; Secure" }
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SignInRequest)]
pub(super) struct SignIn {
    email: Email,
    password: Password,
    /// Of the second factor, or a recovery code; needed where the person has one (401 `second_factor_needed`).
    #[schema(example = "123456")]
    code: Option<String>,
    /// Whether the session is to be an HttpOnly cookie, for pages, and no token.
    cookie: Option<bool>,
}

/// Sign in
///
/// The answer is the same whether the address or the password is wrong (401 `wrong_credentials`). After five failures an
/// address waits for longer and longer (429). A session ends after two weeks.
#[utoipa::path(post, path = "/api/people/sign-in", operation_id = "sign_in", tag = "People",
    responses((status = 200, body = SessionBody),
        (status = 401, body = ErrorBody, description = "Wrong, or a code of the second factor is needed"),
        (status = 429, body = ErrorBody, description = "Too many have failed; see `Retry-After`")))]
pub(super) async fn sign_in(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    headers: HeaderMap,
    Json(body): Json<SignIn>,
) -> Result<Response, ApiError> {
    let SignIn { email, password, code, cookie } = body;
    require_own_page(cookie.unwrap_or(false), &headers)?;
    let attempt = Attempt { remote: sender.address, email: &email, password: &password, code: code.as_deref() };
    let session = service::sign_in(&app, attempt).await?;
    answer(&app, &hub, session, cookie.unwrap_or(false)).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = InvitationAcceptance)]
pub(super) struct Accept {
    /// From the mail.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    token: String,
    /// What others call you.
    #[schema(example = "Alex")]
    name: Identifier,
    password: Password,
    /// Whether the session is to be an HttpOnly cookie, for pages, and no token.
    cookie: Option<bool>,
}

/// Accept an invitation with a new account
///
/// Whoever has an account signs in and joins instead (400 `person_exists`).
#[utoipa::path(post, path = "/api/people/accept", operation_id = "accept_invitation", tag = "People",
    responses((status = 200, body = SessionBody),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn accept(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    headers: HeaderMap,
    Json(body): Json<Accept>,
) -> Result<Response, ApiError> {
    require_own_page(body.cookie.unwrap_or(false), &headers)?;
    let new = NewPerson { name: body.name.as_str(), password: &body.password };
    let session = service::accept(&app, &sender, &body.token, new).await?;
    answer(&app, &hub, session, body.cookie.unwrap_or(false)).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LostPassword)]
pub(super) struct LosePassword {
    email: Email,
}

/// Say that a password is lost
///
/// A mail brings a code for a new one, good for an hour. The answer is the same whether or not there is such an account.
#[utoipa::path(post, path = "/api/people/password/lost", operation_id = "lose_password", tag = "People",
    responses((status = 204, description = "A mail is on its way, if there is such an account"),
        (status = 429, body = ErrorBody, description = "Too many from one remote address; see `Retry-After`")))]
pub(super) async fn lose_password(
    State(app): State<App>,
    sender: Sender,
    Json(body): Json<LosePassword>,
) -> Result<StatusCode, ApiError> {
    service::lose_password(&app, sender.address, &body.email)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PasswordReset)]
pub(super) struct ResetPassword {
    /// From the mail.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    token: String,
    password: Password,
}

/// Set a new password with the code of a mail
///
/// All sessions end. A second factor stays.
#[utoipa::path(post, path = "/api/people/password/reset", operation_id = "reset_password", tag = "People",
    responses((status = 204, description = "Set"),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn reset_password(
    State(app): State<App>,
    sender: Sender,
    Json(body): Json<ResetPassword>,
) -> Result<StatusCode, ApiError> {
    service::reset_password(&app, &sender, &body.token, &body.password).await?;
    Ok(StatusCode::NO_CONTENT)
}
