//! Statistics: numbers counted for owners, each over four periods at once.
//!
//! Invariants: one write changes the day, the week, the month and the lifetime, or none of them; a period begins at
//! 00:00 UTC by the clock alone, and earlier values stay readable under their first day. Players are the owners of the
//! type `player`: their routes and the economy's are two views of the same rows.
//! Tables: `statistics`.

pub mod effects;
mod model;
mod period;
mod routes;
pub mod service;
mod store;

pub(crate) use routes::{PlayerStatistics, player_statistics};

use crate::component::column::{convert, decimal, read, text_by};
use crate::component::{Aging, Component, TableRule};
use crate::http::json::WrittenJson;
use crate::shared_reads::SharedReads;
use crate::statistics::model::FiniteNumber;
use crate::statistics::period::{Day, Period};
use crate::values::{Identifier, Label, NetworkId};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "numbers counted for owners, each over four periods",
    routes: || routes::router().database_only(),
    tables: &[
        // A lifetime sum is as old as its last change.
        TableRule::moved("statistics")
            .aging(Aging { at: "updated_at", days: |days| days.statistics, except: Some(("period", "LIFETIME")) })
            .columns(&[
                read::<Identifier>("owner_type"),
                read::<Identifier>("owner_key"),
                read::<Label>("game_mode"),
                convert::<Period>("period"),
                text_by("period_start", Day::check),
                read::<Identifier>("name"),
                decimal("value", -FiniteNumber::MAX, FiniteNumber::MAX),
            ]),
    ],
    register: |states, _| {
        states.insert(Leaderboards::default());
        Ok(())
    },
    ..Component::new(module_path!())
};

/// Leaderboards that are being read, by network and request.
#[derive(Debug, Default)]
pub struct Leaderboards(SharedReads<(NetworkId, String), WrittenJson>);
