//! A network's servers and their indexes, maintained on each change: by type, by the order in which players are sent to
//! them, and by the expiry of their reservations.

use std::collections::{BTreeSet, HashMap};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::memory::FastMap;
use crate::presence::memory::server::{Server, free_slots};
use crate::presence::memory::watch::Watch;
use crate::presence::model::Role;
use crate::values::{Identifier, PlayerId};

/// Order of servers in one region, best first: minigames by the fewest missing players and then the fullest, others by
/// the emptiest.
pub(crate) fn join_order(players_to_start: u32, taken: u32) -> (u32, i64) {
    let players = i64::from(taken);
    (players_to_start.saturating_sub(taken), if players_to_start > 0 { -players } else { players })
}

/// A server's rank among those whose role and game accept players, for players without a relation to it. Full servers
/// come last. Reservations count until they are swept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JoinRank {
    is_full: bool,
    order: (u32, i64),
    pub server_id: Arc<str>,
    pub free: u32,
}

impl JoinRank {
    fn of(id: &Arc<str>, server: &Server) -> Option<Self> {
        if server.info.role == Role::Proxy || !server.takes_players() {
            return None;
        }
        let taken = server.current_players() + server.reservations.len() as u32;
        let free = free_slots(server.info.max_players, taken);
        let order = join_order(server.players_to_start, taken);
        Some(Self { is_full: free == 0, order, server_id: Arc::clone(id), free })
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }
}

/// A network's servers by id.
#[derive(Debug, Default)]
pub(super) struct Servers {
    entries: FastMap<Arc<str>, Entry>,
    index: Index,
}

/// Access for a watcher.
impl Servers {
    pub(super) fn set_watch(&mut self, watch: Option<Watch>) {
        self.index.watch = watch;
    }

    pub(super) fn watch(&mut self) -> Option<&mut Watch> {
        self.index.watch.as_mut()
    }
}

#[derive(Debug)]
struct Entry {
    server: Server,
    indexed: Indexed,
}

/// Indexed values of a server.
#[derive(Debug, Default, PartialEq, Eq)]
struct Indexed {
    rank: Option<JoinRank>,
    /// Time at which its first reservation expires.
    expires_at: Option<Millis>,
    reservations: usize,
}

#[derive(Debug, Default)]
struct Index {
    by_type: HashMap<Identifier, OfType>,
    expiring: BTreeSet<(Millis, Arc<str>)>,
    reservations: usize,
    watch: Option<Watch>,
}

/// The servers of a type.
#[derive(Debug, Default)]
struct OfType {
    ids: BTreeSet<Arc<str>>,
    ranks: BTreeSet<JoinRank>,
    by_region: HashMap<Region, BTreeSet<JoinRank>>,
}

impl Servers {
    pub(super) fn get(&self, id: &str) -> Option<&Server> {
        self.entries.get(id).map(|entry| &entry.server)
    }

    /// Mutable access to anything but the server's type and region. The indexes are updated when the guard is dropped.
    pub(super) fn get_mut(&mut self, id: &str) -> Option<ServerGuard<'_>> {
        // The index shares the id's copy.
        let (id, _) = self.entries.get_key_value(id)?;
        let id = Arc::clone(id);
        let entry = self.entries.get_mut(&id)?;
        Some(ServerGuard { id, entry, index: &mut self.index })
    }

    /// Shared copy of a server's id, or a new one.
    pub(super) fn id_of(&self, id: &str) -> Arc<str> {
        self.entries.get_key_value(id).map_or_else(|| id.into(), |(id, _)| Arc::clone(id))
    }

    pub(super) fn insert(&mut self, server: Server) {
        let id = self.id_of(server.info.server_id.as_str());
        self.remove(&id);
        let of_type = self.index.by_type.entry(server.info.server_type.clone()).or_default();
        of_type.ids.insert(Arc::clone(&id));
        let mut entry = Entry { server, indexed: Indexed::default() };
        self.index.update(&id, &mut entry);
        self.entries.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<(Arc<str>, Server)> {
        let (id, Entry { server, indexed }) = self.entries.remove_entry(id)?;
        self.index.remove(&id, &server, &indexed);
        if let Some(watch) = &mut self.index.watch {
            watch.server(&id);
        }
        if let Some(of_type) = self.index.by_type.get_mut(&server.info.server_type) {
            of_type.ids.remove(&id);
            if of_type.ids.is_empty() {
                self.index.by_type.remove(&server.info.server_type);
            }
        }
        Some((id, server))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Server)> {
        self.entries.iter().map(|(id, entry)| (id, &entry.server))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Server> {
        self.entries.values().map(|entry| &entry.server)
    }

    /// Ids of a type's servers, in order.
    pub(super) fn of_type(&self, kind: &Identifier) -> impl ExactSizeIterator<Item = &Arc<str>> + use<'_> {
        const NONE: &BTreeSet<Arc<str>> = &BTreeSet::new();
        self.index.by_type.get(kind).map_or(NONE, |of_type| &of_type.ids).iter()
    }

    /// Ranks of a type's servers, in order.
    pub(super) fn ranks(&self, kind: &Identifier) -> impl Iterator<Item = &JoinRank> + use<'_> {
        self.index.by_type.get(kind).into_iter().flat_map(|of_type| &of_type.ranks)
    }

    /// Ranks of a region only.
    pub(super) fn ranks_in(&self, kind: &Identifier, region: &Region) -> impl Iterator<Item = &JoinRank> + use<'_> {
        let ranks = self.index.by_type.get(kind).and_then(|of_type| of_type.by_region.get(region));
        ranks.into_iter().flatten()
    }

    /// Servers with expired reservations.
    pub(super) fn with_expired(&self, now: Millis) -> Vec<Arc<str>> {
        let expired = self.index.expiring.iter().take_while(|(expires_at, _)| *expires_at <= now);
        expired.map(|(_, id)| Arc::clone(id)).collect()
    }

    /// All reservations, expired or not.
    pub(super) fn reservation_count(&self) -> usize {
        self.index.reservations
    }
}

impl Index {
    /// Updates the indexes for a server.
    fn update(&mut self, id: &Arc<str>, Entry { server, indexed }: &mut Entry) {
        let changed = Indexed {
            rank: JoinRank::of(id, server),
            expires_at: server.reservations.first_expiry(),
            reservations: server.reservations.len(),
        };
        if changed != *indexed {
            if let Some(watch) = &mut self.watch {
                watch.server(id);
            }
            self.remove(id, server, indexed);
            *indexed = changed;
            self.add(id, server, indexed);
        }
    }

    fn add(&mut self, id: &Arc<str>, server: &Server, indexed: &Indexed) {
        self.reservations += indexed.reservations;
        if let Some(expires_at) = indexed.expires_at {
            self.expiring.insert((expires_at, Arc::clone(id)));
        }
        if let (Some(rank), Some(of_type)) = (&indexed.rank, self.by_type.get_mut(&server.info.server_type)) {
            of_type.ranks.insert(rank.clone());
            // Looked up first: regions are rarely new.
            if let Some(ranks) = of_type.by_region.get_mut(&server.info.region) {
                ranks.insert(rank.clone());
            } else {
                of_type.by_region.insert(server.info.region.clone(), BTreeSet::from([rank.clone()]));
            }
        }
    }

    fn remove(&mut self, id: &Arc<str>, server: &Server, indexed: &Indexed) {
        self.reservations -= indexed.reservations;
        if let Some(expires_at) = indexed.expires_at {
            self.expiring.remove(&(expires_at, Arc::clone(id)));
        }
        if let (Some(rank), Some(of_type)) = (&indexed.rank, self.by_type.get_mut(&server.info.server_type)) {
            of_type.ranks.remove(rank);
            if let Some(ranks) = of_type.by_region.get_mut(&server.info.region) {
                ranks.remove(rank);
            }
        }
    }
}

/// Mutable access to a server.
pub(super) struct ServerGuard<'a> {
    id: Arc<str>,
    entry: &'a mut Entry,
    index: &'a mut Index,
}

impl ServerGuard<'_> {
    /// Notes for a watcher that a player joined.
    pub(super) fn note_joined(&mut self, player: PlayerId) {
        if let Some(watch) = &mut self.index.watch {
            watch.joined(player, &self.id);
        }
    }
}

impl Deref for ServerGuard<'_> {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.entry.server
    }
}

impl DerefMut for ServerGuard<'_> {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.entry.server
    }
}

impl Drop for ServerGuard<'_> {
    fn drop(&mut self) {
        self.index.update(&self.id, self.entry);
    }
}
