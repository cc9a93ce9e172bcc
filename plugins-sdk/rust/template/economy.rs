//! Bonus: players earn more of one currency, and nobody spends too much of it at once.

use network_hub_module::economy::{Change, Decision, Economy, Operation};
use network_hub_module::{CallContext, config, info};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// The currency; changes of others are left as they are.
    currency: String,
    /// Extra that players earn, in percent.
    bonus_percent: u32,
    /// The most that one operation may take, in whole units; 0: no limit.
    most_spent: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { currency: "coins".into(), bonus_percent: 50, most_spent: 0 }
    }
}

/// Amounts are ten-thousandths of a unit.
const UNIT: i64 = 10_000;

struct Bonus;

#[network_hub_module::export]
impl Economy for Bonus {
    fn review(context: &CallContext, change: &Change) -> Decision {
        let config: Config = config(context);
        let most = i64::from(config.most_spent) * UNIT;
        let is_too_much = |it: &Operation| it.currency == config.currency && most > 0 && it.amount < -most;
        if change.operations.iter().any(is_too_much) {
            return Decision::refuse(format!("At most {} {} at once.", config.most_spent, config.currency));
        }
        let earned = change.single().filter(|it| {
            it.amount > 0 && it.owner_type == "player" && it.currency == config.currency && config.bonus_percent > 0
        });
        let Some(earned) = earned else { return Decision::Accept };
        let bonus = earned.amount / 100 * i64::from(config.bonus_percent);
        info!("{} earns a bonus", earned.owner_key);
        Decision::Amend(earned.amount.saturating_add(bonus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    fn review(config: &str, amount: i64) -> Decision {
        Bonus::review(&testing::context(config), &testing::change(amount))
    }

    #[test]
    fn earnings_are_raised_and_spending_is_not() {
        assert_eq!(review("{}", 10 * UNIT), Decision::Amend(15 * UNIT));
        assert_eq!(review("{}", -10 * UNIT), Decision::Accept);
        assert_eq!(review(r#"{"currency": "gems"}"#, 10 * UNIT), Decision::Accept);
    }

    #[test]
    fn nobody_spends_too_much_at_once() {
        let refused = Decision::refuse("At most 9 coins at once.");
        assert_eq!(review(r#"{"mostSpent": 9}"#, -10 * UNIT), refused);
        assert_eq!(review(r#"{"mostSpent": 9}"#, -9 * UNIT), Decision::Accept);
    }
}
