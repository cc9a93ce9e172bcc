//! Actor and origin of a change, for the audit log.

use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::still::Holder;
use crate::clock::{Clock, LogicalClock};
use crate::ids::Ids;

/// Kind of actor.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ActorType {
    /// A key of the network.
    Key,
    /// A person of the network.
    Person,
    /// Operator of the hub: by a key, as a person, or on the command line.
    Operator,
    /// The hub itself.
    System,
    /// A module of the network, by an effect of a call.
    Module,
}

/// Actor of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    /// Kind of actor.
    #[serde(rename = "type")]
    pub kind: ActorType,
    /// Id of the key or person; for other actors, their kind.
    #[schema(example = "4fTq0ZkX91ab")]
    pub id: String,
    /// Name at that time.
    #[schema(example = "lobby servers")]
    pub name: String,
}

/// Orders the entries of the audit logs that are written in one millisecond.
#[derive(Debug, Default)]
pub struct AuditOrder(Arc<LogicalClock>);

impl AuditOrder {
    /// The clock that an [`Origin`] carries.
    pub fn handle(&self) -> Arc<LogicalClock> {
        Arc::clone(&self.0)
    }
}

/// Actor and request of a change, with the clock and ids for its audit entry.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Actor.
    pub actor: Actor,
    /// Request id.
    pub request_id: Option<String>,
    /// Client address of the request.
    pub address: Option<IpAddr>,
    pub clock: Clock,
    pub ids: Ids,
    /// Orders changes by this hub within one millisecond.
    pub order: Option<Arc<LogicalClock>>,
    /// Credential of the request; none for changes of the hub's own, and for those that a person makes to the account.
    pub holder: Option<Holder>,
}

impl Origin {
    /// Origin of changes made directly in the database.
    pub fn command_line(clock: &Clock, ids: &Ids) -> Self {
        Self::without_request(ActorType::Operator, "command-line", "command line", clock, ids)
    }

    /// Origin of changes that a part of the hub makes by itself.
    pub fn system(app: &App, part: &str) -> Self {
        let origin = Self::without_request(ActorType::System, part, part, &app.clock, &app.ids);
        Self { order: Some(app.state::<AuditOrder>().handle()), ..origin }
    }

    /// Origin without a request and, on the command line, without an [`App`].
    pub fn without_request(kind: ActorType, id: &str, name: &str, clock: &Clock, ids: &Ids) -> Self {
        let actor = Actor { kind, id: id.to_owned(), name: name.to_owned() };
        let (clock, ids) = (clock.clone(), ids.clone());
        Self { actor, request_id: None, address: None, clock, ids, order: None, holder: None }
    }
}
