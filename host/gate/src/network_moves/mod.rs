//! Networks that move to another hub, or have moved ([capacity](../../../../docs/operate/capacity.md)).
//!
//! Invariants: a network that leaves is suspended with its move, in one transaction; a node says that it has nothing of it
//! under way only after it admits nothing more; a network that has left is never served here, only forwarded, to the
//! address that the operator's command wrote down.
//! Tables: `network_moves`, which commands write, `network_move_nodes`.

mod forward;
mod store;
mod watch;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::auth;
use crate::auth::moves::{self, MovingNetworks, Place};
use crate::cluster::named_network;
use crate::component::{Component, TableRule};
use crate::http::layers::Next;
use crate::identity::Identity;
use crate::limits::remote_address;

pub use store::{LiveNodes, live_nodes};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "freezes networks that move to another hub, and forwards their requests ([capacity](../operate/capacity.md#move-a-network))",
    tables: &[
        TableRule::hub("network_moves"),
        TableRule::hub("network_move_nodes").not_backed_up("of moves under way"),
    ],
    register: |states, _| {
        states.insert(forward::Forwarder::default());
        Ok(())
    },
    start: |app| Box::pin(watch::start(app)),
    background: watch::run,
    ..Component::new(module_path!())
};

/// Header of a question and its answer: this is the hub with this id. A command makes sure of an address by it.
pub static IDENTITY: HeaderName = HeaderName::from_static("hub-identity");

static KEY: HeaderName = HeaderName::from_static("x-service-api-key");

/// Forwards the requests of networks that have moved to another hub.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let asked = request.headers_mut().remove(&IDENTITY);
    let is_this = |id: &HeaderValue| *id == app.state::<Identity>().cluster;
    let confirmed = asked.filter(is_this);
    let mut response = answer(&app, request, next).await;
    if let Some(id) = confirmed {
        response.headers_mut().insert(IDENTITY.clone(), id);
    }
    response
}

async fn answer(app: &App, mut request: Request, next: Next) -> Response {
    let identified = auth::identify(app, request.method(), request.headers(), request.extensions()).await;
    let moved_to = match &identified {
        Err(error) if error.code() == "network_moved" => {
            let remote = remote_address(request.extensions());
            match auth::moved_to(app, request.method(), request.headers(), remote).await {
                Ok(url) => url,
                Err(error) => return error.into_response(),
            }
        }
        // A request without a key names its network.
        _ => match named_network(&request).map(|network| app.state::<MovingNetworks>().place(network)) {
            Some(Place::Away(url)) => {
                // Those of whoever is signed in here are none of the other hub's business.
                for name in [header::COOKIE, header::AUTHORIZATION, KEY.clone()] {
                    request.headers_mut().remove(name);
                }
                Some(url.to_string())
            }
            Some(Place::OnItsWay) => return moves::refusal(false).into_response(),
            Some(Place::Here) | None => None,
        },
    };
    match moved_to {
        Some(url) => {
            let forwarded = app.state::<forward::Forwarder>().forward(app, &url, request).await;
            forwarded.unwrap_or_else(crate::http::error::ApiError::into_response)
        }
        None => next.run(request).await,
    }
}
