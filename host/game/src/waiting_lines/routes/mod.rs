//! Routes of tickets and lines.

mod lines;
mod tickets;

use crate::endpoints::{Endpoints, endpoints};

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    endpoints![
        tickets::join_line,
        tickets::get_ticket,
        tickets::leave_line,
        lines::list,
        lines::put,
        lines::list_tickets,
        lines::change_ticket,
        lines::delete_ticket
    ]
}
