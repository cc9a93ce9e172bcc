//! Localization: the catalog of messages and its locales.
//!
//! A message has a default, registered by a plugin, and an optional override by the operator, which has precedence.
//! Invariants: a default is registered once and never changed by a plugin; a network has exactly one default locale,
//! initially `en`; the catalog's version increases by one with every call that changes a text or locale, and is
//! published once, after it is stored. Locales are compared case-insensitively, with `_` and `-` equal, and shown in
//! alike, and are shown as they were first sent. Players' languages belong to `players`. Tables: `localization_catalogs`,
//! `localization_locales`, `localization_messages`.

mod body;
mod model;
mod routes;
mod service;
mod store;

use crate::events::{EventKind, EventSchema};
use crate::keyed_lock::KeyedLock;
use crate::values::NetworkId;

pub(crate) use model::LocaleCode;
pub use routes::router;

/// Held by who adds to a network's catalog.
#[derive(Debug, Default)]
pub struct CatalogWrites(KeyedLock<NetworkId>);

/// Events of this component, for the API document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::CatalogVersion>(EventKind::LocalizationUpdated)]
}
