//! Calls of one link by itself, outside of any request.

use super::breaker::BreakerOpening;
use super::link::Link;
use crate::call::CallOptions;
use crate::contract::{CallContext, Point};
use crate::operation::Operation;
use crate::priority::Priority;
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use std::sync::Arc;

impl Sandbox {
    /// Calls a link by itself, behind all requests' calls: as work beside its network's chains, at background
    /// priority unless a caller waits for it.
    /// `None` while its breaker is open. With the opening if its breaker has opened by this call.
    pub async fn call_link<O: Operation>(
        &self,
        link: &Link,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> Option<(CallReport<O::Answer>, Option<BreakerOpening>)> {
        let now_ms = context.now_ms;
        let admission = link.admit(now_ms)?;
        // A caller waits for an endpoint's answer.
        let priority = if O::POINT == Point::Endpoints { Priority::default() } else { Priority::Background };
        let options = CallOptions { pool_key: link.pool_key(), priority, ..CallOptions::default() };
        let (config, limits) = (link.config(), link.limits());
        let called = self.call_with::<O>(options, &config.module, limits, Arc::clone(&config.host), context, input);
        let report = called.await;
        let opening = link.record(admission, &report, now_ms);
        Some((report, opening))
    }
}
