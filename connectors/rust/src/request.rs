//! One call, from its fields to its answer.

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{HubClient, HubError, retry};

/// Characters that a path's segment has unescaped.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Policy for repeating a call that may have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// It may be: a second time changes nothing more.
    Safe,
    /// It may be, because an `Idempotency-Key` makes it so.
    Keyed,
    /// It may not be.
    Never,
}

/// A call to the hub, before it is sent. GET, PUT and DELETE are repeated as they are, POST under an
/// `Idempotency-Key`, PATCH not at all.
#[derive(Debug)]
#[must_use = "it is not sent yet"]
pub struct Request {
    client: HubClient,
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: HeaderMap,
    body: Option<Bytes>,
    repeat: Repeat,
    /// Error in the request, which fails when it is sent.
    invalid: Option<String>,
}

/// An answer whose body was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// 2xx, or 304.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; empty for an answer without one.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON; one that is empty is read as null.
    ///
    /// # Errors
    /// [`HubError::InvalidAnswer`] for another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HubError> {
        let body: &[u8] = if self.body.is_empty() { b"null" } else { &self.body };
        serde_json::from_slice(body).map_err(|error| HubError::InvalidAnswer(error.to_string()))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name)?.to_str().ok().map(str::to_owned)
    }
}

impl Request {
    pub(crate) fn new(client: HubClient, method: Method, path: String) -> Self {
        let repeat = match method {
            Method::POST => Repeat::Keyed,
            Method::PATCH => Repeat::Never,
            _ => Repeat::Safe,
        };
        let (query, headers) = (Vec::new(), HeaderMap::new());
        Self { client, method, path, query, headers, body: None, repeat, invalid: None }
    }

    pub(crate) fn of_segments(client: HubClient, method: Method, segments: &[&str]) -> Self {
        let mut path = "/api/plugin".to_owned();
        for segment in segments {
            path.push('/');
            path.extend(utf8_percent_encode(segment, SEGMENT));
        }
        let mut request = Self::new(client, method, path);
        // Paths without these segments are other routes.
        if let Some(segment) = segments.iter().find(|segment| matches!(**segment, "" | "." | "..")) {
            request.invalid = Some(format!("`{segment}` can't be a name or an id"));
        }
        request
    }

    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "most values are made for this call")]
    pub fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a query parameter where there is a value.
    pub fn query_if(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => {
                self.headers.insert(name, value);
            }
            _ => self.invalid = Some(format!("`{name}: {value}` can't be a header")),
        }
        self
    }

    /// Sends this as JSON.
    pub fn json(mut self, body: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body(bytes, "application/json"),
            Err(error) => {
                self.invalid = Some(error.to_string());
                self
            }
        }
    }

    /// Sends these bytes.
    pub fn body(mut self, bytes: impl Into<Bytes>, content_type: &'static str) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self.body = Some(bytes.into());
        self
    }

    /// Sends it under a key of the caller's: with the same key it counts once, however often it is sent.
    pub fn idempotency_key(mut self, key: &str) -> Self {
        self.repeat = Repeat::Keyed;
        self.header(IDEMPOTENCY_KEY, key)
    }

    /// A second time changes nothing more, so it may be repeated without a key.
    pub(crate) fn safe(mut self) -> Self {
        self.repeat = Repeat::Safe;
        self
    }

    /// Never repeats it.
    pub fn once(mut self) -> Self {
        self.repeat = Repeat::Never;
        self
    }

    /// Sends it and reads the answer's JSON. An answer without a body is null: `()`, `Option` or `Value` take it.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn send<T: DeserializeOwned>(self) -> Result<T, HubError> {
        self.answer().await?.json()
    }

    /// The same, with none for 404.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn find<T: DeserializeOwned>(self) -> Result<Option<T>, HubError> {
        match self.answer().await {
            Ok(answer) => answer.json().map(Some),
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends it; whatever a successful answer says is discarded.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn run(self) -> Result<(), HubError> {
        self.answer().await.map(|_| ())
    }

    /// Sends it and reads the answer whole.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn answer(self) -> Result<Answer, HubError> {
        let request = self.prepare()?;
        let mut attempts = 1;
        loop {
            match request.attempt_whole().await {
                Ok(answer) => return Ok(answer),
                Err(error) => request.wait(attempts, error).await?,
            }
            attempts += 1;
        }
    }

    /// Sends it and answers before the body is read, such as for a stream of events. The client's time limit covers the body.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn response(self) -> Result<Response, HubError> {
        let request = self.prepare()?;
        let mut attempts = 1;
        loop {
            match request.attempt().await {
                Ok(response) => return Ok(response),
                Err(error) => request.wait(attempts, error).await?,
            }
            attempts += 1;
        }
    }

    /// Gives it the key that makes repeats one call.
    fn prepare(mut self) -> Result<Self, HubError> {
        let is_repeated = self.repeat == Repeat::Keyed && self.client.retry.attempts > 1;
        if is_repeated && !self.headers.contains_key(IDEMPOTENCY_KEY) {
            self = self.idempotency_key(&retry::new_key());
        }
        match self.invalid.take() {
            Some(invalid) => Err(HubError::InvalidRequest(invalid)),
            None => Ok(self),
        }
    }

    /// Waits for the next attempt, or returns the error if there is none.
    async fn wait(&self, attempts: u32, error: HubError) -> Result<(), HubError> {
        let policy = self.client.retry;
        let delay = error.retry_after().unwrap_or_else(|| policy.delay(attempts));
        if attempts >= policy.attempts || !self.may_repeat(&error) || delay > policy.max_delay {
            return Err(error);
        }
        tokio::time::sleep(delay).await;
        Ok(())
    }

    /// Any call may be repeated that surely was not carried out; another one only if a second time has no second effect.
    fn may_repeat(&self, error: &HubError) -> bool {
        let was_refused = error.status() == Some(StatusCode::TOO_MANY_REQUESTS);
        error.is_transient() && (self.repeat != Repeat::Never || was_refused || error.was_never_sent())
    }

    async fn attempt(&self) -> Result<Response, HubError> {
        let connection = &self.client.connection;
        let url = format!("{}{}", connection.base.as_str().trim_end_matches('/'), self.path);
        let mut request = connection
            .http
            .request(self.method.clone(), url)
            .query(&self.query)
            .headers(self.headers.clone())
            .headers(connection.right.clone());
        if let Some(timeout) = self.client.timeout {
            request = request.timeout(timeout);
        }
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let failed = |source| HubError::of_request(&connection.base, source);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let body = response.bytes().await.map_err(failed)?;
        Err(HubError::of_answer(status, &headers, &body))
    }

    async fn attempt_whole(&self) -> Result<Answer, HubError> {
        let response = self.attempt().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body =
            response.bytes().await.map_err(|source| HubError::of_request(&self.client.connection.base, source))?;
        Ok(Answer { status, headers, body })
    }
}
