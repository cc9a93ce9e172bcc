//! The client: where the hub is and how it is called.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::{HubError, Request, RetryPolicy};

/// All calls of a game server or a tool to a hub. A clone shares the connections.
///
/// - **Errors**: a call fails with a [`HubError`].
/// - **Repeats**: calls that may be repeated without a second effect are, after a delay, where no answer came or the hub was stopping
///   or over a rate limit ([`RetryPolicy`]). Others that change something carry an `Idempotency-Key`, with which the hub carries
///   out a repeat once. Two calls are made once only: [`HubClient::put_player_data`] with a version, because a repeat would
///   find its own version, and [`HubClient::send_heartbeat`], because the next one says more.
/// - **Units**: times are milliseconds since the Unix epoch; spans are milliseconds where a name ends in `_ms`.
#[derive(Clone)]
pub struct HubClient {
    pub(crate) connection: Arc<Connection>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: RetryPolicy,
}

pub(crate) struct Connection {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Url,
    /// The caller's right: an API key, or a person's session with the network that it acts in.
    pub(crate) right: HeaderMap,
}

impl fmt::Debug for HubClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubClient").field("base", &self.connection.base.as_str()).finish_non_exhaustive()
    }
}

impl HubClient {
    /// A client with the usual settings for the hub at an address such as `https://hub.example`, with an API key.
    ///
    /// # Errors
    /// [`HubError::InvalidRequest`] for an address or a key that cannot be one.
    pub fn new(url: &str, key: &str) -> Result<Self, HubError> {
        Self::builder(url, key).build()
    }

    /// A client to be configured.
    pub fn builder(url: &str, key: &str) -> HubClientBuilder {
        HubClientBuilder {
            url: url.trim().to_owned(),
            key: key.trim().to_owned(),
            timeout: Some(Duration::from_secs(15)),
            connect_timeout: Duration::from_secs(5),
            retry: RetryPolicy::DEFAULT,
            http: None,
            is_session: false,
            network: None,
        }
    }

    /// The same client with another policy for repeats.
    #[must_use]
    pub fn with_retries(&self, retry: RetryPolicy) -> Self {
        Self { retry, ..self.clone() }
    }

    /// The same client with another time limit for each attempt of a call; none: without limit.
    #[must_use]
    pub fn with_timeout(&self, timeout: impl Into<Option<Duration>>) -> Self {
        Self { timeout: timeout.into(), ..self.clone() }
    }

    /// Any call, such as one that this crate has no method for. The path is written out, escaped, from `/`.
    pub fn request(&self, method: Method, path: impl Into<String>) -> Request {
        Request::new(self.clone(), method, path.into())
    }

    /// A call of a path of these segments below `/api/plugin`, each of which is escaped.
    pub(crate) fn plugin(&self, method: Method, segments: &[&str]) -> Request {
        Request::of_segments(self.clone(), method, segments)
    }
}

/// The settings of a client.
#[derive(Debug)]
#[must_use]
pub struct HubClientBuilder {
    url: String,
    key: String,
    timeout: Option<Duration>,
    connect_timeout: Duration,
    retry: RetryPolicy,
    http: Option<reqwest::Client>,
    /// True if the key is the token of a session.
    is_session: bool,
    network: Option<String>,
}

impl HubClientBuilder {
    /// Time limit for one attempt of a call, 15 s by default; none: no limit.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Time limit for connecting, 5 s by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Policy for repeats.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// An HTTP client of the caller's, such as one with another idea of whom to trust. It decides about connecting.
    pub fn http(mut self, http: reqwest::Client) -> Self {
        self.http = Some(http);
        self
    }

    /// Has the client act as a person: the key is the token of their session. A person of several networks names the one to
    /// act in, by its id.
    pub fn session(mut self, network: Option<&str>) -> Self {
        self.is_session = true;
        self.network = network.map(str::to_owned);
        self
    }

    /// The client.
    ///
    /// # Errors
    /// [`HubError::InvalidRequest`] for an address or a key that cannot be one.
    pub fn build(self) -> Result<HubClient, HubError> {
        let base = Url::parse(&self.url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let base = base.ok_or_else(|| {
            let form = "it must read as http://127.0.0.1:8080 or https://hub.example does";
            HubError::InvalidRequest(format!("`{}` is no address of a hub: {form}", self.url))
        })?;
        let malformed = || HubError::InvalidRequest("the API key is blank or malformed".to_owned());
        let value =
            |text: &str| HeaderValue::from_str(text).ok().filter(|_| !self.key.is_empty()).ok_or_else(malformed);
        let (name, mut key) = if self.is_session {
            (AUTHORIZATION, value(&format!("Bearer {}", self.key))?)
        } else {
            (HeaderName::from_static("x-service-api-key"), value(&self.key)?)
        };
        key.set_sensitive(true);
        let mut right = HeaderMap::from_iter([(name, key)]);
        if let Some(network) = &self.network {
            right.insert(HeaderName::from_static("x-network-id"), value(network)?);
        }
        let http = match self.http {
            Some(http) => http,
            None => http_client(self.connect_timeout).map_err(|error| HubError::InvalidRequest(error.to_string()))?,
        };
        let connection = Arc::new(Connection { http, base, right });
        Ok(HubClient { connection, timeout: self.timeout, retry: self.retry })
    }
}

/// Trusts the system's certificate authorities, or those in the file that `SSL_CERT_FILE` names.
#[allow(clippy::disallowed_methods, reason = "the hub's own helper is not part of this crate")]
fn http_client(connect_timeout: Duration) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls).connect_timeout(connect_timeout).build()?)
}
