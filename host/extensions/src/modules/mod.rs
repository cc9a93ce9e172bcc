//! Modules: the network's own WebAssembly at the extension points.
//!
//! An upload is compiled and tried, then it is a numbered version that never changes. A point's chain lists the
//! versions that run there, in order; its decision is a proposal that the calling component carries out.
//!
//! Invariants: a version's number is never reused, not even after its deletion; every version in a chain is READY,
//! serves the point and cannot be deleted; a chain is swapped whole, so that each call runs one chain from start to
//! end; a module's store never exceeds its quota; nothing that a module does or says reaches another network.
//! Tables: `modules`, `module_names`, `module_code`, `extension_points`, `extension_point_revisions`,
//! `module_activations`, `module_store`,
//! `module_store_usage`, `module_state`, `module_state_usage`, and those of `handlers` and `endpoints`; bytes too large for
//! `module_code` are in `crate::blobs`.

mod applying;
mod compiler;
mod endpoints;
mod handlers;
mod host;
mod left;
mod limits;
mod logs;
mod model;
mod network_state;
mod open;
mod records;
mod routes;
pub mod service;
mod state;
mod store;

use std::collections::BTreeMap;

use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Cron;

use crate::auth::Actor;
use crate::component::column::{any_json, any_number, any_text, convert, json, read, text, text_by};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::{EventKind, Outbox};
use crate::limits::{Limit, LimitRow};
use crate::modules::endpoints::EndpointState;
use crate::modules::handlers::{FanOut, Handlers, Run};

use crate::modules::model::{LinkSpec, ModuleName, ModuleState};
use crate::modules::open::OpenNetworks;

pub use compiler::open_sandbox_in;
pub use endpoints::{HubDocument, protect_answers};
pub use handlers::{HandledEvent, ModuleActor, ModuleEffects, ModuleEvent, Prepared, read_field, read_text};
pub use host::ModuleData;
pub use logs::{explain, level_name};
pub use network_state::LoadedModules;
pub use service::key_value::open_store;
pub use state::Modules;

/// Events that wait for a network's handlers.
const HANDLER_BACKLOG: Limit = Limit::new(&LimitRow {
    name: "handlerBacklog",
    bound: 100_000,
    counted: "Events that wait for modules at `events`.",
    effect: Some("further events of the fullest module become one dead letter"),
});

/// Timers of a network.
const TIMERS: Limit = Limit::new(&LimitRow {
    name: "timers",
    bound: 10_000,
    counted: "Timers of modules.",
    effect: Some("the effect `setTimer` is refused"),
});

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the networks' own WebAssembly at the extension points; recorded calls are in memory",
    tags: &[
        Tag("Modules", "Upload and activate WebAssembly modules."),
        Tag("Secrets", "Secrets of the network, with which signatures of requests are checked."),
    ],
    routes: routes::router,
    tables: &[
        TableRule::moved("modules").without_players("names, sizes and hashes of code").columns(&[
            read::<ModuleName>("name"),
            // Checked with the files of code.
            any_text("sha256"),
            text::<64>("component_id"),
            text::<1_024>("points"),
            text::<255>("world_version"),
            any_json("manifest"),
            convert::<ModuleState>("state"),
            any_text("reason"),
            text::<255>("created_by"),
        ]),
        TableRule::moved("module_names").without_players("names of code").columns(&[read::<ModuleName>("name")]),
        TableRule::moved("module_code").without_players("code").columns(&[read::<ModuleName>("name")]),
        TableRule::moved("extension_points").columns(&[
            text_by("point", |name| {
                Point::from_name(name).map(drop).ok_or_else(|| "must be an extension point".to_owned())
            }),
            json::<Vec<LinkSpec>>("chain"),
            json::<Vec<LinkSpec>>("previous"),
        ]),
        TableRule::moved("extension_point_revisions").columns(&[
            text_by("point", |name| {
                Point::from_name(name).map(drop).ok_or_else(|| "must be an extension point".to_owned())
            }),
            json::<Vec<LinkSpec>>("chain"),
            json::<Actor>("actor"),
        ]),
        TableRule::moved("module_activations")
            .columns(&[read::<ModuleName>("name"), json::<BTreeMap<Point, Vec<LinkSpec>>>("previous")]),
        TableRule::moved("handlers").without_players("names of events, and counts").columns(&[
            read::<ModuleName>("module"),
            text::<16>("event_order"),
            json::<Vec<String>>("events"),
        ]),
        // An imported network begins with the events of its new hub.
        TableRule::left("handler_positions").without_players("numbers"),
        TableRule::left("handler_events").prose(&["data", "player_name"]),
        TableRule::left("handler_queue"),
        TableRule::left("handler_cascades").without_players("sums of hours"),
        endpoints::ANSWERS_TABLE,
        endpoints::SECRETS_TABLE,
        TableRule::left("handler_dead_letters").prose(&["message", "data", "player_name"]),
        TableRule::moved("module_schedules").without_players("times and codes").columns(&[
            read::<ModuleName>("module"),
            text::<64>("name"),
            read::<Cron>("cron"),
            text::<16>("catch_up"),
            json::<Run>("run"),
            json::<Run>("last_run"),
        ]),
        TableRule::moved("module_timers").prose(&["payload"]).columns(&[
            read::<ModuleName>("module"),
            text::<128>("timer"),
            any_json("payload"),
        ]),
        // After the events and timers that calls are made for: a call under way whose event was erased with its player
        // commits nothing, and what it committed before is found here.
        TableRule::moved("module_state").columns(&[read::<ModuleName>("module")]),
        TableRule::moved("module_state_usage").without_players("sizes").columns(&[read::<ModuleName>("module")]),
        TableRule::moved("module_store")
            .in_module_store()
            .columns(&[read::<ModuleName>("module"), any_number("number"), any_number("expires_at")])
            .row(|row| {
                let is_one = row.get("value").is_some() != row.get("number").is_some();
                is_one
                    .then_some(())
                    .ok_or_else(|| "either the column value or the column number must be null".to_owned())
            }),
        TableRule::moved("module_store_usage")
            .without_players("sizes")
            .in_module_store()
            .columns(&[read::<ModuleName>("module")]),
    ],
    errors: &[
        ErrorCode::new("invalid_module", &[400], "The file is not a valid module; see the message."),
        ErrorCode::new("unknown_module", &[400, 404], "No such module or version."),
        ErrorCode::new("module_not_ready", &[400], "The module is not compiled yet, or was rejected."),
        ErrorCode::new(
            "failed_trial",
            &[400],
            "The module's trial call with this configuration failed; see the message.",
        ),
        ErrorCode::new("module_in_use", &[400], "The version is part of a chain."),
        ErrorCode::new("unknown_point", &[404], "No such extension point."),
        ErrorCode::new("point_not_offered", &[400], "The module does not export this extension point."),
        ErrorCode::new("nothing_to_roll_back", &[400], "The extension point has no previous chain."),
        ErrorCode::new(
            "use_activation",
            &[400],
            "The module was activated at several points at once; change them together by its activation.",
        ),
        ErrorCode::new("unknown_revision", &[404], "The extension point has no such revision, or it is not kept."),
        ErrorCode::new("unknown_call", &[404], "No such recorded call."),
        ErrorCode::new(
            "invalid_config",
            &[400],
            "The configuration does not fit the module's schema; see the message.",
        ),
        ErrorCode::new("grant_needed", &[400], "The module needs more than its link grants; `needed` lists it."),
        ErrorCode::new("try_again", &[503], "Older changes are still under way; nothing was changed, try again."),
        ErrorCode::new("unknown_dead_letter", &[404], "The module has no such dead letter."),
        ErrorCode::new("unknown_endpoint", &[404], "The network has no such endpoint, or not without a key."),
        ErrorCode::new("missing_dedupe", &[400], "The key by which the endpoint recognises repeats is missing."),
        ErrorCode::new("module_failed", &[502], "The module that answers the endpoint failed; its log has the reason."),
        ErrorCode::new("module_late", &[504], "The module that answers the endpoint was not ready in time."),
        ErrorCode::new("module_unavailable", &[503], "The module that answers the endpoint is skipped for a while."),
        ErrorCode::new(
            "refused_effect",
            &[502],
            "The hub refused what the module asked for; `effect` and `reason` say what. Nothing was kept.",
        ),
        ErrorCode::new("secret_missing", &[400], "The module names a secret that the network does not have."),
        ErrorCode::new("unknown_secret", &[404], "No such secret."),
        ErrorCode::new("no_timers", &[409], "The module has no active version at the extension point `schedules`."),
        ErrorCode::new("running", &[409], "It is under way already."),
        ErrorCode::new("unknown_schedule", &[404], "The module has no such active schedule."),
        ErrorCode::new("unknown_timer", &[404], "The module has no such timer."),
        ErrorCode::new(
            "not_active_at_schedules",
            &[409],
            "The module is not in the chain of the extension point `schedules`.",
        ),
        ErrorCode::new(
            "not_active_at_events",
            &[409],
            "The module is not in the chain of the extension point `events`.",
        ),
    ],
    limits: &[HANDLER_BACKLOG, TIMERS, endpoints::ANSWERS, endpoints::SECRETS],
    events: || {
        vec![
            EventSchema::of::<handlers::ModuleEvent>(EventKind::ModuleEvent),
            EventSchema::of::<handlers::DeadLetterEvent>(EventKind::ModuleDeadLetter),
            EventSchema::of::<handlers::LaggingEvent>(EventKind::ModuleLagging),
        ]
    },
    register: |states, _| {
        states.insert(Handlers::default());
        states.insert(EndpointState::default());
        states.insert(OpenNetworks::default());
        states.get::<Outbox>().add_consumer(&FanOut);
        Ok(())
    },
    terms: handlers::PAUSES,
    background: |app| {
        handlers::start(app);
        endpoints::start(app);
    },
    network_state: Some(&LoadedModules),
    creations: Some(&left::UploadedModules),
    forget: |app| {
        app.state::<Modules>().evict_all();
        app.state::<Handlers>().evict_all();
        app.state::<EndpointState>().evict_all();
        app.state::<OpenNetworks>().evict_all();
    },
    ..Component::new(module_path!())
};
