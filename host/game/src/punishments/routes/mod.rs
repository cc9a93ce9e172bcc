//! `/api/plugin/punishments` and `/api/manage/punishments`.

mod create;
mod managed;
mod preview;
mod read;
mod revoke;

use crate::app::App;
use crate::endpoints::Endpoints;
use crate::http::extract::Json;
use crate::punishments::{Actor, Punishment, PunishmentBody};
use crate::values::{PlayerId, Text};

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    create::router().merge(preview::router()).merge(read::router()).merge(revoke::router()).merge(managed::router())
}

/// A human-readable reason.
type Reason = Text<1024>;
/// Name of the issuer or revoker.
type ActorName = Text<255>;

fn actor(player: Option<PlayerId>, name: Option<ActorName>) -> Actor {
    Actor { player, name: name.map(Text::into_string) }
}

fn bodies(app: &App, punishments: Vec<Punishment>) -> Json<Vec<PunishmentBody>> {
    let now = app.clock.now();
    Json(punishments.into_iter().map(|punishment| PunishmentBody::new(app, punishment, now)).collect())
}
