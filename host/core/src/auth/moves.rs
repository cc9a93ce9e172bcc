//! Networks that move to another hub: none of their requests is served here from the freeze on.
//!
//! The database decides: a moving network is suspended there. This memory lets a node prove that none of its requests is
//! under way any more, which were admitted before.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::auth::model::KeyId;
use crate::http::error::ApiError;
use crate::values::NetworkId;

/// State of a move in the database: the network leaves this hub, has left it, or arrives.
pub const LEAVING: &str = "LEAVING";
pub const LEFT: &str = "LEFT";
pub const ARRIVING: &str = "ARRIVING";

/// Requests under way, by network, and the networks that admit none.
#[derive(Clone, Debug, Default)]
pub struct MovingNetworks(Arc<Mutex<Inner>>);

/// Place of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this hub.
    Here,
    /// Between two hubs.
    OnItsWay,
    /// At the hub with this address.
    Away(Arc<str>),
}

#[derive(Debug, Default)]
struct Inner {
    running: HashMap<NetworkId, Running>,
    /// Networks that admit no requests, and where those are that have left.
    moves: HashMap<NetworkId, Option<Arc<str>>>,
}

#[derive(Debug, Default)]
struct Running {
    requests: usize,
    /// Cancelled when the requests have had their time.
    cut: CancellationToken,
}

/// A request of a network, until it is dropped. It is in the request's extensions, for what goes on without its caller.
#[derive(Debug)]
pub struct Admitted {
    of: MovingNetworks,
    network: NetworkId,
    /// Cancelled when the network goes on without the answer.
    pub cut: CancellationToken,
}

impl MovingNetworks {
    /// Admits a request, unless the network moves.
    pub fn admit(&self, network: NetworkId) -> Result<Arc<Admitted>, ApiError> {
        let mut inner = self.0.lock();
        // Also where it has left: the database says that it is here, and this memory will in a moment.
        if inner.moves.contains_key(&network) {
            return Err(refusal(false));
        }
        let running = inner.running.entry(network).or_default();
        running.requests += 1;
        Ok(Arc::new(Admitted { of: self.clone(), network, cut: running.cut.clone() }))
    }

    /// Place of a network.
    pub fn place(&self, network: NetworkId) -> Place {
        match self.0.lock().moves.get(&network) {
            None => Place::Here,
            Some(None) => Place::OnItsWay,
            Some(Some(url)) => Place::Away(Arc::clone(url)),
        }
    }

    /// True if a key that is unknown may be of a network which arrives: its rows are not all here yet.
    pub(super) fn may_arrive(&self, id: &KeyId) -> bool {
        let is_here = |network: &NetworkId| id.0.starts_with(&format!("{:02x}", network.shard()));
        self.0.lock().moves.iter().any(|(network, moved_to)| moved_to.is_none() && is_here(network))
    }

    /// Sets the networks that move or have moved, by the database. The others are served again.
    pub fn set(&self, moves: HashMap<NetworkId, Option<Arc<str>>>) {
        self.0.lock().moves = moves;
    }

    /// Number of a network's requests under way.
    pub fn requests(&self, network: NetworkId) -> usize {
        self.0.lock().running.get(&network).map_or(0, |running| running.requests)
    }

    /// Ends the requests under way: the network does not wait for them.
    pub fn cut(&self, network: NetworkId) {
        if let Some(running) = self.0.lock().running.get(&network) {
            running.cut.cancel();
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut inner = self.of.0.lock();
        if let Some(running) = inner.running.get_mut(&self.network) {
            running.requests -= 1;
            if running.requests == 0 {
                inner.running.remove(&self.network);
            }
        }
    }
}

/// Refusal of a suspended network's request.
pub(super) fn refusal_of(move_state: Option<&str>) -> ApiError {
    match move_state {
        None => ApiError::new(StatusCode::FORBIDDEN, "network_suspended", "This network is suspended."),
        Some(state) => refusal(state == LEFT),
    }
}

/// Refusal of a request while its network moves, or after it.
pub fn refusal(has_left: bool) -> ApiError {
    if has_left {
        return ApiError::new(StatusCode::FORBIDDEN, "network_moved", "This network moved to another hub.");
    }
    let message = "This network is moving to another hub; try again in a moment.";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "network_moving", message).retry_after(1)
}

/// Error for a request that was under way when its network moved.
pub(super) fn interrupted() -> ApiError {
    // No `Retry-After`: a repetition may double the effect.
    let message = "This network is moving to another hub; the request may or may not have taken effect.";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "network_moving", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_network_admits_nothing_and_counts_what_it_admitted() {
        let networks = MovingNetworks::default();
        let [one, other] = [1, 2].map(|it| NetworkId(uuid::Uuid::from_u128(it)));
        let first = networks.admit(one).unwrap();
        networks.set([(one, None)].into());
        assert_eq!(networks.admit(one).unwrap_err().code(), "network_moving");
        assert!(networks.admit(other).is_ok(), "another network is served");
        assert_eq!((networks.requests(one), networks.requests(other)), (1, 0));
        networks.cut(one);
        assert!(first.cut.is_cancelled());
        drop(first);
        let key = |shard: u16| KeyId(format!("{shard:02x}abcdefghij"));
        assert!(networks.may_arrive(&key(one.shard())) && !networks.may_arrive(&key(other.shard())));
        assert_eq!(networks.requests(one), 0);
        networks.set([(one, Some("http://there".into()))].into());
        assert_eq!(networks.admit(one).unwrap_err().code(), "network_moving", "it may be back");
        assert_eq!(networks.place(one), Place::Away("http://there".into()));
        networks.set(HashMap::new());
        assert!(!networks.admit(one).unwrap().cut.is_cancelled(), "served again");
    }
}
