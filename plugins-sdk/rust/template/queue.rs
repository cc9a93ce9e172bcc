//! Members first: players with a permission wait less, and others with another one do not wait at all.

use network_hub_module::players::{self, PermissionState};
use network_hub_module::queue::{Decision, Queue, Ticket};
use network_hub_module::{CallContext, HostError, config, warn};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Permission of members.
    member_node: String,
    /// Their priority; that of others is 0.
    member_priority: i32,
    /// Permission of players who may not wait; empty: none.
    blocked_node: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { member_node: "queue.member".into(), member_priority: 100, blocked_node: String::new() }
    }
}

struct MembersFirst;

#[network_hub_module::export]
impl Queue for MembersFirst {
    fn place(context: &CallContext, ticket: &Ticket) -> Decision {
        place(&config(context), ticket).unwrap_or_else(|error| {
            warn!("permissions can't be read: {error:?}");
            Decision::Admit(0)
        })
    }
}

fn place(config: &Config, ticket: &Ticket) -> Result<Decision, HostError> {
    let uuid = &ticket.player.uuid;
    let has = |node: &str| Ok(!node.is_empty() && players::permission(uuid, node)? == PermissionState::Granted);
    if has(&config.blocked_node)? {
        return Ok(Decision::refuse("You can't join games right now."));
    }
    Ok(Decision::Admit(if has(&config.member_node)? { config.member_priority } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    fn placed(config: &str, node: &str) -> Decision {
        let ticket = testing::ticket();
        let granted = PermissionState::Granted;
        testing::hub(|hub| hub.permissions.insert((ticket.player.uuid.clone(), node.into()), granted));
        MembersFirst::place(&testing::context(config), &ticket)
    }

    #[test]
    fn members_wait_less() {
        assert_eq!(placed("{}", "queue.member"), Decision::Admit(100));
    }

    #[test]
    fn others_have_no_priority() {
        assert_eq!(placed("{}", "queue.guest"), Decision::Admit(0));
    }

    #[test]
    fn blocked_players_do_not_wait() {
        let refused = Decision::refuse("You can't join games right now.");
        assert_eq!(placed(r#"{"blockedNode": "queue.blocked"}"#, "queue.blocked"), refused);
    }
}
