//! Forwards a network's requests to its owner.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Full};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::app::App;
use crate::auth;
use crate::cluster::lease::ShardLease;
use crate::cluster::locations::ShardLocation;
use crate::cluster::named;
use crate::cluster::registry::{LEASE_TTL, Node};
use crate::cluster::request_lease::RequestLease;
use crate::cluster::secret::{self, UNKNOWN_ADDRESS};
use crate::cluster::{ShardRegistry, peers};
use crate::endpoints::RouteFacts;
use crate::http::connection::Connection;
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::traces;
use crate::values::NetworkId;

/// Request header with the client's address, signed by the forwarding node.
static FORWARDED_FROM: HeaderName = HeaderName::from_static("x-hub-from");
/// Response header: this node does not own the network and did nothing.
static NOT_OWNER: HeaderName = HeaderName::from_static("x-hub-not-here");
/// Time for a request to wait for its network's owner, and for an owner on another node to answer.
const OWNER_TIMEOUT: Duration = Duration::from_secs(8);
/// Time that a request may continue after its leases have expired on a node without the database.
const LOST_GRACE: Duration = Duration::from_secs(2);
const RETRY_DELAY: Duration = Duration::from_millis(50);
/// Minimum time for an owner to answer a request forwarded late.
const LEAST_ANSWER_TIME: Duration = Duration::from_secs(1);
/// Bodies up to this size are buffered until the owner has answered, so that they can be sent to the next owner.
const MAX_BUFFERED_BODY: usize = 1 << 20;

/// Serves a request at its network's owner: here, or by forwarding it.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let shards = app.state::<ShardRegistry>();
    let Some(node) = shards.node() else {
        let is_about_health = ["/healthz", "/readyz"].contains(&request.uri().path());
        return if is_about_health || shards.may_serve() {
            next.run(request).await
        } else {
            no_owner().into_response()
        };
    };
    if request.headers().contains_key(&peers::PROBE) {
        return (StatusCode::OK, [(peers::NODE.clone(), node.name.clone())]).into_response();
    }
    let _open = node.requests.token();
    let mut response = serve(&app, node, request, next).await;
    if node.is_draining() {
        // The connection ends soon; further requests on it might fail.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn serve(app: &App, node: &Node, mut request: Request, next: Next) -> Response {
    let by = request.headers_mut().remove(&peers::NODE);
    let forwarded_by = match request.headers_mut().remove(&FORWARDED_FROM) {
        None => None,
        Some(header) => match secret::verify(app, header.to_str().unwrap_or_default()).await {
            Ok(Some(client)) => {
                request.extensions_mut().insert(ConnectInfo(client));
                if let Some(connection) = request.extensions().get::<Connection>() {
                    connection.exempt();
                }
                Some(by)
            }
            Ok(None) => None,
            Err(error) => return ApiError::from(error).into_response(),
        },
    };
    if facts(&request).is_any_node {
        return serve_anywhere(app, node, request, next).await;
    }
    let named = match named::named(&request) {
        None => None,
        Some(named) => match node.named.exists(app, named).await {
            Ok(exists) => exists.then_some(named.0),
            Err(error) => return error.into_response(),
        },
    };
    let network = match named {
        Some(network) => network,
        None => match auth::identify(app, request.method(), request.headers(), request.extensions()).await {
            Ok(key) if key.network != auth::OPERATOR_NETWORK => key.network,
            // The route reports invalid keys, or needs none.
            _ => return serve_anywhere(app, node, request, next).await,
        },
    };
    let dispatcher = Dispatcher { app, node, network };
    if let Some(by) = forwarded_by {
        let mut response = dispatcher.serve_forwarded(by, request, next).await.unwrap_or_else(ApiError::into_response);
        response.extensions_mut().insert(auth::CountedElsewhere);
        return response;
    }
    dispatcher.serve_or_forward(request, next).await.unwrap_or_else(ApiError::into_response)
}

/// Serves a request that needs no owner, while this node reaches the database.
async fn serve_anywhere(app: &App, node: &Node, request: Request, next: Next) -> Response {
    let is_read_only = is_read_only(&request);
    let lost = async {
        node.database.lost(LEASE_TTL, LOST_GRACE).await;
        // A stopping node no longer queries the database.
        if app.stopping().is_cancelled() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        response = next.run(request) => response,
        () = lost => no_database(is_read_only).into_response(),
    }
}

/// Result of forwarding a request.
enum Forwarded {
    /// The owner's response.
    Response(Response),
    /// The other node is no longer the owner and did nothing.
    NotOwner,
    /// The other node is unreachable and was sent nothing.
    Unreachable,
    /// The other node was lost, or did not answer in time, after the request was sent.
    Lost,
}

/// Serves the requests of one network.
struct Dispatcher<'a> {
    app: &'a App,
    node: &'a Node,
    network: NetworkId,
}

impl Dispatcher<'_> {
    /// Serves a request forwarded by the node `by`, only if this one owns the network: otherwise disagreeing nodes
    /// would forward it in circles.
    async fn serve_forwarded(
        &self,
        by: Option<HeaderValue>,
        request: Request,
        next: Next,
    ) -> Result<Response, ApiError> {
        if let Some(lease) = self.node.valid_lease(self.network)
            && let Some(admitted) = lease.admit()
        {
            if let Some(name) = by.as_ref().and_then(|by| by.to_str().ok()) {
                lease.arrivals.count_forwarded(self.network, name);
            }
            if let Some(response) = self.serve_here(&lease, admitted, request, next).await? {
                return Ok(response);
            }
        }
        self.node.refresh.notify_one();
        Ok((StatusCode::MISDIRECTED_REQUEST, [(NOT_OWNER.clone(), "1")]).into_response())
    }

    async fn serve_or_forward(&self, request: Request, next: Next) -> Result<Response, ApiError> {
        let mut deadline = Instant::now() + OWNER_TIMEOUT;
        let (may_repeat, is_long) = (Repetition::of(&request), facts(&request).is_long);
        let mut is_in_doubt = false;
        let mut buffered = None;
        let mut request = Some(request);
        loop {
            match self.node.locations.get(self.network.shard()) {
                ShardLocation::Local(lease) => {
                    // Not admitted: the lease has expired or is being transferred.
                    if let Some(admitted) = lease.admit() {
                        lease.arrivals.count_here(self.network);
                        if let Some(first) = request.take_if(|request| may_retry(request)) {
                            match BufferedRequest::read(first).await? {
                                Ok(small) => buffered = Some(small),
                                Err(large) => request = Some(large),
                            }
                        }
                        let request = match (request.take(), &buffered) {
                            (Some(request), _) => request,
                            (None, Some(buffered)) => buffered.request(),
                            (None, None) => return Err(no_owner()),
                        };
                        if let Some(response) = self.serve_here(&lease, admitted, request, next.clone()).await? {
                            return Ok(response);
                        }
                        deadline = Instant::now() + OWNER_TIMEOUT;
                    }
                }
                ShardLocation::Remote { node: owner, url } => {
                    let lost = self.node.peers.lost(&owner);
                    if lost.is_cancelled() && self.node.is_cut_off() {
                        return Err(no_owner());
                    }
                    if let Some(request) = request.take() {
                        match BufferedRequest::read(request).await? {
                            Ok(small) => buffered = Some(small),
                            Err(large) => {
                                // The duration depends on the client's sending speed.
                                return match self.forward(&url, &lost, None, large).await? {
                                    Forwarded::Response(response) => Ok(response),
                                    Forwarded::NotOwner | Forwarded::Unreachable => Err(no_owner()),
                                    Forwarded::Lost => Err(may_repeat.lost()),
                                };
                            }
                        }
                    }
                    let sent_at = Instant::now();
                    if let Some(buffered) = &buffered {
                        let answered_by = (!is_long).then(|| deadline.max(sent_at + LEAST_ANSWER_TIME));
                        match self.forward(&url, &lost, answered_by, buffered.request()).await? {
                            Forwarded::Response(response) => return Ok(response),
                            // It may have waited there for an event, which does not count as waiting for an owner.
                            Forwarded::NotOwner if is_long => deadline += sent_at.elapsed(),
                            Forwarded::NotOwner | Forwarded::Unreachable => {}
                            Forwarded::Lost if may_repeat == Repetition::None => return Err(may_repeat.lost()),
                            Forwarded::Lost => is_in_doubt = true,
                        }
                    }
                    self.node.refresh.notify_one();
                }
                ShardLocation::Unowned => {
                    let shard = [self.network.shard()];
                    let claimed = tokio::time::timeout_at(deadline, self.node.claim(self.app, &shard)).await;
                    claimed.unwrap_or(Ok(()))?;
                    self.node.refresh.notify_one();
                }
            }
            if Instant::now() >= deadline {
                return Err(if is_in_doubt { may_repeat.lost() } else { no_owner() });
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Serves a request here while the lease is valid. `None` if the next owner has to serve it, because it did
    /// nothing yet or waited for an event that will happen there.
    async fn serve_here(
        &self,
        lease: &ShardLease,
        admitted: TaskTrackerToken,
        mut request: Request,
        next: Next,
    ) -> Result<Option<Response>, ApiError> {
        let restored = lease.restored(self.network);
        tokio::select! {
            restored = restored.get_or_try_init(|| self.node.restore(self.app, self.network)) => restored?,
            () = lease.lost(LOST_GRACE) => return Err(no_owner()),
        };
        let (is_read_only, facts) = (is_read_only(&request), facts(&request));
        let request_lease = RequestLease::new(lease, admitted);
        request.extensions_mut().insert(request_lease.clone());
        let mut run = pin!(next.run(request));
        let response = tokio::select! {
            biased;
            response = &mut run => response,
            () = lease.ending.cancelled(), if is_read_only => {
                if !request_lease.is_released() {
                    return Ok(None);
                }
                run.await
            }
            () = lease.lost(LOST_GRACE) => {
                if !request_lease.is_released() {
                    return Err(if is_read_only { no_owner() } else { moved() });
                }
                run.await
            }
        };
        if request_lease.wants_retry() {
            return Ok(None);
        }
        // After the lease expired, memory that the request read or wrote may be outdated.
        match lease.has_expired() {
            false if is_stream(&response) => Ok(Some(end_with_lease(response, lease))),
            false => Ok(Some(response)),
            true if request_lease.is_released() || facts.is_in_database() => Ok(Some(response)),
            true if is_read_only => Ok(None),
            true if response.status().is_server_error() => Ok(Some(response)),
            true => Err(moved()),
        }
    }

    /// Forwards a request to the node at `url` until that is `lost`. A link may swallow data to an otherwise reachable
    /// node, so the response must begin within a time limit.
    async fn forward(
        &self,
        url: &str,
        lost: &CancellationToken,
        answered_by: Option<Instant>,
        mut request: Request,
    ) -> Result<Forwarded, ApiError> {
        let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map_or(UNKNOWN_ADDRESS, |client| client.0);
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        let uri: Uri = format!("{url}{path}").parse().map_err(ApiError::internal)?;
        let signed = secret::sign(self.app, client).await?;
        *request.uri_mut() = uri;
        *request.version_mut() = axum::http::Version::HTTP_11;
        request
            .headers_mut()
            .insert(FORWARDED_FROM.clone(), HeaderValue::try_from(signed).map_err(ApiError::internal)?);
        if let Ok(name) = HeaderValue::try_from(&self.node.name) {
            request.headers_mut().insert(peers::NODE.clone(), name);
        }
        traces::inject(request.headers_mut());
        if lost.is_cancelled() {
            return Ok(Forwarded::Unreachable);
        }
        let expired = async {
            match answered_by {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let sent = tokio::select! {
            sent = self.node.http.request(request) => sent,
            () = expired => {
                tracing::warn!(network = %self.network, "the network's owner did not answer a request in time");
                return Ok(Forwarded::Lost);
            }
            () = lost.cancelled() => {
                tracing::warn!(network = %self.network, "the network's owner became unreachable during a request");
                return Ok(Forwarded::Lost);
            }
        };
        match sent {
            Ok(response) if response.headers().contains_key(&NOT_OWNER) => Ok(Forwarded::NotOwner),
            Ok(mut response) => {
                // This header belongs to the connection between the nodes.
                response.headers_mut().remove(header::CONNECTION);
                Ok(Forwarded::Response(end_when_lost(response.map(Body::new), lost)))
            }
            Err(error) if error.is_connect() => Ok(Forwarded::Unreachable),
            Err(error) => {
                tracing::warn!(%error, network = %self.network, "lost the network's owner during a request");
                Ok(Forwarded::Lost)
            }
        }
    }
}

/// Safety of repeating a request at the next owner after its owner was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repetition {
    /// The request changes nothing.
    ReadOnly,
    /// Its `Idempotency-Key` and its effect are one transaction.
    Idempotent,
    /// A repetition could double the effect.
    None,
}

impl Repetition {
    fn of(request: &Request) -> Self {
        let facts = facts(request);
        if is_read_only(request) || request.method() == Method::HEAD || facts.is_read_only {
            Self::ReadOnly
        } else if request.method() == Method::POST
            && facts.is_transactional
            && request.headers().contains_key("idempotency-key")
        {
            Self::Idempotent
        } else {
            Self::None
        }
    }

    /// Error for a request whose owner was lost.
    fn lost(self) -> ApiError {
        match self {
            Self::ReadOnly => no_owner(),
            Self::Idempotent => unavailable(
                "node_lost",
                "The node that serves this network did not respond; the request may or may not have taken effect. \
                 Send it again with the same Idempotency-Key.",
            ),
            // No `Retry-After`: clients that obey it might repeat a completed request.
            Self::None => ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "node_lost",
                "The node that serves this network did not respond; the request may or may not have taken effect. \
                 Check its effect before sending it again.",
            ),
        }
    }
}

fn is_read_only(request: &Request) -> bool {
    request.method() == Method::GET
}

fn facts(request: &Request) -> RouteFacts {
    request.extensions().get().copied().unwrap_or_default()
}

fn may_retry(request: &Request) -> bool {
    is_read_only(request) || facts(request).is_retried_on_owner
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Ends an event stream of this owner when the network moves, so that its reader reconnects to the next owner.
fn end_with_lease(response: Response, lease: &ShardLease) -> Response {
    let ending = lease.ending.clone().cancelled_owned();
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ending)))
}

/// Aborts a forwarded response when its node is lost: its reader would wait forever. An event stream just ends, so
/// that its reader reconnects.
fn end_when_lost(response: Response, lost: &CancellationToken) -> Response {
    let (is_stream, lost) = (is_stream(&response), lost.clone());
    response.map(|body| {
        let rest = stream::unfold(Some((body.into_data_stream(), lost)), move |rest| async move {
            let (mut body, lost) = rest?;
            tokio::select! {
                biased;
                bytes = body.next() => bytes.map(|bytes| (bytes, Some((body, lost)))),
                () = lost.cancelled(), if is_stream => None,
                () = lost.cancelled() => Some((Err(axum::Error::new(io::Error::other("the node was lost"))), None)),
            }
        });
        Body::from_stream(rest)
    })
}

/// A request that can be sent again.
struct BufferedRequest {
    parts: Parts,
    body: Bytes,
}

impl BufferedRequest {
    /// Buffers the request. Returns the request itself if its body is large or of unknown size.
    async fn read(request: Request) -> Result<Result<Self, Request>, ApiError> {
        let (parts, body) = request.into_parts();
        let size = axum::body::HttpBody::size_hint(&body).upper();
        if size.is_none_or(|size| size > MAX_BUFFERED_BODY as u64) {
            return Ok(Err(Request::from_parts(parts, body)));
        }
        let body = body.collect().await.map_err(|_| ApiError::invalid("The body ended early.".to_owned()))?.to_bytes();
        Ok(Ok(Self { parts, body }))
    }

    fn request(&self) -> Request {
        Request::from_parts(self.parts.clone(), Body::new(Full::new(self.body.clone())))
    }
}

fn no_owner() -> ApiError {
    unavailable("no_home", "No node of the hub serves this network yet; try again in a moment.")
}

/// Error for a request that waited for the database.
fn no_database(is_read_only: bool) -> ApiError {
    const CODE: &str = "database_unavailable";
    if is_read_only {
        return unavailable(CODE, "This node cannot reach the hub's database; try again.");
    }
    // No `Retry-After`: a repetition may double the effect.
    let message = "This node cannot reach the hub's database; the request may or may not have taken effect.";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, CODE, message)
}

fn moved() -> ApiError {
    // No `Retry-After`: a repetition may double the effect.
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "moved",
        "This network moved to another node of the hub; the request may or may not have taken effect.",
    )
}

fn unavailable(code: &'static str, message: &'static str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(1)
}
