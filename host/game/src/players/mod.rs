//! Players: who was ever seen, the region they are routed from, their language, the data that games store about them, and a
//! player with what other components keep for them, so that a join is one call.
//!
//! Invariants: reading never creates a player; the engine of a player is recorded once; the version of a namespace's data
//! rises by one with every write, and a write that names a version succeeds only on top of that one.
//! Tables: `players` (on SQLite with its index `network_player_search`) and `player_data`, `player_data_snapshots`, `player_languages`. Players' addresses belong to
//! `punishments`, their balances and statistics to `economy` and `statistics`.

pub mod effects;
mod includes;
mod language;
mod login;
mod model;
mod profile;
mod regions;
mod routes;
pub mod service;
mod sessions;
mod store;

use crate::component::column::{any_json, convert, read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::geo::Region;
use crate::localization::LocaleCode;
use crate::player_sessions::EndHooks;
use crate::players::language::Source;
use crate::players::sessions::SnapshotKeeper;
use crate::values::{Identifier, Label};

pub use regions::KnownRegions;
pub use regions::PlayerRegions;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "who was ever seen, their languages and the data that games keep about them",
    tags: &[Tag("Players", "Known players and the data that games store about them.")],
    routes: || routes::router().database_only().merge(routes::opening()),
    tables: &[
        TableRule::moved("players").identifies_players().columns(&[
            text::<255>("username"),
            text::<255>("username_folded"),
            text::<255>("game_type"),
            convert::<Region>("region"),
            text::<255>("country"),
        ]),
        TableRule::moved("player_data").columns(&[
            read::<Label>("game_mode"),
            read::<Label>("namespace"),
            any_json("data"),
        ]),
        TableRule::moved("player_data_snapshots").columns(&[
            read::<Label>("game_mode"),
            read::<Label>("namespace"),
            read::<Identifier>("server_id"),
            any_json("data"),
        ]),
        TableRule::moved("player_languages")
            .identifies_players()
            .columns(&[text::<255>("username"), read::<LocaleCode>("locale"), convert::<Source>("source")])
            .row(|row| match (row.text("locale"), row.text("source")) {
                (Some(_), None) => Err("the column source: must not be null where there is a locale".to_owned()),
                _ => Ok(()),
            }),
    ],
    errors: &[
        ErrorCode::new("unknown_player", &[404], "The network has never seen the player."),
        ErrorCode::new("unknown_namespace", &[404], "The player has no data in the namespace."),
        ErrorCode::new("version_conflict", &[409], "Another write came first; read again and retry."),
        ErrorCode::new(
            "login_refused",
            &[403],
            "The network's modules refused the player, with `login`; no session was opened.",
        ),
    ],
    register: |states, _| {
        states.insert(PlayerRegions::default());
        states.insert(EndHooks(&SnapshotKeeper));
        Ok(())
    },
    network_state: Some(&KnownRegions),
    ..Component::new(module_path!())
};
