//! Routes without a session: signing in, accepting an invitation, resetting a password.

use axum::extract::{FromRequestParts, State};
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Role, RoleName, Scope, Scopes, session_cookie};
use crate::clock::Millis;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::http::hub_url::HubUrl;
use crate::http::request_id::RequestId;
use crate::limits;
use crate::networks::Stage;
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

/// A person's membership of a network.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkMembership)]
pub(super) struct MembershipBody {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
    #[schema(example = "mynetwork")]
    name: String,
    stage: Stage,
    #[schema(value_type = RoleName)]
    role: String,
    /// Permissions of the role.
    scopes: Vec<Scope>,
}

impl From<MembershipRow> for MembershipBody {
    fn from(row: MembershipRow) -> Self {
        let MembershipRow { network_id, name, stage, role, scopes } = row;
        let own = || scopes.as_deref().map(Scopes::from_text).unwrap_or_default();
        let scopes = role.parse::<Role>().map_or_else(|_| own(), Role::scopes);
        Self { network_id, name, stage, role, scopes: scopes.iter().collect() }
    }
}

/// The signed-in person.
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
    /// True if this person is an operator of the hub.
    pub(super) operator: bool,
    pub(super) second_factor: bool,
    /// True if this person has a password.
    pub(super) has_password: bool,
    /// True if this person has signed in by OpenID Connect.
    pub(super) has_open_id: bool,
    /// Memberships. Requests select a network by the header `X-Network-Id`.
    pub(super) networks: Vec<MembershipBody>,
    /// Value of the header `X-CSRF-Token`, required for changes with a session cookie.
    pub(super) csrf_token: String,
}

/// Answer of `me` for a person.
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

/// A new session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewSession)]
pub(super) struct SessionBody {
    /// Token for `Authorization: Bearer …`. Null if the session is a cookie, which scripts cannot read.
    #[schema(value_type = Option<String>, example = "hubs_4fTq0ZkX91ab4fTq_…")]
    token: Option<SecretText>,
    expires_at: Millis,
    person: MeBody,
}

/// Answer to a sign-in: with the token, or with the cookie.
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

/// Refuses a session cookie for requests that a form on another site may have sent: it would sign the browser's user in
/// as another person.
fn require_own_page(is_cookie: bool, headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !is_cookie || kind.trim_start().to_ascii_lowercase().starts_with("application/json") {
        return Ok(());
    }
    Err(ApiError::invalid("A session cookie requires the header Content-Type: application/json."))
}

/// The session's cookie: not readable by scripts, not sent by other sites' pages, and only over TLS unless the hub is
/// not reached by TLS.
pub(super) fn cookie(hub: &HubUrl, token: &str, seconds: Millis) -> Option<HeaderValue> {
    let secure = secure(hub);
    let name = session_cookie(!secure.is_empty());
    let text = format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    text.try_into().ok()
}

/// Attribute of cookies that are sent only over TLS.
pub(super) fn secure(hub: &HubUrl) -> &'static str {
    let is_plain = hub.0.as_deref().is_some_and(|url| url.starts_with("http://"));
    if is_plain { "" } else { "; Secure" }
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SignInRequest)]
pub(super) struct SignIn {
    email: Email,
    #[serde(deserialize_with = "Password::to_check")]
    #[schema(value_type = String, example = "correct horse battery staple")]
    password: Password,
    /// Code of the second factor, or a recovery code; required if the person has a second factor (401
    /// `second_factor_needed`).
    #[schema(example = "123456")]
    code: Option<String>,
    /// Return the session as an HttpOnly cookie, for pages, instead of a token.
    cookie: Option<bool>,
}

/// Sign in
///
/// The answer is the same for a wrong address and a wrong password (401 `wrong_credentials`). After five failures an
/// address has to wait for increasing times (429). A session ends after two weeks.
#[utoipa::path(post, path = "/api/people/sign-in", operation_id = "sign_in", tag = "People",
    responses((status = 200, body = SessionBody),
        (status = 401, body = ErrorBody, description = "Wrong credentials, or a code of the second factor is needed"),
        (status = 429, body = ErrorBody, description = "Too many failed attempts; see `Retry-After`")))]
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
    /// Code from the mail.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    token: String,
    /// Display name.
    #[schema(example = "Alex")]
    name: Identifier,
    password: Password,
    /// Return the session as an HttpOnly cookie, for pages, instead of a token.
    cookie: Option<bool>,
}

/// Accept an invitation with a new account
///
/// A person with an account signs in and joins instead (400 `person_exists`).
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
#[schema(as = FirstOperator)]
pub(super) struct CreateFirstOperator {
    /// Code from the hub's log.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    code: String,
    email: Email,
    /// Display name.
    #[schema(example = "Alex")]
    name: Identifier,
    password: Password,
    /// Return the session as an HttpOnly cookie, for pages, instead of a token.
    cookie: Option<bool>,
}

/// Create the first operator of a new hub
///
/// With the code of the link that a hub without people writes to its log when it starts. The code works once, until the
/// hub stops, at the node that wrote it.
#[utoipa::path(post, path = "/api/people/first-operator", operation_id = "create_first_operator", tag = "People",
    responses((status = 200, body = SessionBody),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn create_first_operator(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    headers: HeaderMap,
    Json(body): Json<CreateFirstOperator>,
) -> Result<Response, ApiError> {
    require_own_page(body.cookie.unwrap_or(false), &headers)?;
    let new = NewPerson { name: body.name.as_str(), password: &body.password };
    let session = service::create_first_operator(&app, &sender, &body.code, &body.email, new).await?;
    answer(&app, &hub, session, body.cookie.unwrap_or(false)).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LostPassword)]
pub(super) struct LosePassword {
    email: Email,
}

/// Request a password reset
///
/// Sends a mail with a code for a new password, valid for an hour. The answer is the same whether the account exists or
/// not.
#[utoipa::path(post, path = "/api/people/password/lost", operation_id = "lose_password", tag = "People",
    responses((status = 204, description = "A mail is sent if the account exists"),
        (status = 429, body = ErrorBody, description = "Too many attempts from one address; see `Retry-After`")))]
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
    /// Code from the mail.
    #[schema(example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX91ab4fTq")]
    token: String,
    password: Password,
}

/// Reset the password with a code from a mail
///
/// Ends all sessions. A second factor remains.
#[utoipa::path(post, path = "/api/people/password/reset", operation_id = "reset_password", tag = "People",
    responses((status = 204, description = "Password set"),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`")))]
pub(super) async fn reset_password(
    State(app): State<App>,
    sender: Sender,
    Json(body): Json<ResetPassword>,
) -> Result<StatusCode, ApiError> {
    service::reset_password(&app, &sender, &body.token, &body.password).await?;
    Ok(StatusCode::NO_CONTENT)
}
