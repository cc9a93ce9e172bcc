//! Deliveries: things owed to players, carried out by a game server when the player is there.
//!
//! A game server claims a delivery, carries it out, and completes or fails the claim; or it saves the effects together
//! with the claim in a player session. A claim that is neither is lost after a minute.
//!
//! Invariants: a delivery has at most one claim, and only its holder can settle it; a settled delivery is claimed again
//! only if a person retries it; of one player and kind, an earlier delivery that may happen at the same place blocks later
//! ones while it is due or claimed; a reference stands for one delivery forever; every end is published once.
//! Tables: `deliveries`, `delivery_counters`, `delivery_references`.

mod body;
pub mod effects;
mod error;
mod model;
mod ready;
mod routes;
pub mod service;
mod store;
mod upkeep;
mod values;

use crate::component::column::{any_json, any_text, number, read, text};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::values::Identifier;

pub use body::DeliveryBody;
pub use error::DeliveriesError;
pub use model::{Claim, ClaimEnd, Delivery, DeliveryState, Lapse, NotPossible, OnLost, Place, StaleClaim};
pub use values::{ClaimText, DeliveryKind};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "things owed to players, such as purchases, that arrive once ([deliveries](../connectors/deliveries.md))",
    tags: &[Tag("Deliveries", "Things owed to players that arrive once, such as purchases and vote rewards.")],
    routes: routes::router,
    events: || {
        vec![
            EventSchema::of::<body::DeliveryReady>(EventKind::DeliveryReady),
            EventSchema::of::<body::DeliverySettled>(EventKind::DeliverySettled),
        ]
    },
    tables: &[
        // A player's rows are found by name too, while they are of nobody.
        TableRule::moved("deliveries").prose(&["payload", "reference", "reason"]).last().columns(&[
            number("delivery_id", 1, i64::MAX >> 1),
            text::<255>("player_name"),
            text::<255>("name_folded"),
            read::<values::DeliveryKind>("kind"),
            any_json("payload"),
            read::<Identifier>("server_type"),
            read::<Identifier>("server_id"),
            read::<DeliveryState>("state"),
            read::<OnLost>("on_lost"),
            text::<128>("reference"),
            any_text("reason"),
            read::<model::ClaimEnd>("claim_end"),
            read::<Identifier>("claimed_by"),
        ]),
        TableRule::moved("delivery_counters").without_players("a number"),
        TableRule::moved("delivery_references").columns(&[
            text::<64>("reference_sha256"),
            text::<64>("values_sha256"),
            text::<255>("name_folded"),
            read::<DeliveryState>("state"),
        ]),
    ],
    errors: &[
        ErrorCode::new("claimed", &[409], "The delivery is claimed."),
        ErrorCode::new("settled", &[409], "The delivery has ended, or waits for a person."),
        ErrorCode::new(
            "not_ready",
            &[409],
            "The player is not on that server, the delivery is not due or belongs elsewhere, or an earlier one is open.",
        ),
        ErrorCode::new("stale_claim", &[409], "The claim is wrong, has expired or was settled otherwise."),
        ErrorCode::new("not_possible", &[409], "Not possible in the state that the delivery is in."),
        ErrorCode::new("reference_used", &[409], "The reference was used for a delivery with other values."),
    ],
    background: upkeep::start,
    terms: &[store::due::CLAIMS],
    ..Component::new(module_path!())
};
