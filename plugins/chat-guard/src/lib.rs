//! Masks or refuses listed words, and limits floods.

mod config;
mod flood;
mod words;

use config::{Action, Config};
use network_hub_module::chat::{Chat, Line, Verdict, mask};
use network_hub_module::{CallContext, config};

struct ChatGuard;

#[network_hub_module::export]
impl Chat for ChatGuard {
    fn filter(context: &CallContext, line: &Line) -> Verdict {
        let config: Config = config(context);
        if let Some(flood) = &config.flood
            && let Some(verdict) = flood::check(flood, &line.player.uuid)
        {
            return verdict;
        }
        let found = words::find(&config, &line.message);
        if found.is_empty() {
            return Verdict::allow();
        }
        match config.action {
            Action::Mask => Verdict::rewrite(mask(&line.message, &found)),
            Action::Refuse => Verdict::refuse(config.reason),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use network_hub_module::chat::Decision;
    use network_hub_module::testing;

    fn decide(config: &str, message: &str) -> Decision {
        ChatGuard::filter(&testing::context(config), &testing::line(message)).decision
    }

    #[test]
    fn a_listed_word_is_masked() {
        let config = r#"{"words": ["darn"]}"#;
        assert_eq!(decide(config, "Oh DARN it"), Decision::Rewrite("Oh **** it".into()));
        assert_eq!(decide(config, "all is well"), Decision::Allow);
    }

    #[test]
    fn a_listed_word_is_refused_with_the_configured_reason() {
        let config = r#"{"words": ["darn"], "action": "REFUSE", "reason": "Mind your words."}"#;
        assert_eq!(decide(config, "darn"), Decision::Refuse("Mind your words.".into()));
    }

    #[test]
    fn without_configuration_every_line_passes() {
        assert_eq!(decide("{}", "darn"), Decision::Allow);
        assert!(testing::hub(|hub| hub.store.is_empty()));
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.flood.unwrap().mute.unwrap().after_floods, 3);
    }
}
