//! Sends requests to webhooks, only to allowed addresses.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, USER_AGENT};
use reqwest::{Response, Url, redirect};
use tokio::time::{Instant, timeout};

use crate::clock::Millis;
use crate::compute::compute_in_turn;
use crate::config::Settings;
use crate::http_client;
use crate::webhooks::addresses::AddressPolicy;
use crate::webhooks::message::Message;
use crate::webhooks::model::{Delivery, Webhook, WebhookKind};
use crate::webhooks::outcome::{Attempt, Verdict, quiet, verdict};
use crate::webhooks::resolver::{AllowedAddresses, NOT_ALLOWED};
use crate::webhooks::url;

/// `User-Agent` of requests.
const AGENT: &str = concat!("NetworkHub/", env!("CARGO_PKG_VERSION"), " (webhooks)");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle connections to a receiver. A busy webhook uses a connection again soon after its last request.
const IDLE_CONNECTIONS: usize = 8;
/// Time limit of an answer's body after its head.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);
const BODY_LIMIT: usize = 4 * 1_024;
/// Stored characters of a refused answer's body.
const EXCERPT: usize = 300;

/// Sends requests to webhooks. It follows no redirects and ignores proxies that the environment names.
#[derive(Debug)]
pub(super) struct WebhookClient {
    https: reqwest::Client,
    /// For plain HTTP, only to the operator's own networks; none without them.
    http: Option<reqwest::Client>,
    /// Addresses that `https` may reach.
    policy: AddressPolicy,
    http_policy: AddressPolicy,
}

impl WebhookClient {
    pub(super) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let networks = &settings.webhook_networks;
        let (policy, http_policy) = (AddressPolicy::PublicAnd(networks.clone()), AddressPolicy::Only(networks.clone()));
        let look_up = settings.webhooks.resolver.clone();
        let timeout = settings.webhooks.timeout;
        let build = |policy: &AddressPolicy, https_only| {
            let resolver = AllowedAddresses::new(policy.clone(), look_up.clone());
            let client = http_client::builder()?
                .https_only(https_only)
                .redirect(redirect::Policy::none())
                .no_proxy()
                .dns_resolver(resolver)
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(timeout)
                .pool_max_idle_per_host(IDLE_CONNECTIONS)
                .pool_idle_timeout(Duration::from_secs(30));
            Ok::<_, anyhow::Error>(client.build()?)
        };
        let http = if networks.is_empty() { None } else { Some(build(&http_policy, false)?) };
        Ok(Self { https: build(&policy, true)?, http, policy, http_policy })
    }

    /// Parses a URL for a webhook, or returns the reason against it.
    pub(super) fn parse_url(&self, text: &str) -> Result<Url, String> {
        url::parse(text, &self.policy, self.http.is_some())
    }

    /// Makes an attempt to deliver.
    pub(super) async fn send(&self, webhook: &Webhook, delivery: &Delivery, now: Millis) -> Attempt {
        let began = Instant::now();
        let failed = |error: String| Attempt {
            verdict: Verdict::Retry(None),
            status: None,
            error: Some(error),
            quiet: None,
            duration: began.elapsed(),
        };
        // The operator may have changed the policy since the URL was stored.
        let target = match self.parse_url(&webhook.url) {
            Ok(target) => target,
            Err(why) => return failed(format!("the URL {why}")),
        };
        let (client, policy) = match (&self.http, target.scheme()) {
            (Some(http), "http") => (http, &self.http_policy),
            _ => (&self.https, &self.policy),
        };
        // The resolver checks only names; a URL with an address bypasses it.
        if url::literal_address(&target).is_some_and(|address| !policy.allows(address)) {
            return failed(NOT_ALLOWED.to_owned());
        }
        let Message { body, headers } = compute_in_turn(|turn| Message::new(turn, webhook, delivery, now)).await;
        let target = if webhook.kind == WebhookKind::Discord { with_wait(target) } else { target };
        let request = client.post(target).header(CONTENT_TYPE, "application/json").header(USER_AGENT, AGENT).body(body);
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        match request.send().await {
            Err(error) => failed(describe(error)),
            Ok(response) => {
                let status = response.status();
                let verdict = verdict(webhook.kind, status, response.headers(), now);
                let quiet = quiet(webhook.kind, response.headers());
                let body = timeout(BODY_TIMEOUT, read(response)).await.unwrap_or_default();
                let error = match verdict {
                    Verdict::Delivered => None,
                    _ if status.is_redirection() => Some(format!("{status}: redirects are not followed")),
                    _ => Some(format!("{status} {}", excerpt(&body)).trim_end().to_owned()),
                };
                Attempt { verdict, status: Some(status.as_u16()), error, quiet, duration: began.elapsed() }
            }
        }
    }
}

/// Makes Discord answer only once it has accepted or refused the message.
fn with_wait(mut target: Url) -> Url {
    target.query_pairs_mut().append_pair("wait", "true");
    target
}

/// Beginning of an answer's body.
async fn read(mut response: Response) -> Vec<u8> {
    let mut body = vec![];
    while body.len() < BODY_LIMIT
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk[..chunk.len().min(BODY_LIMIT - body.len())]);
    }
    body
}

/// Beginning of a body as one printable line.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(EXCERPT).collect()
}

/// Cause of a failure, without the URL.
fn describe(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().chars().take(EXCERPT).collect()
}
