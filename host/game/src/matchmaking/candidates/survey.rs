//! The best of many worlds.
//!
//! Evaluating hundreds of thousands of worlds takes a second. It must neither hold the lock of presence that long,
//! since waiting for it blocks a thread that serves other networks, nor run on such a thread.

use super::{BATCH, Best, Survey};
use crate::app::App;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::model::{Destination, Mode};
use crate::matchmaking::policy::Rank;
use crate::presence::Presence;
use crate::values::{Identifier, NetworkId};

/// The best `wanted` worlds.
pub(super) fn survey(app: &App, network: NetworkId, mode: &Mode, player: &PlayerContext, wanted: usize) -> Survey {
    let (mut best, mut any_full) = (BestRanks::new(wanted), false);
    let Mode::World { server_type, world_type } = mode else { return Best { open: vec![], any_full } };
    let servers: Vec<Identifier> = app.state::<Presence>().with(network, |presence| {
        presence.of_type(server_type, player.now).map(|server| server.info.server_id.clone()).collect()
    });
    let mut servers = servers.iter().peekable();
    while servers.peek().is_some() {
        app.state::<Presence>().with(network, |presence| {
            let mut evaluated = 0;
            while evaluated < BATCH
                && let Some(id) = servers.next()
            {
                // The server may have gone offline since.
                let Some(server) = presence.server(id.as_str(), player.now) else { continue };
                evaluated += server.worlds.len();
                for candidate in Candidate::worlds_on(presence, server, world_type.as_ref(), player) {
                    any_full |= candidate.is_full();
                    if candidate.is_open() {
                        best.add(&candidate);
                    }
                }
            }
        });
    }
    Best { open: best.into_sorted(), any_full }
}

/// The best so far.
struct BestRanks {
    /// Fewer than twice the wanted number, in no order.
    ranks: Vec<Rank>,
    wanted: usize,
    /// Candidates after it are not among the best.
    last: Option<Rank>,
}

impl BestRanks {
    fn new(wanted: usize) -> Self {
        Self { ranks: vec![], wanted: wanted.max(1), last: None }
    }

    fn add(&mut self, candidate: &Candidate<'_>) {
        if self.last.as_ref().is_some_and(|last| !last.is_after(candidate)) {
            return;
        }
        self.ranks.push(Rank::of(candidate));
        if self.ranks.len() >= 2 * self.wanted {
            let (_, last, _) = self.ranks.select_nth_unstable(self.wanted - 1);
            self.last = Some(last.clone());
            self.ranks.truncate(self.wanted);
        }
    }

    fn into_sorted(mut self) -> Vec<Destination> {
        self.ranks.sort_unstable();
        self.ranks.truncate(self.wanted);
        self.ranks.into_iter().map(Rank::into_destination).collect()
    }
}
