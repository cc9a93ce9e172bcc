//! States of breakers, for monitoring.

use std::collections::BTreeMap;

use hub_sandbox::BreakerState;
use hub_sandbox::contract::Point;

use crate::app::App;
use crate::modules::Modules;

/// Number of modules in loaded chains, by point and by state of their breaker.
pub fn breakers(app: &App) -> BTreeMap<(&'static str, &'static str), usize> {
    let states = ["closed", "open", "half_open"];
    let mut counts: BTreeMap<_, _> =
        Point::ALL.iter().flat_map(|point| states.map(|state| ((point.name(), state), 0))).collect();
    let now = u64::try_from(app.clock.now()).unwrap_or(0);
    for chain in app.state::<Modules>().all_chains() {
        for link in chain.links().filter_map(|(_, link)| link) {
            let state = match link.breaker(now) {
                BreakerState::Closed => "closed",
                BreakerState::Open => "open",
                BreakerState::HalfOpen => "half_open",
            };
            *counts.entry((chain.point.name(), state)).or_default() += 1;
        }
    }
    counts
}
