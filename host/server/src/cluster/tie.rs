//! What ties a request to its network's home.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::cluster::table::Stay;

/// A request's tie to the node it is served at, for those that wait for something: the network does not move before they
/// are answered, for a second at most, and then what they answer does not count, unless they say what they need. A hub
/// that is alone never moves anything.
#[derive(Clone, Debug, Default)]
pub struct Tie(Option<Arc<Tied>>);

#[derive(Debug)]
struct Tied {
    /// The network is about to move.
    moving: CancellationToken,
    bond: Mutex<Bond>,
}

#[derive(Debug)]
enum Bond {
    /// The network waits for this request.
    Held(#[allow(dead_code, reason = "it is there to be dropped")] TaskTrackerToken),
    /// The request goes on by itself.
    Released,
    /// The request did nothing, and is to be served at the next home.
    Again,
}

impl Tie {
    pub(super) fn new(stay: &Stay, under_way: TaskTrackerToken) -> Self {
        Self(Some(Arc::new(Tied { moving: stay.ended.clone(), bond: Mutex::new(Bond::Held(under_way)) })))
    }

    /// From here on the request needs nothing that this node has in memory: its network may move meanwhile, and its
    /// answer counts all the same.
    pub(crate) fn release(&self) {
        self.set(Bond::Released);
    }

    /// The request did nothing, and its answer is not one: it is to be served at the network's next home.
    pub(crate) fn again(&self) {
        self.set(Bond::Again);
    }

    /// Ends when the network is about to move.
    pub(crate) async fn moving(&self) {
        match &self.0 {
            Some(tied) => tied.moving.cancelled().await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn is_released(&self) -> bool {
        self.0.as_ref().is_some_and(|tied| matches!(*tied.bond.lock(), Bond::Released))
    }

    pub(super) fn is_again(&self) -> bool {
        self.0.as_ref().is_some_and(|tied| matches!(*tied.bond.lock(), Bond::Again))
    }

    fn set(&self, bond: Bond) {
        if let Some(tied) = &self.0 {
            *tied.bond.lock() = bond;
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Tie {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
