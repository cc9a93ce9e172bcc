//! HTTP client for the provider.

use std::time::Duration;

use axum::http::Response;
use futures_util::future::BoxFuture;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::redirect::Policy;
use thiserror::Error;

use crate::http_client;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Reason for which the provider was not reached.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    /// The provider did not answer.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The answer exceeds the limit.
    #[error("the answer is larger than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    /// The answer cannot be passed on.
    #[error(transparent)]
    Unreadable(#[from] axum::http::Error),
}

/// Follows no redirect, which could lead into the hub's own network, and bounds the answer's time and size.
pub(super) struct HttpClient(reqwest::Client);

impl HttpClient {
    pub(super) fn new(is_https_only: bool) -> anyhow::Result<Self> {
        let builder = http_client::builder()?.redirect(Policy::none()).https_only(is_https_only);
        Ok(Self(builder.connect_timeout(CONNECT_TIMEOUT).timeout(ANSWER_TIMEOUT).build()?))
    }

    async fn execute(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut response = self.0.execute(request.try_into()?).await?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            headers.clone_from(response.headers());
        }
        Ok(answer.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for HttpClient {
    type Error = HttpError;
    type Future = BoxFuture<'c, Result<HttpResponse, HttpError>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.execute(request))
    }
}
