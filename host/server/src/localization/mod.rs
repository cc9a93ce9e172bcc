//! Localization: message catalog, locales, and players' languages.
//!
//! A message has a default, registered by a plugin, and an optional override by the operator, which has precedence.
//! Invariants: a default is registered once and never changed by a plugin; a network has exactly one default locale,
//! initially `en`; the catalog's version increases by one with every call that changes a text or locale, and is
//! published once, after it is stored. Locales are compared case-insensitively, with `_` and `-` equal, and shown in
//! their first spelling. Tables: `localization_catalogs`, `localization_locales`, `localization_messages`,
//! `player_languages`.

mod body;
mod model;
mod routes;
mod service;
mod store;

use crate::events::{EventKind, EventSchema};

pub(crate) use body::PlayerLanguage;
pub(crate) use routes::router;
pub(crate) use service::player_language;

/// Events of this component, for the API document.
pub(crate) fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<service::CatalogVersion>(EventKind::LocalizationUpdated)]
}
