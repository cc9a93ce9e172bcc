//! Ties a request to the lease of its network's shard.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::cluster::lease::ShardLease;

/// A request's hold on its network's owner. Before a network moves it waits for its requests, for at most a second;
/// later responses are discarded unless released. On a single node nothing ever moves.
#[derive(Clone, Debug, Default)]
pub struct RequestLease(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    /// Cancelled when the network is about to move.
    moving: CancellationToken,
    state: Mutex<HoldState>,
}

#[derive(Debug)]
enum HoldState {
    /// The network waits for this request before it moves.
    Held(#[allow(dead_code, reason = "dropping it ends the wait")] TaskTrackerToken),
    /// The request does not depend on the network's location.
    Released,
    /// The request did nothing and is repeated at the next owner.
    RetryOnOwner,
}

impl RequestLease {
    pub(super) fn new(lease: &ShardLease, admitted: TaskTrackerToken) -> Self {
        Self(Some(Arc::new(Inner { moving: lease.ending.clone(), state: Mutex::new(HoldState::Held(admitted)) })))
    }

    /// From here on the request needs nothing in this node's memory: its network may move, and its response stays
    /// valid.
    pub fn release(&self) {
        self.set(HoldState::Released);
    }

    /// Discards the response and repeats the request at the network's next owner; call it only if the request did
    /// nothing.
    pub fn retry_on_owner(&self) {
        self.set(HoldState::RetryOnOwner);
    }

    /// Waits until the network is about to move.
    pub async fn wait_for_move(&self) {
        match &self.0 {
            Some(inner) => inner.moving.cancelled().await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn is_released(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| matches!(*inner.state.lock(), HoldState::Released))
    }

    pub(super) fn wants_retry(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| matches!(*inner.state.lock(), HoldState::RetryOnOwner))
    }

    fn set(&self, state: HoldState) {
        if let Some(inner) = &self.0 {
            *inner.state.lock() = state;
        }
    }
}

impl<S: Sync> FromRequestParts<S> for RequestLease {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
