//! Plans, written by the operator: rates, quotas and module limits of networks. `limits` applies them.
//!
//! Invariants: every network has a plan that exists; the plan `default` always exists, and new networks are on it.
//! Table: `plans`.

mod routes;
pub mod service;
mod store;

use crate::component::{Component, ErrorCode, Now, TableRule, Undo, UndoBy};

pub use service::PlansError;
pub(crate) use service::{announce_change, announce_network_change};

const PLAN: &str = "/api/admin/plans/{name}";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "plan.changed",
    target: &["name"],
    fields: &["limits", "moduleLimits"],
    route: PLAN,
    changes: UndoBy::Put,
    deletes: false,
    now: Now::alone(PLAN),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "limits of networks, written by the operator ([plans](../operate/plans.md))",
    routes: || routes::router().database_only(),
    tables: &[TableRule::hub("plans")],
    errors: &[
        ErrorCode::new("unknown_plan", &[404], "No such plan."),
        ErrorCode::new("plan_in_use", &[400], "The plan is in use by networks, or is the default."),
    ],
    start: |app| Box::pin(service::start(app)),
    undos: UNDOS,
    ..Component::new(module_path!())
};
