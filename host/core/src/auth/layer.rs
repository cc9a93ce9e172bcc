//! Identifies the caller once per request and runs the request as work of the caller's network.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use hyper::body::{Frame, SizeHint};
use uuid::Uuid;

use crate::app::App;
use crate::auth::model::{ActiveKey, Credential, Scopes};
use crate::auth::moves::{self, MovingNetworks};
use crate::auth::service::{Sent, authenticate, still_valid};
use crate::auth::session;
use crate::http::error::ApiError;
use crate::http::extract::{Reviewed, Right};
use crate::http::layers::Next;
use crate::http::request_record::RequestRecord;
use crate::limits;
use crate::limits::{KnownCaller, Limits, PublicRoute};
use crate::usage_counters::UsageCounters;

/// Tenant of all requests without a valid key. For a signed link, its network takes over once the link is verified.
const PUBLIC: Uuid = Uuid::max();

/// Key of a request, or the reason for its refusal.
#[derive(Clone)]
struct Identified(Result<ActiveKey, ApiError>);

/// Identifies the caller of a request with a key, and shares database and processor fairly among networks.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let mut tenant = PUBLIC;
    let mut counted = None;
    let mut admitted = None;
    if Sent::of(request.headers(), app.settings.is_tls()).is_some() {
        let remote = limits::remote_address(request.extensions());
        let mut identified = authenticate(&app, request.method(), request.headers(), remote).await;
        // The key may have been looked up just before its network was frozen.
        if let Ok(key) = &identified {
            match app.state::<MovingNetworks>().admit(key.network) {
                Ok(now) => {
                    request.extensions_mut().insert(Arc::clone(&now));
                    admitted = Some(now);
                }
                Err(refusal) => identified = Err(refusal),
            }
        }
        // A route without a key needs no network.
        let is_public = request.extensions().get::<PublicRoute>().is_some();
        let identified = identified.map_err(|error| {
            if is_public && session::is_of_no_network(&error) { error } else { count_wrong_key(&app, remote, error) }
        });
        if let Ok(key) = &identified {
            tenant = key.network.0;
            if let Some(record) = request.extensions().get::<RequestRecord>() {
                record.set_caller(key.network, &key.id.0);
            }
            counted = Some(app.state::<UsageCounters>().begin_request(key.network));
        }
        if is_public && let Some(caller) = known(&app, request.headers(), &identified) {
            request.extensions_mut().insert(KnownCaller(caller));
        }
        if let Ok(key) = &identified
            && !request.body().is_end_stream()
        {
            let right = CallersRight { app: app.clone(), credential: key.credential.clone(), scopes: key.scopes };
            request.extensions_mut().insert(Reviewed(Arc::new(right)));
        }
        request.extensions_mut().insert(Identified(identified));
    }
    let running = hub_db::with_tenant(tenant, next.run(request));
    let response = match &admitted {
        None => running.await,
        Some(admitted) => tokio::select! {
            biased;
            response = running => response,
            () = admitted.cut.cancelled() => moves::interrupted().into_response(),
        },
    };
    // Beyond this, streams alone go on, which end by themselves.
    drop(admitted);
    if let Some(counted) = counted
        && !is_counted(&response)
    {
        counted.cancel();
    }
    // Data generated while the response is sent also counts as the network's work.
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Body::new(TenantBody { tenant, body }))
}

/// Right of the caller of a request.
struct CallersRight {
    app: App,
    credential: Credential,
    scopes: Scopes,
}

impl Right for CallersRight {
    fn look_again(&self) -> BoxFuture<'_, Result<(), ApiError>> {
        Box::pin(still_valid(&self.app, &self.credential, self.scopes))
    }
}

/// Marks the response to a request forwarded by another node, which counts it.
#[derive(Clone, Copy, Debug)]
pub struct CountedElsewhere;

/// True if the request counts as usage: not if the plan's rate limit or a fault of the hub refused it.
fn is_counted(response: &Response) -> bool {
    let status = response.status();
    status != StatusCode::TOO_MANY_REQUESTS
        && !status.is_server_error()
        && response.extensions().get::<CountedElsewhere>().is_none()
}

/// Body generated as work of a tenant.
struct TenantBody {
    tenant: Uuid,
    body: Body,
}

impl HttpBody for TenantBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let tenant = self.tenant;
        hub_db::as_tenant(tenant, || Pin::new(&mut self.body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Id of a request's valid key or person, or of their session where it selects no network.
fn known(app: &App, headers: &HeaderMap, identified: &Result<ActiveKey, ApiError>) -> Option<String> {
    match identified {
        Ok(key) => Some(key.id.0.clone()),
        Err(error) if session::is_of_no_network(error) => session::id_of(headers, app.settings.is_tls()),
        Err(_) => None,
    }
}

/// Identifies the key of a request: 401 unless it is valid, 403 if its network is suspended.
pub async fn identify(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<ActiveKey, ApiError> {
    match extensions.get::<Identified>() {
        Some(Identified(identified)) => identified.clone(),
        None => authenticate(app, method, headers, limits::remote_address(extensions)).await,
    }
}

/// Counts an invalid key, or a session for a network without membership, against its address: each costs a query. The
/// address may then be refused.
pub(super) fn count_wrong_key(app: &App, remote: IpAddr, error: ApiError) -> ApiError {
    if error.status() != StatusCode::UNAUTHORIZED && !session::is_of_no_network(&error) {
        return error;
    }
    app.state::<Limits>().addresses.count_wrong_key(remote, app.clock.now()).err().unwrap_or(error)
}
