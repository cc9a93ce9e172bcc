//! Punishments: bans, mutes, warnings, kicks, of players and of addresses.
//!
//! Invariants: every punishment is reviewed by the network's modules before it is created, except those that a review adds; ids count from 1 in each network; a punishment is active while it is open and has not expired, whether or
//! not the expiry was recorded yet; each is published as CREATED once, at each change as UPDATED, and then at most once as REVOKED or EXPIRED; a kick
//! is never active.
//! Tables: `punishments`, `punishment_counters`, `player_addresses` (the addresses players were seen with) and
//! `player_names` (the names they were seen with).

mod appeal_code;
mod body;
mod edit;
pub mod effects;
mod expiry;
mod import;
mod managed;
mod model;
mod name_right;
pub mod review;
mod routes;
pub mod service;
mod store;
mod values;

use crate::component::column::{any_json, any_number, any_text, convert, number, read, text};
use crate::component::{Aging, Component, ErrorCode, EventSchema, Now, Sealed, TableRule, Tag, Undo, UndoBy};
use crate::events::EventKind;
use crate::limits::{Limit, LimitRow};

pub(crate) use body::PunishmentBody;
pub(crate) use edit::{Appealed, NewTerms, appealed, edit_in, lock_appealed, revoke_in};
pub use import::{
    ImportedPunishment, ImportedRevocation, Sighting, check_new, count_of_target, open_ones, plan_sightings,
    revoke_imported, write_imported, write_sightings,
};
pub(crate) use managed::PunishmentOrigin;
pub use model::{Actor, Identity, Punishment, PunishmentFilter, PunishmentState, Target};
pub use model::{KnownAddress, NewPunishment, PunishmentTerms};
pub use name_right::NameRight;
pub use values::PunishmentDuration;
pub use values::{IpAddress, PunishmentKind};

/// Changes of one punishment by staff.
const EDITS: Limit = Limit::new(&LimitRow {
    name: "editsPerPunishment",
    bound: 50,
    counted: "Changes of one punishment.",
    effect: None,
});

const PUNISHMENT: &str = "/api/manage/punishments/{id}";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "punishment.changed",
    target: &["id"],
    fields: &["reason", "durationMs", "evidence"],
    route: PUNISHMENT,
    changes: UndoBy::Patch,
    deletes: false,
    now: Now::alone(PUNISHMENT),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "bans, mutes, warnings and kicks, reviewed by the network's modules before they are created",
    tags: &[Tag("Punishments", "Bans, mutes, warnings and kicks.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::PunishmentChange>(EventKind::Punishment)],
    tables: &[
        TableRule::moved("punishments")
            .prose(&["reason", "revoke_reason", "evidence", "edits"])
            .staff(&[
                ("issuer_uuid", "issuer_name"),
                ("issuer_uuid", "issuer_folded"),
                ("revoker_uuid", "revoker_name"),
            ])
            .columns(&[
                number("id", 1, i64::MAX >> 1),
                text::<255>("player_name"),
                text::<255>("name_folded"),
                convert::<PunishmentKind>("kind"),
                any_text("reason"),
                number("duration_ms", 1, PunishmentDuration::MAX_MS),
                // Imported from other plugins as it is there, and only compared.
                any_number("expires_at"),
                any_number("issued_at"),
                read::<IpAddress>("ip_address"),
                any_text("issuer_name"),
                read::<PunishmentState>("state"),
                any_text("revoker_name"),
                any_text("revoke_reason"),
                text::<255>("issuer_folded"),
                text::<{ appeal_code::LENGTH }>("appeal_code"),
                any_json("evidence"),
                any_json("edits"),
                any_json("origin"),
            ])
            .sealed(&[Sealed::Found("appeal_code", "appeal_mac")]),
        TableRule::moved("punishment_counters").without_players("a number"),
        TableRule::moved("player_names").identifies_players().columns(&[text::<255>("name_folded")]),
        TableRule::moved("player_addresses")
            .identifies_players()
            .aging(Aging { at: "last_seen", days: |days| days.addresses, except: None })
            .columns(&[read::<IpAddress>("ip_address")]),
    ],
    limits: &[EDITS],
    errors: &[
        ErrorCode::new("unknown_punishment", &[400, 404], "No such punishment."),
        ErrorCode::new("not_active", &[409], "The punishment has ended, or is a kick."),
        ErrorCode::new("punishment_rejected", &[400], "The network's modules refused the punishment."),
    ],
    background: |app| app.spawn(expiry::watch(app.clone())),
    undos: UNDOS,
    ..Component::new(module_path!())
};
