//! The first stage: the best candidates, in the built-in order.
//!
//! Servers are found by the index of presence. Worlds are all evaluated, under one lock if they are few; many are
//! surveyed before.

mod servers;
mod survey;

use crate::app::App;
use crate::compute::compute;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::model::{Destination, Match, MatchResult, Mode};
use crate::matchmaking::policy;
use crate::presence::{NetworkPresence, Presence};
use crate::values::NetworkId;

/// Candidates evaluated at once, under one lock: half a millisecond.
const BATCH: usize = 512;
/// Maximum number of candidates for modules and explanations.
pub(crate) const MOST_OFFERED: usize = 1_000;

/// The best open candidates, in the built-in order.
#[derive(Debug)]
pub(crate) struct Best<C> {
    open: Vec<C>,
    /// True if fullness alone keeps at least one from being joined. Counts only if none is open.
    any_full: bool,
}

/// Best candidates of many, found in batches.
pub(crate) type Survey = Best<Destination>;

/// Reason for which no candidate is open. None: others took those of the survey, but a new one may find more.
pub(crate) struct NoneOpen(Option<MatchResult>);

impl NoneOpen {
    pub(crate) fn into_match(self) -> Option<Match> {
        self.0.map(Match::none)
    }
}

/// Calls `decide` under presence's lock; if candidates are many, with a survey that has the best `surveyed` of them.
pub(crate) async fn decide<T>(
    app: &App,
    network: NetworkId,
    mode: &Mode,
    player: &PlayerContext,
    surveyed: usize,
    mut decide: impl FnMut(&mut NetworkPresence, Option<&Survey>) -> T,
) -> T {
    let presence = app.state::<Presence>();
    let decided = presence.with(network, |presence| {
        presence.release_expired(player.now);
        let is_few = matches!(mode, Mode::Server { .. }) || !are_many(presence, mode, player);
        is_few.then(|| decide(presence, None))
    });
    if let Some(decided) = decided {
        return decided;
    }
    compute(|| {
        let survey = survey::survey(app, network, mode, player, surveyed);
        presence.with(network, |presence| decide(presence, Some(&survey)))
    })
    .await
}

/// The best `wanted` open candidates, at least one. Call it in [`decide`].
pub(crate) fn best<'a>(
    presence: &'a NetworkPresence,
    mode: &Mode,
    player: &PlayerContext,
    survey: Option<&Survey>,
    wanted: usize,
) -> Result<Vec<Candidate<'a>>, NoneOpen> {
    let Best { open, any_full } = match (mode, survey) {
        (_, Some(Best { open, any_full })) => {
            let now = open.iter().filter_map(|it| Candidate::at(presence, it, player));
            let still_open: Vec<_> = now.filter(Candidate::is_open).take(wanted).collect();
            if still_open.is_empty() && !open.is_empty() {
                return Err(NoneOpen(None));
            }
            Best { open: still_open, any_full: *any_full }
        }
        (Mode::Server { server_type }, None) => servers::best_servers(presence, server_type, player, wanted),
        (Mode::World { .. } | Mode::Direct(_), None) => {
            let mut open = all(presence, mode, player);
            let any_full = open.iter().any(Candidate::is_full);
            open.retain(Candidate::is_open);
            policy::keep_best(&mut open, wanted);
            Best { open, any_full }
        }
    };
    if open.is_empty() { Err(NoneOpen(Some(mode.none_open(any_full)))) } else { Ok(open) }
}

/// All candidates of a mode with a choice.
pub(crate) fn all<'a>(presence: &'a NetworkPresence, mode: &Mode, player: &PlayerContext) -> Vec<Candidate<'a>> {
    match mode {
        Mode::Server { server_type } => {
            let servers = presence.of_type(server_type, player.now);
            servers.map(|server| Candidate::evaluate(presence, server, None, player)).collect()
        }
        Mode::World { server_type, world_type } => {
            let servers = presence.of_type(server_type, player.now);
            servers.flat_map(|server| Candidate::worlds_on(presence, server, world_type.as_ref(), player)).collect()
        }
        Mode::Direct(_) => vec![],
    }
}

/// True if a mode has more candidates than are evaluated at once.
pub(crate) fn are_many(presence: &NetworkPresence, mode: &Mode, player: &PlayerContext) -> bool {
    match mode {
        Mode::Server { server_type } => presence.count_of_type(server_type) > BATCH,
        Mode::World { server_type, .. } => {
            let mut worlds = presence.of_type(server_type, player.now).map(|server| server.worlds.len());
            worlds.try_fold(0, |sum: usize, more| Some(sum + more).filter(|sum| *sum <= BATCH)).is_none()
        }
        Mode::Direct(_) => false,
    }
}
