//! Doorkeeper: while the network is closed only players with a permission may join, and new players may be kept out.

use network_hub_module::login::{Attempt, Decision, Login};
use network_hub_module::players::{self, PermissionState};
use network_hub_module::{CallContext, HostError, config, warn};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Reason for keeping everybody else out; empty: the network is open.
    closed: String,
    /// Permission of players who may always join.
    staff_node: String,
    /// False keeps players out whom the network has never seen.
    new_players: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { closed: String::new(), staff_node: "join.always".into(), new_players: true }
    }
}

struct Doorkeeper;

#[network_hub_module::export]
impl Login for Doorkeeper {
    fn check(context: &CallContext, attempt: &Attempt) -> Decision {
        let config: Config = config(context);
        let is_new = !config.new_players && attempt.first_join;
        if config.closed.is_empty() && !is_new {
            return Decision::Allow;
        }
        let is_staff = is_staff(&config, attempt).unwrap_or_else(|error| {
            warn!("permissions can't be read: {error:?}");
            false
        });
        match (is_staff, config.closed.is_empty()) {
            (true, _) => Decision::Allow,
            (false, true) => Decision::refuse("New players can't join right now.", "new_player"),
            (false, false) => Decision::refuse(config.closed, "closed"),
        }
    }
}

fn is_staff(config: &Config, attempt: &Attempt) -> Result<bool, HostError> {
    let node = &config.staff_node;
    Ok(!node.is_empty() && players::permission(&attempt.player.uuid, node)? == PermissionState::Granted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    const CLOSED: &str = r#"{"closed": "Back at noon."}"#;

    #[test]
    fn an_open_network_lets_everybody_in() {
        assert_eq!(Doorkeeper::check(&testing::context("{}"), &testing::attempt()), Decision::Allow);
    }

    #[test]
    fn a_closed_network_lets_staff_in() {
        let attempt = testing::attempt();
        let refused = Decision::refuse("Back at noon.", "closed");
        assert_eq!(Doorkeeper::check(&testing::context(CLOSED), &attempt), refused);
        let granted = PermissionState::Granted;
        testing::hub(|hub| hub.permissions.insert((attempt.player.uuid.clone(), "join.always".into()), granted));
        assert_eq!(Doorkeeper::check(&testing::context(CLOSED), &attempt), Decision::Allow);
    }

    #[test]
    fn new_players_can_be_kept_out() {
        let attempt = Attempt { first_join: true, ..testing::attempt() };
        let refused = Decision::refuse("New players can't join right now.", "new_player");
        assert_eq!(Doorkeeper::check(&testing::context(r#"{"newPlayers": false}"#), &attempt), refused);
    }
}
