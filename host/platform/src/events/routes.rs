//! `/api/plugin/events`.

use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Version, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::app::App;
use crate::auth::{EventsRead, Scope};
use crate::endpoints::{Endpoints, endpoints};
use crate::events::error::bus_unreachable;
use crate::events::model::EventTypes;
use crate::events::schema::ANY_EVENT;
use crate::events::{EventKind, Outbox, listeners, stream};
use crate::http::connection::Connection;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::limits::{Limit, open, open_instead};
use crate::values::{Identifier, blank_as_absent};

/// Placeholder for the schema of any event, which is assembled with the API document.
#[allow(dead_code, reason = "used only by the API document")]
struct ServerEvent;

impl PartialSchema for ServerEvent {
    fn schema() -> RefOr<Schema> {
        Ref::from_schema_name(ANY_EVENT).into()
    }
}
impl ToSchema for ServerEvent {}

/// Routes of the component.
pub(super) fn router() -> Endpoints {
    endpoints![open_events: any_node]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct OpenQuery {
    /// Server that the stream belongs to; it may be unknown to the hub. An earlier stream of it ends, such as that of
    /// its running connector. Without it, the stream carries only events for the whole network.
    #[param(required = false, value_type = Option<String>, example = "lobby-1")]
    server_id: Option<Identifier>,
    /// Events to carry, separated by commas; `PING` and `RESYNC` are always included. Default: all except those that
    /// must be listed, which are `SERVER_ONLINE`, `SERVER_OFFLINE`, `PLAYER_JOINED`, `PLAYER_LEFT`, `PLAYER_SWITCHED`,
    /// `PERMISSIONS_UPDATED`, `BALANCE_CHANGED`, `WORLD_STATE`, `SESSION_REQUESTED`, `SESSION_ENDED`, `DELIVERY_READY`,
    /// `DELIVERY_SETTLED`, `CHAT_VERDICT`, `REPORT_CREATED`, `APPEAL_CREATED`, `TICKET_MATCHED`, `TICKET_UPDATED` and
    /// `SIGNING_SECRET_ROTATED`. The last one requires the scope `plugin`, `CHAT_VERDICT` the scope `chat:read`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(required = false, value_type = Option<String>, example = "CHAT,PUNISHMENT")]
    types: Option<EventTypes>,
}

/// Data of the request besides its parameters.
struct StreamRequest {
    last_event_id: Option<String>,
    /// True for a HEAD request, which gets headers only.
    head: bool,
    /// `None` if other requests share the connection.
    connection: Option<Connection>,
}

impl<S: Send + Sync> FromRequestParts<S> for StreamRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let last = parts.headers.get("last-event-id");
        let is_exclusive = parts.version < Version::HTTP_2;
        Ok(Self {
            // The bus treats malformed ids like unknown ones.
            last_event_id: last.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()),
            head: parts.method == Method::HEAD,
            connection: parts.extensions.get::<Connection>().filter(|_| is_exclusive).cloned(),
        })
    }
}

/// Open the event stream
///
/// Server-sent events: `event:` is the name, `data:` one JSON object that repeats it as `type` and has the time as
/// `at`. Events for the whole network arrive on every stream, events for one server (such as `EXECUTE_COMMAND`) only
/// on the stream with its `serverId`. A second stream for the same server replaces the first.
///
/// Every event except `PING` (every 15 s) has an `id:`. Reconnect within 2 minutes with the last id as `Last-Event-ID`
/// to get missed events, in order and once. If that is no longer possible, the stream begins with `RESYNC`: reload
/// cached data. A reader that falls too far behind is disconnected and resumes the same way.
///
/// All streams of the network see the same events in the same order, with the same ids. Changes whose requests were
/// answered come before later ones, with one exception: `CHAT` and `EXECUTE_COMMAND` may precede the event of a
/// recently answered change if that event waits for the bus or the database.
///
/// The number of open streams per network is limited (`streams`).
///
/// The stream ends when the hub stops, and when its key is revoked, replaced or expires. A `serverId` needs the scope
/// `plugin`, or a key bound to that server. A key bound to servers must specify one of them.
#[utoipa::path(get, path = "/api/plugin/events", tag = "Events", operation_id = "open_event_stream", security(("apiKey" = ["events:read", "plugin"])),
    params(OpenQuery, ("Last-Event-ID" = Option<String>, Header, description = "`id:` of the last received event")),
    responses((status = 200, description = "The stream", content_type = "text/event-stream", body = ServerEvent)))]
async fn open_events(
    EventsRead(caller): EventsRead,
    State(app): State<App>,
    Query(query): Query<OpenQuery>,
    request: StreamRequest,
) -> Result<Response, ApiError> {
    let mut scope = caller.require_listener(query.server_id.as_ref())?;
    let types = query.types.unwrap_or_default();
    if types.include_secret() {
        caller.require(&[Scope::Plugin])?;
        scope = Scope::Plugin;
    }
    if types.holds(EventKind::ChatVerdict) {
        caller.require(&[Scope::ChatRead])?;
    }
    let body = if request.head {
        Body::empty()
    } else {
        let is_proven = listeners::listen(&app, caller.network, types).await?;
        // The stream begins after changes whose requests were answered.
        app.state::<Outbox>().settled(caller.network).await;
        let server = query.server_id.as_ref().map(Identifier::as_str);
        if let Some(server) = server {
            listeners::record_server(&app, caller.network, server, types).await?;
        }
        let last = request.last_event_id.as_deref();
        let replaces = server.is_some_and(|server| app.bus.is_connected(caller.network.0.as_u128(), server));
        let open = if replaces {
            open_instead(&app, caller.network, Limit::Streams)
        } else {
            open::<ApiError>(&app, caller.network, Limit::Streams).await?
        };
        let subscription = app.bus.subscribe(caller.network.0.as_u128(), server, last, app.clock.now()).await;
        let subscription = subscription.map_err(bus_unreachable)?;
        if !is_proven {
            listeners::announce_gap(&app, caller.network).await?;
        }
        let has_id = last.is_some_and(|id| !id.is_empty());
        let server = query.server_id.as_ref();
        stream::body(&app, subscription, (types, server), (caller, scope), request.connection, has_id, open)
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // A buffering proxy would never send any of the response.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, body).into_response())
}
