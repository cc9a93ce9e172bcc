//! Limits of a network's presence.

use crate::clock::Millis;
use crate::http::answer::{json_size, json_sizes};
use crate::limits::{Limit, NetworkLimits, QuotaExceeded};
use crate::presence::memory::network::NetworkPresence;
use crate::presence::model::{Heartbeat, Registration, ServerInfo, WorldReport};
use crate::values::{Identifier, PlayerId};

/// Size of a server in lists without its texts and worlds, in bytes of JSON.
const SERVER_FIELDS: i64 = 1_300;
/// Size of a world in lists without the fields its server reports.
const COMPUTED_WORLD_FIELDS: i64 = 170;

impl NetworkPresence {
    /// Refuses a registration above the network's limits.
    pub(crate) fn check_registration(
        &self,
        new: &Registration,
        limits: &NetworkLimits,
        now: Millis,
    ) -> Result<(), QuotaExceeded> {
        check_worlds(limits, &new.worlds)?;
        check_size(limits, text_bytes(&new.info), world_bytes(&new.worlds))?;
        limits.check(Limit::PluginsPerServer, 0, new.info.software.plugins.len() as i64)?;
        if self.server(new.info.server_id.as_str(), now).is_none() {
            limits.check(Limit::Servers, self.online(now).count() as i64, 1)?;
        }
        Ok(())
    }

    /// Refuses a heartbeat above the network's limits. One without changes costs next to nothing.
    pub(crate) fn check_heartbeat(
        &self,
        heartbeat: &Heartbeat,
        limits: &NetworkLimits,
        now: Millis,
    ) -> Result<(), QuotaExceeded> {
        let Some(server) = self.server(heartbeat.server_id.as_str(), now) else { return Ok(()) };
        let known_worlds = || server.worlds.iter().map(|world| &world.report);
        let new_worlds = heartbeat.worlds.as_ref().filter(|worlds| !worlds.iter().eq(known_worlds()));
        let has_new_software = heartbeat.software.differs_from(&server.info.software);
        if new_worlds.is_some() || has_new_software {
            let worlds = match new_worlds {
                Some(worlds) => {
                    check_worlds(limits, worlds)?;
                    world_bytes(worlds)
                }
                None => world_bytes(known_worlds()),
            };
            let mut info = (*server.info).clone();
            info.software.update(heartbeat.software.clone());
            check_size(limits, text_bytes(&info), worlds)?;
            limits.check(Limit::PluginsPerServer, 0, info.software.plugins.len() as i64)?;
        }
        let Some(listed) = &heartbeat.players else { return Ok(()) };
        limits.check(Limit::PlayersPerServer, 0, listed.len() as i64)?;
        let joined = listed.iter().filter(|(player, _)| !self.players.contains_key(player)).count();
        if joined == 0 {
            return Ok(());
        }
        let stayed = listed.iter().filter(|(player, _)| server.players.contains_key(player)).count();
        let used = self.players.len().saturating_sub(server.players.len().saturating_sub(stayed));
        limits.check(Limit::Players, used as i64, joined as i64)
    }

    /// Refuses to put one more player on a server.
    pub(crate) fn check_join(
        &self,
        server: &Identifier,
        player: PlayerId,
        limits: &NetworkLimits,
        now: Millis,
    ) -> Result<(), QuotaExceeded> {
        let Some(server) = self.server(server.as_str(), now).filter(|server| !server.has(player)) else {
            return Ok(());
        };
        limits.check(Limit::PlayersPerServer, server.players.len() as i64, 1)?;
        if self.players.contains_key(&player) {
            return Ok(());
        }
        limits.check(Limit::Players, self.players.len() as i64, 1)
    }

    /// Number of reserved slots.
    pub(crate) fn reservation_count(&mut self, now: Millis) -> i64 {
        self.release_expired(now);
        self.servers.reservation_count() as i64
    }
}

fn check_worlds(limits: &NetworkLimits, worlds: &[WorldReport]) -> Result<(), QuotaExceeded> {
    limits.check(Limit::WorldsPerServer, 0, worlds.len() as i64)
}

fn check_size(limits: &NetworkLimits, texts: i64, worlds: i64) -> Result<(), QuotaExceeded> {
    limits.check(Limit::ServerBytes, 0, SERVER_FIELDS + texts + worlds)
}

fn world_bytes<'a>(worlds: impl IntoIterator<Item = &'a WorldReport>) -> i64 {
    worlds.into_iter().map(|world| json_size(world) as i64 + COMPUTED_WORLD_FIELDS).sum()
}

/// Bytes of a server's texts in a list, which shows some of them twice.
fn text_bytes(info: &ServerInfo) -> i64 {
    let twice = [Some(info.server_id.as_str()), Some(info.server_type.as_str()), Some(info.host.as_str())];
    let twice_if_any = [info.game_type.as_deref(), info.display_name.as_deref(), Some(info.region.as_str())];
    let software = &info.software;
    let once = [&software.version, &software.commit, &software.platform_name, &software.platform_version];
    let shown_twice = twice.into_iter().chain(twice_if_any).flatten();
    2 * json_sizes(shown_twice) + json_sizes(once.into_iter().flatten()) + json_size(&info.country) as i64
}
