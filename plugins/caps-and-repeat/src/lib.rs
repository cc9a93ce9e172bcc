//! Lowers lines in capitals, and refuses repeated lines.

mod caps;
mod config;
mod repeat;

use config::Config;
use network_hub_module::chat::{Chat, Line, Verdict};
use network_hub_module::{CallContext, config, players, warn};

struct CapsAndRepeat;

#[network_hub_module::export]
impl Chat for CapsAndRepeat {
    fn filter(context: &CallContext, line: &Line) -> Verdict {
        let config: Config = config(context);
        let verdict = evaluate(&config, context.now_ms, line);
        let is_exempt = |node: String| players::is_granted(&line.player.uuid, &node);
        // A data call, so only where it matters.
        if verdict != Verdict::allow() && config.bypass_permission.is_some_and(is_exempt) {
            return Verdict::allow();
        }
        verdict
    }
}

fn evaluate(config: &Config, now_ms: u64, line: &Line) -> Verdict {
    if let Some(repeat) = &config.repeat {
        match repeat::is_repeated(repeat, &line.player.uuid, now_ms, &line.message) {
            Ok(true) => return Verdict::refuse(repeat.reason.as_str()),
            Ok(false) => {}
            Err(_) => warn!("what was said could not be looked up; the line passes"),
        }
    }
    let lowered = config.caps.as_ref().and_then(|caps| caps::lowered(caps, &line.message));
    lowered.map_or_else(Verdict::allow, Verdict::rewrite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::chat::Decision;
    use network_hub_module::players::PermissionState;
    use network_hub_module::{HostError, testing};

    fn says(config: &str, message: &str) -> Decision {
        CapsAndRepeat::filter(&testing::context(config), &testing::line(message)).decision
    }

    #[test]
    fn capitals_are_lowered_and_repeats_refused() {
        assert_eq!(says("{}", "LOOK AT THAT"), Decision::Rewrite("look at that".into()));
        assert_eq!(says("{}", "look at that"), Decision::Refuse("You have said that already.".into()));
        assert_eq!(says("{}", "something else"), Decision::Allow);
    }

    #[test]
    fn each_can_be_off() {
        assert_eq!(says(r#"{"caps": null}"#, "LOOK AT THAT"), Decision::Allow);
        let loud = r#"{"repeat": null}"#;
        assert_eq!(says(loud, "LOOK AT THAT"), Decision::Rewrite("look at that".into()));
        assert_eq!(says(loud, "LOOK AT THAT"), Decision::Rewrite("look at that".into()));
        assert_eq!(testing::hub(|hub| hub.data_calls), 0);
    }

    #[test]
    fn the_permission_is_looked_up_only_when_it_matters() {
        let config = r#"{"bypassPermission": "chat.loud"}"#;
        testing::hub(|hub| hub.permissions.insert(("p".into(), "chat.loud".into()), PermissionState::Granted));
        assert_eq!(says(config, "quiet words"), Decision::Allow);
        assert_eq!(testing::hub(|hub| hub.data_calls), 2);
        assert_eq!(says(config, "QUIET WORDS"), Decision::Allow);
        testing::hub(|hub| hub.permissions.clear());
        assert!(matches!(says(config, "QUIET WORDS"), Decision::Refuse(_)));
    }

    #[test]
    fn an_unreachable_store_lets_repeats_pass_and_still_lowers() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        assert_eq!(says("{}", "LOOK AT THAT"), Decision::Rewrite("look at that".into()));
        assert_eq!(says("{}", "look at that"), Decision::Allow);
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.caps.map(|caps| caps.keep.len()), Some(4));
    }
}
