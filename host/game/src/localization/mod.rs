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

use crate::component::column::{convert, read, text, text_by};
use crate::component::{Component, ErrorCode, EventSchema, Now, TableRule, Tag, Undo, UndoBy};
use crate::events::EventKind;
use crate::keyed_lock::KeyedLock;
use crate::localization::model::{MessageKey, MessageText, Namespace};
use crate::values::NetworkId;

pub(crate) use model::LocaleCode;

/// Route of a text, and the page that has it.
const MESSAGE: &str = "/api/manage/localization/messages/{locale}/{namespace}/{key}";
const MESSAGES: Now = Now {
    route: "/api/manage/localization/messages?locale={locale}&namespace={namespace}&search={key}&limit=200",
    among: Some(("key", "key")),
    value: Some("override"),
};
/// Changes that can be undone.
const UNDOS: &[Undo] = &[
    Undo {
        action: "message.put",
        target: &["locale", "namespace", "key"],
        fields: &["value"],
        route: MESSAGE,
        changes: UndoBy::Put,
        deletes: true,
        now: MESSAGES,
    },
    Undo {
        action: "message.deleted",
        target: &["locale", "namespace", "key"],
        fields: &["value"],
        route: MESSAGE,
        changes: UndoBy::Put,
        deletes: false,
        now: MESSAGES,
    },
    Undo {
        action: "locale.put",
        target: &["locale"],
        fields: &["displayName", "isDefault", "enabled"],
        route: "/api/manage/localization/locales/{locale}",
        changes: UndoBy::Put,
        deletes: false,
        now: Now::among("/api/manage/localization/locales?limit=200", "locale", "locale"),
    },
];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the catalog of messages and its locales",
    tags: &[Tag("Localization", "Message catalog and players' languages.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::CatalogVersion>(EventKind::LocalizationUpdated)],
    tables: &[
        TableRule::moved("localization_catalogs")
            .without_players("numbers")
            .columns(&[text_by("default_key", LocaleCode::check_key)]),
        TableRule::moved("localization_locales").columns(&[
            text_by("locale_key", LocaleCode::check_key),
            read::<LocaleCode>("locale"),
            text::<255>("display_name"),
        ]),
        TableRule::moved("localization_messages").columns(&[
            read::<Namespace>("namespace"),
            text_by("locale_key", LocaleCode::check_key),
            read::<MessageKey>("message_key"),
            convert::<MessageText>("default_text"),
            convert::<MessageText>("override_text"),
        ]),
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
    undos: UNDOS,
    ..Component::new(module_path!())
};

/// Held by who adds to a network's catalog.
#[derive(Debug, Default)]
pub struct CatalogWrites(KeyedLock<NetworkId>);
