//! Refuses or masks links, addresses and invitations, disguised ones too.

mod config;
mod links;
mod text;

use config::{Action, Config};
use network_hub_module::chat::{Chat, Line, Verdict, mask};
use network_hub_module::{CallContext, config, players};

struct LinkFilter;

#[network_hub_module::export]
impl Chat for LinkFilter {
    fn filter(context: &CallContext, line: &Line) -> Verdict {
        let config: Config = config(context);
        let links = links::find(&config, &line.message).into_iter();
        let found: Vec<_> = links.filter(|link| !link.is_allowed(&config)).map(|link| link.bytes).collect();
        let may_link = |node: &String| players::is_granted(&line.player.uuid, node);
        if found.is_empty() || config.bypass_permission.as_ref().is_some_and(may_link) {
            return Verdict::allow();
        }
        match config.action {
            Action::Mask => Verdict::rewrite(mask(&line.message, &found)),
            Action::Refuse => Verdict::refuse(config.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::chat::Decision;
    use network_hub_module::players::PermissionState;
    use network_hub_module::testing;

    fn decide(config: &str, message: &str) -> Decision {
        LinkFilter::filter(&testing::context(config), &testing::line(message)).decision
    }

    #[test]
    fn a_link_is_refused_or_masked() {
        let refused = Decision::Refuse("Links are not allowed here.".into());
        assert_eq!(decide("{}", "buy at example[dot]com"), refused);
        assert_eq!(decide("{}", "hello"), Decision::Allow);
        let mask = r#"{"action": "MASK", "allow": ["ok.net"]}"#;
        assert_eq!(decide(mask, "&ex.com or ok.net"), Decision::Rewrite("&e***** or ok.net".into()));
    }

    #[test]
    fn the_permission_is_looked_up_only_where_there_is_a_link() {
        let config = r#"{"bypassPermission": "chat.links", "allow": ["ok.net"]}"#;
        testing::hub(|hub| hub.permissions.insert(("p".into(), "chat.links".into()), PermissionState::Granted));
        assert_eq!(decide(config, "ok.net"), Decision::Allow);
        assert_eq!(testing::hub(|hub| hub.data_calls), 0);
        assert_eq!(decide(config, "example.com"), Decision::Allow);
        testing::hub(|hub| hub.permissions.clear());
        assert!(matches!(decide(config, "example.com"), Decision::Refuse(_)));
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.allow.len(), 3);
    }
}
