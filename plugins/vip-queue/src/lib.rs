//! Places players with ranks before others in waiting lines.

mod config;

use config::Config;
use network_hub_module::players::{self, PermissionState};
use network_hub_module::queue::{Decision, Queue, Ticket};
use network_hub_module::{CallContext, config, warn};

/// Data calls of one call of a module.
const MAX_CALLS: usize = 8;

struct VipQueue;

#[network_hub_module::export]
impl Queue for VipQueue {
    fn place(context: &CallContext, ticket: &Ticket) -> Decision {
        let config: Config = config(context);
        if !config.server_types.is_empty() && !config.server_types.contains(&ticket.server_type) {
            return Decision::Admit(0);
        }
        Decision::Admit(priority(&config, ticket))
    }
}

/// The highest priority of the ranks that the player has, or of anybody in the party.
fn priority(config: &Config, ticket: &Ticket) -> i32 {
    let mut ranks: Vec<_> = config.ranks.iter().collect();
    ranks.sort_by_key(|rank| -rank.priority);
    let members = ticket.members.iter().filter(|_| config.party_counts);
    let players: Vec<_> = std::iter::once(&ticket.player).chain(members).collect();
    // The best rank of anybody first, as long as data calls are left.
    let asked = ranks.iter().flat_map(|rank| players.iter().map(move |player| (*rank, *player)));
    for (rank, player) in asked.take(MAX_CALLS) {
        match players::permission(&player.uuid, &rank.permission) {
            Ok(PermissionState::Granted) => return rank.priority,
            Ok(PermissionState::Denied | PermissionState::Undefined) => {}
            Err(error) => {
                warn!("permissions could not be read: {error:?}");
                return 0;
            }
        }
    }
    0
}

#[cfg(test)]
mod tests;
