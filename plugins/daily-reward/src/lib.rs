//! A reward for the first join of each day, and for the first of all.

mod config;

use config::Config;
use network_hub_module::effects::{self, Effect};
use network_hub_module::events::{Event, Events, Failure};
use network_hub_module::{CallContext, HostError, config, state};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Pays players for joining.
struct DailyReward;

#[network_hub_module::export]
impl Events for DailyReward {
    fn handle(context: &CallContext, event: &Event) -> Result<Vec<Effect>, Failure> {
        let config: Config = config(context);
        let (player, currency) = (event.player()?, &config.currency);
        let mut effects = vec![];
        let mut pay = |reward: f64, reason: &str, message: String| {
            effects.push(effects::modify_currency(player, currency, reward, reason));
            // Refused where the player has left meanwhile.
            effects.push(effects::tell(player, message).optional());
        };
        if config.first_join > 0.0 && is_new(player)? {
            pay(config.first_join, "first join", format!("Welcome! You got {} {currency}.", config.first_join));
        }
        if config.daily > 0.0
            && let Some(streak) = days_in_a_row(player, event.at_ms / DAY_MS)?
        {
            // Both are small.
            #[allow(clippy::cast_precision_loss)]
            let further = streak.min(config.max_streak.max(1)).saturating_sub(1) as f64;
            let reward = config.daily + config.streak_bonus * further;
            let in_a_row = if streak > 1 { format!(" Day {streak} in a row!") } else { String::new() };
            let message = format!("Daily reward: {reward} {currency}.{in_a_row}");
            pay(reward, &format!("daily reward, day {streak}"), message);
        }
        Ok(effects)
    }
}

/// True if the player was never paid for a first join; remembers it.
fn is_new(player: &str) -> Result<bool, HostError> {
    let key = format!("seen:{player}");
    let is_new = state::get(&key)?.is_none();
    if is_new {
        state::set(&key, "1", None)?;
    }
    Ok(is_new)
}

/// Number of days in a row on which the player has joined, with this one; none if this day is paid already.
fn days_in_a_row(player: &str, today: u64) -> Result<Option<u64>, HostError> {
    let key = format!("day:{player}");
    let last = state::get(&key)?;
    let last = last.as_deref().and_then(|text| text.split_once(' '));
    let last = last.and_then(|(day, streak)| Some((day.parse::<u64>().ok()?, streak.parse::<u64>().ok()?)));
    let streak = match last {
        // Also an event of an earlier day that comes late.
        Some((day, _)) if day >= today => return Ok(None),
        Some((day, streak)) if day + 1 == today => streak + 1,
        _ => 1,
    };
    // Needed until the end of the next day.
    state::set(&key, &format!("{today} {streak}"), Some(2 * DAY_MS))?;
    Ok(Some(streak))
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    #[test]
    fn a_day_is_paid_once() {
        let _ = testing::handler_context(0, "{}");
        assert_eq!(days_in_a_row("p", 5), Ok(Some(1)));
        assert_eq!(days_in_a_row("p", 5), Ok(None));
        assert_eq!(days_in_a_row("p", 4), Ok(None));
        assert_eq!(days_in_a_row("q", 5), Ok(Some(1)));
        assert_eq!(days_in_a_row("p", 6), Ok(Some(2)));
        assert_eq!(days_in_a_row("p", 8), Ok(Some(1)));
    }

    #[test]
    fn a_hub_without_data_is_tried_again() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        let context = testing::handler_context(0, "{}");
        let failed = DailyReward::handle(&context, &testing::event("PLAYER_JOINED", "{}"));
        assert!(matches!(failed, Err(Failure::Retry(_))));
    }
}
