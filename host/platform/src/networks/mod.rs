//! Networks (tenants), which the operator creates and suspends, and the keys that their owners create.
//!
//! Invariants: of a key only its secret's SHA-256 is stored; no key grants a scope it lacks; a deleted network leaves
//! only its id and name.
//! Tables: `networks`, `api_keys`, `network_deletions`.

pub mod admin;
mod admin_routes;
mod admin_store;
pub mod deletion;
pub mod left;
pub mod moves;
mod moves_store;
mod routes;
pub mod service;
mod settings;
mod settings_routes;
mod store;

use crate::auth::{AddressRange, Scopes};
use crate::component::column::{any_number, any_text, bytes, json, number, read, text, text_by};
use crate::component::{Component, ErrorCode, Now, Sealed, TableRule, Tag, Undo, UndoBy};
use crate::values::Identifier;

pub use routes::LeftBehind;
pub use settings::Stage;

const SETTINGS: &str = "/api/manage/network";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "network.changed",
    target: &["id"],
    fields: &["stage", "sessionsRequired", "requireSecondFactor", "chatHistoryDays"],
    route: SETTINGS,
    changes: UndoBy::Patch,
    deletes: false,
    now: Now::alone(SETTINGS),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "networks, their deletion, and their keys ([keys](../operate/keys.md))",
    tags: &[
        Tag("Keys", "API keys and the signing secret."),
        Tag("Network", "A network and the settings that its owner chooses."),
        Tag("Operator", "Networks and plans, for the operator of the hub."),
    ],
    routes: || routes::router().merge(settings_routes::router()).merge(admin_routes::router()).database_only(),
    tables: &[
        TableRule::moved("networks")
            .without_players("a name and secrets of the owner's")
            .columns(&[
                read::<Identifier>("name"),
                // The operator who imports it chooses another.
                text::<255>("plan"),
                text::<255>("signing_secret"),
                text::<255>("previous_signing_secret"),
                read::<settings::Stage>("stage"),
                number("chat_history_days", 0, 30),
            ])
            .sealed(&[Sealed::Text("signing_secret"), Sealed::Text("previous_signing_secret")]),
        TableRule::moved("api_keys").without_players("names and hashes of keys").columns(&[
            text::<64>("key_id"),
            any_text("name"),
            text_by("scopes", Scopes::check_text),
            json::<Vec<Identifier>>("servers"),
            json::<Vec<AddressRange>>("addresses"),
            bytes("sha256", 32, 32),
            bytes("previous_sha256", 32, 32),
            text::<255>("created_by"),
            text::<255>("rolled_by"),
            text::<255>("previous_by"),
            // Chosen by who created it, and only compared.
            any_number("expires_at"),
        ]),
        TableRule::hub("network_deletions"),
    ],
    errors: &[
        ErrorCode::new("unknown_key", &[404], "No such API key."),
        ErrorCode::new("operator_scope", &[400], "Only keys of the operator can have the scope `operator`."),
        ErrorCode::new("unknown_network", &[404], "No such network."),
        ErrorCode::new("network_being_deleted", &[409], "The network is being deleted."),
        ErrorCode::new("name_taken", &[400], "The name is already in use."),
    ],
    background: deletion::start,
    undos: UNDOS,
    ..Component::new(module_path!())
};
