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

use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::keyed_lock::KeyedLock;
use crate::values::NetworkId;

pub(crate) use model::LocaleCode;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the catalog of messages and its locales",
    tags: &[Tag("Localization", "Message catalog and players' languages.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::CatalogVersion>(EventKind::LocalizationUpdated)],
    tables: &[
        TableRule::moved("localization_catalogs").without_players("numbers"),
        TableRule::moved("localization_locales"),
        TableRule::moved("localization_messages"),
    ],
    errors: &[
        ErrorCode::new("unknown_override", &[404], "The operator has not changed this message."),
        ErrorCode::new(
            "default_locale_needed",
            &[400],
            "A network needs a default locale: make another locale the default instead.",
        ),
        ErrorCode::new("default_locale_disabled", &[400], "The default locale must be enabled."),
    ],
    register: |states, _| {
        states.insert(CatalogWrites::default());
        Ok(())
    },
    ..Component::new(module_path!())
};

/// Held by who adds to a network's catalog.
#[derive(Debug, Default)]
pub struct CatalogWrites(KeyedLock<NetworkId>);
