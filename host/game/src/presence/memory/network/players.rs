//! Players join, change worlds and leave.

use std::sync::Arc;

use crate::clock::Millis;
use crate::events::EventKind;
use crate::presence::memory::FastMap;
use crate::presence::memory::changes::{PlayerPresence, SavedVisit, ServerChange};
use crate::presence::memory::network::{NetworkPresence, PresenceError, ended_visit, left_at, presence_of, visit_of};
use crate::presence::memory::server::{LiveWorld, Player};
use crate::presence::memory::unreported::Arrival;
use crate::values::{Identifier, PlayerId};

impl NetworkPresence {
    /// Puts a player on a server and removes them from the previous one.
    pub fn join(
        &mut self,
        server: &Identifier,
        player: PlayerId,
        name: Option<Identifier>,
        now: Millis,
    ) -> Result<(), PresenceError> {
        self.server(server.as_str(), now).ok_or(PresenceError::UnknownServer)?;
        let id = self.servers.id_of(server.as_str());
        self.put_player(&id, player, name, now);
        self.unreported.reported(player);
        Ok(())
    }

    /// Moves a player to another world of the server they are on.
    pub(crate) fn change_world(
        &mut self,
        server: &Identifier,
        player: PlayerId,
        to: Identifier,
        from: Option<Identifier>,
        now: Millis,
    ) -> Result<(), PresenceError> {
        let server = self.servers.get_mut(server.as_str()).filter(|it| it.is_online(now));
        let mut server = server.ok_or(PresenceError::UnknownServer)?;
        let state = server.players.get_mut(&player).ok_or(PresenceError::NotOnServer)?;
        state.previous_world = from.or_else(|| state.world.take());
        state.world = Some(to);
        self.unsaved.players.insert(player);
        Ok(())
    }

    /// Removes a player from `server`, or from their current one. No effect if they are on another server by now.
    pub fn leave(&mut self, player: PlayerId, server: Option<&Identifier>, now: Millis) {
        let at = self.players.get(&player);
        if at.is_some_and(|at| server.is_none_or(|server| server.as_str() == &**at)) {
            self.remove_player(player, now);
            self.unreported.returned(player);
        }
    }

    /// Marks the player as leaving that server in a transfer: they stay on it until they arrive at the target, at most
    /// until `until`, so that others see one switch instead of a leave and a join.
    pub(crate) fn leave_in_transfer(&mut self, player: PlayerId, server: &Identifier, until: Millis, now: Millis) {
        if let Some(mut server) = self.servers.get_mut(server.as_str())
            && let Some(state) = server.players.get_mut(&player)
        {
            (state.leaves_at, state.left_at) = (Some(until), Some(now));
        }
    }

    /// Applies the server's full list of its players. A listed player recently confirmed by another server stays there:
    /// the list is then older than their move.
    pub(super) fn set_players(&mut self, id: &Arc<str>, listed: Vec<(PlayerId, Option<Identifier>)>, now: Millis) {
        let listed: FastMap<_, _> = listed.into_iter().collect();
        let Some(mut server) = self.servers.get_mut(id) else { return };
        let (mut known, mut others) = (0, vec![]);
        let has_reservations = server.reservations.len() > 0;
        for (player, name) in &listed {
            let Some(state) = server.players.get_mut(player) else {
                others.push(*player);
                continue;
            };
            known += 1;
            if has_reservations && self.reserved.get(player) == Some(id) {
                others.push(*player);
            } else if state.confirm(name.as_ref(), now) {
                self.unsaved.players.insert(*player);
                self.unreported.arrived(Arrival::of(*player, name.as_ref(), id, now));
            }
        }
        // A player leaving in a transfer is no longer listed and stays until they arrive.
        let is_gone = |state: &Player| state.leaves_at.is_none_or(|at| now >= at);
        let unlisted = server.players.iter().filter(|(player, _)| !listed.contains_key(player));
        let gone: Vec<_> = if known == server.players.len() {
            vec![]
        } else {
            unlisted.filter(|(_, state)| is_gone(state)).map(|(player, _)| *player).collect()
        };
        drop(server);
        for player in gone {
            self.remove_player(player, now);
        }
        for player in others {
            let name = listed.get(&player).cloned().flatten();
            let elsewhere = self.players.get(&player).filter(|at| *at != id).and_then(|at| self.servers.get(at));
            if !elsewhere.is_some_and(|other| other.has_confirmed(player, now)) {
                let arrival = Arrival::of(player, name.as_ref(), id, now);
                if self.put_player(id, player, name, now) {
                    self.unreported.arrived(arrival);
                }
            }
        }
    }

    /// Puts a player on a server. True if they, or their name, are new there.
    fn put_player(&mut self, id: &Arc<str>, player: PlayerId, name: Option<Identifier>, now: Millis) -> bool {
        let mut previous = None;
        if let Some(at) = self.players.get(&player).filter(|at| *at != id).cloned() {
            if self.locate(player, now).is_some() {
                previous = Some(at);
                self.detach_player(player, now);
            } else {
                self.remove_player(player, now);
            }
        }
        let Some(mut server) = self.servers.get_mut(id) else { return false };
        let is_new = match server.players.get_mut(&player) {
            Some(state) => state.confirm(name.as_ref(), now),
            None => true,
        };
        if is_new {
            self.unsaved.players.insert(player);
        }
        if !server.has(player) {
            let new = Player {
                name,
                world: None,
                previous_world: None,
                joined_at: now,
                confirmed_at: now,
                leaves_at: None,
                left_at: None,
            };
            let kind = if previous.is_some() { EventKind::PlayerSwitched } else { EventKind::PlayerJoined };
            let joined = PlayerPresence { previous_server_id: previous, ..presence_of(id, player, &new) };
            self.unsaved.player_event(kind, joined);
            self.players.insert(player, Arc::clone(id));
            self.unsaved.visit(SavedVisit { online: self.players.len(), ..visit_of(&server, id, player, &new) });
            server.players.insert(player, new);
            server.note_joined(player);
            self.unreported.returned(player);
            self.peaks.0 = self.peaks.0.max(self.players.len());
        }
        if self.reserved.get(&player) == Some(id) {
            self.reserved.remove(&player);
            let Some(used) = server.reservations.remove(player) else { return is_new };
            self.unsaved.released(&used);
            let is_it = |it: &&mut LiveWorld| used.expires_at > now && used.world.as_ref() == Some(&it.report.world_id);
            if let Some(world) = server.worlds.iter_mut().find(is_it) {
                world.arrived += 1;
                if self.unsaved.saves_reservations {
                    self.unsaved.server(id, ServerChange::Any);
                }
            }
        }
        is_new
    }

    pub(super) fn remove_player(&mut self, player: PlayerId, now: Millis) {
        if let Some((at, state)) = self.detach_player(player, now) {
            self.unsaved.player_event(EventKind::PlayerLeft, presence_of(&at, player, &state));
        }
    }

    /// Removes a player from their server, without an event so far.
    fn detach_player(&mut self, player: PlayerId, now: Millis) -> Option<(Arc<str>, Player)> {
        let at = self.players.remove(&player)?;
        self.unsaved.players.insert(player);
        if let Some(watch) = self.servers.watch() {
            watch.player(player);
        }
        let mut server = self.servers.get_mut(&at)?;
        let state = server.players.remove(&player)?;
        let ended_at = if server.is_online(now) { now } else { server.last_heartbeat };
        self.unsaved.visit(ended_visit(&server, &at, player, &state, ended_at));
        drop(server);
        self.unreported.departed(player, left_at(&state, ended_at));
        Some((at, state))
    }
}
