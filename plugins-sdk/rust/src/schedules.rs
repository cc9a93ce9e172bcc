//! The extension point `schedules`: times that `module.toml` lists. Timers belong to it, too: see [`timers`](crate::timers).
//!
//! ```
//! use network_hub_module::CallContext;
//! use network_hub_module::effects::{self, Effect};
//! use network_hub_module::schedules::{Failure, Schedules, Tick};
//!
//! struct Reminder;
//!
//! #[network_hub_module::export]
//! impl Schedules for Reminder {
//!     fn tick(_: &CallContext, tick: &Tick) -> Result<Vec<Effect>, Failure> {
//!         Ok(vec![effects::announce(format!("It is time for {}.", tick.schedule))])
//!     }
//! }
//! ```
//!
//! `module.toml` beside `Cargo.toml` has the times, in UTC, and what the module needs:
//!
//! ```toml
//! scopes = ["chat:send"]
//!
//! [[schedules]]
//! name = "evening"
//! cron = "0 18 * * *"
//! catchUp = "SKIP"
//! ```

pub use crate::bindings::schedules::exports::network_hub::module::schedules::ScheduleTick as Tick;
pub use crate::events::Failure;

use crate::CallContext;
use crate::bindings::schedules::exports::network_hub::module::schedules::Guest;
use crate::effects::Effect;
use crate::entry::{Exported, start};

/// Runs the ticks of schedules. Export it with [`export`](crate::export).
pub trait Schedules {
    /// Runs one tick of a schedule that `module.toml` lists. The next one does not begin before it has ended.
    ///
    /// # Errors
    /// [`Failure::Retry`] to be called again, three times in all, [`Failure::Reject`] for a tick that never can succeed.
    /// Nothing of the call is kept then.
    fn tick(context: &CallContext, tick: &Tick) -> Result<Vec<Effect>, Failure>;
}

impl<T: Schedules> Guest for Exported<T> {
    fn tick(context: CallContext, tick: Tick) -> Result<Vec<Effect>, Failure> {
        start();
        T::tick(&context, &tick)
    }
}
