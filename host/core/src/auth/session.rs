//! Sessions of people, by bearer token or cookie, as callers like keys.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use hub_db::Tx;
use subtle::ConstantTimeEq as _;

use crate::app::App;
use crate::auth::model::{Credential, KeyId, KeyRow, Scope};
use crate::auth::role::Role;
use crate::auth::store::{self, MemberRow, SessionRow};
use crate::auth::{OPERATOR_NETWORK, key};
use crate::http::cookie;
use crate::http::error::ApiError;
use crate::http::request_id::RequestId;
use crate::ids::Ids;
use crate::limits::Limits;
use crate::secret_text::SecretText;
use crate::values::{NetworkId, hex};

/// Cookie with a session's token, at a hub that is reached by plain HTTP.
const PLAIN_COOKIE: &str = "hub_session";
/// The same over TLS: with this prefix no page of another host, a sibling domain's included, can set it.
const HOST_COOKIE: &str = "__Host-hub_session";
/// Header that selects the network of a person with several.
const NETWORK_HEADER: &str = "x-network-id";
const CSRF_HEADER: &str = "x-csrf-token";
const PREFIX: &str = "hubs_";
const ID_LENGTH: usize = 16;
const SECRET_LENGTH: usize = 40;
/// Separates session and network in the cached row's id; occurs in no key id.
const SEPARATOR: char = '/';

/// Token of a session: its id, the text, shown once, and the hash to store.
pub struct SessionToken {
    pub id: String,
    pub text: SecretText,
    pub sha256: Vec<u8>,
}

impl SessionToken {
    /// Generates a token.
    pub fn generate(ids: &Ids) -> Self {
        let id = ids.token(ID_LENGTH);
        let text = format!("{PREFIX}{id}_{}", ids.token(SECRET_LENGTH));
        Self { id, sha256: key::hash(&text), text: text.into() }
    }
}

/// Name of the cookie with a session's token, for a browser that reaches the hub by TLS or not.
pub fn session_cookie(is_tls: bool) -> &'static str {
    if is_tls { HOST_COOKIE } else { PLAIN_COOKIE }
}

/// Token that a page of the same origin sends with every change, so that no other page can act in the person's name.
pub fn csrf_token(session_token: &str) -> String {
    hex(&key::hash(&format!("csrf {session_token}")))
}

/// Session token in a request.
#[derive(Clone, Debug)]
pub(crate) struct SentToken {
    text: SecretText,
    is_cookie: bool,
}

impl SentToken {
    /// Reads the request's token, if any: bearer token first, then cookie.
    pub(super) fn of(headers: &HeaderMap, is_tls: bool) -> Option<Self> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        // Scheme names are case-insensitive.
        let bearer = bearer.and_then(|value| value.split_once(' ')).filter(|(it, _)| it.eq_ignore_ascii_case("bearer"));
        if let Some((_, text)) = bearer {
            return Some(Self { text: text.trim().to_owned().into(), is_cookie: false });
        }
        let plain = || cookie::find(headers, PLAIN_COOKIE).filter(|_| !is_tls);
        let text = cookie::find(headers, HOST_COOKIE).or_else(plain)?.to_owned();
        Some(Self { text: text.into(), is_cookie: true })
    }

    /// Id of the session and hash of the token.
    fn parse(&self) -> Result<(String, Vec<u8>), ApiError> {
        let malformed = || unauthenticated(SESSION_INVALID);
        let (id, secret) =
            self.text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or_else(malformed)?;
        let fits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !fits(id, ID_LENGTH) || !fits(secret, SECRET_LENGTH) {
            return Err(malformed());
        }
        Ok((id.to_owned(), key::hash(&self.text)))
    }

    /// Refuses a change by cookie that may come from a page of another origin.
    fn check_origin(&self, is_safe: bool, headers: &HeaderMap) -> Result<(), ApiError> {
        if !self.is_cookie || is_safe {
            return Ok(());
        }
        let sent = headers.get(CSRF_HEADER).map(HeaderValue::as_bytes).unwrap_or_default();
        if bool::from(sent.ct_eq(csrf_token(&self.text).as_bytes())) {
            return Ok(());
        }
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "csrf_token_wrong",
            "Changes by session cookie require the header X-CSRF-Token with the csrfToken from sign-in.",
        ))
    }
}

/// Id of the caller's row for lookup and cache, and the hash of the token.
pub(super) fn credential_of(
    token: &SentToken,
    is_safe: bool,
    headers: &HeaderMap,
) -> Result<(KeyId, Vec<u8>), ApiError> {
    token.check_origin(is_safe, headers)?;
    let (id, sha256) = token.parse()?;
    let network = match headers.get(NETWORK_HEADER) {
        None => String::new(),
        Some(value) => {
            let network = value.to_str().ok().and_then(|text| text.parse::<uuid::Uuid>().ok());
            network.ok_or_else(|| ApiError::invalid("The header X-Network-Id must be a network id."))?.to_string()
        }
    };
    Ok((KeyId(format!("{id}{SEPARATOR}{network}")), sha256))
}

/// Id of the session in a request's headers.
pub(super) fn id_of(headers: &HeaderMap, is_tls: bool) -> Option<String> {
    SentToken::of(headers, is_tls)?.parse().ok().map(|(id, _)| id)
}

/// True for the credential of a session.
pub(super) fn is_session(id: &KeyId) -> bool {
    id.0.contains(SEPARATOR)
}

/// Maps a session's row to a key's: the person is the key, the role its scopes.
pub(super) async fn find(app: &App, credential: &Credential) -> Result<Option<KeyRow>, ApiError> {
    let Some((session, network)) = split(&credential.id) else { return Ok(None) };
    let db = app.db.reserved();
    let session = store::find_session(&db, session).await?;
    // Before anything is said about the person's networks.
    let is_theirs = |session: &SessionRow| key::hashes_equal(&credential.sha256, &session.sha256);
    let Some(session) = session.filter(is_theirs) else { return Ok(None) };
    if is_of_operator(&session, network) {
        return Ok(Some(operator_row(session)));
    }
    let members = store::memberships(&db, &session.person_id, network).await?;
    row_of_member(session, network, &members).map(Some)
}

/// The same in a transaction, until whose end no one takes the person's right to the network away.
pub(super) async fn hold(tx: &mut Tx, id: &KeyId) -> Result<Option<KeyRow>, ApiError> {
    let Some((session, network)) = split(id) else { return Ok(None) };
    let Some(session) = store::hold_session(tx, session).await? else { return Ok(None) };
    if is_of_operator(&session, network) {
        return Ok(Some(operator_row(session)));
    }
    let members = store::hold_memberships(tx, &session.person_id, network).await?;
    row_of_member(session, network, &members).map(Some)
}

/// The same for many sessions in two queries. Ended sessions, and those for networks without membership, are left out.
pub(super) async fn find_all(app: &App, ids: &[&KeyId]) -> Result<Vec<(KeyId, KeyRow)>, hub_db::Error> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let db = app.db.reserved();
    let names: HashSet<_> = ids.iter().filter_map(|id| split(id)).map(|(session, _)| session).collect();
    let sessions: HashMap<_, _> =
        store::find_sessions(&db, &names).await?.into_iter().map(|row| (row.session_id.clone(), row)).collect();
    let persons: HashSet<_> = sessions.values().map(|session| session.person_id.as_str()).collect();
    let mut members: HashMap<String, Vec<MemberRow>> = HashMap::new();
    for member in store::memberships_of(&db, &persons).await? {
        members.entry(member.person_id.clone()).or_default().push(member);
    }
    let mut rows = vec![];
    for id in ids {
        let Some((session, network)) = split(id) else { continue };
        let Some(session) = sessions.get(session).cloned() else { continue };
        if is_of_operator(&session, network) {
            rows.push(((*id).clone(), operator_row(session)));
            continue;
        }
        let all = members.get(&session.person_id).map(Vec::as_slice).unwrap_or_default();
        let of_network = |member: &&MemberRow| network.is_none_or(|network| network == member.network_id);
        let asked: Vec<_> = all.iter().filter(of_network).cloned().collect();
        if let Ok(row) = row_of_member(session, network, &asked) {
            rows.push(((*id).clone(), row));
        }
    }
    Ok(rows)
}

/// Splits the id into session and selected network.
fn split(id: &KeyId) -> Option<(&str, Option<NetworkId>)> {
    let (session, network) = id.0.split_once(SEPARATOR)?;
    Some((session, network.parse().ok().map(NetworkId)))
}

fn is_of_operator(session: &SessionRow, network: Option<NetworkId>) -> bool {
    session.is_operator && network.is_none_or(|network| network == OPERATOR_NETWORK)
}

fn operator_row(session: SessionRow) -> KeyRow {
    row(session, OPERATOR_NETWORK, Scope::Operator.as_str().to_owned(), (false, None))
}

/// Row for the selected network, or for the person's only one.
fn row_of_member(session: SessionRow, network: Option<NetworkId>, members: &[MemberRow]) -> Result<KeyRow, ApiError> {
    let member = match (members, network) {
        ([member], _) => member,
        ([], _) => {
            let message = "You are not a member of this network.";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "not_a_member", message));
        }
        _ => {
            let message = "You are a member of several networks: select one with the header X-Network-Id.";
            return Err(ApiError::bad_request("network_needed", message));
        }
    };
    if member.require_second_factor && session.lacks_second_factor {
        let message = "This network requires a second factor. Set one up for your account first.";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "second_factor_required", message));
    }
    let MemberRow { network_id, role, own_scopes, suspended, move_state, .. } = member;
    // Given roles of newer hubs permit nothing here.
    let given = role.parse::<Role>().map(|role| role.scopes().to_text()).ok();
    let scopes = given.or_else(|| own_scopes.clone()).unwrap_or_default();
    Ok(row(session, *network_id, scopes, (*suspended, move_state.clone())))
}

/// True if a session was refused because the person is not a member of the network, or selected none of several.
pub(super) fn is_of_no_network(error: &ApiError) -> bool {
    matches!(error.code(), "not_a_member" | "network_needed")
}

fn row(
    session: SessionRow,
    network_id: NetworkId,
    scopes: String,
    (suspended, move_state): (bool, Option<String>),
) -> KeyRow {
    KeyRow {
        network_id,
        key_id: KeyId(session.person_id),
        name: session.email,
        scopes,
        sha256: session.sha256,
        previous_sha256: None,
        previous_until: None,
        created_at: session.created_at,
        created_by: None,
        expires_at: Some(session.expires_at),
        revoked_at: None,
        last_used_at: None,
        servers: None,
        addresses: None,
        suspended,
        move_state,
        // Another hub does not know the session.
        moved_to: None,
    }
}

/// The signed-in person, regardless of networks.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Session id.
    pub session: String,
    pub person: String,
    pub email: String,
    /// Client address of the request.
    pub remote: IpAddr,
    /// Request id.
    pub request_id: Option<RequestId>,
    /// Token that a page of the same origin sends with changes.
    pub csrf_token: String,
}

impl axum::extract::FromRequestParts<App> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let remote = crate::limits::remote_address(&parts.extensions);
        let found = async {
            let token = SentToken::of(&parts.headers, app.settings.is_tls())
                .ok_or_else(|| unauthenticated("Not signed in: sign in and send the session token."))?;
            token.check_origin(parts.method.is_safe(), &parts.headers)?;
            let (id, sha256) = token.parse()?;
            let _permit = app.state::<Limits>().addresses.lookup_permit(remote, app.clock.now()).await;
            let row = store::find_session(&app.db.reserved(), &id).await?;
            let row = row.filter(|row| key::hashes_equal(&row.sha256, &sha256) && app.clock.now() < row.expires_at);
            let row = row.ok_or_else(|| unauthenticated(SESSION_INVALID))?;
            let csrf_token = csrf_token(&token.text);
            let request_id = parts.extensions.get::<RequestId>().cloned();
            Ok(Self { session: id, person: row.person_id, email: row.email, remote, request_id, csrf_token })
        };
        let found: Result<Self, ApiError> = found.await;
        found.map_err(|error| super::layer::count_wrong_key(app, remote, error))
    }
}

/// The same for unknown, ended and malformed ones, so that it tells nothing about others' sessions.
pub(super) const SESSION_INVALID: &str = "Invalid or ended session; sign in again.";

fn unauthenticated(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
}
