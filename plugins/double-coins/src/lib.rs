//! Multiplies what players earn: by default everything that gives coins gives twice as many.

mod config;

use config::Config;
use network_hub_module::economy::{Change, Decision, Economy};
use network_hub_module::{CallContext, config};

/// Owner type of players.
const PLAYER: &str = "player";
/// Largest amount of the hub, in ten-thousandths: 900 trillion.
const MAX_AMOUNT: i128 = 9_000_000_000_000_000_000;

struct DoubleCoins;

#[network_hub_module::export]
impl Economy for DoubleCoins {
    fn review(context: &CallContext, change: &Change) -> Decision {
        let config: Config = config(context);
        // A transaction moves money from one owner to another, and makes none.
        let Some(earned) = change.single().filter(|it| it.amount > 0 && it.owner_type == PLAYER) else {
            return Decision::Accept;
        };
        let is_listed = |list: &[String], value: Option<&String>| {
            list.is_empty() || value.is_some_and(|value| list.contains(value))
        };
        let is_meant = config.is_on(context.now_ms)
            && config.currencies.contains(&earned.currency)
            && is_listed(&config.reasons, change.reason.as_ref())
            && is_listed(&config.servers, change.server_id.as_ref());
        if !is_meant {
            return Decision::Accept;
        }
        match multiplied(earned.amount, config.percent) {
            amount if amount == earned.amount => Decision::Accept,
            amount => Decision::Amend(amount),
        }
    }
}

/// The amount in percent, at least the smallest part and at most the largest amount.
fn multiplied(amount: i64, percent: u32) -> i64 {
    let multiplied = i128::from(amount) * i128::from(percent) / 100;
    i64::try_from(multiplied.clamp(1, MAX_AMOUNT)).unwrap_or(amount)
}

#[cfg(test)]
mod tests;
