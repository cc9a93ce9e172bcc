//! `/api/plugin/punishments`.

mod make;
mod read;
mod undo;

use crate::endpoints::Endpoints;
use crate::punishments::model::Party;
use crate::values::{PlayerId, Text};

/// The room's routes.
pub(crate) fn router() -> Endpoints {
    make::router().merge(read::router()).merge(undo::router())
}

/// A reason, shown to people.
type Reason = Text<1024>;
/// The name of whoever issues or revokes.
type PartyName = Text<255>;

fn party(player: Option<PlayerId>, name: Option<PartyName>) -> Party {
    Party { player, name: name.map(Text::into_string) }
}
