//! One line per player in a number of seconds.

mod config;

use config::Config;
use network_hub_module::chat::{Chat, Line, Verdict};
use network_hub_module::{CallContext, HostError, config, players, store, warn};

struct SlowMode;

#[network_hub_module::export]
impl Chat for SlowMode {
    fn filter(context: &CallContext, line: &Line) -> Verdict {
        let config: Config = config(context);
        let own = config.server_types.get(&line.server_type);
        let every_ms = own.copied().unwrap_or(config.every_ms);
        if every_ms == 0 {
            return Verdict::allow();
        }
        let player = &line.player.uuid;
        let key = match own {
            Some(_) => ["at:", player, ":", &line.server_type].concat(),
            None => ["at:", player].concat(),
        };
        match wait(&key, context.now_ms, every_ms) {
            Ok(0) => Verdict::allow(),
            Ok(_) if config.bypass_permission.is_some_and(|node| players::is_granted(player, &node)) => {
                Verdict::allow()
            }
            Ok(wait_ms) => {
                let seconds = wait_ms.div_ceil(1000).to_string();
                Verdict::refuse(config.reason.replace("{seconds}", &seconds))
            }
            Err(_) => {
                warn!("slow mode could not reach the store; the line passes");
                Verdict::allow()
            }
        }
    }
}

/// Time for which the player has to wait; 0 if the line passes, which is then remembered.
///
/// The store keeps the time of the last line until it no longer matters. Adding the current time is one atomic step that
/// tells whether there was a line, and when, so that two lines at once cannot both pass.
fn wait(key: &str, now_ms: u64, every_ms: u64) -> Result<u64, HostError> {
    let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
    let sum = store::increment(key, now, Some(every_ms))?;
    if sum == now {
        return Ok(0);
    }
    // If the other line's time expired just now, this creates the key again, so it must expire at once.
    store::increment(key, -now, Some(1))?;
    let passed = now_ms.saturating_sub(u64::try_from(sum - now).unwrap_or(0));
    Ok(every_ms.saturating_sub(passed).clamp(1, every_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::chat::Decision;
    use network_hub_module::players::PermissionState;
    use network_hub_module::testing;

    const START: u64 = 1_700_000_000_000;

    fn says(config: &str, after_ms: u64, line: &Line) -> Decision {
        SlowMode::filter(&testing::context_at(START + after_ms, config), line).decision
    }

    fn refused(seconds: u32) -> Decision {
        Decision::Refuse(format!("Slow mode: you can write again in {seconds} s."))
    }

    #[test]
    fn the_next_line_is_refused_until_the_time_is_over_and_says_how_long_that_is() {
        let line = testing::line("hi");
        assert_eq!(says("{}", 0, &line), Decision::Allow);
        assert_eq!(says("{}", 0, &line), refused(3));
        assert_eq!(says("{}", 500, &line), refused(3));
        assert_eq!(says("{}", 1000, &line), refused(2));
        assert_eq!(says("{}", 2999, &line), refused(1));
        assert_eq!(says("{}", 3000, &line), Decision::Allow);
        assert_eq!(says("{}", 3001, &line), refused(3));
    }

    #[test]
    fn players_are_counted_separately() {
        let mut line = testing::line("hi");
        assert_eq!(says("{}", 0, &line), Decision::Allow);
        line.player.uuid = "another".into();
        assert_eq!(says("{}", 0, &line), Decision::Allow);
    }

    #[test]
    fn server_types_have_their_own_time() {
        let config = r#"{"serverTypes": {"game": 10000, "build": 0}}"#;
        let on = |server_type: &str| Line { server_type: server_type.into(), ..testing::line("hi") };
        assert_eq!(says(config, 0, &on("game")), Decision::Allow);
        assert_eq!(says(config, 3000, &on("game")), refused(7));
        // A line in the game does not count elsewhere, and a time of 0 turns it off.
        assert_eq!(says(config, 3000, &on("lobby")), Decision::Allow);
        assert_eq!(says(config, 3000, &on("build")), Decision::Allow);
        assert_eq!(says(config, 3000, &on("build")), Decision::Allow);
    }

    #[test]
    fn the_permission_is_looked_up_only_when_it_matters() {
        let config = r#"{"bypassPermission": "chat.fast"}"#;
        testing::hub(|hub| hub.permissions.insert(("p".into(), "chat.fast".into()), PermissionState::Granted));
        assert_eq!(says(config, 0, &testing::line("hi")), Decision::Allow);
        assert_eq!(testing::hub(|hub| hub.data_calls), 1);
        assert_eq!(says(config, 1, &testing::line("hi")), Decision::Allow);
        testing::hub(|hub| hub.permissions.clear());
        assert_eq!(says(config, 2, &testing::line("hi")), refused(3));
        assert_eq!(testing::hub(|hub| hub.data_calls), 3);
    }

    #[test]
    fn an_unreachable_store_lets_lines_pass() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        assert_eq!(says("{}", 0, &testing::line("hi")), Decision::Allow);
        assert!(testing::hub(|hub| hub.log[0].contains("could not reach")));
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.server_types["build"], 0);
    }
}
