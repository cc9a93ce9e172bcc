//! Timers: calls at times that effects set, by [`set_timer`](crate::effects::set_timer). They are served at the extension
//! point `schedules`.
//!
//! ```
//! use network_hub_module::CallContext;
//! use network_hub_module::effects::{self, Effect};
//! use network_hub_module::timers::{Failure, Timer, Timers};
//!
//! struct Auction;
//!
//! #[network_hub_module::export]
//! impl Timers for Auction {
//!     fn fire(_: &CallContext, timer: &Timer) -> Result<Vec<Effect>, Failure> {
//!         Ok(vec![effects::announce(format!("{} is sold!", timer.key))])
//!     }
//! }
//! ```
//!
//! `module.toml` beside `Cargo.toml` declares that the module has timers: `timers = true`.

pub use crate::bindings::timers::exports::network_hub::module::timers::Timer;
pub use crate::events::Failure;

use crate::CallContext;
use crate::bindings::timers::exports::network_hub::module::timers::Guest;
use crate::effects::Effect;
use crate::entry::{Exported, start};
use serde::de::DeserializeOwned;

/// Runs timers. Export it with [`export`](crate::export).
pub trait Timers {
    /// Runs one timer. Those of one key run one after the other.
    ///
    /// # Errors
    /// [`Failure::Retry`] to be called again later, [`Failure::Reject`] for a timer that never can succeed. Nothing of the
    /// call is kept then.
    fn fire(context: &CallContext, timer: &Timer) -> Result<Vec<Effect>, Failure>;
}

impl Timer {
    /// The payload that it was set with.
    ///
    /// # Errors
    /// [`Failure::Reject`] if it does not fit `T`.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.payload)
            .map_err(|error| Failure::Reject(format!("the payload of the timer {}: {error}", self.key)))
    }
}

impl<T: Timers> Guest for Exported<T> {
    fn fire(context: CallContext, timer: Timer) -> Result<Vec<Effect>, Failure> {
        start();
        T::fire(&context, &timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_payload_is_read_or_the_timer_is_rejected() {
        assert_eq!(testing::timer("k", "[1, 2]").payload::<Vec<u8>>().unwrap(), [1, 2]);
        let Err(Failure::Reject(why)) = testing::timer("k", "{}").payload::<Vec<u8>>() else { panic!() };
        assert!(why.contains("the timer k"), "{why}");
    }
}
