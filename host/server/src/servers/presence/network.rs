//! Who is online in one network: pure state, no I/O. Time is a parameter, and what is over by then does not count,
//! whether or not it was swept away already.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::clock::Millis;
use crate::servers::model::{Heartbeat, Location, Registration};
use crate::servers::presence::reservation::Reservation;
use crate::servers::presence::server::{LiveWorld, Player, Server, live_worlds};
use crate::servers::presence::unsaved::{Mark, Unsaved};
use crate::values::{Identifier, PlayerId};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct NetworkPresence {
    pub(super) servers: HashMap<Arc<str>, Server>,
    by_type: HashMap<Identifier, BTreeSet<Arc<str>>>,
    /// The one server each player is on.
    pub(super) players: HashMap<PlayerId, Arc<str>>,
    /// The one server each player has a slot reserved on.
    pub(super) reserved: HashMap<PlayerId, Arc<str>>,
    pub(super) unsaved: Unsaved,
    /// How often the unsaved was taken: what is marked from now on is part of the next taking.
    pub(crate) taken: u64,
}

/// Why presence did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PresenceError {
    /// The server is not online.
    UnknownServer,
    /// The player is not on that server.
    NotOnServer,
}

impl NetworkPresence {
    /// Nobody is online. `with_slots`: see [`Presence::new`](super::Presence::new).
    pub(super) fn new(with_slots: bool) -> Self {
        Self { unsaved: Unsaved { with_slots, ..Unsaved::default() }, ..Self::default() }
    }

    /// The server, if it is online.
    pub(crate) fn server(&self, id: &str, now: Millis) -> Option<&Server> {
        self.servers.get(id).filter(|server| server.is_online(now))
    }

    /// The online servers, in no order.
    pub(crate) fn online(&self, now: Millis) -> impl Iterator<Item = &Server> {
        self.servers.values().filter(move |server| server.is_online(now))
    }

    /// The online servers of a type, by id.
    pub(crate) fn of_type<'a>(&'a self, kind: &Identifier, now: Millis) -> impl Iterator<Item = &'a Server> + use<'a> {
        self.by_type.get(kind).into_iter().flatten().filter_map(move |id| self.server(id, now))
    }

    /// Where the player is.
    pub(crate) fn locate(&self, player: PlayerId, now: Millis) -> Option<Location> {
        let server = self.server(self.players.get(&player)?, now)?;
        let there = server.players.get(&player).filter(|there| there.is_there(now))?;
        Some(location(server, player, there))
    }

    /// The players online on the servers that `wanted` picks, in no order.
    pub(crate) fn players(&self, now: Millis, wanted: impl Fn(&Server) -> bool) -> Vec<Location> {
        let servers = self.online(now).filter(|server| wanted(server));
        let there = |server: &Server| {
            let players = server.players.iter().filter(|(_, player)| player.is_there(now));
            players.map(|(id, player)| location(server, *id, player)).collect::<Vec<_>>()
        };
        servers.flat_map(there).collect()
    }

    /// A server says that it is there. One that was there already keeps its players, reservations and start time.
    pub(crate) fn register(&mut self, new: Registration, now: Millis, offline_after: Millis) {
        let facts = Arc::new(new.facts);
        let id = self.id_of(facts.server_id.as_str());
        let mut started_at = now;
        let (mut players, mut reservations) = Default::default();
        if let Some(before) = self.servers.remove(&id) {
            self.unlist(&before, &id);
            if before.is_online(now) {
                started_at = before.started_at;
                (players, reservations) = (before.players, before.reservations);
            } else {
                self.forget_people(&before, &id);
            }
        }
        self.insert(Server {
            started_at,
            last_heartbeat: now,
            game_state: new.game_state,
            players_to_start: new.players_to_start,
            worlds: live_worlds(new.worlds),
            offline_at: now.saturating_add(offline_after),
            players,
            reservations,
            facts,
        });
        self.unsaved.server(&id, Mark::Whole);
    }

    /// Brings back a server that the database knew.
    pub(super) fn insert(&mut self, server: Server) {
        let id = self.id_of(server.facts.server_id.as_str());
        self.by_type.entry(server.facts.server_type.clone()).or_default().insert(Arc::clone(&id));
        self.servers.insert(id, server);
    }

    /// A server says that it is still there, how it is, and who is on it.
    pub(crate) fn heartbeat(&mut self, beat: Heartbeat, now: Millis, offline_after: Millis) -> Result<(), PresenceError> {
        let id = self.id_of(beat.server_id.as_str());
        let server = self.servers.get_mut(&id).filter(|it| it.is_online(now)).ok_or(PresenceError::UnknownServer)?;
        server.last_heartbeat = now;
        server.offline_at = now.saturating_add(offline_after);
        let mut mark = Mark::Beat;
        if let Some(state) = beat.game_state
            && server.game_state.as_ref() != Some(&state)
        {
            server.game_state = Some(state);
            mark = Mark::Whole;
        }
        if let Some(players_to_start) = beat.players_to_start
            && server.players_to_start != players_to_start
        {
            server.players_to_start = players_to_start;
            mark = Mark::Whole;
        }
        if let Some(worlds) = beat.worlds {
            let same = worlds.iter().eq(server.worlds.iter().map(|world| &world.report));
            if !same || server.worlds.iter().any(|world| world.arrived > 0) {
                mark = Mark::Whole;
            }
            server.set_worlds(worlds);
        }
        if beat.software.differs_from(&server.facts.software) {
            Arc::make_mut(&mut server.facts).software.update(beat.software);
            mark = Mark::Whole;
        }
        self.unsaved.server(&id, mark);
        if let Some(players) = beat.players {
            self.set_players(&id, players, now);
        }
        Ok(())
    }

    /// Who is not listed has left. Who is listed is there, unless another server has vouched for them lately: then
    /// the list is older than their move, and the next one will not have them any more.
    fn set_players(&mut self, id: &Arc<str>, listed: Vec<(PlayerId, Option<Identifier>)>, now: Millis) {
        let listed: HashMap<_, _> = listed.into_iter().collect();
        let here = self.servers.get(id).into_iter().flat_map(|server| server.players.keys());
        let gone: Vec<_> = here.filter(|player| !listed.contains_key(player)).copied().collect();
        let gone: Vec<_> = gone.into_iter().filter(|player| !self.is_switching(*player, now)).collect();
        for player in gone {
            self.remove_player(player);
        }
        for (player, name) in listed {
            let elsewhere = self.players.get(&player).filter(|at| *at != id).and_then(|at| self.servers.get(at));
            if !elsewhere.is_some_and(|other| other.vouches_for(player, now)) {
                self.place(id, player, name, now);
            }
        }
    }

    /// Whether the player is shown on a server only because they are on their way from it to another.
    fn is_switching(&self, player: PlayerId, now: Millis) -> bool {
        let there = self.players.get(&player).and_then(|at| self.servers.get(at)?.players.get(&player));
        there.and_then(|there| there.gone_at).is_some_and(|at| now < at)
    }

    /// A server shuts down.
    pub(crate) fn unregister(&mut self, id: &str, now: Millis) {
        if self.servers.contains_key(id) {
            self.remove_server(id, now);
        }
    }

    /// A player has come to a server and is on no other any more.
    pub(crate) fn join(
        &mut self,
        server: &Identifier,
        player: PlayerId,
        name: Option<Identifier>,
        now: Millis,
    ) -> Result<(), PresenceError> {
        self.server(server.as_str(), now).ok_or(PresenceError::UnknownServer)?;
        let id = self.id_of(server.as_str());
        self.place(&id, player, name, now);
        Ok(())
    }

    /// A player went to another world of the server they are on.
    pub(crate) fn change_world(
        &mut self,
        server: &Identifier,
        player: PlayerId,
        to: Identifier,
        from: Option<Identifier>,
        now: Millis,
    ) -> Result<(), PresenceError> {
        let server = self.servers.get_mut(server.as_str()).filter(|it| it.is_online(now));
        let player_there = server.ok_or(PresenceError::UnknownServer)?.players.get_mut(&player);
        let there = player_there.ok_or(PresenceError::NotOnServer)?;
        there.previous_world = from.or_else(|| there.world.take());
        there.world = Some(to);
        self.unsaved.players.insert(player);
        Ok(())
    }

    /// A player has left `server`, or whichever they are on. Nothing changes if they are on another by now.
    pub(crate) fn leave(&mut self, player: PlayerId, server: Option<&Identifier>) {
        let at = self.players.get(&player);
        if at.is_some_and(|at| server.is_none_or(|server| server.as_str() == &**at)) {
            self.remove_player(player);
        }
    }

    /// The player leaves that server for another: they are shown on it until they arrive there, at most until `until`,
    /// so that a switch is one and not a leave and a join.
    pub(crate) fn leave_for_another(&mut self, player: PlayerId, server: &Identifier, until: Millis) {
        let there = self.servers.get_mut(server.as_str()).and_then(|server| server.players.get_mut(&player));
        if let Some(there) = there {
            there.gone_at = Some(until);
        }
    }

    /// Keeps a slot on a server for a player on their way, who gives back the one they may have had.
    pub(crate) fn reserve(&mut self, server: &Identifier, slot: Reservation) {
        let id = self.id_of(server.as_str());
        if let Some(player) = slot.player
            && let Some(before) = self.reserved.insert(player, Arc::clone(&id))
            && let Some(server) = self.servers.get_mut(&before)
            && let Some(freed) = server.reservations.take_of(player)
        {
            self.unsaved.freed(&freed);
        }
        if let Some(server) = self.servers.get_mut(&id) {
            self.unsaved.kept(&id, &slot);
            server.reservations.add(slot);
        }
    }

    /// Gives back the slot that is kept on that server for the player.
    pub(crate) fn unreserve(&mut self, server: &Identifier, player: PlayerId) {
        if self.reserved_on(player) == Some(server.as_str()) {
            self.reserved.remove(&player);
            let server = self.servers.get_mut(server.as_str());
            if let Some(freed) = server.and_then(|server| server.reservations.take_of(player)) {
                self.unsaved.freed(&freed);
            }
        }
    }

    /// The slot that is kept on that server for the player.
    pub(crate) fn reservation(&self, server: &Identifier, player: PlayerId, now: Millis) -> Option<&Reservation> {
        self.server(server.as_str(), now)?.reservations.of(player, now)
    }

    /// The id of the server on which the player has a slot reserved.
    pub(crate) fn reserved_on(&self, player: PlayerId) -> Option<&str> {
        self.reserved.get(&player).map(|id| &**id)
    }

    /// Removes what is over. Nothing counts that is, so this only gives memory back, and tells the database.
    pub(crate) fn sweep(&mut self, now: Millis) {
        let silent: Vec<_> =
            self.servers.iter().filter(|(_, server)| !server.is_online(now)).map(|(id, _)| Arc::clone(id)).collect();
        for id in silent {
            let heard = self.servers.get(&id).map_or(now, |server| server.last_heartbeat);
            self.remove_server(&id, heard);
        }
        let gone = self
            .servers
            .values()
            .flat_map(|server| server.players.iter().filter(|(_, player)| !player.is_there(now)).map(|(id, _)| *id));
        for player in gone.collect::<Vec<_>>() {
            self.remove_player(player);
        }
        for (id, server) in &mut self.servers {
            for slot in server.reservations.prune(now) {
                self.unsaved.freed(&slot);
                if let Some(player) = slot.player.filter(|player| self.reserved.get(player) == Some(id)) {
                    self.reserved.remove(&player);
                }
            }
        }
    }

    fn place(&mut self, id: &Arc<str>, player: PlayerId, name: Option<Identifier>, now: Millis) {
        if self.players.get(&player).is_some_and(|at| at != id) {
            self.remove_player(player);
        }
        let Some(server) = self.servers.get_mut(id) else { return };
        if let Some(there) = server.players.get_mut(&player) {
            there.vouched_at = now;
            there.gone_at = None;
            if name.is_some() && there.name != name {
                there.name = name;
                self.unsaved.players.insert(player);
            }
        } else {
            let new =
                Player { name, world: None, previous_world: None, joined_at: now, vouched_at: now, gone_at: None };
            server.players.insert(player, new);
            self.players.insert(player, Arc::clone(id));
            self.unsaved.players.insert(player);
        }
        if self.reserved.get(&player) == Some(id) {
            self.reserved.remove(&player);
            let Some(used) = server.reservations.take_of(player) else { return };
            self.unsaved.freed(&used);
            let is_it = |it: &&mut LiveWorld| used.expires_at > now && used.world.as_ref() == Some(&it.report.world_id);
            if let Some(world) = server.worlds.iter_mut().find(is_it) {
                world.arrived += 1;
                if self.unsaved.with_slots {
                    self.unsaved.server(id, Mark::Whole);
                }
            }
        }
    }

    fn remove_player(&mut self, player: PlayerId) {
        if let Some(at) = self.players.remove(&player) {
            if let Some(server) = self.servers.get_mut(&at) {
                server.players.remove(&player);
            }
            self.unsaved.players.insert(player);
        }
    }

    fn remove_server(&mut self, id: &str, heard: Millis) {
        if let Some((id, server)) = self.servers.remove_entry(id) {
            self.unlist(&server, &id);
            self.forget_people(&server, &id);
            self.unsaved.server(&id, Mark::Gone(heard));
        }
    }

    fn unlist(&mut self, server: &Server, id: &Arc<str>) {
        if let Some(ids) = self.by_type.get_mut(&server.facts.server_type) {
            ids.remove(id);
            if ids.is_empty() {
                self.by_type.remove(&server.facts.server_type);
            }
        }
    }

    /// Those who were on a server that is gone, or on their way there.
    fn forget_people(&mut self, server: &Server, id: &Arc<str>) {
        for player in server.players.keys() {
            self.players.remove(player);
            self.unsaved.players.insert(*player);
        }
        for slot in server.reservations.iter() {
            self.unsaved.freed(slot);
            if let Some(player) = slot.player.filter(|player| self.reserved.get(player) == Some(id)) {
                self.reserved.remove(&player);
            }
        }
    }

    fn id_of(&self, id: &str) -> Arc<str> {
        self.servers.get_key_value(id).map_or_else(|| id.into(), |(id, _)| Arc::clone(id))
    }
}

fn location(server: &Server, player: PlayerId, there: &Player) -> Location {
    Location {
        player,
        player_name: there.name.clone(),
        server_id: server.facts.server_id.clone(),
        server_type: server.facts.server_type.clone(),
        world_id: there.world.clone(),
    }
}
