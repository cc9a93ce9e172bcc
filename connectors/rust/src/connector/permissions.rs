//! Permissions of players.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::time::Instant;
use uuid::Uuid;

use crate::model::EffectivePermissions;
use crate::{HubClient, HubError};

/// Lifetime of the permissions of players who did not join or have left.
const KEPT: Duration = Duration::from_mins(5);

/// Permissions of players. Answers immediately, from memory; while the hub is away, with the last known state. Read when a
/// player is checked, and again when the hub announces a change.
#[derive(Debug)]
pub struct PermissionCache {
    client: HubClient,
    context: Option<String>,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    entries: HashMap<Uuid, Entry>,
    /// Time of the last announced change.
    changed_at: Instant,
}

#[derive(Clone, Debug)]
struct Entry {
    /// In lower case.
    nodes: Arc<HashMap<String, bool>>,
    answer: Arc<EffectivePermissions>,
    etag: Option<String>,
    asked_at: Instant,
}

impl PermissionCache {
    pub(super) fn new(client: HubClient, context: Option<String>) -> Self {
        Self { client, context, state: RwLock::new(State { entries: HashMap::new(), changed_at: Instant::now() }) }
    }

    /// True if a player has a permission; false for unknown players.
    pub fn has(&self, player: Uuid, node: &str) -> bool {
        self.check(player, node) == Some(true)
    }

    /// Allowed, denied, or none where the network says nothing: then it is up to the server's defaults.
    pub fn check(&self, player: Uuid, node: &str) -> Option<bool> {
        let nodes = Arc::clone(&self.state.read().entries.get(&player)?.nodes);
        let name = node.to_lowercase();
        if let Some(value) = nodes.get(&name) {
            return Some(*value);
        }
        // Of wildcards the longest wins; `kit.*` does not cover `kit` itself.
        let wildcards = name.rmatch_indices('.').map(|(end, _)| format!("{}.*", &name[..end]));
        wildcards.chain(["*".to_owned()]).find_map(|wildcard| nodes.get(&wildcard).copied())
    }

    /// The hub's last answer about a player, with their groups.
    pub fn get(&self, player: Uuid) -> Option<Arc<EffectivePermissions>> {
        self.state.read().entries.get(&player).map(|entry| Arc::clone(&entry.answer))
    }

    /// True if the answer of a load, which has no context, is valid for this cache.
    pub(super) fn is_for_everywhere(&self) -> bool {
        self.context.is_none()
    }

    /// An answer to a question that was asked at this time.
    pub(super) fn put(&self, player: Uuid, answer: EffectivePermissions, etag: Option<String>, asked_at: Instant) {
        let nodes = &answer.permissions;
        let nodes = nodes.iter().filter_map(|(node, value)| Some((node.to_lowercase(), (*value)?))).collect();
        let entry = Entry { nodes: Arc::new(nodes), answer: Arc::new(answer), etag, asked_at };
        self.insert(player, entry);
    }

    /// Of two answers the one that was asked for later counts.
    fn insert(&self, player: Uuid, entry: Entry) {
        let entries = &mut self.state.write().entries;
        if entries.get(&player).is_none_or(|known| known.asked_at <= entry.asked_at) {
            entries.insert(player, entry);
        }
    }

    pub(super) async fn refresh(&self, player: Uuid) -> Result<(), HubError> {
        let known = self.state.read().entries.get(&player).cloned();
        let asked_at = Instant::now();
        let etag = known.as_ref().and_then(|entry| entry.etag.as_deref());
        let (answer, etag) = self.client.refresh_effective_permissions(player, self.context.as_deref(), etag).await?;
        match (answer, known) {
            (Some(answer), _) => self.put(player, answer, etag, asked_at),
            (None, Some(known)) => self.insert(player, Entry { etag, asked_at, ..known }),
            (None, None) => {}
        }
        Ok(())
    }

    /// Records that an event announced a change.
    pub(super) fn changed(&self) {
        self.state.write().changed_at = Instant::now();
    }

    /// True if a change was announced after the known state was requested.
    pub(super) fn may_be_stale(&self, player: Uuid) -> bool {
        let state = self.state.read();
        state.entries.get(&player).is_none_or(|entry| entry.asked_at < state.changed_at)
    }

    /// True if the known state is older than this revision.
    pub(super) fn is_before(&self, player: Uuid, revision: Option<i64>) -> bool {
        let known = self.get(player).map(|answer| answer.revision);
        known.is_none_or(|known| revision.is_none_or(|revision| known < revision))
    }

    /// True if a player's permissions have expired or are unknown.
    pub(super) fn has_expired(&self, player: Uuid, hub_now: i64) -> bool {
        self.get(player).is_none_or(|answer| answer.valid_until.is_some_and(|until| until <= hub_now))
    }

    /// Forgets those who are not online.
    pub(super) fn prune(&self, is_online: impl Fn(&Uuid) -> bool) {
        self.state.write().entries.retain(|player, entry| is_online(player) || entry.asked_at.elapsed() < KEPT);
    }
}
