//! `/api/plugin/collections`.

mod documents;
mod lists;
mod register;

use crate::endpoints::Endpoints;

/// Routes of collections.
pub(super) fn router() -> Endpoints {
    register::router().merge(documents::router()).merge(lists::router())
}
