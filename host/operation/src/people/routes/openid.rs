//! Signing in by OpenID Connect: a browser goes to the provider and comes back.

use axum::extract::State;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::clock::Millis;
use crate::http::cookie;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Query};
use crate::http::hub_url::HubUrl;
use crate::people::model::SESSION_TTL;
use crate::people::openid::{FLOW_TTL, Flow, PENDING_TTL, ReturnPath};
use crate::people::routes::sign_in::{self, SessionBody, answer, secure};
use crate::people::service::{self, Callback, PeopleError, Sender, Session, SignedInByOpenId};
use crate::values::Text;

/// Cookie of a sign-in in progress: first for the provider's answer, then for a code.
const PLAIN_COOKIE: &str = "hub_openid";
/// The same over TLS: with this prefix no page of another host can set it.
const HOST_COOKIE: &str = "__Host-hub_openid";

/// Name of the cookie.
fn cookie_name(hub: &HubUrl) -> &'static str {
    if secure(hub).is_empty() { PLAIN_COOKIE } else { HOST_COOKIE }
}

/// Cookie that is sent when the provider redirects back, but with no other cross-site request.
fn sign_in_cookie(hub: &HubUrl, value: &str, ttl: Millis) -> Option<HeaderValue> {
    let (name, secure, seconds) = (cookie_name(hub), secure(hub), ttl / 1000);
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    text.try_into().ok()
}

/// Redirects a browser.
fn see_other(url: &str) -> Result<Response, ApiError> {
    let location = HeaderValue::try_from(url).map_err(ApiError::internal)?;
    Ok((StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response())
}

fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct BeginQuery {
    /// Path on this hub for the final redirect. Absent: the answer is that of `sign-in`.
    #[serde(rename = "return")]
    #[param(inline, required = false)]
    return_to: Option<ReturnPath>,
    /// Code from an invitation's mail, to create an account or to join a network.
    #[param(inline, required = false)]
    invitation: Option<Text<100>>,
}

/// Sign in by OpenID Connect
///
/// For browsers: redirects to the provider's page, which returns to `callback`, within ten minutes.
#[utoipa::path(get, path = "/api/people/openid/sign-in", operation_id = "start_openid_sign_in", tag = "People",
    params(BeginQuery),
    responses((status = 303, description = "The provider's page"),
        (status = 404, body = ErrorBody, description = "No provider is configured"),
        (status = 503, body = ErrorBody, description = "The provider is unreachable")))]
pub(super) async fn begin(
    State(app): State<App>,
    hub: HubUrl,
    Query(query): Query<BeginQuery>,
) -> Result<Response, ApiError> {
    let invitation = query.invitation.map(Text::into_string);
    let (url, flow) = service::begin_openid(&app, query.return_to, invitation).await?;
    Ok(with_cookie(see_other(&url)?, sign_in_cookie(&hub, flow.cookie(), FLOW_TTL)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FinishQuery {
    /// From the provider.
    state: Option<String>,
    /// From the provider.
    code: Option<String>,
    /// Reason for which the provider did not sign the person in.
    error: Option<String>,
}

/// Handle the OpenID provider's answer
///
/// The provider redirects browsers here. A first sign-in needs an account with the address that the provider has
/// verified, or an invitation to it. The session is a cookie. If the account has a second factor, the browser then
/// sends a code to `second-factor`, within five minutes: the page it returns to gets `signIn=second_factor_needed` in
/// its query.
#[utoipa::path(get, path = "/api/people/openid/callback", operation_id = "sign_in_with_openid", tag = "People",
    params(FinishQuery),
    responses((status = 200, body = SessionBody, description = "Signed in"),
        (status = 303, description = "Signed in, or a code is needed; if the sign-in has a `returnTo`"),
        (status = 401, body = ErrorBody, description = "A code of the second factor is needed"),
        (status = 403, body = ErrorBody, description = "Refused by the provider, not trusted, or not invited"),
        (status = 404, body = ErrorBody, description = "No provider is configured"),
        (status = 429, body = ErrorBody, description = "Too many attempts; see `Retry-After`"),
        (status = 503, body = ErrorBody, description = "The provider is unreachable")))]
pub(super) async fn finish(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    headers: HeaderMap,
    Query(query): Query<FinishQuery>,
) -> Response {
    let FinishQuery { state, code, error } = query;
    let flow = cookie::find(&headers, cookie_name(&hub)).and_then(|cookie| Flow::read(cookie, app.clock.now()));
    let finished = service::finish_openid(&app, &sender, flow.as_ref(), Callback { state, code, error }).await;
    let return_to = flow.as_ref().and_then(Flow::return_to);
    let (response, cookie) = match finished {
        Ok(SignedInByOpenId::Session(session)) => (signed_in(&app, &hub, *session, return_to).await, None),
        Ok(SignedInByOpenId::CodeNeeded(pending)) => {
            let response = return_to.map_or_else(
                || Err(PeopleError::SecondFactorNeeded.into()),
                |path| see_other(&app.settings.url(&path.with("signIn=second_factor_needed"))),
            );
            (response, Some(pending))
        }
        Err(error) => (Err(error.into()), None),
    };
    // The cookie is not needed any more, however the sign-in ended.
    let cookie = cookie.map_or_else(|| sign_in_cookie(&hub, "", 0), |it| sign_in_cookie(&hub, &it, PENDING_TTL));
    with_cookie(response.into_response(), cookie)
}

/// Answer to a finished sign-in: a redirect, or the person.
async fn signed_in(
    app: &App,
    hub: &HubUrl,
    session: Session,
    return_to: Option<&ReturnPath>,
) -> Result<Response, ApiError> {
    let Some(path) = return_to else { return answer(app, hub, session, true).await };
    let cookie = sign_in::cookie(hub, session.token.text.expose(), SESSION_TTL / 1000);
    Ok(with_cookie(see_other(&app.settings.url(path.as_str()))?, cookie))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenIdSecondFactor)]
pub(super) struct SecondFactor {
    /// Code of the second factor, or a recovery code.
    #[schema(example = "123456")]
    code: String,
}

/// Finish an OpenID Connect sign-in with a code of the second factor
///
/// For a browser that has just returned from the provider. The session is a cookie.
#[utoipa::path(post, path = "/api/people/openid/second-factor", operation_id = "sign_in_with_openid_code",
    tag = "People",
    responses((status = 200, body = SessionBody, description = "Signed in"),
        (status = 401, body = ErrorBody, description = "The code is wrong"),
        (status = 404, body = ErrorBody, description = "No provider is configured"),
        (status = 429, body = ErrorBody, description = "Too many failed attempts; see `Retry-After`")))]
pub(super) async fn finish_with_code(
    State(app): State<App>,
    sender: Sender,
    hub: HubUrl,
    headers: HeaderMap,
    Json(body): Json<SecondFactor>,
) -> Result<Response, ApiError> {
    let pending = cookie::find(&headers, cookie_name(&hub)).unwrap_or_default();
    let session = service::finish_openid_with_code(&app, &sender, pending, &body.code).await?;
    Ok(with_cookie(answer(&app, &hub, session, true).await?, sign_in_cookie(&hub, "", 0)))
}
