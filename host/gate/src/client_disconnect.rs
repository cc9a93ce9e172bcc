//! Completes the requests of disconnected clients. After its first commit, a changing request may have more to do
//! (store its response, refresh memory, act on a module's decision), and a closed connection must not leave it half
//! done.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tracing::Instrument as _;

use crate::app::App;
use crate::auth::moves::Admitted;
use crate::component::Component;
use crate::endpoints::RouteFacts;
use crate::http::layers::Next;
use crate::http::request_id::in_current_request;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "lets a request that may change something run to its end, though its caller hangs up",
    register: |states, _| {
        states.insert(AbandonedRequests::default());
        Ok(())
    },
    ..Component::new(module_path!())
};

/// Limit per API key, so that clients cannot accumulate work by disconnecting. Further requests are aborted, which
/// leaves every transaction complete or rolled back.
const MAX_PER_KEY: u32 = 64;
/// Time for such requests to end when the hub stops.
const STOP_GRACE: Duration = Duration::from_secs(5);

type Key = Option<HeaderValue>;

/// Number of requests that continue without their clients, by key.
#[derive(Clone, Debug, Default)]
pub struct AbandonedRequests(Arc<Mutex<HashMap<Key, u32>>>);

/// Counts one such request.
struct Abandoned {
    key: Key,
    all: AbandonedRequests,
}

impl AbandonedRequests {
    fn admit(&self, key: &Key) -> Option<Abandoned> {
        let mut all = self.0.lock();
        let count = all.entry(key.clone()).or_default();
        if *count >= MAX_PER_KEY {
            return None;
        }
        *count += 1;
        Some(Abandoned { key: key.clone(), all: self.clone() })
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let mut all = self.all.0.lock();
        if let Some(count) = all.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.key);
            }
        }
    }
}

/// Completes every request that may change something, unless its route ends with its client.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let facts: RouteFacts = request.extensions().get().copied().unwrap_or_default();
    if request.method().is_safe() || facts.is_ended_with_caller {
        return next.run(request).await;
    }
    let headers = request.headers();
    let sent = ["x-service-api-key", "authorization", "cookie"].into_iter().find_map(|name| headers.get(name));
    let key = sent.cloned();
    let admitted = request.extensions().get().cloned();
    // Same network, request and span, even when it continues by itself.
    let work = hub_db::in_current_tenant(in_current_request(next.run(request)));
    let response = work.in_current_span().boxed();
    Serving { app, key, admitted, response: Some(response) }.await
}

/// Request being served. If dropped before its end, it continues by itself.
struct Serving {
    app: App,
    key: Key,
    /// For a network that moves, it is under way until its end.
    admitted: Option<Arc<Admitted>>,
    response: Option<BoxFuture<'static, Response>>,
}

impl Future for Serving {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        // Taken out, so that a request that panics does not continue.
        let Some(mut response) = self.response.take() else { return Poll::Pending };
        let polled = response.poll_unpin(context);
        if polled.is_pending() {
            self.response = Some(response);
        }
        polled
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Without a runtime the process is about to end.
        let (Some(response), Ok(_)) = (self.response.take(), Handle::try_current()) else { return };
        let Some(abandoned) = self.app.state::<AbandonedRequests>().admit(&self.key) else { return };
        let (app, admitted) = (self.app.clone(), self.admitted.take());
        self.app.spawn_until_done(async move {
            let stopping = app.stopping();
            tokio::select! {
                _ = response => {}
                () = stopping.cancelled().then(|()| tokio::time::sleep(STOP_GRACE)) => {}
            }
            drop((abandoned, admitted));
        });
    }
}
