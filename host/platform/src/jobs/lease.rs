//! Renewal of leases.

use std::time::Duration;

use hub_db::Db;

use crate::clock::{Clock, Millis, millis};
use crate::jobs::model::Job;
use crate::jobs::store;

/// Duration of a lease from each renewal. A killed node's jobs wait this long.
pub(super) const LEASE: Duration = Duration::from_secs(10);
/// Interval of checks that the job may still run here.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Number of checks from one renewal to the next.
const CHECKS_PER_RENEWAL: u32 = 3;

/// End of a lease that begins or is renewed now.
pub(super) fn lease_end(clock: &Clock) -> Millis {
    clock.now().saturating_add(millis(LEASE))
}

/// Renews a lease until it is lost, or the job may no longer run here.
pub(super) async fn renew_until_lost(db: &Db, clock: &Clock, job: &Job, may_run: impl Fn() -> bool) {
    for check in 1.. {
        clock.sleep(CHECK_INTERVAL).await;
        if !may_run() {
            return;
        }
        if check % CHECKS_PER_RENEWAL != 0 {
            continue;
        }
        match store::renew(db, job, lease_end(clock)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, kind = job.kind, "could not renew the lease of a job"),
        }
    }
}
