//! Localization: the catalog of messages and its locales.
//!
//! A message has a default, which a plugin registered, and an override, which the operator set; the override counts,
//! where there is one. Invariants: a default is registered once and never changed by a plugin; a network has exactly
//! one default locale, `en` until another is chosen; the catalog's version rises by one with every call that changes a
//! text or a locale, and is published once, after it is stored. Locales compare without case and with `_` and `-`
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
pub(crate) use routes::router;

/// Held by who adds to a network's catalog.
#[derive(Debug, Default)]
pub(crate) struct CatalogWrites(KeyedLock<NetworkId>);

/// The events of this component, for the document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::CatalogVersion>(EventKind::LocalizationUpdated)]
}
