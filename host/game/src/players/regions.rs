//! Regions of players in memory, for matchmaking, which must not wait for the database.

use std::time::Duration;

use moka::sync::Cache;

use crate::app::App;
use crate::cluster::NetworkState;
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

/// The regions as what a deleted network leaves in memory. They are no owner's alone: they stay where a network moves.
pub struct KnownRegions;

impl NetworkState for KnownRegions {
    fn evict(&self, _app: &App, _network: NetworkId) {}

    fn forget(&self, app: &App, network: NetworkId) {
        app.state::<PlayerRegions>().forget(network);
    }
}

impl PlayerRegions {
    pub(super) fn get(&self, network: NetworkId, player: PlayerId) -> Option<Region> {
        self.0.get(&(network, player))
    }

    /// Drops the players of a deleted network.
    fn forget(&self, network: NetworkId) {
        for (key, _) in self.0.iter().filter(|(key, _)| key.0 == network) {
            self.0.invalidate(&*key);
        }
    }

    /// Drops an erased player.
    pub fn forget_player(&self, network: NetworkId, player: PlayerId) {
        self.0.invalidate(&(network, player));
    }

    pub(super) fn put(&self, network: NetworkId, player: PlayerId, region: Region) {
        self.0.insert((network, player), region);
    }
}
