//! The store's record of a group between the calls of its members.

use crate::config::Config;
use network_hub_module::matchmaking::MatchRequest;
use network_hub_module::{HostError, candidates, store, warn};

/// Maximum number of remembered members.
const MAX_MEMBERS: usize = 50;

/// A group, seen from the member who is matched.
#[derive(Debug, Default)]
pub(crate) struct Group {
    key: String,
    /// The expected number of members, or the known one if larger.
    pub(crate) size: u32,
    /// The other members, the latest first.
    pub(crate) others: Vec<String>,
    /// Last target of one of them, with its time.
    last_sent: Option<(String, u64)>,
}

impl Group {
    /// The group of the player; none if they play alone.
    pub(crate) fn of(config: &Config, request: &MatchRequest) -> Option<Self> {
        let (scope, owner) = (request.affinity_owner_scope.as_ref()?, request.affinity_owner_id.as_ref()?);
        let expected = *config.groups.iter().find(|(name, _)| name.eq_ignore_ascii_case(scope))?.1;
        let key = ["group:", &scope.to_ascii_lowercase(), ":", owner].concat();
        let known = store::get(&key).unwrap_or_else(|_| {
            warn!("what is known of the group could not be read");
            None
        });
        let mut group = Self { key, ..Self::parse(&known.unwrap_or_default()) };
        group.others.retain(|other| request.player_uuid.as_ref() != Some(other));
        group.size = expected.max(u32::try_from(group.others.len() + 1).unwrap_or(u32::MAX));
        Some(group)
    }

    /// Last target of one of the others, if that was recently.
    pub(crate) fn followed(&self, now_ms: u64, within_ms: u64) -> Option<&str> {
        let (place, at) = self.last_sent.as_ref()?;
        (now_ms < at.saturating_add(within_ms)).then_some(place)
    }

    /// Remembers the target of a member.
    pub(crate) fn remember(&self, config: &Config, now_ms: u64, player: &str, place: &str) -> Result<(), HostError> {
        let mut text = format!("{now_ms}\n{place}\n{player}");
        for other in self.others.iter().take(MAX_MEMBERS - 1) {
            text.push('\n');
            text.push_str(other);
        }
        store::set(&self.key, &text, Some(config.remember_ms.max(1)))
    }

    /// Parses one line each: time, target, then the members.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let sent = lines.next().and_then(|at| at.parse().ok()).zip(lines.next());
        Self {
            last_sent: sent.map(|(at, place)| (place.to_owned(), at)),
            others: lines.map(String::from).collect(),
            ..Self::default()
        }
    }
}

/// Names a candidate beyond this call.
pub(crate) fn name_of(candidate: u32) -> String {
    [candidates::server_id(candidate), candidates::world_id(candidate)].join("/")
}
