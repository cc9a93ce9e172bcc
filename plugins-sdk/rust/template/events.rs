//! A reward for the first join, and a count of them.

use network_hub_module::effects::{self, Effect};
use network_hub_module::events::{Event, Events, Failure};
use network_hub_module::{CallContext, config, info, state};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Currency of the reward.
    currency: String,
    /// The reward; 0: none.
    reward: f64,
    /// Each so many first joins are announced; 0: none.
    announce_every: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self { currency: "coins".into(), reward: 100.0, announce_every: 100 }
    }
}

struct FirstJoin;

#[network_hub_module::export]
impl Events for FirstJoin {
    fn handle(context: &CallContext, event: &Event) -> Result<Vec<Effect>, Failure> {
        let config: Config = config(context);
        let player = event.player()?;
        let name = event.player_name.as_deref().unwrap_or("stranger");
        let seen = format!("seen:{player}");
        if state::get(&seen)?.is_some() {
            return Ok(vec![]);
        }
        // Committed with the effects: all or nothing.
        state::set(&seen, "1", None)?;
        let mut effects = vec![];
        if config.reward > 0.0 {
            effects.push(effects::modify_currency(player, &config.currency, config.reward, "first join"));
        }
        // Refused where the player has left meanwhile, which is no reason to keep the reward back.
        effects.push(effects::tell(player, format!("Welcome, {name}!")).optional());
        // Of two calls that count at once, one runs again.
        let joined = state::get("joined")?.and_then(|count| count.parse::<i64>().ok()).unwrap_or(0) + 1;
        state::set("joined", &joined.to_string(), None)?;
        if config.announce_every > 0 && joined % config.announce_every == 0 {
            info!("announced {name}");
            effects.push(effects::announce(format!("{name} is player number {joined}.")));
        }
        Ok(effects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    #[test]
    fn every_second_join_is_announced() {
        for (player, effects) in [("a", 2), ("b", 3), ("b", 0), ("c", 2)] {
            let context = testing::handler_context(0, r#"{"announceEvery": 2}"#);
            let mut event = testing::event("PLAYER_JOINED", "{}");
            event.player_uuid = Some(player.into());
            assert_eq!(FirstJoin::handle(&context, &event).unwrap().len(), effects, "{player}");
        }
    }
}
