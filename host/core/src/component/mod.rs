//! Declaration of a component: all that the rest of the hub has to know of it.
//!
//! Each component has one, `COMPONENT` in its `mod.rs`, and `hub::components` lists them. The router, the start and stop of
//! the hub, archives, erasure, limits, error codes, the API document and the tables in `docs` are made from that list.

pub mod column;
mod creations;
mod event_schema;
mod list;
mod network_state;
mod reseal;
mod sealed;
mod table;
mod tables;
mod term;
mod undo;

pub use crate::http::error_code::ErrorCode;
pub use column::ColumnRule;
pub use creations::{Creations, Heir, Left, LeftKind, Search};
pub use event_schema::EventSchema;
pub use list::Components;
pub use network_state::NetworkState;
pub use reseal::reseal_networks;
pub use sealed::{Sealed, open_row, seal_row};
pub use table::{Aging, Players, TableKind, TableRule};
pub use tables::{NetworkTable, RowReader, RowView, Tables};
pub use term::{Term, renew_term};
pub use undo::{Inverse, Now, Undo, UndoBy};

pub use futures_util::future::BoxFuture;
use futures_util::future::{FutureExt as _, ready};
use hub_db::Db;

use crate::app::{App, States};
use crate::bounds::Limit;
use crate::clock::Millis;
use crate::config::Settings;
use crate::endpoints::Endpoints;
use crate::ids::Ids;

/// Tag of the API document, and its description.
#[derive(Clone, Copy, Debug)]
pub struct Tag(pub &'static str, pub &'static str);

/// Dependencies of a component's initial state.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    pub settings: &'a Settings,
    pub ids: &'a Ids,
    pub db: &'a Db,
}

/// Declaration of a component. What it does not have is left out: `..Component::new(module_path!())`.
pub struct Component {
    /// Path of its module, which tells its name and its crate.
    pub module: &'static str,
    /// Purpose, for the table of components in the documentation.
    pub purpose: &'static str,
    /// Tags of its routes in the API document that no other component declares.
    pub tags: &'static [Tag],
    /// Its routes. They are [`database_only`](Endpoints::database_only) if it keeps nothing in memory of a network.
    pub routes: fn() -> Endpoints,
    /// Events it publishes, with their payloads.
    pub events: fn() -> Vec<EventSchema>,
    /// Tables that it owns.
    pub tables: &'static [TableRule],
    /// Limits besides those of [`Limit`]'s own table.
    pub limits: &'static [Limit],
    /// Error codes, each declared by one of the components that respond with it.
    pub errors: &'static [ErrorCode],
    /// Adds its state in memory.
    pub register: fn(&mut States, Opening<'_>) -> anyhow::Result<()>,
    /// Its state of networks, which follows them from node to node.
    pub network_state: Option<&'static dyn NetworkState>,
    /// Its changes that can be undone from the audit log.
    pub undos: &'static [Undo],
    /// Its things that people and keys leave behind.
    pub creations: Option<&'static dyn Creations>,
    /// Restores its state before the hub serves requests. A failure ends the start.
    pub start: for<'a> fn(&'a App) -> BoxFuture<'a, anyhow::Result<()>>,
    /// Starts its background work, after `start`.
    pub background: fn(&App),
    /// Drops what it remembers of the database, because an older copy took its place.
    pub forget: fn(&App),
    /// Rows that end at a time of day unless they are renewed.
    pub terms: &'static [Term],
    /// Moves the times in its memory, as the clock is set from a time by so many milliseconds: durations go on as if it were
    /// not.
    pub clock_set: fn(&App, Millis, Millis),
    /// Saves its state when the hub stops, after the background work has ended.
    pub stop: for<'a> fn(&'a App) -> BoxFuture<'a, ()>,
}

impl Component {
    /// Component in the module `module_path!()`, with nothing declared.
    pub const fn new(module: &'static str) -> Self {
        Self {
            module,
            purpose: "",
            tags: &[],
            routes: Endpoints::default,
            events: Vec::new,
            tables: &[],
            limits: &[],
            errors: &[],
            register: |_, _| Ok(()),
            network_state: None,
            undos: &[],
            creations: None,
            start: |_| ready(Ok(())).boxed(),
            background: |_| {},
            forget: |_| {},
            terms: &[],
            clock_set: |_, _, _| {},
            stop: |_| ready(()).boxed(),
        }
    }

    /// Name of its module.
    pub fn name(&self) -> &'static str {
        self.module.rsplit("::").next().unwrap_or(self.module)
    }

    /// Name of its crate's folder in `host`.
    pub fn crate_folder(&self) -> &'static str {
        let name = self.module.split("::").next().unwrap_or(self.module);
        name.strip_prefix("hub_").unwrap_or(name)
    }
}
