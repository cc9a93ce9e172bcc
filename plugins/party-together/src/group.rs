//! What is remembered of a group between the calls of its members.

use crate::config::Config;
use network_hub_module::matchmaking::MatchRequest;
use network_hub_module::{HostError, candidates, store, warn};

/// The most members that are remembered.
const MOST_MEMBERS: usize = 50;

/// A group whose member is looking for a place.
#[derive(Debug, Default)]
pub(crate) struct Group {
    key: String,
    /// How many it is expected to have, or has been seen to have.
    pub(crate) size: u32,
    /// Its members but the one who is looking, the latest first.
    pub(crate) others: Vec<String>,
    /// Where the last of them was sent, and when.
    sent: Option<(String, u64)>,
}

impl Group {
    /// The group of who is looking; none where they are looking for themselves.
    pub(crate) fn of(config: &Config, request: &MatchRequest) -> Option<Self> {
        let (scope, owner) = (request.affinity_owner_scope.as_ref()?, request.affinity_owner_id.as_ref()?);
        let expected = *config.groups.iter().find(|(name, _)| name.eq_ignore_ascii_case(scope))?.1;
        let key = ["group:", &scope.to_ascii_lowercase(), ":", owner].concat();
        let known = store::get(&key).unwrap_or_else(|_| {
            warn!("what is known of the group could not be read");
            None
        });
        let mut group = Self { key, ..Self::read(&known.unwrap_or_default()) };
        group.others.retain(|other| request.player_uuid.as_ref() != Some(other));
        group.size = expected.max(u32::try_from(group.others.len() + 1).unwrap_or(u32::MAX));
        Some(group)
    }

    /// Where the last of the others was sent, if that was a short while ago.
    pub(crate) fn followed(&self, now_ms: u64, within_ms: u64) -> Option<&str> {
        let (place, at) = self.sent.as_ref()?;
        (now_ms < at.saturating_add(within_ms)).then_some(place)
    }

    /// Remembers where a member is sent.
    pub(crate) fn remember(&self, config: &Config, now_ms: u64, player: &str, place: &str) -> Result<(), HostError> {
        let mut text = format!("{now_ms}\n{place}\n{player}");
        for other in self.others.iter().take(MOST_MEMBERS - 1) {
            text.push('\n');
            text.push_str(other);
        }
        store::set(&self.key, &text, Some(config.remember_ms.max(1)))
    }

    /// A line each: when, where, then the members.
    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let sent = lines.next().and_then(|at| at.parse().ok()).zip(lines.next());
        Self {
            sent: sent.map(|(at, place)| (place.to_owned(), at)),
            others: lines.map(String::from).collect(),
            ..Self::default()
        }
    }
}

/// What a candidate is known by in the next call.
pub(crate) fn name_of(candidate: u32) -> String {
    [candidates::server_id(candidate), candidates::world_id(candidate)].join("/")
}
