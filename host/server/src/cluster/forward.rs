//! Passes a network's requests on to its home.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::app::App;
use crate::auth;
use crate::cluster::homes::Node;
use crate::cluster::secret::{self, NOWHERE};
use crate::cluster::table::{Place, Stay, shard_of};
use crate::cluster::tie::Tie;
use crate::endpoints::RouteFacts;
use crate::http::error::ApiError;
use crate::values::NetworkId;

/// On a request that another node passed on: where it came from, and the node's word for it.
static FROM: HeaderName = HeaderName::from_static("x-hub-from");
/// On an answer: this node is not the network's home, and did nothing.
static NOT_HERE: HeaderName = HeaderName::from_static("x-hub-not-here");
/// How long a request waits for its network to have a home.
const WAIT: Duration = Duration::from_secs(8);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Bodies up to this size are kept until the home has answered, and go to the next home if this one is gone.
const KEPT_BODY: usize = 1 << 20;
/// Sends requests to other nodes.
pub(super) type Http = Client<HttpConnector, Body>;

pub(super) fn client() -> Http {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(2)));
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
}

/// Serves a request at its network's home: here, or by passing it on.
pub(crate) async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(node) = app.homes.node() else { return next.run(request).await };
    let _asked = node.requests.token();
    let mut response = serve(&app, node, request, next).await;
    if node.is_leaving() {
        // The next request on this connection might meet its end.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn serve(app: &App, node: &Node, mut request: Request, next: Next) -> Response {
    let said = request.headers_mut().remove(&FROM);
    let passed_on = match said {
        None => false,
        Some(said) => match secret::read(app, said.to_str().unwrap_or_default()).await {
            Ok(Some(from)) => {
                request.extensions_mut().insert(ConnectInfo(from));
                true
            }
            Ok(None) => false,
            Err(error) => return ApiError::internal(error).into_response(),
        },
    };
    if facts(&request).is_any_node {
        return next.run(request).await;
    }
    let sent = request.headers().get("x-service-api-key").map(HeaderValue::as_bytes);
    let network = match auth::authenticate(app, sent).await {
        Ok(key) if key.network != auth::OPERATOR_NETWORK => key.network,
        // The route says what is wrong with the key, or needs none.
        _ => return next.run(request).await,
    };
    let routed = Routed { app, node, network };
    let served = if passed_on { routed.here_or_not(request, next).await } else { routed.anywhere(request, next).await };
    served.unwrap_or_else(ApiError::into_response)
}

/// What became of a request that was passed on.
enum Passed {
    /// The home's answer.
    On(Response),
    /// The other node is not, or not any more, the home. It changed nothing.
    NotHome,
    /// The other node cannot be reached.
    NotThere,
}

struct Routed<'a> {
    app: &'a App,
    node: &'a Node,
    network: NetworkId,
}

impl Routed<'_> {
    /// Of a request that was passed on. It is not passed on again: nodes that disagree would do so for ever.
    async fn here_or_not(&self, request: Request, next: Next) -> Result<Response, ApiError> {
        if let Some(stay) = self.node.stay(self.network)
            && let Some(under_way) = stay.enter()
            && let Some(response) = self.here(&stay, under_way, request, next).await?
        {
            return Ok(response);
        }
        self.node.look.notify_one();
        Ok((StatusCode::MISDIRECTED_REQUEST, [(NOT_HERE.clone(), "1")]).into_response())
    }

    async fn anywhere(&self, request: Request, next: Next) -> Result<Response, ApiError> {
        let mut until = Instant::now() + WAIT;
        let mut body = None;
        let mut request = Some(request);
        loop {
            match self.node.table.place(shard_of(self.network)) {
                Place::Here(stay) => {
                    // Otherwise it has run out, or is moving.
                    if let Some(under_way) = stay.enter() {
                        if let Some(first) = request.take_if(|request| may_come_again(request)) {
                            match Kept::read(first).await? {
                                Ok(kept) => body = Some(kept),
                                Err(large) => request = Some(large),
                            }
                        }
                        let request = match (request.take(), &body) {
                            (Some(request), _) => request,
                            (None, Some(kept)) => kept.request(),
                            (None, None) => return Err(no_home()),
                        };
                        if let Some(response) = self.here(&stay, under_way, request, next.clone()).await? {
                            return Ok(response);
                        }
                        until = Instant::now() + WAIT;
                    }
                }
                Place::There { url, .. } => {
                    if let Some(request) = request.take() {
                        match Kept::read(request).await? {
                            Ok(kept) => body = Some(kept),
                            Err(large) => {
                                let Passed::On(response) = self.pass_on(&url, large).await? else {
                                    return Err(no_home());
                                };
                                return Ok(response);
                            }
                        }
                    }
                    let asked_at = Instant::now();
                    if let Some(kept) = &body {
                        match self.pass_on(&url, kept.request()).await? {
                            Passed::On(response) => return Ok(response),
                            // The time that it may have waited there, for what it asks for, does not count.
                            Passed::NotHome => until += asked_at.elapsed(),
                            Passed::NotThere => {}
                        }
                    }
                    self.node.look.notify_one();
                }
                Place::Nobody => {
                    let claimed = self.node.claim(self.app, &[shard_of(self.network)]).await;
                    claimed.map_err(ApiError::internal)?;
                    self.node.look.notify_one();
                }
            }
            if Instant::now() >= until {
                return Err(no_home());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Serves a request here, as long as this is the network's home; none where it is to be served at the next: it only
    /// waited for something, which will happen there, or it did nothing yet.
    async fn here(
        &self,
        stay: &Stay,
        under_way: TaskTrackerToken,
        mut request: Request,
        next: Next,
    ) -> Result<Option<Response>, ApiError> {
        let known = stay.network(self.network);
        known.get_or_try_init(|| crate::lifecycle::restore(self.app, self.network)).await?;
        let looks = looks(&request);
        let tie = Tie::new(stay, under_way);
        request.extensions_mut().insert(tie.clone());
        let mut run = pin!(next.run(request));
        let response = tokio::select! {
            biased;
            response = &mut run => response,
            () = stay.ended.cancelled(), if looks => {
                if !tie.is_released() {
                    return Ok(None);
                }
                run.await
            }
        };
        if tie.is_again() {
            return Ok(None);
        }
        // What it was told of memory, or left there, may not be so any more.
        match Instant::now() < stay.until() {
            true if is_stream(&response) => Ok(Some(until_ended(response, stay))),
            true => Ok(Some(response)),
            false if tie.is_released() => Ok(Some(response)),
            false if looks => Ok(None),
            false => Err(moved()),
        }
    }

    /// Passes a request on.
    async fn pass_on(&self, url: &str, mut request: Request) -> Result<Passed, ApiError> {
        let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map_or(NOWHERE, |from| from.0);
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        let uri: Uri = format!("{url}{path}").parse().map_err(ApiError::internal)?;
        let word = secret::sign(self.app, from).await?;
        *request.uri_mut() = uri;
        *request.version_mut() = axum::http::Version::HTTP_11;
        request.headers_mut().insert(FROM.clone(), HeaderValue::try_from(word).map_err(ApiError::internal)?);
        match self.node.http.request(request).await {
            Ok(response) if response.headers().contains_key(&NOT_HERE) => Ok(Passed::NotHome),
            Ok(response) => Ok(Passed::On(response.map(Body::new))),
            Err(error) if error.is_connect() => Ok(Passed::NotThere),
            Err(error) => {
                tracing::warn!(%error, network = %self.network, "a home went away while it was asked");
                Err(lost())
            }
        }
    }
}

/// Whether a request changes nothing. It has no body.
fn looks(request: &Request) -> bool {
    request.method() == Method::GET
}

fn facts(request: &Request) -> RouteFacts {
    request.extensions().get().copied().unwrap_or_default()
}

fn may_come_again(request: &Request) -> bool {
    looks(request) || facts(request).is_retried_on_owner
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// A stream of what happens here; whoever reads it comes again when the network lives elsewhere.
fn until_ended(response: Response, stay: &Stay) -> Response {
    let ended = stay.ended.clone().cancelled_owned();
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
}

/// A request whose body is small enough to be sent again.
struct Kept {
    parts: Parts,
    body: Bytes,
}

impl Kept {
    /// The request itself where its body is large, or nobody knows how large.
    async fn read(request: Request) -> Result<Result<Self, Request>, ApiError> {
        let (parts, body) = request.into_parts();
        let size = axum::body::HttpBody::size_hint(&body).upper();
        if size.is_none_or(|size| size > KEPT_BODY as u64) {
            return Ok(Err(Request::from_parts(parts, body)));
        }
        let body = body.collect().await.map_err(|_| ApiError::invalid("The body ended early.".to_owned()))?.to_bytes();
        Ok(Ok(Self { parts, body }))
    }

    fn request(&self) -> Request {
        Request::from_parts(self.parts.clone(), Body::new(Full::new(self.body.clone())))
    }
}

fn no_home() -> ApiError {
    unavailable("no_home", "The hub's nodes have not agreed yet on who serves this network; try again in a moment.")
}

fn moved() -> ApiError {
    unavailable("moved", "This network just moved to another of the hub's nodes; try again.")
}

fn lost() -> ApiError {
    unavailable(
        "node_lost",
        "The node that serves this network went away while it was asked; what was asked may be done or not.",
    )
}

fn unavailable(code: &'static str, message: &'static str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(1)
}
