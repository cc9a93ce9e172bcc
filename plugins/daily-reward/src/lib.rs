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
        let player = event.player()?;
        let (reward, reason, message) = if event.kind == "FIRST_JOIN" {
            let (reward, currency) = (config.first_join, &config.currency);
            (reward, "first join".to_owned(), format!("Welcome! You got {reward} {currency}."))
        } else if config.daily > 0.0 {
            let Some(streak) = days_in_a_row(player, event.at_ms / DAY_MS)? else { return Ok(vec![]) };
            // Both are small.
            #[allow(clippy::cast_precision_loss)]
            let further = streak.min(config.max_streak.max(1)).saturating_sub(1) as f64;
            let (reward, currency) = (config.daily + config.streak_bonus * further, &config.currency);
            let in_a_row = if streak > 1 { format!(" Day {streak} in a row!") } else { String::new() };
            (reward, format!("daily reward, day {streak}"), format!("Daily reward: {reward} {currency}.{in_a_row}"))
        } else {
            return Ok(vec![]);
        };
        if reward <= 0.0 {
            return Ok(vec![]);
        }
        Ok(vec![
            effects::modify_currency(player, &config.currency, reward, &reason),
            // Refused where the player has left meanwhile.
            effects::tell(player, message).optional(),
        ])
    }
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
