//! Regions of players in memory, for matchmaking, which must not wait for the database.

use std::time::Duration;

use moka::sync::Cache;

use crate::geo::Region;
use crate::values::{NetworkId, PlayerId};

const CAPACITY: u64 = 100_000;
/// Maximum delay of changes made at another node.
const TTL: Duration = Duration::from_mins(10);

/// A cache of players' regions.
#[derive(Clone, Debug)]
pub struct PlayerRegions(Cache<(NetworkId, PlayerId), Region>);

impl Default for PlayerRegions {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(CAPACITY).time_to_live(TTL).build())
    }
}

impl PlayerRegions {
    pub(super) fn get(&self, network: NetworkId, player: PlayerId) -> Option<Region> {
        self.0.get(&(network, player))
    }

    /// Drops the players of a deleted network.
    pub(crate) fn forget(&self, network: NetworkId) {
        for (key, _) in self.0.iter().filter(|(key, _)| key.0 == network) {
            self.0.invalidate(&*key);
        }
    }

    /// Drops an erased player.
    pub(crate) fn forget_player(&self, network: NetworkId, player: PlayerId) {
        self.0.invalidate(&(network, player));
    }

    pub(super) fn put(&self, network: NetworkId, player: PlayerId, region: Region) {
        self.0.insert((network, player), region);
    }
}
