//! Presence: the registry of game servers, which of them and which players are online, and who is on which server.
//!
//! Presence is in memory (`memory/`); the database has a copy. Changes that requests wait for (register, unregister, join,
//! leave, world change) are saved before the answer, many at once together; heartbeats are saved every second, and the
//! players whom they alone brought, or did not list any more, are recorded then. At start the servers whose offline time
//! has not passed are restored. If several nodes form one hub, reserved slots are saved before they are answered, too.
//! Connectors register, send heartbeats, and report who joins and leaves (`sessions`).
//!
//! Invariants: a player is on at most one server; a server is online until the offline time has passed since its last
//! heartbeat, evaluated at each look-up; players and reservations of an offline server do not count; a player who
//! leaves for the target of their transfer stays on the old server until they arrive.
//! Tables: `servers`, `server_players`, `slot_reservations`, `provisioned_servers` (machines of a provisioner).

mod error;
mod hooks;
mod memory;
mod model;
mod network_state;
pub mod provisioned;
mod registry;
mod routes;
mod saving;
pub mod service;
mod sessions;
mod snapshot;
mod store;

use crate::cluster::ShardRegistry;
use crate::component::column::{any_number, convert, json, number, read, text};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::geo::Region;
use crate::presence::provisioned::{DesiredState, Phase};
use crate::values::Identifier;

pub use error::ServersError;
pub use hooks::{AgentReport, Hooks, PresenceHooks};
pub use memory::{Arrival, Departures, Presence, SavedVisit};
pub use memory::{LiveWorld, NetworkPresence, PresenceError, Reservation};
pub(crate) use memory::{RESERVATION_TTL, Watched, Watcher, join_order};
pub use memory::{Server, free_slots};
#[cfg(test)]
pub use model::Software;
pub(crate) use model::player_ids;
pub use model::{Count, GameState, Heartbeat, Role};
pub use model::{PlayerLocation, PluginReport, Registration, ServerInfo, SoftwareReport, WorldReport};
pub use network_state::{PresencePeaks, PresenceState};
pub use registry::KnownServer;
pub use registry::RegisteredServer;
pub(crate) use registry::Search;
pub use saving::save;
pub(crate) use saving::save_reserved;
pub use snapshot::LiveServer;
pub use snapshot::World;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "which servers and players are online, and who is on which server",
    tags: &[Tag("Servers", "Register game servers and proxies, keep them online, and report their players.")],
    routes: routes::router,
    events: || {
        vec![
            EventSchema::of::<memory::ServerPresence>(EventKind::ServerOnline),
            EventSchema::of::<memory::ServerPresence>(EventKind::ServerOffline),
            EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerJoined),
            EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerLeft),
            EventSchema::of::<memory::PlayerPresence>(EventKind::PlayerSwitched),
        ]
    },
    tables: &[
        TableRule::moved("servers").columns(&[
            read::<Identifier>("server_id"),
            read::<Identifier>("server_type"),
            text::<255>("game_type"),
            read::<Role>("role"),
            text::<255>("display_name"),
            text::<1_024>("search_text"),
            number("max_players", 0, 2_147_483_647),
            text::<255>("host"),
            number("port", 0, 65_535),
            convert::<Region>("region"),
            text::<255>("country"),
            text::<255>("plugin_version"),
            any_number("plugin_build"),
            text::<255>("plugin_commit"),
            text::<255>("platform_name"),
            text::<255>("platform_version"),
            json::<Vec<PluginReport>>("plugins"),
            read::<GameState>("game_state"),
            number("players_to_start", 0, 2_147_483_647),
            json::<Vec<LiveWorld>>("worlds"),
        ]),
        TableRule::moved("server_players").identifies_players().columns(&[
            read::<Identifier>("server_id"),
            read::<Identifier>("player_name"),
            read::<Identifier>("world_id"),
            read::<Identifier>("previous_world_id"),
        ]),
        TableRule::left("slot_reservations").not_backed_up("live for seconds"),
        TableRule::moved("provisioned_servers").columns(&[
            read::<Identifier>("server_id"),
            read::<Identifier>("server_type"),
            text::<255>("display_name"),
            text::<1_024>("search_text"),
            text::<255>("provider"),
            read::<Phase>("phase"),
            read::<DesiredState>("desired_state"),
            convert::<Region>("region"),
            text::<255>("server_vm_type"),
            text::<255>("ipv4"),
            text::<2_048>("verify_url"),
            text::<255>("user_code"),
        ]),
    ],
    errors: &[
        ErrorCode::new("unknown_server", &[400, 404], "Unknown server; after a heartbeat, register the server again."),
        ErrorCode::new("player_not_on_server", &[400], "The player is not on that server."),
    ],
    register: |states, _| {
        let is_single_node = states.get::<ShardRegistry>().is_single_node();
        states.insert(Presence::new(!is_single_node));
        Ok(())
    },
    network_state: Some(&PresenceState),
    terms: &[store::presence::ONLINE],
    clock_set: |app, before, shift| app.state::<Presence>().shift(before, shift),
    start: |app| Box::pin(saving::start(app)),
    stop: |app| Box::pin(saving::stop(app)),
    ..Component::new(module_path!())
};
