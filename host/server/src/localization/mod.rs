//! Localization: the catalog of messages, its locales, and the players' languages.
//!
//! A message has what a plugin registered (its default) and what the operator made of it (its override); the override
//! counts, where there is one. Invariants: a default is registered once and never changed by a plugin; a network has
//! exactly one default locale, `en` until another is chosen; the catalog's version rises by one with every call that
//! changes what the catalog says, which is told once, after it is stored. Locales compare without case and with `_`
//! and `-` alike, and are shown as they were first sent.
//! Tables: `localization_catalogs`, `localization_locales`, `localization_messages`, `player_languages`.

mod body;
mod model;
mod routes;
pub mod service;
mod store;

pub use model::{Language, Locale, LocaleCode, Message, Namespace, Source};
pub(crate) use routes::router;
