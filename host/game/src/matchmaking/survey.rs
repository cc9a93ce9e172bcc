//! The best of many worlds.
//!
//! Evaluating hundreds of thousands of worlds takes a second. It must neither hold the lock of presence that long,
//! since waiting for it blocks a thread that serves other networks, nor run on such a thread.

use crate::app::App;
use crate::compute::compute;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::model::{Destination, Mode};
use crate::matchmaking::policy::Rank;
use crate::presence::{NetworkPresence, Presence};
use crate::values::{Identifier, NetworkId};

/// Candidates evaluated at once, under one lock: half a millisecond.
const BATCH: usize = 512;
/// Maximum number of candidates for modules and explanations.
pub(super) const MOST_OFFERED: usize = 1_000;

/// Result of the survey.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The best open candidates, in the built-in order.
    pub(super) best: Vec<Destination>,
    /// True if fullness alone keeps at least one from being joined.
    pub(super) any_full: bool,
}

/// True if there are more candidates than [`BATCH`].
pub(super) fn is_needed(presence: &NetworkPresence, mode: &Mode, player: &PlayerContext) -> bool {
    Candidate::are_many(presence, mode, player, BATCH)
}

/// The best `wanted` worlds.
pub(super) async fn best_of_many(
    app: &App,
    network: NetworkId,
    mode: &Mode,
    player: &PlayerContext,
    wanted: usize,
) -> Survey {
    compute(|| survey(app, network, mode, player, wanted)).await
}

fn survey(app: &App, network: NetworkId, mode: &Mode, player: &PlayerContext, wanted: usize) -> Survey {
    let Mode::World { server_type, world_type } = mode else { return Survey::default() };
    let servers: Vec<Identifier> = app.state::<Presence>().with(network, |presence| {
        presence.of_type(server_type, player.now).map(|server| server.info.server_id.clone()).collect()
    });
    let mut best = Best::new(wanted);
    let (mut any_full, mut servers) = (false, servers.iter().peekable());
    while servers.peek().is_some() {
        app.state::<Presence>().with(network, |presence| {
            let mut evaluated = 0;
            while evaluated < BATCH
                && let Some(id) = servers.next()
            {
                // The server may have gone offline since.
                let Some(server) = presence.server(id.as_str(), player.now) else { continue };
                evaluated +=
                    Candidate::for_each_on(presence, server, world_type.as_ref(), player, |candidate| match candidate
                        .ineligible
                    {
                        None => best.add(&candidate),
                        Some(ineligible) => any_full |= ineligible.is_fullness(),
                    });
            }
        });
    }
    Survey { best: best.into_sorted(), any_full }
}

/// The best so far.
struct Best {
    /// Fewer than twice the wanted number, in no order.
    ranks: Vec<Rank>,
    wanted: usize,
    /// Candidates after it are not among the best.
    last: Option<Rank>,
}

impl Best {
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
