//! The OpenID provider: its metadata, cached for a while, and the people it identified.

use std::sync::Arc;

use chrono::DateTime;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreErrorResponseType, CoreIdToken, CoreIdTokenClaims,
    CoreJwsSigningAlgorithm as Algorithm, CoreProviderMetadata, CoreUserInfoClaims,
};
use openidconnect::{
    AccessToken, AuthType, AuthorizationCode, ClaimsVerificationError, CsrfToken, EndUserEmail, EndUserName,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, LocalizedClaim, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge,
    PkceCodeVerifier, RequestTokenError, Scope, SignatureVerificationError, StandardErrorResponse, TokenResponse as _,
    UserInfoError,
};
use thiserror::Error;
use tokio::sync::Mutex;

use crate::clock::{Clock, Millis};
use crate::config::Settings;
use crate::email::Email;
use crate::http_client;
use crate::people::openid::http::{HttpClient, HttpError};
use crate::people::openid::{Flow, OpenIdSettings};

/// Time for which the provider's metadata is cached.
const METADATA_TTL: Millis = 10 * 60 * 1000;
/// Pause after a failed request for metadata, so that requests do not queue up for the provider.
const FAILURE_TTL: Millis = 5 * 1000;
const LONGEST_NAME: usize = 255;

/// Signatures that only the provider can make. Those with the client's secret, which the hub also knows, are never
/// accepted.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RsaSsaPkcs1V15Sha256,
    Algorithm::RsaSsaPkcs1V15Sha384,
    Algorithm::RsaSsaPkcs1V15Sha512,
    Algorithm::RsaSsaPssSha256,
    Algorithm::RsaSsaPssSha384,
    Algorithm::RsaSsaPssSha512,
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::EdDsa,
];

type Client =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointMaybeSet, EndpointMaybeSet>;

/// Reason for which the provider identified no one.
#[derive(Debug, Error)]
pub enum OpenIdError {
    /// It does not answer, or not as a provider does; the cause is in the log.
    #[error("The OpenID provider is unreachable or gave an invalid answer; try again.")]
    Unavailable,
    /// The provider reports the code as used, expired or not for this client.
    #[error("The OpenID provider refused the code, which is used or expired; sign in again.")]
    CodeRefused,
    /// Its token is not for this sign-in.
    #[error("The OpenID provider's answer cannot be trusted: {0}")]
    Untrusted(String),
    /// It did not verify the address.
    #[error("The OpenID provider does not confirm your e-mail address; verify it there, then sign in again.")]
    EmailUnverified,
}

/// A person identified by the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::people) struct Identity {
    /// The provider's id of the person, never reused.
    pub(in crate::people) subject: String,
    /// An address that the provider has verified.
    pub(in crate::people) email: String,
    pub(in crate::people) name: String,
}

/// The provider's metadata and the time it was read; no metadata if it did not answer.
type Known = Option<(Millis, Option<Arc<CoreProviderMetadata>>)>;

/// OpenID provider of the hub.
pub(in crate::people) struct Provider {
    settings: OpenIdSettings,
    http: HttpClient,
    known: Mutex<Known>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("issuer", &self.issuer()).finish_non_exhaustive()
    }
}

impl Provider {
    /// None if people sign in by passwords alone. It is not called before the first sign-in.
    pub(in crate::people) fn new(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let Some(settings) = OpenIdSettings::of(settings)? else { return Ok(None) };
        let http = HttpClient::new(settings.issuer.url().scheme() == "https")?;
        Ok(Some(Self { settings, http, known: Mutex::default() }))
    }

    pub(in crate::people) fn issuer(&self) -> &str {
        self.settings.issuer.as_str()
    }

    /// URL of the provider's sign-in page.
    pub(in crate::people) async fn sign_in_url(&self, now: Millis, flow: &Flow) -> Result<String, OpenIdError> {
        let client = self.client(&*self.metadata(now).await?);
        let (state, nonce) = (CsrfToken::new(flow.state()), Nonce::new(flow.nonce()));
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(flow.verifier()));
        let request = client.authorize_url(CoreAuthenticationFlow::AuthorizationCode, || state, || nonce);
        let scopes = ["email", "profile"].map(|scope| Scope::new(scope.to_owned()));
        let (url, _, _) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        Ok(url.into())
    }

    /// Identity for a code of the provider.
    pub(in crate::people) async fn identify(
        &self,
        clock: &Clock,
        flow: &Flow,
        code: String,
    ) -> Result<Identity, OpenIdError> {
        let metadata = self.metadata(clock.now()).await?;
        let client = self.client(&metadata);
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(|error| unavailable(&error))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(flow.verifier()));
        let answer = request.request_async(&self.http).await.map_err(|error| refused(&error))?;
        let token = answer.id_token().ok_or_else(|| OpenIdError::Untrusted("it has no ID token.".to_owned()))?;
        let nonce = Nonce::new(flow.nonce());
        let claims = match verify(&client, token, &nonce, clock) {
            // The provider has new keys.
            Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) => {
                let client = self.client(&*self.refreshed(&metadata, clock.now()).await?);
                verify(&client, token, &nonce, clock)
            }
            verified => verified,
        };
        let claims = claims.map_err(|error| untrusted(&error))?;
        // The library does not compare it.
        if claims.authorized_party().is_some_and(|party| *party != self.settings.client_id) {
            return Err(OpenIdError::Untrusted("the ID token was issued to another client.".to_owned()));
        }
        self.identity(&client, claims, answer.access_token()).await
    }

    /// Identity in verified claims. Many providers send the address only for a request with the access token.
    async fn identity(
        &self,
        client: &Client,
        claims: &CoreIdTokenClaims,
        access: &AccessToken,
    ) -> Result<Identity, OpenIdError> {
        let subject = claims.subject();
        if subject.is_empty() || subject.len() > LONGEST_NAME {
            return Err(OpenIdError::Untrusted("its subject is empty, or longer than 255 characters.".to_owned()));
        }
        if claims.email().is_some() || client.user_info_url().is_none() {
            return identity(subject, claims.email(), claims.email_verified(), claims.name());
        }
        let request = client.user_info(access.clone(), Some(subject.clone())).map_err(|error| unavailable(&error))?;
        let info: CoreUserInfoClaims = request.request_async(&self.http).await.map_err(|error| match error {
            UserInfoError::ClaimsVerification(error) => untrusted(&error),
            error => unavailable(&error),
        })?;
        identity(subject, info.email(), info.email_verified(), info.name())
    }

    fn client(&self, metadata: &CoreProviderMetadata) -> Client {
        let OpenIdSettings { client_id, client_secret, callback, .. } = &self.settings;
        let (id, secret) = (client_id.clone(), Some(client_secret.clone()));
        let client =
            CoreClient::from_provider_metadata(metadata.clone(), id, secret).set_redirect_uri(callback.clone());
        // By the standard, the header is the default method.
        let takes = |method| metadata.token_endpoint_auth_methods_supported().is_none_or(|all| all.contains(&method));
        let in_header = takes(CoreClientAuthMethod::ClientSecretBasic);
        client.set_auth_type(if in_header { AuthType::BasicAuth } else { AuthType::RequestBody })
    }

    async fn metadata(&self, now: Millis) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let mut known = self.known.lock().await;
        if let Some((at, found)) = &*known {
            let ttl = if found.is_some() { METADATA_TTL } else { FAILURE_TTL };
            if (0..ttl).contains(&now.saturating_sub(*at)) {
                return found.clone().ok_or(OpenIdError::Unavailable);
            }
        }
        self.discover(&mut known, now).await
    }

    /// Reads the metadata again, unless another caller just did.
    async fn refreshed(
        &self,
        stale: &Arc<CoreProviderMetadata>,
        now: Millis,
    ) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let mut known = self.known.lock().await;
        match &*known {
            Some((_, Some(found))) if !Arc::ptr_eq(found, stale) => Ok(Arc::clone(found)),
            _ => self.discover(&mut known, now).await,
        }
    }

    async fn discover(&self, known: &mut Known, now: Millis) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let found = CoreProviderMetadata::discover_async(self.settings.issuer.clone(), &self.http).await;
        let found = found.map(Arc::new).map_err(|error| unavailable(&error));
        *known = Some((now, found.as_ref().ok().cloned()));
        found
    }
}

fn verify<'a>(
    client: &Client,
    token: &'a CoreIdToken,
    nonce: &Nonce,
    clock: &Clock,
) -> Result<&'a CoreIdTokenClaims, ClaimsVerificationError> {
    let now = clock.now();
    let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
    let verifier = verifier.set_time_fn(move || DateTime::from_timestamp_millis(now).unwrap_or(DateTime::UNIX_EPOCH));
    token.claims(&verifier, nonce)
}

fn identity(
    subject: &str,
    email: Option<&EndUserEmail>,
    is_verified: Option<bool>,
    name: Option<&LocalizedClaim<EndUserName>>,
) -> Result<Identity, OpenIdError> {
    let email = email.filter(|_| is_verified == Some(true)).and_then(|email| email.parse::<Email>().ok());
    let email = email.ok_or(OpenIdError::EmailUnverified)?.as_str().to_owned();
    let name = name.and_then(|name| name.get(None)).map_or("", |name| name.as_str());
    let name: String = name.chars().filter(|character| !character.is_control()).take(LONGEST_NAME).collect();
    let name = if name.trim().is_empty() { email.split('@').next().unwrap_or_default() } else { name.trim() };
    Ok(Identity { subject: subject.to_owned(), name: name.to_owned(), email })
}

/// Logs the provider's error for the operator only.
fn unavailable(error: &dyn std::error::Error) -> OpenIdError {
    tracing::warn!(error = http_client::with_causes(error), "the OpenID provider gave an invalid answer");
    OpenIdError::Unavailable
}

fn untrusted(error: &ClaimsVerificationError) -> OpenIdError {
    tracing::warn!(%error, "an ID token of the OpenID provider was refused");
    OpenIdError::Untrusted(match error {
        ClaimsVerificationError::Expired(_) => "the ID token has expired.".to_owned(),
        ClaimsVerificationError::InvalidAudience(_) => "the ID token is for another audience.".to_owned(),
        ClaimsVerificationError::InvalidIssuer(_) => "the ID token is from another issuer.".to_owned(),
        ClaimsVerificationError::InvalidNonce(_) => "the ID token belongs to another sign-in.".to_owned(),
        ClaimsVerificationError::InvalidSubject(_) => "the user info is for another subject.".to_owned(),
        ClaimsVerificationError::SignatureVerification(_) => {
            "the ID token's signature is not the provider's.".to_owned()
        }
        _ => "the ID token is invalid.".to_owned(),
    })
}

fn refused(error: &RequestTokenError<HttpError, StandardErrorResponse<CoreErrorResponseType>>) -> OpenIdError {
    match error {
        RequestTokenError::ServerResponse(response) if *response.error() == CoreErrorResponseType::InvalidGrant => {
            OpenIdError::CodeRefused
        }
        // Its content may be a token.
        RequestTokenError::Parse(error, _) => {
            tracing::warn!(field = %error.path(), "could not read the OpenID provider's token answer");
            OpenIdError::Unavailable
        }
        error => unavailable(error),
    }
}
