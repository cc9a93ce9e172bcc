//! The floors of the house: a component uses those of its own floor and of the floors below.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{components, files};

/// The floors from below, with their top-level modules.
const FLOORS: [(&str, &[&str]); 8] = [
    (
        "base",
        &[
            "bounds",
            "clock",
            "compute",
            "email",
            "fault",
            "geo",
            "http_client",
            "ids",
            "import_outcome",
            "instruction_counts",
            "keyed_lock",
            "mac",
            "metric_recorder",
            "owner",
            "query_plan",
            "secret_text",
            "shared_reads",
            "text_type",
            "usage_counters",
            "values",
        ],
    ),
    (
        "core",
        &[
            "app",
            "auth",
            "background",
            "config",
            "data_folder",
            "endpoints",
            "http",
            "limits",
            "mail",
            "secrets",
            "traces",
        ],
    ),
    (
        "gate",
        &["audit", "client_disconnect", "cluster", "idempotency", "metering", "response_budget", "server_binding"],
    ),
    ("platform", &["archive", "blobs", "events", "networks", "plans", "signing_secret"]),
    ("extensions", &["modules"]),
    (
        "game",
        &[
            "chat",
            "collections",
            "config_documents",
            "control",
            "economy",
            "localization",
            "matchmaking",
            "permissions",
            "players",
            "presence",
            "punishments",
            "statistics",
            "transfers",
            "worlds",
        ],
    ),
    (
        "operation",
        &[
            "artifacts",
            "doctor",
            "erasure",
            "health",
            "imports",
            "monitoring",
            "people",
            "provisioning",
            "waitlist",
            "webhooks",
        ],
    ),
    ("server", &["cli", "lifecycle", "module_data", "presence_hooks", "router", "serve"]),
];

#[test]
fn components_use_no_floor_above_theirs() {
    let floor_of: BTreeMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, (_, modules))| modules.iter().map(move |module| (*module, floor)))
        .collect();
    let graph = components(&files(&super::sources()));
    let placed: BTreeSet<_> = floor_of.keys().map(|module| (*module).to_owned()).collect();
    assert_eq!(graph.keys().cloned().collect::<BTreeSet<_>>(), placed, "each module stands on one floor");
    for (from, to) in &graph {
        let floor = floor_of[from.as_str()];
        for to in to {
            assert!(floor_of[to.as_str()] <= floor, "{from} ({}) uses {to} above it", FLOORS[floor].0);
        }
    }
}
