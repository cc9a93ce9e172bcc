//! `/api/manage/webhooks`.

mod deliveries;
mod webhooks;

use crate::endpoints::{Endpoints, endpoints};

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    endpoints![
        webhooks::list: any_node,
        webhooks::create: transactional secret,
        webhooks::get: any_node,
        webhooks::change,
        webhooks::delete,
        webhooks::rotate_secret: transactional secret,
        deliveries::test: transactional,
        deliveries::list: any_node,
        deliveries::get: any_node,
        deliveries::preview: any_node read_only,
        deliveries::resend: transactional
    ]
}
