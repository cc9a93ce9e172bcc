//! Limits of a module's call: those of the network's plan, or lower ones set by its link in the chain.

use std::time::Duration;

use hub_sandbox::Limits;
use hub_sandbox::contract::Point;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::limits;
use crate::values::NetworkId;

/// Minimum memory of a call: a page of WebAssembly.
const MIN_MEMORY_BYTES: u64 = 64 * 1024;

/// Limits of a network's calls and of their concurrency, at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModuleLimits {
    calls: [Limits; Point::ALL.len()],
    max_calls: [usize; Point::ALL.len()],
}

impl ModuleLimits {
    /// Limits of a network's plan, which default to the points' usual ones.
    pub(super) async fn of(app: &App, network: NetworkId) -> Result<Self, hub_db::Error> {
        let plan = limits::of(app, network).await?;
        Ok(Self {
            calls: Point::ALL.map(|point| plan.of_point(point).apply(app.settings.modules.limits(point))),
            max_calls: Point::ALL.map(|point| plan.of_point(point).max_calls()),
        })
    }

    /// Limits of a call at a point.
    pub(super) fn at(&self, point: Point) -> Limits {
        self.calls[point as usize]
    }

    /// Maximum number of concurrent calls at a point.
    pub(super) fn max_calls(&self, point: Point) -> usize {
        self.max_calls[point as usize]
    }

    /// Limits of a link at a point: its own, capped by the plan's.
    pub(super) fn of_link(&self, point: Point, link: Option<&LinkLimits>) -> Limits {
        let (most, LinkLimits { compute_millis, fuel, memory_bytes, host_calls, log_lines }) =
            (self.at(point), link.copied().unwrap_or_default());
        let computing = compute_millis.map(Duration::from_millis).filter(|compute| *compute < most.compute);
        let limits = computing.map_or(most, |compute| most.with_compute(compute));
        let bytes = usize::try_from(memory_bytes.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Limits {
            fuel: limits.fuel.min(fuel.unwrap_or(u64::MAX)),
            memory_bytes: limits.memory_bytes.min(bytes),
            host_calls: limits.host_calls.min(host_calls.unwrap_or(u32::MAX)),
            log_lines: limits.log_lines.min(log_lines.map_or(usize::MAX, |lines| lines as usize)),
            ..limits
        }
    }

    /// Checks a link's limits. The error names the field and its range.
    pub(super) fn check(&self, point: Point, link: &LinkLimits) -> Result<(), String> {
        let most = self.at(point);
        let compute = u64::try_from(most.compute.as_millis()).unwrap_or(u64::MAX);
        for (field, asked, least, most) in [
            ("computeMillis", link.compute_millis, 1, compute),
            ("fuel", link.fuel, 1, most.fuel),
            ("memoryBytes", link.memory_bytes, MIN_MEMORY_BYTES, most.memory_bytes as u64),
            ("hostCalls", link.host_calls.map(u64::from), 0, u64::from(most.host_calls)),
            ("logLines", link.log_lines.map(u64::from), 0, most.log_lines as u64),
        ] {
            if asked.is_some_and(|asked| !(least..=most).contains(&asked)) {
                return Err(format!("{field}`: must be {least} to {most}, the range of this network's plan"));
            }
        }
        Ok(())
    }
}

/// Limits of each call of a module in a chain, below those of the network's plan. Default of each field: the plan's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainLinkLimits)]
pub(super) struct LinkLimits {
    /// Processor time in milliseconds. The caller waits up to ten times as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, example = 5)]
    compute_millis: Option<u64>,
    /// Instructions, approximately.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    fuel: Option<u64>,
    /// Linear memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 65_536)]
    memory_bytes: Option<u64>,
    /// Host calls that access data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    host_calls: Option<u32>,
    /// Log lines that are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    log_lines: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_limits_are_capped_by_the_plan() {
        let plan = ModuleLimits { calls: Point::ALL.map(Limits::of), max_calls: [8; Point::ALL.len()] };
        assert_eq!(plan.of_link(Point::Chat, None), Limits::of(Point::Chat));
        let less = LinkLimits { compute_millis: Some(2), fuel: Some(9), host_calls: Some(0), ..LinkLimits::default() };
        let limits = plan.of_link(Point::Chat, Some(&less));
        assert_eq!((limits.compute, limits.wait), (Duration::from_millis(2), Duration::from_millis(20)));
        assert_eq!((limits.fuel, limits.host_calls, limits.log_lines), (9, 0, 64));
        assert_eq!(plan.check(Point::Chat, &less), Ok(()));
        // The plan may have been lowered since.
        let more = LinkLimits { compute_millis: Some(50), memory_bytes: Some(u64::MAX), ..LinkLimits::default() };
        assert_eq!(plan.of_link(Point::Chat, Some(&more)), Limits::of(Point::Chat));
        assert!(plan.check(Point::Chat, &more).unwrap_err().starts_with("computeMillis`: must be 1 to 10"));
        assert_eq!(plan.check(Point::Punishment, &LinkLimits { memory_bytes: None, ..more }), Ok(()));
    }
}
