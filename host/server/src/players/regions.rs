//! The regions of players that matchmaking asks for, in memory: a find must not wait for the database.

use std::time::Duration;

use moka::sync::Cache;

use crate::geo::Region;
use crate::values::{NetworkId, PlayerId};

/// Players remembered at once.
const MOST: u64 = 100_000;
/// What another node learned counts here after this long.
const GOOD_FOR: Duration = Duration::from_mins(10);

/// Where players are routed from, as far as it was learned or asked lately.
#[derive(Clone, Debug)]
pub struct PlayerRegions(Cache<(NetworkId, PlayerId), Region>);

impl Default for PlayerRegions {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MOST).time_to_live(GOOD_FOR).build())
    }
}

impl PlayerRegions {
    pub(super) fn get(&self, network: NetworkId, player: PlayerId) -> Option<Region> {
        self.0.get(&(network, player))
    }

    pub(super) fn put(&self, network: NetworkId, player: PlayerId, region: Region) {
        self.0.insert((network, player), region);
    }
}
