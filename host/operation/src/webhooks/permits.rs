//! Permits for requests to webhooks, of which each network gets its share at a node.

use hub_db::{FairPermit, FairPermits};

use crate::values::NetworkId;

/// Webhooks of a network that are served at once.
pub(super) const MAX_OF_NETWORK: usize = 64;
/// Requests of a webhook at once.
pub(super) const MAX_OF_WEBHOOK: usize = 32;

/// Webhooks of a node that are served at once.
const MAX_SERVED: usize = 256;
/// Those that failed the last time: while they hang, the others have their own permits.
const MAX_FAILING: usize = 128;
/// Further requests of webhooks that are served.
const MAX_FURTHER: usize = 256;

/// Permits of a node. A network alone holds half of them, and a later one always finds some. A request looks up its
/// receiver's name itself, so these are the bounds of look-ups, too.
#[derive(Debug)]
pub(super) struct RequestPermits {
    served: FairPermits,
    failing: FairPermits,
    further: FairPermits,
}

impl RequestPermits {
    pub(super) fn new() -> Self {
        Self {
            served: FairPermits::new(MAX_SERVED),
            failing: FairPermits::new(MAX_FAILING),
            further: FairPermits::new(MAX_FURTHER),
        }
    }

    /// Waits until a webhook may be served, with one request at a time.
    pub(super) async fn serve(&self, network: NetworkId, is_failing: bool) -> Option<FairPermit> {
        let permits = if is_failing { &self.failing } else { &self.served };
        permits.acquire(network.0).await
    }

    /// A permit for a further request of a webhook, if there is one now.
    pub(super) fn try_further(&self, network: NetworkId) -> Option<FairPermit> {
        self.further.try_acquire(network.0)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn networks_with_many_requests_leave_some_to_others() {
        let permits = RequestPermits::new();
        let hostile = (1..=5).map(|id| NetworkId(Uuid::from_u128(id)));
        let serve = |network| permits.serve(network, true).now_or_never().flatten();
        let held: Vec<_> = hostile
            .clone()
            .map(|network| {
                let served = (0..MAX_OF_NETWORK).map_while(|_| serve(network));
                let further = std::iter::from_fn(|| permits.try_further(network));
                (served.collect::<Vec<_>>(), further.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(held.iter().map(|(served, _)| served.len()).collect::<Vec<_>>(), [64, 32, 16, 8, 4]);
        assert_eq!(held.iter().map(|(_, further)| further.len()).collect::<Vec<_>>(), [128, 64, 32, 16, 8]);
        let other = NetworkId(Uuid::from_u128(6));
        assert!(serve(other).is_some() && permits.try_further(other).is_some());
        assert!(permits.serve(other, false).now_or_never().flatten().is_some());
    }
}
