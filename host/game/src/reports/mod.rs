//! Reports: players tell a network's staff about others.
//!
//! Invariants: ids count from 1 in each network; a reporter has at most five that are OPEN; one about an erased player goes
//! with them, an erased reporter leaves it; the lines that it keeps go 90 days after it was closed.
//! Tables: `reports`, `report_counters`.

mod chat_lines;
mod model;
mod routes;
pub mod service;
mod store;

use crate::auth::Actor;
use crate::component::column::{any_json, any_text, json, read};
use crate::component::{Component, ErrorCode, EventSchema, Now, TableRule, Tag, Undo, UndoBy};
use crate::events::EventKind;
use crate::limits::{Limit, LimitRow};
use crate::values::Identifier;

/// OPEN reports of one reporter.
const OPEN_PER_REPORTER: Limit = Limit::new(&LimitRow {
    name: "openReportsPerReporter",
    bound: 5,
    counted: "Reports of one player that nobody has taken.",
    effect: None,
});
/// All reports, closed ones included.
const ALL_REPORTS: Limit =
    Limit::new(&LimitRow { name: "allReports", bound: 5_000_000, counted: "Reports, closed or not.", effect: None });

const REPORT: &str = "/api/manage/reports/{reportId}";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "report.changed",
    target: &["reportId"],
    fields: &["state"],
    route: REPORT,
    changes: UndoBy::Patch,
    deletes: false,
    now: Now::alone(REPORT),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "what players report to a network's staff ([moderation](../operate/moderation.md))",
    tags: &[Tag("Reports", "What players report to staff.")],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<service::ReportCreated>(EventKind::ReportCreated)],
    tables: &[
        // An erased reporter leaves the report.
        TableRule::moved("reports")
            .prose(&["reason", "resolution", "chat"])
            .staff(&[("reporter_uuid", "reporter_uuid")])
            .columns(&[
                any_text("reason"),
                read::<Identifier>("server_id"),
                read::<model::ReportState>("state"),
                any_text("resolution"),
                json::<Actor>("taken_by"),
                any_json("chat"),
            ]),
        TableRule::moved("report_counters").without_players("a number"),
    ],
    limits: &[OPEN_PER_REPORTER, ALL_REPORTS],
    background: chat_lines::start,
    errors: &[ErrorCode::new("unknown_report", &[404], "No such report.")],
    undos: UNDOS,
    ..Component::new(module_path!())
};
