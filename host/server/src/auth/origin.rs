//! Who changes something, and from where: what the audit log tells of every change.

use std::net::IpAddr;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::{Clock, LogicalClock};
use crate::ids::Ids;

/// What kind of actor it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, strum::IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ActorType {
    /// A key of the network.
    Key,
    /// A person of the network.
    Person,
    /// Whoever runs the hub: by a key, as a person, or on the command line.
    Operator,
    /// The hub itself.
    System,
}

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// What kind of actor it is.
    pub kind: ActorType,
    /// The id of the key or the person; of others, what they are.
    pub id: String,
    /// What it was called then.
    pub name: String,
}

/// Orders the entries of the audit logs that are written in one millisecond.
#[derive(Debug, Default)]
pub struct AuditOrder(Arc<LogicalClock>);

impl AuditOrder {
    /// The clock that an [`Origin`] carries.
    pub(crate) fn handle(&self) -> Arc<LogicalClock> {
        Arc::clone(&self.0)
    }
}

/// Who changes something, by which request, and the clock and the ids to write it down with.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Who it is.
    pub actor: Actor,
    /// The request's id.
    pub request_id: Option<String>,
    /// The address the request came from.
    pub address: Option<IpAddr>,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    /// Orders what this hub does in one millisecond.
    pub(crate) order: Option<Arc<LogicalClock>>,
}

impl Origin {
    /// Somebody who works on the database itself.
    pub fn command_line(clock: &Clock, ids: &Ids) -> Self {
        Self::without_request(ActorType::Operator, "command-line", "command line", clock, ids)
    }

    /// A part of the hub that acts by itself.
    pub(crate) fn system(app: &App, part: &str) -> Self {
        let origin = Self::without_request(ActorType::System, part, part, &app.clock, &app.ids);
        Self { order: Some(app.state::<AuditOrder>().handle()), ..origin }
    }

    /// The same on the command line, where there is no [`App`].
    pub(crate) fn without_request(kind: ActorType, id: &str, name: &str, clock: &Clock, ids: &Ids) -> Self {
        let actor = Actor { kind, id: id.to_owned(), name: name.to_owned() };
        Self { actor, request_id: None, address: None, clock: clock.clone(), ids: ids.clone(), order: None }
    }
}
