//! A happy hour each evening: a schedule begins it, a timer ends it.

use network_hub_module::effects::{self, Effect};
use network_hub_module::schedules::{Failure, Schedules, Tick};
use network_hub_module::timers::{Timer, Timers};
use network_hub_module::{CallContext, config, info, state};
use serde::{Deserialize, Serialize};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Announcement of the beginning.
    message: String,
    /// Duration in minutes; 0: it has no end.
    minutes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { message: "Happy hour!".into(), minutes: 60 }
    }
}

/// Payload of the timer.
#[derive(Serialize, Deserialize)]
struct HappyHour {
    /// Number of the happy hour.
    number: i64,
}

struct Evening;

#[network_hub_module::export]
impl Schedules for Evening {
    fn tick(context: &CallContext, tick: &Tick) -> Result<Vec<Effect>, Failure> {
        let config: Config = config(context);
        if tick.missed > 0 {
            info!("{} happy hours were missed", tick.missed);
        }
        // Committed with the effects: all or nothing.
        let number = state::get("count")?.and_then(|count| count.parse::<i64>().ok()).unwrap_or(0) + 1;
        state::set("count", &number.to_string(), None)?;
        let mut effects = vec![effects::announce(config.message)];
        if config.minutes > 0 {
            // Replaces the timer of a happy hour that goes on.
            let end = tick.due_at_ms + config.minutes * 60_000;
            effects.push(effects::set_timer("end", end, &HappyHour { number }));
        }
        Ok(effects)
    }
}

#[network_hub_module::export]
impl Timers for Evening {
    fn fire(_: &CallContext, timer: &Timer) -> Result<Vec<Effect>, Failure> {
        // One that another version set.
        let Ok(HappyHour { number }) = timer.payload() else {
            return Err(Failure::Reject(format!("the timer {} has no number", timer.key)));
        };
        Ok(vec![effects::announce(format!("Happy hour number {number} is over."))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    #[test]
    fn happy_hours_are_counted() {
        for count in ["1", "2"] {
            let context = testing::handler_context(0, r#"{"minutes": 0}"#);
            assert_eq!(Evening::tick(&context, &testing::tick("evening")).unwrap().len(), 1);
            assert_eq!(testing::hub(|hub| hub.state["count"].0.clone()), count);
        }
    }
}
