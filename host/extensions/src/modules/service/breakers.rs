//! States of breakers, for monitoring and for the network.

use std::collections::BTreeMap;
use std::sync::Arc;

use hub_sandbox::contract::Point;
use hub_sandbox::{BreakerState, Link};

use crate::app::App;
use crate::modules::Modules;
use crate::values::NetworkId;

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

/// A module that its breaker skips at this node.
#[derive(Clone, Debug)]
pub struct SkippedModule {
    pub point: Point,
    pub name: String,
    pub version: i64,
}

/// Modules of a network's loaded chains that are skipped, because half of their calls failed.
pub fn skipped(app: &App, network: NetworkId) -> Vec<SkippedModule> {
    let now = u64::try_from(app.clock.now()).unwrap_or(0);
    let mut skipped = vec![];
    for chain in app.state::<Modules>().chains_of(network) {
        let is_open = |link: &Arc<Link>| link.breaker(now) == BreakerState::Open;
        let open = chain.links().filter(|(_, link)| link.is_some_and(is_open));
        skipped.extend(open.map(|(spec, _)| SkippedModule {
            point: chain.point,
            name: spec.name.clone(),
            version: spec.version,
        }));
    }
    skipped
}
